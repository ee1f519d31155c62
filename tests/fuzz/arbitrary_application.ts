/**
 * Random applications as job specs, so that what fails can be run by `deno task simulate` as it is: graphs of stages with shared
 * shuffles, cached RDDs of every level, memory consumers of every kind, broadcasts, jobs that overlap, are cancelled or take only
 * some partitions, settings around the thresholds, versions, and faults.
 *
 * @module
 */
import fc from "fast-check";
import type {
  BroadcastSpec,
  CachedRddSpec,
  ClusterSpec,
  FaultSpec,
  JobInput,
  JobSpec,
  MemorySpec,
  Quantity,
  StageSpec,
} from "../../src/workload/job_spec_types.ts";
import { CONSUMER_KINDS, FAULT_KINDS } from "../support/arbitrary_job_spec.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** Minor versions whose rules differ (src/spark/versions.ts). */
const VERSIONS = [
  "1.6.3",
  "2.0.2",
  "2.1.3",
  "2.2.3",
  "2.3.4",
  "2.4.0",
  "3.0.3",
  "3.1.3",
  "3.2.4",
  "3.3.4",
  "3.5.9",
  "4.0.4",
  "4.1.3",
  "4.2.0",
];

const LEVELS = [
  "MEMORY_ONLY",
  "MEMORY_ONLY_2",
  "MEMORY_ONLY_SER",
  "MEMORY_ONLY_SER_2",
  "MEMORY_AND_DISK",
  "MEMORY_AND_DISK_2",
  "MEMORY_AND_DISK_SER",
  "MEMORY_AND_DISK_SER_2",
  "DISK_ONLY",
  "DISK_ONLY_2",
  "OFF_HEAP",
];

/** A size in bytes: anywhere up to the largest, or near one of the edges that decide something. */
function size(max: number, edges: readonly number[] = []): fc.Arbitrary<number> {
  const near = edges.flatMap((edge) => [edge - 1, edge, edge + 1]);
  return near.length === 0
    ? fc.integer({ min: 0, max })
    : fc.oneof(fc.integer({ min: 0, max }), fc.constantFrom(...near));
}

function quantity(max: number, edges: readonly number[] = []): fc.Arbitrary<Quantity> {
  const value = size(max, edges);
  return fc.oneof(
    { weight: 3, arbitrary: value },
    fc.tuple(value, value).map(([a, b]): Quantity => ({
      distribution: "uniform",
      min: Math.min(a, b),
      max: Math.max(a, b),
    })),
    fc.integer({ min: 1, max }).map((total): Quantity => ({
      distribution: "zipf",
      total,
      exponent: 1.2,
      shuffled: true,
    })),
  );
}

const consumer: fc.Arbitrary<MemorySpec> = fc.record({
  kind: fc.constantFrom(...CONSUMER_KINDS),
  bytes: quantity(160 * MIB),
  records: quantity(200_000),
  span: fc.tuple(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: 10 })),
}).map(({ span, ...rest }) => {
  const [start, fillEnd, release] = span.map((tenths) => tenths / 10).sort((a, b) => a - b);
  return { ...rest, start, fillEnd, release };
});

const stageDraft = fc.record({
  tasks: fc.integer({ min: 1, max: 10 }),
  parents: fc.array(fc.nat(20), { maxLength: 3 }),
  cache: fc.option(fc.record({
    bytes: quantity(60 * MIB),
    elements: fc.integer({ min: 1, max: 200 }),
    computeMs: fc.integer({ min: 0, max: 300 }),
    level: fc.constantFrom(...LEVELS),
    unpersistBeforeJob: fc.option(fc.nat(4)),
    memory: fc.array(consumer, { maxLength: 1 }),
  })),
  reads: fc.array(fc.nat(20), { maxLength: 2 }),
  broadcasts: fc.array(fc.nat(3), { maxLength: 2 }),
  figures: fc.record({
    computeMs: quantity(2000),
    resultBytes: quantity(3 * MIB, [KIB * 100, MIB]),
    shuffleWriteBytes: quantity(24 * MIB),
    inputBytes: quantity(8 * MIB),
    memory: fc.array(consumer, { maxLength: 2 }),
  }),
  commitMs: fc.option(fc.integer({ min: 0, max: 500 }), { freq: 1, nil: null }),
  level: fc.constantFrom(null, null, null, "UNORDERED", "INDETERMINATE"),
});
type StageDraft = typeof stageDraft extends fc.Arbitrary<infer T> ? T : never;

const jobDraft = fc.record({
  stage: fc.nat(20),
  mapStage: fc.boolean(),
  partitions: fc.option(fc.array(fc.nat(9), { minLength: 1, maxLength: 3 })),
  after: fc.option(fc.nat(5)),
  delayMs: fc.integer({ min: 0, max: 300 }),
  cancelAfterMs: fc.option(fc.integer({ min: 0, max: 2500 }), { freq: 4 }),
  failureHandled: fc.boolean(),
});
type JobDraft = typeof jobDraft extends fc.Arbitrary<infer T> ? T : never;

