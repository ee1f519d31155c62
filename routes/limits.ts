/**
 * The budgets of a request: documented, configurable, each with the status that it answers.
 *
 * @module
 */
import { InputError } from "../src/errors.ts";
import type { JobSpecLimits } from "../src/workload/limits.ts";

/** What one request may ask for. Sizes are bytes, times ms. */
export interface ServiceLimits {
  /** A JSON body as it comes in (413). */
  readonly bodyBytes: number;
  /** An event log as it comes in (413). */
  readonly logBytes: number;
  /** An event log after decompression (413). */
  readonly decompressedBytes: number;
  /** A line of an event log (413). */
  readonly lineBytes: number;
  /** Tasks of a workload or a log (422). */
  readonly tasks: number;
  /** Partitions of cached RDDs, and pieces of broadcasts (422). */
  readonly blocks: number;
  /** Stages of a workload (422). */
  readonly stages: number;
  /** Executors (422). */
  readonly executors: number;
  /** Simulated events of all runs that the request makes (422). */
  readonly events: number;
  /** Virtual time of a simulated run (422). */
  readonly virtualMs: number;
  /** Combinations of a sweep (422). */
  readonly sweepSize: number;
  /** Memory of the kernel for one run (422). */
  readonly kernelBytes: number;
  /** Time that a request may compute, by the runtime's clock (422). */
  readonly deadlineMs: number;
  /** Requests that compute at the same time (429). */
  readonly concurrency: number;
}

/** Defaults for a process of its own; the entries for edge runtimes set lower ones. */
export const DEFAULT_LIMITS: ServiceLimits = Object.freeze({
  bodyBytes: 16 * 2 ** 20,
  logBytes: 256 * 2 ** 20,
  decompressedBytes: 4 * 2 ** 30,
  lineBytes: 64 * 2 ** 20,
  tasks: 200_000,
  blocks: 200_000,
  stages: 5_000,
  executors: 2_000,
  events: 30_000_000,
  virtualMs: 30 * 86_400_000,
  sweepSize: 500,
  kernelBytes: 256 * 2 ** 20,
  deadlineMs: 50_000,
  concurrency: 8,
});

/** What fits an isolate of 128 MB. */
export const EDGE_LIMITS: Partial<ServiceLimits> = Object.freeze({
  bodyBytes: 4 * 2 ** 20,
  logBytes: 32 * 2 ** 20,
  decompressedBytes: 512 * 2 ** 20,
  lineBytes: 8 * 2 ** 20,
  tasks: 50_000,
  blocks: 50_000,
  events: 5_000_000,
  sweepSize: 100,
  kernelBytes: 32 * 2 ** 20,
  deadlineMs: 25_000,
  concurrency: 2,
});

/**
 * The limits with some changed.
 *
 * @throws {InputError} `limits.value` for one that is no positive whole number.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { serviceLimits } from "./limits.ts";
 *
 * assertEquals(serviceLimits({ tasks: 10 }).tasks, 10);
 * ```
 */
export function serviceLimits(changes: Partial<ServiceLimits> = {}): ServiceLimits {
  for (const [name, value] of Object.entries(changes)) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new InputError(
      "limits.value",
      `Cannot set limit ${name}: must be a positive whole number: received ${value}`,
      {
        parameters: { name, value },
      },
    );
  }
  return { ...DEFAULT_LIMITS, ...changes };
}

/** The part of the limits that a job spec is held against. */
export function jobSpecLimits({ tasks, blocks, stages, executors }: ServiceLimits): Partial<JobSpecLimits> {
  const partitionDependencies = 100 * tasks;
  return {
    tasks,
    blocks,
    stages,
    executors,
    partitionDependencies,
    rdds: 4 * stages,
    jobs: 2 * stages,
    consumers: 4 * stages,
  };
}
