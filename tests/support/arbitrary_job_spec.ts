/**
 * Random valid job specs for property tests: any directed acyclic graph of stages, cached RDDs, memory consumers,
 * broadcasts, several jobs and every kind of fault.
 *
 * @module
 */
import fc from "fast-check";
import type {
  CachedRddSpec,
  FaultSpec,
  JobSpec,
  MemorySpec,
  Quantity,
  StageSpec,
} from "../../src/workload/job_spec_types.ts";

/** How large the specs may be. */
export interface ArbitraryJobSpecOptions {
  readonly maxStages?: number;
  readonly maxTasks?: number;
  readonly faults?: boolean;
}

const quantity = (max: number): fc.Arbitrary<Quantity> =>
  fc.oneof(
    fc.integer({ min: 0, max }),
    fc.integer({ min: 0, max }).map((value): Quantity => ({ distribution: "constant", value })),
    fc.tuple(fc.integer({ min: 0, max }), fc.integer({ min: 0, max })).map(([a, b]): Quantity => ({
      distribution: "uniform",
      min: Math.min(a, b),
      max: Math.max(a, b),
    })),
    fc.integer({ min: 1, max }).map((mean): Quantity => ({
      distribution: "normal",
      mean,
      standardDeviation: mean / 4,
      max,
    })),
    fc.integer({ min: 1, max }).map((median): Quantity => ({ distribution: "lognormal", median, sigma: 0.8, max })),
    fc.integer({ min: 0, max }).map((total): Quantity => ({
      distribution: "zipf",
      total,
      exponent: 1.1,
      shuffled: total % 2 === 0,
    })),
  );

/** All kinds of memory consumers. */
export const CONSUMER_KINDS = [
  "UnsafeExternalSorter",
  "ShuffleExternalSorter",
  "HashAggregation",
  "HashedRelation",
  "ExternalAppendOnlyMap",
  "ExternalSorter",
  "Raw",
] as const;

/** All kinds of faults. */
export const FAULT_KINDS = [
  "taskException",
  "executorLost",
  "fetchFailure",
  "slowHost",
  "resultLost",
  "resultUnreadable",
  "resultHandlerException",
] as const;

const consumer: fc.Arbitrary<MemorySpec> = fc.record({
  kind: fc.constantFrom(...CONSUMER_KINDS),
  bytes: quantity(200 * 2 ** 20),
});

const level = fc.constantFrom(
  "MEMORY_ONLY",
  "MEMORY_ONLY_SER",
  "MEMORY_AND_DISK",
  "MEMORY_AND_DISK_SER",
  "MEMORY_ONLY_2",
  "DISK_ONLY",
);

/** The shape of a stage before its references are made valid. */
const draft = (maxTasks: number) =>
  fc.record({
    tasks: fc.integer({ min: 1, max: maxTasks }),
    parents: fc.array(fc.nat(), { maxLength: 2 }),
    cache: fc.option(fc.record({ bytes: quantity(64 * 2 ** 20), level })),
    read: fc.option(fc.nat()),
    computeMs: quantity(5000),
    resultBytes: quantity(3 * 2 ** 20),
    shuffleWriteBytes: quantity(32 * 2 ** 20),
    memory: fc.array(consumer, { maxLength: 2 }),
    commitMs: fc.option(fc.integer({ min: 0, max: 500 }), { freq: 1, nil: undefined }),
  });

const faultDraft = fc.record({
  kind: fc.constantFrom(...FAULT_KINDS),
  stage: fc.nat(),
  partition: fc.nat(),
  attempts: fc.integer({ min: 1, max: 5 }),
  atMs: fc.integer({ min: 0, max: 20_000 }),
});

/**
 * The arbitrary.
 *
 * @example
 * ```ts
 * import fc from "fast-check";
 * import { arbitraryJobSpec } from "./arbitrary_job_spec.ts";
 *
 * const [spec] = fc.sample(arbitraryJobSpec(), { seed: 1, numRuns: 1 });
 * if (spec.stages === undefined) throw new Error("no stages");
 * ```
 */
export function arbitraryJobSpec(options: ArbitraryJobSpecOptions = {}): fc.Arbitrary<JobSpec> {
  return fc.record({
    seed: fc.nat(),
    drafts: fc.array(draft(options.maxTasks ?? 12), { minLength: 1, maxLength: options.maxStages ?? 6 }),
    faults: fc.array(faultDraft, { maxLength: options.faults === false ? 0 : 2 }),
    executors: fc.integer({ min: 1, max: 4 }),
    cores: fc.integer({ min: 1, max: 3 }),
    sparkVersion: fc.constantFrom("2.4.0", "3.0.3", "3.5.9", "4.0.4", "4.1.3"),
  }).map(({ seed, drafts, faults, executors, cores, sparkVersion }) => {
    const cached: CachedRddSpec[] = [];
    const stages = drafts.map((one, i): StageSpec => {
      const { tasks, cache, read, parents, ...figures } = one;
      const readable = cached.filter(({ partitions }) => partitions >= tasks);
      const reads = read === null || readable.length === 0 ? [] : [readable[read % readable.length].name];
      if (cache !== null) {
        cached.push({ name: `rdd ${i}`, partitions: tasks, storageLevel: cache.level, bytes: cache.bytes });
      }
      return {
        id: i,
        tasks,
        ...figures,
        parents: i === 0 ? [] : [...new Set(parents.map((parent) => parent % i))],
        reads,
        caches: cache === null ? [] : [`rdd ${i}`],
      };
    });
    return {
      seed,
      sparkVersion,
      conf: { "spark.executor.memory": "600m" },
      cluster: { executors, cores },
      cached,
      stages,
      faults: faults.map((fault) => faultSpec(fault, stages, executors)),
    };
  });
}

function faultSpec(
  { kind, stage, partition, attempts, atMs }: typeof faultDraft extends fc.Arbitrary<infer F> ? F : never,
  stages: readonly StageSpec[],
  executors: number,
): FaultSpec {
  const target = stages[stage % stages.length];
  const place = { stage: target.id, partition: partition % target.tasks!, attempts };
  switch (kind) {
    case "executorLost":
      return { kind, executor: String(partition % executors), atMs, replacedAfterMs: 500 };
    case "slowHost":
      return { kind, host: `host-${partition % executors}`, factor: attempts };
    case "taskException":
      return { kind, ...place };
    case "resultUnreadable":
      return { kind, ...place, classNotFound: atMs % 2 === 0 };
    case "resultHandlerException":
      return { kind, stage: place.stage, partition: place.partition };
    default:
      return { kind: kind as "fetchFailure" | "resultLost", ...place };
  }
}
