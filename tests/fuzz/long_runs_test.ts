// Long runs: what is made and given back leaves no trace, and time does not drift. A million operations on one executor are in
// memory_test.ts.
import { assert, assertEquals } from "@std/assert";
import { Kernel } from "../../src/kernel.ts";
import { Simulation } from "../../src/simulator/simulate.ts";
import { SIMULATION_EPOCH_MS } from "../../src/simulator/simulated_application.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import type { JobSpec } from "../../src/workload/job_spec_types.ts";

function run(spec: JobSpec, event: (event: SparkEvent) => void, kernel?: Kernel): Simulation {
  const workload = workloadFromJobSpec(spec);
  const conf = SparkConf.from(workload.conf, workload.sparkVersion);
  const simulation = new Simulation(workload, { conf, sink: { event }, kernel });
  while (!simulation.run(1 << 20));
  return simulation;
}

Deno.test("ten thousand executors, created, used and destroyed, leave the kernel as large as the first ones did", () => {
  const kernel = Kernel.create();
  let before = 0;
  for (let i = 0; i < 10_000; i++) {
    const executor = kernel.createExecutor({ maxHeapMemory: 1e6, onHeapStorageRegionSize: 5e5 });
    const blocks = Array.from({ length: 20 }, (_, block) => executor.declareBlock(block));
    for (const block of blocks) executor.putBytes(block, 1e5, 0); // evicts half of them
    for (let task = 0; task < 5; task++) executor.acquireExecutionMemory(3e5, task, 0); // the last ones wait
    executor.drain({});
    assert(executor.waitingTickets().length > 0);
    executor.destroy();
    if (i === 100) before = kernel.memoryBytes;
  }
  assertEquals(kernel.memoryBytes, before);
});

Deno.test("ten thousand executors that come and go in one application, each with cached blocks, leave nothing in the kernel", () => {
  // A hundred jobs, each on a hundred new executors: those of the job before have been idle for too long.
  const kernel = Kernel.create();
  const jobs = Array.from(
    { length: 100 },
    (_, i) => i === 0 ? { stage: 0 } : { stage: 0, after: [i - 1], delayMs: "30s" },
  );
  let added = 0;
  let removed = 0;
  const sizes: number[] = [];
  const failures: unknown[] = [];
  run({
    sparkVersion: "3.5.9",
    conf: {
      "spark.dynamicAllocation.enabled": "true",
      "spark.shuffle.service.enabled": "true",
      "spark.dynamicAllocation.executorIdleTimeout": "5s",
      "spark.dynamicAllocation.cachedExecutorIdleTimeout": "5s",
    },
    cluster: { executors: 100, cores: 1 },
    cached: [{ name: "kept", partitions: 100, bytes: "1m" }],
    stages: [{ id: 0, tasks: 100, computeMs: "60s", caches: ["kept"] }],
    jobs,
  }, (event) => {
    if (event.kind === "executorAdded") added++;
    if (event.kind === "executorRemoved") removed++;
    if (event.kind !== "jobEnd") return;
    failures.push(event.failure);
    sizes.push(kernel.memoryBytes);
  }, kernel);
  assertEquals(failures, Array(100).fill(null));
  // Of the last job the first executor is gone too: asked for 6 s before the last ones (1, 3, 7, ... 63, 100), idle for 5.
  assertEquals([added, removed], [10_000, 9_901]);
  assertEquals(sizes.at(-1), sizes[1]);
});

Deno.test("over a day of virtual time tasks take as long at its end as at its beginning", () => {
  // One core, 28,800 tasks of 3 s: a day and what it costs to start and end each.
  const tasks: { readonly launch: number; readonly finish: number }[] = [];
  const simulation = run({
    cluster: { executors: 1, cores: 1 },
    stages: [{ id: 0, tasks: 28_800, computeMs: 3000 }],
  }, (event) => {
    if (event.kind !== "taskEnd") return;
    const { launchTime, finishTime } = event;
    tasks.push({ launch: launchTime - SIMULATION_EPOCH_MS, finish: finishTime - SIMULATION_EPOCH_MS });
  });
  assertEquals(tasks.length, 28_800);
  const gaps = (from: number) =>
    tasks.slice(from, from + 1000).map(({ launch }, i) => tasks[from + i + 1].launch - launch);
  assert(simulation.elapsedMs >= 86_400_000);
  // the first task of an executor also fetches the task's binary
  assertEquals(gaps(1), gaps(27_700));
  assertEquals(tasks[1].finish - tasks[1].launch, tasks[28_799].finish - tasks[28_799].launch);
});
