/**
 * What the kernel answers instead of a result.
 *
 * @module
 */

/** Statuses that stand for what Spark throws, or, from BAD_EXECUTOR on, for a misuse of the kernel. */
export type MemoryStatus =
  | "ASSERTION_FAILED"
  | "INVALID_NUMBER_OF_BYTES"
  | "REQUIREMENT_FAILED"
  | "BLOCK_ALREADY_PRESENT"
  | "BLOCK_NOT_IN_MEMORY"
  | "BLOCK_NOT_FOUND"
  | "BLOCK_NOT_LOCKED"
  | "DROP_FAILED"
  | "TRANSFER_FAILED"
  | "BLOCK_NOT_SERIALIZED"
  | "BLOCK_NOT_DESERIALIZED"
  | "TASK_NOT_ACTIVE"
  | "INTERRUPTED"
  | "EXECUTION_MEMORY_REQUIRED"
  | "NEGATIVE_ANSWER"
  | "BAD_EXECUTOR"
  | "BAD_BLOCK"
  | "BAD_ARGUMENT"
  | "BLOCK_IN_USE"
  | "OUT_OF_MEMORY"
  | "NOT_WAITING"
  | "BAD_RANGE";

/** The names of all statuses; each is an export of the kernel, whose value is the code. */
export const MEMORY_STATUSES: readonly MemoryStatus[] = Object.freeze([
  "ASSERTION_FAILED",
  "INVALID_NUMBER_OF_BYTES",
  "REQUIREMENT_FAILED",
  "BLOCK_ALREADY_PRESENT",
  "BLOCK_NOT_IN_MEMORY",
  "BLOCK_NOT_FOUND",
  "BLOCK_NOT_LOCKED",
  "DROP_FAILED",
  "TRANSFER_FAILED",
  "BLOCK_NOT_SERIALIZED",
  "BLOCK_NOT_DESERIALIZED",
  "TASK_NOT_ACTIVE",
  "INTERRUPTED",
  "EXECUTION_MEMORY_REQUIRED",
  "NEGATIVE_ANSWER",
  "BAD_EXECUTOR",
  "BAD_BLOCK",
  "BAD_ARGUMENT",
  "BLOCK_IN_USE",
  "OUT_OF_MEMORY",
  "NOT_WAITING",
  "BAD_RANGE",
]);

/**
 * A call that in Spark throws, or that misuses the kernel: a bug of the host, with two exceptions. DROP_FAILED comes
 * from a disk that the host has made fail, OUT_OF_MEMORY from a limit on the kernel's own memory. NEGATIVE_ANSWER is
 * none of Spark's exceptions: after less than nothing was released Spark grants less than nothing.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { Kernel } from "../kernel.ts";
 * import { MemoryError } from "./memory_error.ts";
 *
 * const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * const block = executor.declareBlock();
 * const error = assertThrows(() => executor.getSize(block), MemoryError);
 * assertEquals(error.status, "BLOCK_NOT_IN_MEMORY");
 * ```
 */
export class MemoryError extends Error {
  /** `MemoryError`. */
  override readonly name: string = "MemoryError";
  /** What Spark would throw, or how the kernel was misused. */
  readonly status: MemoryStatus;
  /** Of NEGATIVE_ANSWER: the bytes that the call gives. */
  readonly bytes: number | null;

  /** Made by the kernel; `bytes` only with NEGATIVE_ANSWER. */
  constructor(status: MemoryStatus, bytes: number | null = null) {
    super(bytes === null ? status : `${status}: ${bytes}`);
    this.status = status;
    this.bytes = bytes;
  }
}
