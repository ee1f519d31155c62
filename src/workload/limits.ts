/**
 * How large a job spec may be.
 *
 * @module
 */
import { LimitError } from "../errors.ts";

/** Counts beyond which a spec is refused. */
export interface JobSpecLimits {
  /** Tasks of all stages, a stage counted once for each job that ends in it. */
  readonly tasks: number;
  /** Stages of the spec (demands in the exact form). */
  readonly stages: number;
  /** Jobs. */
  readonly jobs: number;
  /** RDDs of the exact form, cached RDDs of the form by hand. */
  readonly rdds: number;
  /** Partitions of cached RDDs. */
  readonly blocks: number;
  /** Executors of the cluster. */
  readonly executors: number;
  /** Memory consumers of all stages and RDDs. */
  readonly consumers: number;
  /** Broadcast variables. */
  readonly broadcasts: number;
  /** Faults to inject. */
  readonly faults: number;
  /** References between stages, RDDs and shuffles. */
  readonly dependencies: number;
  /** Partitions that need all of another RDD's (cartesian products), times how many those are. */
  readonly partitionDependencies: number;
}

/** The limits of a library user; the service sets lower ones. */
export const DEFAULT_JOB_SPEC_LIMITS: JobSpecLimits = Object.freeze({
  tasks: 2_000_000,
  stages: 20_000,
  jobs: 20_000,
  rdds: 50_000,
  blocks: 2_000_000,
  executors: 10_000,
  consumers: 50_000,
  broadcasts: 10_000,
  faults: 10_000,
  dependencies: 200_000,
  partitionDependencies: 50_000_000,
});

/** The defaults with some of them changed. */
export function limitsOf(changes: Partial<JobSpecLimits> = {}): JobSpecLimits {
  return { ...DEFAULT_JOB_SPEC_LIMITS, ...changes };
}

/**
 * Refuses a count beyond its limit.
 *
 * @throws {LimitError} `limit.tasks`, `limit.stages`, ...
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { checkCount, limitsOf } from "./limits.ts";
 *
 * checkCount("tasks", 10, limitsOf({ tasks: 10 }), "/stages");
 * assertThrows(() => checkCount("tasks", 11, limitsOf({ tasks: 10 }), "/stages"), TypeError, "at most 10 tasks");
 * ```
 */
export function checkCount(
  what: keyof JobSpecLimits,
  received: number,
  limits: JobSpecLimits,
  pointer: string,
): void {
  const limit = limits[what];
  if (received <= limit) return;
  throw new LimitError(
    `limit.${what}`,
    `Cannot use the job spec: must have at most ${limit} ${what}: received ${received}`,
    { parameters: { limit, received }, pointer },
  );
}
