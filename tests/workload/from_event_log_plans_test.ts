import { assertEquals } from "@std/assert";
import { PlanTable } from "../../src/workload/from_event_log_plans.ts";

const exchange = (simpleString: string) => {
  const plans = new PlanTable();
  const metrics = [
    { name: "number of partitions", accumulatorId: 1, metricType: "sum" },
    { name: "data size", accumulatorId: 2, metricType: "size" },
  ];
  plans.add(0, { nodeName: "Exchange", simpleString, children: [], metrics });
  return plans;
};

Deno.test("an exchange's partitions are what the driver counted", () => {
  const plans = exchange("Exchange hashpartitioning(k#54L, 8), ENSURE_REQUIREMENTS, [plan_id=265]");
  plans.driverUpdates([[1, 12]]);
  assertEquals(plans.exchangePartitions(plans.metric(2)!.node), 12);
});

Deno.test("an exchange's partitions are read from its description", () => {
  for (
    const [simpleString, partitions] of [
      ["Exchange hashpartitioning(k#54L, 8), ENSURE_REQUIREMENTS, [plan_id=265]", 8],
      ["Exchange rangepartitioning(k#2L ASC NULLS FIRST, 200)", 200],
      ["Exchange RoundRobinPartitioning(5), REPARTITION_BY_NUM", 5],
      ["Exchange SinglePartition", 1],
      ["Exchange hashpartitioning(a#1, b#2, 16)", 16],
    ] as const
  ) {
    const plans = exchange(simpleString);
    assertEquals(plans.exchangePartitions(plans.metric(2)!.node), partitions, simpleString);
  }
});
