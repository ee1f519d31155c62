/**
 * A memory consumer of a task (org.apache.spark.memory.MemoryConsumer): something that asks the task's memory manager
 * for bytes, pages and arrays, and may be told to spill.
 *
 * @module
 */
import type { MemoryMode } from "./execution_memory.ts";
import type { TaskMemoryManager } from "./task_memory_manager.ts";

/**
 * A page or array (org.apache.spark.unsafe.memory.MemoryBlock): only its size and its place in the page table count.
 * Once it is freed it may become another page of its task: who frees it keeps it no longer.
 */
export interface MemoryBlock {
  /** Bytes. */
  size: number;
  /** Index in the page table; negative once freed. */
  pageNumber: number;
}

/**
 * Base of all consumers. Requests return bytes granted (0 or more), `WAITING` or `FAILED` (execution_memory.ts); one
 * that waited ends in {@linkcode MemoryConsumer.requestCompleted}. A page or array that was granted is in `page`.
 */
export abstract class MemoryConsumer {
  /** Bytes that the consumer holds by its own account (getUsed). */
  used = 0;
  /** The task's memory manager knows it: it has asked once since the last clean-up. */
  registered = false;
  /** The block of the last page or array request; null when there was none to give. */
  page: MemoryBlock | null = null;
  /** How the last request that waited has ended. */
  completed = 0;
  readonly taskMemoryManager: TaskMemoryManager;
  readonly mode: MemoryMode;
  /** Place among the task's consumers of equal use; the later one is spilled first. Spark leaves this to hash order. */
  readonly order: number;
  readonly pageSize: number;

  constructor(
    taskMemoryManager: TaskMemoryManager,
    mode: MemoryMode,
    options: { pageSize?: number; order?: number } = {},
  ) {
    this.taskMemoryManager = taskMemoryManager;
    this.mode = mode;
    this.pageSize = options.pageSize ?? taskMemoryManager.pageSizeBytes;
    this.order = options.order ?? taskMemoryManager.nextConsumerOrder();
  }

  /** What messages call it. */
  abstract get name(): string;

  /**
   * Frees memory because `trigger` (perhaps itself) is short of `size` bytes. Returns the bytes freed by Spark's own
   * account of that consumer, `WAITING` when a request made inside had to wait (then `resumeSpill` is called), or
   * `FAILED` after {@linkcode TaskMemoryManager.spillFailed}.
   */
  abstract spill(size: number, trigger: MemoryConsumer): number;

  /** Goes on with a spill whose inner request has ended with `result` (bytes, or FAILED). Returns as `spill` does. */
  resumeSpill(_result: number): number {
    throw new Error(`${this.name} makes no request while it spills`);
  }

  /** A request of this consumer that waited has ended: bytes granted or FAILED. */
  requestCompleted(result: number): void {
    this.completed = result;
  }

  /** Asks for `numBytes`; any part of it may be granted (acquireMemory). */
  acquireMemory(numBytes: number): number {
    return this.taskMemoryManager.requestMemory(numBytes, this);
  }

  /** Gives back `numBytes` (freeMemory). */
  freeMemory(numBytes: number): void {
    this.taskMemoryManager.releaseExecutionMemory(numBytes, this);
    this.used -= numBytes;
  }

  /** Asks for a page of at least `required` bytes, of the page size if that is more (allocatePage). */
  allocatePage(required: number): number {
    return this.taskMemoryManager.requestPage(required, this);
  }

  /** Gives back a page (freePage). Returns false when the page was freed by a clean-up before (Spark then throws). */
  freePage(page: MemoryBlock): boolean {
    this.used -= page.size;
    return this.taskMemoryManager.freePage(page, this);
  }

  /** Asks for an array of `numLongs` 64-bit words; all of it is needed (allocateArray). */
  allocateArray(numLongs: number): number {
    return this.taskMemoryManager.requestArray(numLongs * 8, this);
  }

  /** Gives back an array (freeArray). */
  freeArray(array: MemoryBlock): boolean {
    return this.freePage(array);
  }
}

/**
 * True for what a request returns when it has ended with bytes, be it 0.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { FAILED, WAITING } from "./execution_memory.ts";
 * import { isGranted } from "./memory_consumer.ts";
 *
 * assertEquals([0, 8, WAITING, FAILED].map(isGranted), [true, true, false, false]);
 * ```
 */
export function isGranted(result: number): boolean {
  return result >= 0;
}
