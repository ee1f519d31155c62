import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import type { UnmanagedMemory, Workload } from "../../src/simulator/workload.ts";
import { jobSpecFromWorkload, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { whatIf } from "../../src/what_if/what_if.ts";
import {
  cachedRdd,
  clusterOf,
  column,
  consumerOf,
  demandOf,
  jobOf,
  MIB,
  rddOf,
  workloadOf,
} from "../support/workloads.ts";

const POLLED = { "spark.memory.unmanagedMemoryPollingInterval": "1s" };

/** What consumers outside hold on the heap from a time on. */
function held(atMs: number, mib: number): UnmanagedMemory {
  return { executorId: null, atMs, bytes: mib * MIB, memoryMode: "ON_HEAP" };
}

/** Two jobs that read a cached RDD of 8 blocks of 20 MiB, in 200 MiB. */
function caching(unmanagedMemory: readonly UnmanagedMemory[], delayMs = 10): Workload {
  return workloadOf({
    sparkVersion: "4.1.0",
    conf: POLLED,
    cluster: { ...clusterOf(1, { memory: 200 * MIB }), unmanagedMemory },
    rdds: [cachedRdd(1, 8, 20 * MIB)],
    demands: [demandOf(8)],
    jobs: [jobOf(0, 1, 0), { ...jobOf(1, 1, 0), delayMs }],
  });
}

function stored(workload: Workload, conf: Record<string, string> = {}, sparkVersion = workload.sparkVersion) {
  return whatIf(workload, null, { conf, sparkVersion }).predicted.storage.cachedAtEnd.memoryBlocks;
}

Deno.test("memory that others hold is taken from what storage may take, from 4.1 on and when it is polled", () => {
  // 200 - 130 MiB: three blocks of 20 MiB (SPARK-53001: false when numBytes > max - execution - unmanaged, which does not
  // take off what storage holds already: the fourth of 20 MiB would still fit into 70).
  assertEquals(stored(caching([held(0, 170)])), 8);
  assertEquals(stored(caching([held(0, 181)])), 0);
  assertEquals(stored(caching([held(0, 181)]), { "spark.memory.unmanagedMemoryPollingInterval": "0s" }), 8);
  assertEquals(stored(caching([held(0, 181)]), {}, "4.0.4"), 8);
});

Deno.test("blocks that are stored stay when others take memory later", () => {
  assertEquals(stored(caching([held(0, 0), held(30_000, 199)], 60_000)), 8);
  assertEquals(stored(caching([held(0, 199), held(30_000, 0)], 60_000)), 8);
});

Deno.test("what changes between two polls is seen at the next one, and only as it is then", () => {
  // The first job is over within a second: of what is held in the meantime a poll of 1 s sees nothing.
  assertEquals(stored(caching([held(100, 199), held(900, 0)])), 8);
});

/** One task that sorts 100 MiB in 200 MiB. */
function sorting(unmanagedMemory: readonly UnmanagedMemory[]): Workload {
  return workloadOf({
    sparkVersion: "4.1.0",
    conf: POLLED,
    cluster: { ...clusterOf(1, { memory: 200 * MIB, cores: 1 }), unmanagedMemory },
    rdds: [rddOf(0, 1)],
    demands: [demandOf(1, { consumers: [consumerOf(1, { bytes: column(1, 100 * MIB), records: column(1, 1e6) })] })],
    jobs: [jobOf(0, 0, 0)],
  });
}

Deno.test("a single task waits with memory free, and no poll ends its wait", () => {
  assertEquals(whatIf(sorting([]), null, {}).predicted.outcome.status, "succeeded");
  // Its share is capped at 40 MiB, but below half of the pool it is made to wait for more (trace h03 of the recordings).
  const waiting = whatIf(sorting([held(0, 160), held(60_000, 0)]), null, {});
  assertEquals(waiting.predicted.outcome, {
    status: "unfinished",
    reason: "Jobs wait for ever: no task can be launched or go on",
  });
});

Deno.test("an upgrade to 4.1 with polling names the rule", () => {
  const before = { ...caching([held(0, 181)]), sparkVersion: "4.0.4" };
  const { effects } = whatIf(before, null, { sparkVersion: "4.1.0" }).versionEffects!;
  const [first] = effects;
  assertEquals([first.name, first.issue, first.effect], ["memory.unmanagedConsumers", "SPARK-53001", "changes"]);
});

Deno.test("what cannot have an effect, and what is not known, is said", () => {
  const warned = (workload: Workload, conf: Record<string, string> = {}) =>
    whatIf(workload, null, { conf }).predicted.warnings
      .filter(({ code }) => code === "simulation.unmanagedMemory").map(({ message }) => message)[0] ?? "";
  assert(warned(caching([])).includes("is in no log"));
  assert(
    warned(caching([held(0, 1)]), { "spark.memory.unmanagedMemoryPollingInterval": "0s" }).includes(
      "has no effect, as",
    ),
  );
  assert(warned({ ...caching([held(0, 1)]), sparkVersion: "3.5.9" }).includes("Spark 3.5.9 does not look at it"));
  assertEquals(warned(caching([held(0, 1)])), "");
});

Deno.test("a job spec says what others hold, and keeps it on the way through JSON", () => {
  const spec = {
    sparkVersion: "4.1.0",
    conf: POLLED,
    cluster: {
      executors: 2,
      unmanagedMemory: [
        { bytes: "64m", memoryMode: "ON_HEAP" as const },
        { executor: "1", atMs: "10s", bytes: 1024, memoryMode: "OFF_HEAP" as const },
      ],
    },
    stages: [{ id: 0, tasks: 2, computeMs: 10 }],
  };
  const workload = workloadFromJobSpec(spec);
  assertEquals(workload.cluster.unmanagedMemory, [
    { executorId: null, atMs: 0, bytes: 64 * MIB, memoryMode: "ON_HEAP" },
    { executorId: "1", atMs: 10_000, bytes: 1024, memoryMode: "OFF_HEAP" },
  ]);
  assertEquals(workloadFromJobSpec(JSON.parse(JSON.stringify(jobSpecFromWorkload(workload)))), workload);
  const unknown = { ...spec, cluster: { executors: 1, unmanagedMemory: [spec.cluster.unmanagedMemory[1]] } };
  assertThrows(
    () => workloadFromJobSpec(unknown),
    InputError,
    "/cluster/unmanagedMemory/0/executor: must name a executor",
  );
});
