// The simulation as a whole: rules of Spark 2.4.0 that show in what a run does. The driver's and the kernel's own decisions
// are proven by the recorded traces (tests/conformance); here the expected values follow from the sizes given.
import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { InputError, LimitError } from "../src/errors.ts";
import { Summarizer } from "../src/report/summarize.ts";
import type { Summary } from "../src/report/summary.ts";
import { simulate, Simulation, type SimulationOptions } from "../src/simulator/simulate.ts";
import type { Workload } from "../src/simulator/workload.ts";
import { SparkConf } from "../src/spark/conf.ts";
import type { SparkEvent } from "../src/spark/events.ts";
import { STORAGE_LEVELS } from "../src/spark/storage_level.ts";
import {
  cachedRdd,
  clusterOf,
  column,
  consumerOf,
  demandOf,
  jobOf,
  MIB,
  rddOf,
  shuffleWorkload,
  workloadOf,
} from "./support/workloads.ts";

interface Run {
  readonly summary: Summary;
  /** Copies of all events. */
  readonly events: SparkEvent[];
}

function run(workload: Workload, conf: Record<string, string> = {}, options: Partial<SimulationOptions> = {}): Run {
  const summarizer = new Summarizer({ source: "simulated" });
  const events: SparkEvent[] = [];
  const sink = {
    event(event: SparkEvent) {
      summarizer.event(event);
      events.push(structuredClone(event));
    },
  };
  simulate(workload, { conf: SparkConf.from({ ...workload.conf, ...conf }, workload.sparkVersion), sink, ...options });
  return { summary: summarizer.summary(), events };
}

/** A job that caches an RDD of `partitions` blocks, then one that reads it. */
function cachedTwice(partitions: number, bytes: number, level = STORAGE_LEVELS.MEMORY_ONLY): Workload {
  return workloadOf({
    cluster: clusterOf(1),
    rdds: [cachedRdd(7, partitions, bytes, level)],
    demands: [demandOf(partitions)],
    jobs: [jobOf(0, 7, 0), jobOf(1, 7, 0)],
  });
}

Deno.test("a cached RDD that fits is computed once and found the second time", () => {
  const { summary } = run(cachedTwice(8, 20 * MIB));
  assertEquals(summary.outcome.status, "succeeded");
  const { cacheHits, cacheMisses, blocksEvicted, cachedAtEnd } = summary.storage;
  assertEquals([cacheHits, cacheMisses, blocksEvicted], [8, 8, 0]);
  assertEquals([cachedAtEnd.memoryBlocks, cachedAtEnd.memoryBytes], [8, 160 * MIB]);
});

Deno.test("an RDD does not evict its own blocks: what does not fit stays out (MEMORY_ONLY)", () => {
  // 200 MiB of unified memory hold nine blocks of 20 MiB beside the unroll memory of a tenth.
  const { summary } = run(cachedTwice(15, 20 * MIB));
  const { blocksEvicted, cachedAtEnd, putsRefused } = summary.storage;
  assertEquals(blocksEvicted, 0);
  assertEquals(cachedAtEnd.memoryBlocks, 9);
  assert(putsRefused! > 0);
});

Deno.test("MEMORY_AND_DISK writes to disk what does not fit and reads it from there", () => {
  const { summary } = run(cachedTwice(15, 20 * MIB, STORAGE_LEVELS.MEMORY_AND_DISK));
  const { cacheMisses, cachedAtEnd } = summary.storage;
  assertEquals(cacheMisses, 15);
  assertEquals(cachedAtEnd.memoryBlocks! + cachedAtEnd.diskBlocks! >= 15, true);
});

Deno.test("another RDD's blocks are evicted, eldest first", () => {
  const workload = workloadOf({
    cluster: clusterOf(1, { cores: 1 }),
    rdds: [cachedRdd(1, 8, 20 * MIB), cachedRdd(2, 4, 20 * MIB)],
    demands: [demandOf(8), demandOf(4)],
    jobs: [jobOf(0, 1, 0), jobOf(1, 2, 1)],
  });
  const { events } = run(workload);
  const evicted = events.flatMap((event) =>
    event.kind === "blockEvicted" ? [`${event.blockId} for ${event.forBlockId}`] : []
  );
  // 160 of 200 MiB are taken. A block of one element of 20 MiB asks for 30 MiB while it is unrolled (1.5 times its size).
  assertEquals(evicted, ["rdd_1_0 for rdd_2_1", "rdd_1_1 for rdd_2_2", "rdd_1_2 for rdd_2_3"].slice(0, evicted.length));
  assert(evicted.length >= 2);
});

