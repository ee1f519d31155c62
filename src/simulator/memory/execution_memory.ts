/**
 * What a task's memory manager needs of its executor: the execution half of Spark's MemoryManager.
 *
 * @module
 */

import { type ExecutorMemory, type MemoryMode, OFF_HEAP, ON_HEAP, WAITING } from "../../kernel/types.ts";

export { type MemoryMode, OFF_HEAP, ON_HEAP, WAITING };

/**
 * The request failed as Spark's would with an exception; what it was is data beside it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { FAILED, WAITING } from "./execution_memory.ts";
 *
 * // Both are told from grants, which are 0 or more.
 * assertEquals([WAITING, FAILED], [-1, -2]);
 * ```
 */
export const FAILED = -2;

/** A simulated exception: Spark's class and message. */
export interface Failure {
  /** Class name as the JVM prints it, for example `org.apache.spark.memory.SparkOutOfMemoryError`. */
  readonly className: string;
  /** null where the exception has none. */
  readonly message: string | null;
  /** Which consumer could not go on and what it needed, when memory was short; bytes. */
  readonly outOfMemory: OutOfMemory | null;
}

/** The numbers behind "Unable to acquire N bytes of memory, got M", in bytes. */
export interface OutOfMemory {
  readonly consumer: string;
  readonly required: number;
  readonly got: number;
  /** Execution memory of the task that belongs to no registered consumer (TaskMemoryManager.showMemoryUsage). */
  readonly notAccountedFor: number;
  /** Execution memory of all tasks of the executor, both modes. */
  readonly executionMemoryUsed: number;
  /** Storage memory of the executor, both modes. */
  readonly storageMemoryUsed: number;
}

/**
 * The execution memory of one executor, as a task asks for it. Sizes are bytes; a request is for at least 1.
 *
 * The one that runs the executor stands between the task and the kernel: it takes the events of each call (blocks that
 * were evicted, waiting requests that were granted) before the next, and hands a late grant to
 * {@linkcode TaskMemoryManager.resume}.
 */
export type ExecutionMemory = Pick<
  ExecutorMemory,
  | "acquireExecutionMemory"
  | "releaseExecutionMemory"
  | "releaseAllExecutionMemoryForTask"
  | "executionMemoryUsageForTask"
  | "executionMemoryUsed"
  | "storageMemoryUsed"
>;
