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
  if (received > limits[what]) throw overLimit("job spec", { what, received, limit: limits[what] }, pointer);
}

function overLimit(
  subject: string,
  { what, received, limit }: { readonly what: string; readonly received: number; readonly limit: number },
  pointer?: string,
): LimitError {
  return new LimitError(
    `limit.${what}`,
    `Cannot use the ${subject}: must have at most ${limit} ${what}: received ${received}`,
    { parameters: { limit, received }, ...pointer === undefined ? {} : { pointer } },
  );
}

/**
 * Counts what an event log says there is. What it shows (tasks that ended, blocks that were stored) is as large as the log; what
 * it merely says, such as a number of partitions, is held to the limits.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { limitsOf, LogCounts } from "./limits.ts";
 *
 * const counts = new LogCounts(limitsOf({ tasks: 10 }), 5);
 * counts.add("tasks", 15);
 * assertThrows(() => counts.add("tasks", 1), TypeError, "Cannot use the event log: must have at most 15 tasks: received 16");
 * ```
 */
export class LogCounts {
  readonly #limits: JobSpecLimits;
  readonly #shown: number;
  readonly #counts = new Map<keyof JobSpecLimits, number>();

  /** @param shown tasks that ended in the log */
  constructor(limits: JobSpecLimits, shown: number) {
    this.#limits = limits;
    this.#shown = shown;
  }

  /**
   * So many more.
   *
   * @throws {LimitError} `limit.tasks`, `limit.blocks`, ...
   */
  add(what: keyof JobSpecLimits, count: number): void {
    const received = (this.#counts.get(what) ?? 0) + count;
    this.#counts.set(what, received);
    this.check(what, received);
  }

  /**
   * So many of one thing.
   *
   * @throws {LimitError} `limit.tasks`, `limit.blocks`, ...
   */
  check(what: keyof JobSpecLimits, received: number): void {
    const limit = this.#limits[what] + this.#shown;
    if (received > limit) throw overLimit("event log", { what, received, limit });
  }
}