Deno.test("execution takes storage back to its region and no further", () => {
  const workload = workloadOf({
    cluster: clusterOf(1, { cores: 1 }),
    rdds: [cachedRdd(1, 9, 20 * MIB), rddOf(2, 1)],
    demands: [demandOf(9), demandOf(1, { consumers: [consumerOf(1, { bytes: column(1, 400 * MIB) })] })],
    jobs: [jobOf(0, 1, 0), jobOf(1, 2, 1)],
  });
  const { summary } = run(workload);
  // Region 100 MiB of 200: of 180 MiB cached, whole blocks go until 100 MiB or less is left.
  assertEquals(summary.storage.cachedAtEnd.memoryBlocks, 5);
  assertEquals(summary.storage.blocksEvicted, 4);
  assert(summary.execution.memoryBytesSpilled! > 0);
  assertEquals(summary.execution.spilledTasks, 1);
});

Deno.test("a sorter that fits spills nothing", () => {
  const workload = workloadOf({
    cluster: clusterOf(1, { cores: 1 }),
    rdds: [rddOf(2, 2)],
    demands: [demandOf(2, { consumers: [consumerOf(2, { bytes: column(2, 50 * MIB), records: column(2, 1e5) })] })],
    jobs: [jobOf(0, 2, 0)],
  });
  const { summary } = run(workload);
  assertEquals(summary.execution.spilledTasks, 0);
  assert(summary.execution.peakBytes! >= 50 * MIB);
});

Deno.test("results go directly, by the block manager, or not at all, by their size", () => {
  const sizes = [1000, MIB, MIB + 1, 3 * MIB];
  const workload = workloadOf({
    rdds: [rddOf(0, 4)],
    demands: [demandOf(4, { resultBytes: Float64Array.from(sizes) })],
    jobs: [jobOf(0, 0, 0)],
  });
  const { direct, indirect, dropped } = run(workload).summary.results;
  assertEquals([direct, indirect, dropped], [2, 2, 0]);
  const limited = run(workload, { "spark.driver.maxResultSize": "2m" }).summary;
  assertEquals(limited.outcome.status, "failed");
  assert(limited.outcome.reason!.includes("is bigger than spark.driver.maxResultSize (2.0 MiB)"));
});

Deno.test("a task too large for a message aborts its stage", () => {
  const workload = workloadOf({
    rdds: [rddOf(0, 1)],
    demands: [demandOf(1, { serializedTaskBytes: column(1, 2 * MIB) })],
    jobs: [jobOf(0, 0, 0)],
  });
  const { outcome } = run(workload, { "spark.rpc.message.maxSize": "1" }).summary;
  assert(outcome.reason!.includes("exceeds max allowed: spark.rpc.message.maxSize (1048576 bytes)"));
  assertEquals(run(workload).summary.outcome.status, "succeeded");
});

Deno.test("a task that fails maxFailures times aborts the job; fewer failures do not", () => {
  const exception = { className: "java.lang.RuntimeException", description: "boom", atFraction: 0.5 };
  const workload = (attempts: number) =>
    workloadOf({
      rdds: [rddOf(0, 4)],
      demands: [demandOf(4)],
      jobs: [jobOf(0, 0, 0)],
      faults: [{ kind: "taskException", demand: 0, partition: 2, attempts, ...exception }],
    });
  const survived = run(workload(3)).summary;
  assertEquals([survived.outcome.status, survived.stages[0].tasks.failed], ["succeeded", 3]);
  const { outcome } = run(workload(4)).summary;
  assertEquals(outcome.status, "failed");
  assert(outcome.reason!.includes("failed 4 times"));
  assertEquals(run(workload(3), { "spark.task.maxFailures": "2" }).summary.outcome.status, "failed");
});

Deno.test("a lost executor's map outputs are computed again after a fetch failure", () => {
  const fault = {
    kind: "executorLost" as const,
    executorId: "0",
    atMs: 350,
    afterTasks: null,
    reason: "Command exited with code 137",
    workerLost: false,
    exitCausedByApp: true,
    replacedAfterMs: 100,
  };
  const { summary, events } = run(shuffleWorkload(8, 8, { faults: [fault] }));
  assertEquals(summary.outcome.status, "succeeded");
  assert(summary.stages.filter(({ stageId }) => stageId === 0).length >= 2, "the map stage is attempted again");
  const removed = events.filter(({ kind }) => kind === "executorRemoved");
  assertEquals(removed.length, 1);
});

