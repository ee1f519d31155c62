import { assertEquals } from "@std/assert";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";

Deno.test("in local mode the driver is the only executor", () => {
  const cluster = (spec: Record<string, unknown>) =>
    workloadFromJobSpec({ cluster: spec, stages: [{ id: 0, tasks: 1 }] }).cluster;
  const { executors } = cluster({ master: "local[3]" });
  assertEquals(executors.map(({ id, host, cores }) => [id, host, cores]), [["driver", "driver-host", 3]]);
  assertEquals(cluster({ master: "local" }).executors[0].cores, 1);
  assertEquals(cluster({ master: "local[2,4]" }).executors[0].cores, 2);
});

Deno.test("executors and cores follow spark.executor.instances and spark.executor.cores", () => {
  const { cluster } = workloadFromJobSpec({
    conf: { "spark.executor.instances": 3, "spark.executor.cores": "2" },
    stages: [{ id: 0, tasks: 1 }],
  });
  assertEquals(cluster.executors.map(({ cores }) => cores), [2, 2, 2]);
  assertEquals(cluster.collector, "g1");
});