const faultDraft = fc.record({
  kind: fc.constantFrom(...FAULT_KINDS),
  stage: fc.nat(20),
  place: fc.nat(20),
  attempts: fc.integer({ min: 1, max: 5 }),
  atMs: fc.integer({ min: 0, max: 4000 }),
  afterTasks: fc.option(fc.integer({ min: 1, max: 6 })),
  replacedAfterMs: fc.option(fc.integer({ min: 0, max: 600 })),
  flags: fc.tuple(fc.boolean(), fc.boolean()),
});
type FaultDraft = typeof faultDraft extends fc.Arbitrary<infer T> ? T : never;

/** Settings that change what the memory manager, the scheduler or the result path does; each is set in one run of some. */
const SETTINGS: Record<string, fc.Arbitrary<string>> = {
  "spark.memory.fraction": fc.constantFrom("0.2", "0.6", "0.9"),
  "spark.memory.storageFraction": fc.constantFrom("0", "0.3", "0.5", "0.99"),
  "spark.task.maxDirectResultSize": fc.constantFrom("1k", "100k", "1m"),
  "spark.driver.maxResultSize": fc.constantFrom("0", "1m", "4m", "1g"),
  "spark.rpc.message.maxSize": fc.constantFrom("1", "2", "128"),
  "spark.task.maxFailures": fc.constantFrom("1", "2", "4"),
  "spark.task.cpus": fc.constantFrom("1", "2"),
  "spark.speculation": fc.constantFrom("true", "false"),
  "spark.speculation.quantile": fc.constantFrom("0.25", "0.75"),
  "spark.scheduler.mode": fc.constantFrom("FIFO", "FAIR"),
  "spark.shuffle.service.enabled": fc.constantFrom("true", "false"),
  "spark.locality.wait": fc.constantFrom("0", "100ms", "3s"),
  "spark.storage.unrollMemoryThreshold": fc.constantFrom("1", "65536", "1048576", "16777216"),
  "spark.unsafe.exceptionOnMemoryLeak": fc.constantFrom("true", "false"),
  "spark.broadcast.blockSize": fc.constantFrom("64k", "4m"),
  "spark.eventLog.logBlockUpdates.enabled": fc.constantFrom("true", "false"),
  "spark.stage.maxConsecutiveAttempts": fc.constantFrom("1", "4"),
  "spark.buffer.pageSize": fc.constantFrom("64k", "1m", "4m"),
};

/** Executors that come and go by the backlog, in one application of four. */
const allocation: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc.record({
      "spark.dynamicAllocation.enabled": fc.constant("true"),
      "spark.dynamicAllocation.executorIdleTimeout": fc.constantFrom("0s", "1s", "60s"),
      "spark.dynamicAllocation.cachedExecutorIdleTimeout": fc.constantFrom("2s", "600s"),
      "spark.dynamicAllocation.schedulerBacklogTimeout": fc.constantFrom("1s", "5s"),
      "spark.dynamicAllocation.minExecutors": fc.constantFrom("0", "1", "2"),
      "spark.dynamicAllocation.maxExecutors": fc.constantFrom("2", "100"),
      "spark.dynamicAllocation.shuffleTracking.enabled": fc.constantFrom("true", "false"),
    }),
  },
);

const settings = fc.dictionary(fc.constantFrom(...Object.keys(SETTINGS)), fc.nat(), { maxKeys: 6 }).chain((chosen) =>
  fc.record(Object.fromEntries(Object.keys(chosen).map((key) => [key, SETTINGS[key]])))
);

