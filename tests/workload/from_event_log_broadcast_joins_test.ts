import { assertEquals } from "@std/assert";
import { broadcastJoinDemand } from "../../src/workload/from_event_log_broadcast_joins.ts";
import { PlanTable } from "../../src/workload/from_event_log_plans.ts";
import type { AccumulatorRecord, StageAttempt } from "../../src/workload/from_event_log_stages.ts";
import { OUTCOME, TaskTable } from "../../src/workload/from_event_log_tasks.ts";

const JOIN_ROWS = 1;
const AGGREGATE_PEAK = 2;

function accumulator(name: string, byPartition: [number, number][]): AccumulatorRecord {
  return { name, sum: 0, count: 0, max: 0, byPartition: new Map(byPartition) };
}

/** Two tasks with peaks of 1700 and 1900, of which the aggregation recorded 700 and 900. */
function stage(joinNode: string) {
  const plans = new PlanTable();
  const metric = (name: string, accumulatorId: number) => ({ name, accumulatorId, metricType: "sum" });
  plans.add(0, {
    nodeName: "HashAggregate",
    simpleString: "HashAggregate(keys=[k])",
    metrics: [metric("peak memory", AGGREGATE_PEAK)],
    children: [
      {
        nodeName: joinNode,
        simpleString: joinNode,
        metrics: [metric("number of output rows", JOIN_ROWS)],
        children: [],
      },
    ],
  });
  const tasks = new TaskTable();
  tasks.length = 2;
  for (const row of [0, 1]) {
    tasks.outcome[row] = OUTCOME.success;
    tasks.partition[row] = row;
    tasks.peakMemory[row] = 1700 + 200 * row;
  }
  const accumulators = new Map([
    [JOIN_ROWS, accumulator("number of output rows", [[0, 5], [1, 5]])],
    [AGGREGATE_PEAK, accumulator("peak memory", [[0, 700], [1, 900]])],
  ]);
  const attempts = [{ accumulators } as unknown as StageAttempt];
  return { attempts, plans, tasks, rows: [0, 1], numPartitions: 2 };
}

// BroadcastHashJoinExec: incPeakExecutionMemory(relation.estimatedSize).
Deno.test("what no operator recorded of a task's peak is the relations that were broadcast", () => {
  const demand = broadcastJoinDemand(stage("BroadcastHashJoin"))!;
  assertEquals([...demand.bytes], [1000, 1000]);
  assertEquals([demand.kind, demand.parameters], ["HashedRelation", { broadcast: 1 }]);
});

Deno.test("a stage without a broadcast join has none", () => {
  assertEquals(broadcastJoinDemand(stage("SortMergeJoin")), null);
});