Deno.test("without a replacement for the last executor the application hangs, and it is said", () => {
  const fault = {
    kind: "executorLost" as const,
    executorId: "0",
    atMs: 20,
    afterTasks: null,
    reason: "lost",
    workerLost: true,
    exitCausedByApp: false,
    replacedAfterMs: null,
  };
  const { summary } = run(shuffleWorkload(4, 2, { cluster: clusterOf(1), faults: [fault] }));
  assertEquals(summary.outcome.status, "unfinished");
  assert(summary.warnings.some(({ code }) => code === "simulation.stuck"));
});

Deno.test("a lost result block is a task failure, and the task runs again", () => {
  const workload = workloadOf({
    rdds: [rddOf(0, 2)],
    demands: [demandOf(2, { resultBytes: column(2, 2 * MIB) })],
    jobs: [jobOf(0, 0, 0)],
    faults: [{ kind: "resultLost", demand: 0, partition: 1, attempts: 1 }],
  });
  const { summary } = run(workload);
  assertEquals([summary.outcome.status, summary.results.lost, summary.stages[0].tasks.failed], ["succeeded", 1, 1]);
});

Deno.test("a slow host's tasks get speculative copies", () => {
  const workload = workloadOf({
    rdds: [rddOf(0, 8)],
    cluster: clusterOf(2, { cores: 4 }),
    demands: [demandOf(8, { computeMs: column(8, 2000) })],
    jobs: [jobOf(0, 0, 0)],
    faults: [{ kind: "slowHost", host: "host1", factor: 10 }],
  });
  const conf = {
    "spark.speculation": "true",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.efficiency.enabled": "false",
  };
  const { summary, events } = run(workload, conf);
  assertEquals(summary.outcome.status, "succeeded");
  // Four tasks are done after 2 s; the other four get copies 1.5 times that later, and are killed when those are done.
  assertEquals(events.filter((event) => event.kind === "taskStart" && event.speculative).length, 4);
  assertEquals(summary.stages[0].tasks.killed, 4);
  assert(summary.durationMs! < 6000);
});

Deno.test("unpersist frees a cached RDD without an eviction", () => {
  const workload = workloadOf({
    cluster: clusterOf(1),
    rdds: [{ ...cachedRdd(1, 4, 20 * MIB), unpersistBeforeJob: 1 }, cachedRdd(2, 4, 20 * MIB)],
    demands: [demandOf(4)],
    jobs: [jobOf(0, 1, 0), jobOf(1, 2, 0)],
  });
  const { storage } = run(workload).summary;
  assertEquals([storage.blocksEvicted, storage.cachedAtEnd.memoryBlocks], [0, 4]);
});

// BlockManager.removeRdd takes all blocks of blockInfoManager, those being written too, and waits for each lock (2.4.0). Seen so with
// 3.5.7, local[3]: a block of 0.5 s an element was computed when rdd.unpersist(false) was called; the log has UnpersistRDD, then the
// BlockUpdated of the put, then no update, and BlockManager.getStatus was None before the task that had stored it ended.
Deno.test("unpersist removes a block that a task computes once it is stored and let go of, and tells no update", () => {
  const workload = workloadOf({
    cluster: clusterOf(2),
    rdds: [{ ...cachedRdd(1, 1, 20 * MIB), unpersistBeforeJob: 2 }, rddOf(2, 1)],
    demands: [demandOf(1, { computeMs: column(1, 400) }), demandOf(1)],
    // The block is computed for 50 ms of job 0's task; job 1's waits for it on the same executor or reads it from there.
    jobs: [jobOf(0, 1, 0), { ...jobOf(1, 1, 0), afterJobs: [] }, { ...jobOf(2, 2, 1), afterJobs: [], delayMs: 30 }],
  });
  const { events, summary } = run(workload);
  const told = events.flatMap((event) =>
    event.kind === "unpersistRdd" || event.kind === "blockRemoved" || event.kind === "cacheRead" ||
      event.kind === "blockUpdated" && event.blockId.startsWith("rdd_") ||
      event.kind === "taskEnd" && event.stageId === 0
      ? [event.kind]
      : []
  );
  const stored = told.indexOf("blockUpdated");
  assertEquals(told.slice(0, stored).includes("unpersistRdd"), true);
  assertEquals(told.slice(0, stored).includes("blockRemoved"), false);
  assertEquals(told.filter((kind) => kind === "blockUpdated").length, 1);
  // Its reader has it pinned until the end.
  assertEquals(told.lastIndexOf("blockRemoved") < told.lastIndexOf("taskEnd"), true);
  assertEquals(told.filter((kind) => kind === "blockRemoved").length, 1);
  assertEquals(summary.outcome.status, "succeeded");
  assertEquals([summary.storage.blocksStored, summary.storage.cachedAtEnd.memoryBlocks], [1, 0]);
});

