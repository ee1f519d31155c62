import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { jobSpecFromWorkload, parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import type { ClusterSpec } from "../../src/workload/job_spec_types.ts";

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

Deno.test("with dynamic allocation executors are places for the largest stage, or as many as are said", () => {
  const cluster = (spec: ClusterSpec, conf: Record<string, string> = {}) =>
    workloadFromJobSpec({
      conf: { "spark.dynamicAllocation.enabled": "true", ...conf },
      cluster: spec,
      cached: [{ name: "c", partitions: 30, bytes: 1 }],
      stages: [{ id: 0, tasks: 20 }, { id: 1, caches: ["c"] }],
    });
  const shape = ({ cluster }: Workload) => [cluster.executors.length, cluster.provision?.startupMs];
  assertEquals(shape(cluster({ cores: 4 })), [8, 3000]);
  assertEquals(shape(cluster({ cores: 4 }, { "spark.task.cpus": "2" })), [15, 3000]);
  assertEquals(shape(cluster({}, { "spark.dynamicAllocation.maxExecutors": "5" })), [5, 3000]);
  assertEquals(shape(cluster({ executors: 3, executorStartupMs: "9s" })), [3, 9000]);
  assertEquals(shape(cluster({ allocation: "fixed" })), [2, undefined]);
  assertEquals(cluster({ executors: 3 }).evidence.map(({ field, grade }) => [field, grade]), [
    ["executorStartupMs", "assumed"],
  ]);
  assertEquals(cluster({ executors: 3, executorStartupMs: 1 }).evidence, []);
  assertEquals(shape(cluster({ master: "local[2]" })), [1, undefined]);
});

Deno.test("a dynamic cluster needs spark.dynamicAllocation.enabled", () => {
  const error = assertThrows(
    () => workloadFromJobSpec({ cluster: { allocation: "dynamic" }, stages: [{ id: 0, tasks: 1 }] }),
    InputError,
  );
  assertEquals([error.code, error.pointer], ["job_spec.form", "/cluster/allocation"]);
});

Deno.test("the exact form keeps whether executors are dynamic", () => {
  for (const allocation of ["fixed", "dynamic"] as const) {
    const workload = workloadFromJobSpec({
      conf: { "spark.dynamicAllocation.enabled": "true" },
      cluster: { executors: 2, allocation },
      stages: [{ id: 0, tasks: 1 }],
    });
    const json = JSON.stringify(jobSpecFromWorkload(workload));
    assertEquals(workloadFromJobSpec(parseJobSpec(JSON.parse(json)).spec), workload);
  }
});

Deno.test("cores are as given or as the master says, within what an executor may have; executors' ids differ", () => {
  const refusal = (cluster: unknown, conf: Record<string, string> = {}) => {
    const error = assertThrows(
      () => workloadFromJobSpec(parseJobSpec({ cluster, conf, stages: [{ id: 0, tasks: 1 }] }).spec),
      InputError,
    );
    return [error.code, error.pointer];
  };
  const { cluster } = workloadFromJobSpec({ cluster: { master: "local[*]", cores: 6 }, stages: [{ id: 0, tasks: 1 }] });
  assertEquals(cluster.executors[0].cores, 6);
  assertEquals(refusal({ master: "local[5000]" }), ["job_spec.range", "/cluster"]);
  assertEquals(refusal({}, { "spark.executor.cores": "4097" }), ["job_spec.range", "/cluster/cores"]);
  const twice = [{ id: "1", host: "a", cores: 1 }, { id: "1", host: "b", cores: 1 }];
  assertEquals(refusal({ executors: twice }), ["job_spec.duplicate", "/cluster/executors/1/id"]);
  // What no count can be is Spark's to refuse: the default holds here.
  const none = workloadFromJobSpec({ conf: { "spark.executor.cores": "0" }, stages: [{ id: 0, tasks: 1 }] });
  assertEquals(none.cluster.executors.map(({ cores }) => cores), [1, 1]);
});