const cluster = fc.record({
  executors: fc.array(
    fc.record({
      host: fc.nat(2),
      cores: fc.integer({ min: 1, max: 3 }),
      addedMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1500 })),
      removedMs: fc.option(fc.integer({ min: 100, max: 4000 }), { freq: 6 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  offHeapMiB: fc.option(fc.integer({ min: 1, max: 200 }), { freq: 3 }),
  heapMiB: fc.integer({ min: 460, max: 900 }),
});

/** Random applications. */
export function arbitraryApplication(): fc.Arbitrary<JobSpec> {
  return fc.record({
    seed: fc.nat(1_000_000),
    sparkVersion: fc.constantFrom(...VERSIONS),
    stages: fc.array(stageDraft, { minLength: 1, maxLength: 6 }),
    jobs: fc.array(jobDraft, { maxLength: 5 }),
    broadcasts: fc.array(fc.tuple(size(12 * MIB), size(40 * MIB)), { maxLength: 3 }),
    faults: fc.array(faultDraft, { maxLength: 3 }),
    settings,
    allocation,
    cluster,
  }).map((draft) => {
    const broadcasts = draft.broadcasts.map(([bytes, valueBytes], i): BroadcastSpec => ({
      name: `broadcast ${i}`,
      bytes: bytes + 1,
      valueBytes: valueBytes + 1,
    }));
    const { cached, stages } = stagesOf(draft.stages, broadcasts, draft.jobs.length);
    const { executors, offHeapMiB, heapMiB } = draft.cluster;
    return {
      seed: draft.seed,
      sparkVersion: draft.sparkVersion,
      conf: {
        "spark.executor.memory": `${heapMiB}m`,
        ...(offHeapMiB === null
          ? {}
          : { "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": `${offHeapMiB}m` }),
        ...draft.settings,
        ...draft.allocation,
      },
      cluster: clusterOf(executors),
      cached,
      stages,
      ...(draft.jobs.length === 0 ? {} : { jobs: draft.jobs.map((job, i) => jobOf(job, i, stages)) }),
      broadcasts,
      faults: draft.faults.map((fault) => faultOf(fault, stages, executors)),
    };
  });
}

function clusterOf(
  executors: readonly { host: number; cores: number; addedMs: number; removedMs: number | null }[],
): ClusterSpec {
  return {
    master: "spark://master:7077",
    executors: executors.map(({ host, cores, addedMs, removedMs }, i) => ({
      id: String(i),
      host: `host${host}`,
      cores,
      addedMs,
      ...(removedMs === null ? {} : { removedMs: addedMs + removedMs }),
    })),
  };
}

function stagesOf(drafts: readonly StageDraft[], broadcasts: readonly BroadcastSpec[], jobs: number) {
  const cached: CachedRddSpec[] = [];
  const stages = drafts.map((draft, i): StageSpec => {
    const { tasks, cache, figures } = draft;
    const readable = cached.filter(({ partitions }) => partitions >= tasks);
    const reads = readable.length === 0 ? [] : draft.reads.map((at) => readable[at % readable.length].name);
    if (cache !== null) {
      const { level, unpersistBeforeJob, ...rest } = cache;
      cached.push({
        name: `rdd ${i}`,
        partitions: tasks,
        storageLevel: level,
        ...(unpersistBeforeJob === null || jobs === 0 ? {} : { unpersistBeforeJob: unpersistBeforeJob % jobs }),
        ...rest,
      });
    }
    return {
      id: i,
      tasks,
      ...figures,
      ...(draft.commitMs === null ? {} : { commitMs: draft.commitMs }),
      ...(draft.level === null ? {} : { outputDeterministicLevel: draft.level }),
      parents: i === 0 ? [] : [...new Set(draft.parents.map((parent) => parent % i))],
      reads: [...new Set(reads)],
      caches: cache === null ? [] : [`rdd ${i}`],
      broadcasts: broadcasts.length === 0
        ? []
        : [...new Set(draft.broadcasts.map((at) => broadcasts[at % broadcasts.length].name))],
    };
  });
  return { cached, stages };
}

function jobOf(draft: JobDraft, index: number, stages: readonly StageSpec[]): JobInput {
  const stage = stages[draft.stage % stages.length];
  const isParent = stages.some(({ parents }) => parents!.includes(stage.id));
  const kind = draft.mapStage && isParent ? "mapStage" as const : "result" as const;
  const partitions = draft.partitions?.map((at) => at % stage.tasks!) ?? null;
  return {
    stage: stage.id,
    kind,
    ...(partitions === null || kind === "mapStage" ? {} : { partitions: [...new Set(partitions)] }),
    ...(draft.after === null ? {} : { after: index === 0 ? [] : [draft.after % index] }),
    delayMs: draft.delayMs,
    ...(draft.cancelAfterMs === null ? {} : { cancelAfterMs: draft.cancelAfterMs }),
    failureHandled: draft.failureHandled,
  };
}

function faultOf(
  draft: FaultDraft,
  stages: readonly StageSpec[],
  executors: readonly { readonly host: number }[],
): FaultSpec {
  const target = stages[draft.stage % stages.length];
  const place = { stage: target.id, partition: draft.place % target.tasks!, attempts: draft.attempts };
  const [workerLost, exitCausedByApp] = draft.flags;
  switch (draft.kind) {
    case "executorLost":
      return {
        kind: "executorLost",
        executor: String(draft.place % executors.length),
        ...(draft.afterTasks === null ? { atMs: draft.atMs } : { afterTasks: draft.afterTasks }),
        replacedAfterMs: draft.replacedAfterMs,
        workerLost,
        exitCausedByApp,
      };
    case "slowHost":
      return {
        kind: "slowHost",
        host: `host${executors[draft.place % executors.length].host}`,
        factor: draft.attempts,
      };
    case "taskException":
      return { kind: "taskException", ...place, atFraction: (draft.place % 11) / 10 };
    case "resultUnreadable":
      return { kind: "resultUnreadable", ...place, classNotFound: workerLost };
    case "resultHandlerException":
      return { kind: "resultHandlerException", stage: place.stage, partition: place.partition };
    default:
      return { kind: draft.kind === "fetchFailure" ? "fetchFailure" : "resultLost", ...place };
  }
}