Deno.test("an RDD that is persisted after its first use is stored from then on", () => {
  const rdd = { ...cachedRdd(1, 4, 20 * MIB), persistBeforeJob: 1 };
  const workload = workloadOf({
    cluster: clusterOf(1),
    rdds: [rdd],
    demands: [demandOf(4)],
    jobs: [jobOf(0, 1, 0), jobOf(1, 1, 0), jobOf(2, 1, 0)],
  });
  const { events, summary } = run(workload);
  assertEquals([summary.storage.cacheMisses, summary.storage.cacheHits], [4, 4]);
  // Stage infos carry the level that is in force, as those of a real log.
  const levels = events.flatMap((event) =>
    event.kind === "jobStart" ? event.stageInfos[0].rddInfos.map(({ storageLevel }) => storageLevel.useMemory) : []
  );
  assertEquals(levels, [false, true, true]);
});

Deno.test("a broadcast that is destroyed leaves the executors, which say so, and is fetched again by a later reader", () => {
  const demand = { ...demandOf(4), broadcastIds: [7] };
  const workload = workloadOf({
    cluster: clusterOf(1),
    rdds: [rddOf(1, 4), rddOf(2, 4), rddOf(3, 4)],
    demands: [demand, demandOf(4)],
    broadcasts: [{ id: 7, pieceBytes: 5 * MIB, valueBytes: 6 * MIB, removeBeforeJob: 1 }],
    jobs: [jobOf(0, 1, 0), jobOf(1, 2, 1), jobOf(2, 3, 0)],
  });
  const { events } = run(workload);
  let job = -1;
  const pieces: unknown[] = [];
  for (const event of events) {
    if (event.kind === "jobStart") job = event.jobId;
    if (event.kind === "blockUpdated" && event.blockId.startsWith("broadcast_7_piece")) {
      pieces.push([job, event.blockId, event.storageLevel.useMemory]);
    }
  }
  assertEquals(pieces, [
    [0, "broadcast_7_piece0", true],
    [0, "broadcast_7_piece1", true],
    [0, "broadcast_7_piece0", false],
    [0, "broadcast_7_piece1", false],
    [2, "broadcast_7_piece0", true],
    [2, "broadcast_7_piece1", true],
  ]);
});

Deno.test("executors that a log recorded come and go as they did, and that is said", () => {
  const { warnings } = run(shuffleWorkload(2, 2), { "spark.dynamicAllocation.enabled": "true" }).summary;
  assertEquals(warnings.map(({ code }) => code), ["simulation.dynamicAllocation"]);
  // Utils.isDynamicAllocationEnabled: in local mode the setting does nothing.
  const local = shuffleWorkload(2, 2);
  const cluster = { ...local.cluster, master: "local[2]" };
  const inLocalMode = run({ ...local, cluster }, { "spark.dynamicAllocation.enabled": "true" }).summary;
  assertEquals(inLocalMode.warnings, []);
});

Deno.test("a replicated block is on two executors", () => {
  const workload = workloadOf({
    rdds: [cachedRdd(1, 4, 20 * MIB, STORAGE_LEVELS.MEMORY_ONLY_2)],
    demands: [demandOf(4)],
    jobs: [jobOf(0, 1, 0)],
  });
  assertEquals(run(workload).summary.storage.cachedAtEnd.memoryBlocks, 8);
});

Deno.test("the same seed gives the same events, in one go and in slices", () => {
  const workload = shuffleWorkload(20, 10, { faults: [{ kind: "slowHost", host: "host1", factor: 2 }] });
  const once = JSON.stringify(run(workload).events);
  assertEquals(JSON.stringify(run(workload).events), once);
  const events: SparkEvent[] = [];
  const sink = { event: (event: SparkEvent) => void events.push(structuredClone(event)) };
  const simulation = new Simulation(workload, { conf: SparkConf.from({}, workload.sparkVersion), sink });
  while (!simulation.run(7));
  assertEquals(JSON.stringify(events), once);
});

Deno.test("limits of events and of virtual time are enforced", () => {
  const workload = shuffleWorkload(20, 10);
  assertThrows(() => run(workload, {}, { limits: { maxEvents: 10 } }), LimitError, "at most 10 events");
  assertThrows(() => run(workload, {}, { limits: { maxVirtualMs: 50 } }), LimitError, "at most 50 ms");
});

Deno.test("what Spark refuses at start is bad input", () => {
  const cluster = clusterOf(1);
  const unsized = { ...cluster, executors: cluster.executors.map((spec) => ({ ...spec, maxOnHeapMemory: null })) };
  const conf = { "spark.executor.memory": "100m" };
  assertThrows(() => run(workloadOf({ cluster: unsized }), conf), InputError, "must be at least 471859200");
});

Deno.test("random workloads: every attempt ends once, memory comes back, time never runs backwards, a job ends once", () => {
  const shape = fc.record({
    maps: fc.integer({ min: 1, max: 12 }),
    reduces: fc.integer({ min: 1, max: 12 }),
    executors: fc.integer({ min: 1, max: 4 }),
    cores: fc.integer({ min: 1, max: 4 }),
    sorted: fc.integer({ min: 0, max: 300 }),
    cached: fc.integer({ min: 0, max: 60 }),
    lostAt: fc.option(fc.integer({ min: 1, max: 800 })),
    failing: fc.integer({ min: 0, max: 5 }),
    seed: fc.integer({ min: 0, max: 1000 }),
  });
  fc.assert(
    fc.property(shape, ({ maps, reduces, executors, cores, sorted, cached, lostAt, failing, seed }) => {
      const base = shuffleWorkload(maps, reduces, { cluster: clusterOf(executors, { cores }), seed });
      const rdds = cached === 0 ? base.rdds : [{ ...cachedRdd(0, maps, cached * MIB), name: "cached" }, base.rdds[1]];
      const consumers = sorted === 0 ? [] : [consumerOf(reduces, { bytes: column(reduces, sorted * MIB) })];
      const workload: Workload = {
        ...base,
        rdds,
        demands: [base.demands[0], { ...base.demands[1], consumers }],
        jobs: [jobOf(0, 1, 1), jobOf(1, 1, 1)],
        faults: [
          ...(lostAt === null ? [] : [{
            kind: "executorLost" as const,
            executorId: "0",
            atMs: lostAt,
            afterTasks: null,
            reason: "lost",
            workerLost: false,
            exitCausedByApp: true,
            replacedAfterMs: 50,
          }]),
          ...(failing === 0 ? [] : [{
            kind: "taskException" as const,
            demand: 1,
            partition: 0,
            attempts: failing,
            className: "E",
            description: "d",
            atFraction: 0.3,
          }]),
        ],
      };
      checkRun(run(workload).events, executors);
    }),
    { numRuns: 150, seed: 7 },
  );
});

function checkRun(events: readonly SparkEvent[], executors: number): void {
  const started = new Set<number>();
  const ended = new Set<number>();
  const jobs = { started: 0, ended: 0 };
  let time = 0;
  for (const event of events) {
    if ("time" in event && event.time !== null) {
      assert(event.time >= time - 1, `${event.kind} at ${event.time} after ${time}`);
      time = Math.max(time, event.time);
    }
    if (event.kind === "taskStart") started.add(event.taskId);
    if (event.kind === "jobStart") jobs.started++;
    if (event.kind === "jobEnd") jobs.ended++;
    if (event.kind === "taskEnd" && event.reason.reason !== "Resubmitted") {
      assert(!ended.has(event.taskId), `task ${event.taskId} ends twice`);
      assert(started.has(event.taskId));
      ended.add(event.taskId);
      assert(event.finishTime >= event.launchTime);
    }
  }
  assertEquals(jobs.ended, jobs.started);
  assert(executors > 0);
}

Deno.test("a growth factor of unrolling that no memory could follow is refused", () => {
  const workload = cachedTwice(2, MIB);
  const growth = (factor: string) => run(workload, { "spark.storage.unrollMemoryGrowthFactor": factor });
  for (const factor of ["0.5", "1e300", "NaN"]) {
    const error = assertThrows(() => growth(factor), InputError);
    assertEquals([error.code, error.parameters.key], ["conf.value", "spark.storage.unrollMemoryGrowthFactor"]);
  }
  assertEquals(growth("1").summary.outcome.status, "succeeded");
});
