/**
 * What the kernel offers: one executor's memory manager and block store, with Spark's names.
 *
 * Everything is a number: bytes are whole numbers up to 2^53 - 1, blocks are small dense ids that the executor hands
 * out, tasks are task attempt ids. Nothing blocks: an acquire that Spark would let wait answers {@linkcode WAITING}
 * and completes later, as an event of the call that woke it. The host owns time.
 *
 * @module
 */

import type { MemoryStatus } from "./memory_error.ts";

/** Spark's MemoryMode. */
export type MemoryMode = 0 | 1;
/**
 * MemoryMode.ON_HEAP: memory of the Java heap.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel } from "../kernel.ts";
 * import { ON_HEAP } from "./types.ts";
 *
 * const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * assertEquals(executor.acquireExecutionMemory(400, 0, ON_HEAP), 400);
 * ```
 */
export const ON_HEAP: MemoryMode = 0;
/**
 * MemoryMode.OFF_HEAP: memory that Spark allocates itself (spark.memory.offHeap.enabled).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel } from "../kernel.ts";
 * import { OFF_HEAP } from "./types.ts";
 *
 * const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * assertEquals(executor.acquireExecutionMemory(400, 0, OFF_HEAP), 0); // there is none
 * ```
 */
export const OFF_HEAP: MemoryMode = 1;

/**
 * Answer of {@linkcode ExecutorMemory.acquireExecutionMemory} when the task has to wait.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel } from "../kernel.ts";
 * import { ON_HEAP, WAITING } from "./types.ts";
 *
 * const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * executor.acquireExecutionMemory(900, 0, ON_HEAP);
 * // 100 bytes are free, and with two tasks each may wait for a quarter of the pool
 * assertEquals(executor.acquireExecutionMemory(500, 1, ON_HEAP), WAITING);
 * ```
 */
export const WAITING: number = -1;

/**
 * The rdd id of blocks that belong to none (broadcasts, task results, streams).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel } from "../kernel.ts";
 * import { NO_RDD, ON_HEAP } from "./types.ts";
 *
 * const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * const broadcast = executor.declareBlock(NO_RDD);
 * assertEquals(executor.putBytes(broadcast, 200, ON_HEAP), true);
 * ```
 */
export const NO_RDD: number = -1;

/**
 * The task attempt id of a thread without a TaskContext (MemoryStore.currentTaskAttemptId).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel } from "../kernel.ts";
 * import { NO_TASK, ON_HEAP } from "./types.ts";
 *
 * const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * executor.reserveUnrollMemoryForTask(executor.declareBlock(), 100, NO_TASK, ON_HEAP);
 * assertEquals(executor.unrollMemoryForTask(NO_TASK, ON_HEAP), 100);
 * ```
 */
export const NO_TASK: number = -1;

/**
 * How a block is put: bits, to be added up.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { PutFlags } from "./types.ts";
 *
 * // StorageLevel.MEMORY_AND_DISK
 * assertEquals(PutFlags.DESERIALIZED + PutFlags.USE_DISK, 3);
 * ```
 */
export const PutFlags = {
  /** Objects rather than bytes (DeserializedMemoryEntry). */
  DESERIALIZED: 1,
  /** The level uses disk: when the block is evicted the host writes it there, and it stays known to `lockForReading`. */
  USE_DISK: 2,
} as const;

/**
 * The rules that differ between Spark versions, named and meant as in VERSION_RULES.memory of ../spark/versions.ts;
 * those that are left out are as in 2.4.0.
 */
export interface MemoryRules {
  /** An on-heap execution pool of 0 bytes is refused (since 3.0). Default false. */
  readonly refusesEmptyExecutionPool: boolean;
  /** Storage borrows from execution what it lacks; before SPARK-21090, up to the whole request. Default true. */
  readonly borrowsOnlyWhatIsMissing: boolean;
  /** Bytes evicted for execution join its pool in the same call; in 1.6 with its next request. Default true. */
  readonly evictionReachesExecutionAtOnce: boolean;
  /** Blocks can be stored off-heap (since 2.0). Default true. */
  readonly offHeapStorage: boolean;
  /** Unmanaged memory lowers the limits (since 4.1, SPARK-53001). Default false. */
  readonly unmanagedConsumers: boolean;
}

/** How an executor's memory is laid out; bytes. */
export interface ExecutorMemoryOptions {
  /** Unified memory on the heap (UnifiedMemoryManager.maxHeapMemory). */
  readonly maxHeapMemory: number;
  /** Part of it in which execution does not evict: the first size of the storage pool. */
  readonly onHeapStorageRegionSize: number;
  /** Default 0. */
  readonly maxOffHeapMemory?: number;
  /** Default 0. */
  readonly offHeapStorageRegionSize?: number;
  /** What differs from Spark 2.4.0. */
  readonly rules?: Partial<MemoryRules>;
  /**
   * Who decides in which order waiting tasks are evaluated when they are woken, which Spark leaves to the JVM:
   * first come first served (default), or the host, which then calls `wake` whenever `notified` is true.
   */
  readonly wakeOrder?: "firstCome" | "host";
}

/** Settings of unrolling: spark.storage.unrollMemoryThreshold, .unrollMemoryCheckPeriod, .unrollMemoryGrowthFactor. */
export interface UnrollSettings {
  /** Bytes reserved before the first element; 1 MiB by default. */
  readonly memoryThreshold: number;
  /** Elements between two looks at the size; 16 by default. */
  readonly checkPeriod: number;
  /** 1.5 by default. */
  readonly growthFactor: number;
}

/** The values that are unrolled, for a putIterator in one call. */
export interface UnrollValues {
  /** How many elements there are. */
  readonly elementCount: number;
  /** Estimated bytes of each element. */
  readonly elementBytes: number;
  /** Size of the finished entry; without it, the sum of the elements. */
  readonly preciseSize?: number;
}

/** What putIterator gave. */
export interface UnrollResult {
  /** Whether the block is in memory now. */
  readonly stored: boolean;
  /** Bytes of the stored entry, or the unroll memory that the task still holds for what was unrolled so far. */
  readonly bytes: number;
  /** Elements taken from the iterator. */
  readonly elementsUnrolled: number;
}

/** One putIterator in steps, so that several tasks unroll at the same time. */
export interface Unrolling {
  /** Whether the last reservation succeeded; once false, the block cannot be stored. */
  readonly keepUnrolling: boolean;
  /** Unroll memory reserved so far for this block; held by the task until it is released. */
  readonly reservedBytes: number;
  /**
   * The elements so far have this estimated size; to be called for the 1st element and then every `checkPeriod`
   * elements. Reserves more when the size has reached the threshold. Gives `keepUnrolling`.
   */
  check(estimatedBytes: number): boolean;
  /** All elements are in: turns the reservation into the stored block, or gives false and keeps the reservation. */
  finish(preciseSize: number, putFlags?: number): boolean;
}

/** What a call caused besides its own answer, in the order in which it happened. */
export interface MemoryEventVisitor {
  /**
   * A block left memory. When its level uses disk, the host writes it there.
   *
   * @param forBlock the block for which space was made, or -1
   * @param forTask the task for whose execution memory space was made, or -1
   */
  evicted?(
    blockId: number,
    bytes: number,
    mode: MemoryMode,
    forBlock: number,
    forTask: number,
  ): void;
  /** A waiting acquire completed: `granted` bytes, 0 included. */
  granted?(ticket: number, granted: number, taskAttemptId: number): void;
  /** A waiting acquire was evaluated and waits on. */
  waitsOn?(ticket: number, taskAttemptId: number): void;
  /** A waiting acquire ended with what Spark would throw, for example `TASK_NOT_ACTIVE`. */
  failed?(ticket: number, status: MemoryStatus, taskAttemptId: number): void;
  /** More was released than held; Spark logs a warning and releases what is there. `taskAttemptId` is null for storage. */
  overRelease?(
    released: number,
    held: number,
    mode: MemoryMode,
    pool: "storage" | "execution",
  ): void;
}

/** The 13 numbers that describe an executor's memory, in the order of the recorded traces. */
export interface MemoryState {
  /** StorageMemoryPool.poolSize, bytes. */
  readonly onHeapStoragePoolSize: number;
  /** Of it, taken by blocks and unrolling, bytes. */
  readonly onHeapStorageMemoryUsed: number;
  /** ExecutionMemoryPool.poolSize, bytes. */
  readonly onHeapExecutionPoolSize: number;
  /** Of it, taken by tasks, bytes. */
  readonly onHeapExecutionMemoryUsed: number;
  /** The same four off the heap: StorageMemoryPool.poolSize, bytes. */
  readonly offHeapStoragePoolSize: number;
  /** Of it, taken by blocks and unrolling, bytes. */
  readonly offHeapStorageMemoryUsed: number;
  /** ExecutionMemoryPool.poolSize, bytes. */
  readonly offHeapExecutionPoolSize: number;
  /** Of it, taken by tasks, bytes. */
  readonly offHeapExecutionMemoryUsed: number;
  /** Blocks in the MemoryStore. */
  readonly entries: number;
  /** Tasks that share the execution pool: the N of 1/N and 1/2N. */
  readonly onHeapActiveTasks: number;
  /** The same off the heap. */
  readonly offHeapActiveTasks: number;
  /** Storage memory in use that is unroll memory (MemoryStore.currentUnrollMemory), bytes. */
  readonly onHeapUnrollMemory: number;
  /** The same off the heap, bytes. */
  readonly offHeapUnrollMemory: number;
}

/**
 * One executor's UnifiedMemoryManager, MemoryStore and the locks of its BlockInfoManager.
 *
 * What a call evicts and whom it wakes is read with `drain` before the next call on the same kernel. A call that in
 * Spark throws (a duplicate put, a negative size, ...) throws a MemoryError with the status; the simulation of a
 * correct host never sees one, except `DROP_FAILED`.
 */
export interface ExecutorMemory {
  /**
   * A new block id of this executor, dense from 0; ids of forgotten blocks are given out again.
   *
   * @param rddId the RDD that the block is a partition of, for the rule that a block never evicts one of its own RDD
   */
  declareBlock(rddId?: number): number;
  /** Gives a block id back; the block must not be in memory or locked. */
  forgetBlock(blockId: number): void;

  /**
   * Execution memory for a task; at most 1/N of the pool, and the task waits for its 1/2N (ExecutionMemoryPool).
   *
   * @returns the bytes granted, 0 included, or {@linkcode WAITING}; then `waitingTicket` identifies the request.
   */
  acquireExecutionMemory(
    numBytes: number,
    taskAttemptId: number,
    mode: MemoryMode,
  ): number;
  /** Ticket of the last acquire that answered WAITING. */
  readonly waitingTicket: number;
  /** Gives execution memory back and wakes waiting tasks; more than the task holds is an `overRelease`. */
  releaseExecutionMemory(
    numBytes: number,
    taskAttemptId: number,
    mode: MemoryMode,
  ): void;
  /** Releases both modes; gives the bytes that were held. */
  releaseAllExecutionMemoryForTask(taskAttemptId: number): number;
  /** Execution memory that a task holds, bytes. */
  executionMemoryUsageForTask(taskAttemptId: number, mode: MemoryMode): number;
  /** Gives up a waiting acquire (Spark: interrupts the thread; the task stays registered). False when it no longer waits. */
  cancel(ticket: number): boolean;
  /** Tickets of the waiting acquires, first come first. */
  waitingTickets(): number[];
  /** With `wakeOrder: "host"`: whether the last call woke the waiting tasks. */
  readonly notified: boolean;
  /** With `wakeOrder: "host"`: evaluates one waiting acquire again; the outcome is an event. */
  wake(ticket: number): void;

  /**
   * Storage memory for a block, for hosts that keep their own store: borrows from execution and evicts blocks of other
   * RDDs; false when it is not to be had.
   */
  acquireStorageMemory(
    blockId: number,
    numBytes: number,
    mode: MemoryMode,
  ): boolean;
  /** Unroll memory, which is storage memory (UnifiedMemoryManager.acquireUnrollMemory). */
  acquireUnrollMemory(
    blockId: number,
    numBytes: number,
    mode: MemoryMode,
  ): boolean;
  /** Gives storage memory back; more than is in use is an `overRelease`. */
  releaseStorageMemory(numBytes: number, mode: MemoryMode): void;
  /** The same for unroll memory. */
  releaseUnrollMemory(numBytes: number, mode: MemoryMode): void;
  /** Sets the storage memory in use to 0, in both modes; the blocks stay (MemoryManager.releaseAllStorageMemory). */
  releaseAllStorageMemory(): void;

  /** Unroll memory for a block that a task unrolls, counted by task; false when it is not to be had. */
  reserveUnrollMemoryForTask(
    blockId: number,
    numBytes: number,
    taskAttemptId: number,
    mode: MemoryMode,
  ): boolean;
  /** Without `numBytes`, all that the task holds. */
  releaseUnrollMemoryForTask(
    taskAttemptId: number,
    mode: MemoryMode,
    numBytes?: number,
  ): void;
  /** Unroll memory that a task holds, bytes. */
  unrollMemoryForTask(taskAttemptId: number, mode: MemoryMode): number;

  /** Stores a block of known size, evicting others if need be; false when it does not fit. */
  putBytes(
    blockId: number,
    size: number,
    mode: MemoryMode,
    putFlags?: number,
  ): boolean;
  /** Unrolls and stores values in one call. */
  putIterator(
    blockId: number,
    taskAttemptId: number,
    mode: MemoryMode,
    settings: UnrollSettings,
    values: UnrollValues,
    putFlags?: number,
  ): UnrollResult;
  /** Begins to unroll values: reserves the initial threshold. */
  beginUnroll(
    blockId: number,
    taskAttemptId: number,
    mode: MemoryMode,
    settings: UnrollSettings,
  ): Unrolling;
  /** Reads a block, which makes it the youngest; false when it is not in memory. */
  get(blockId: number): boolean;
  /** Like `get`, for serialized blocks only. */
  getBytes(blockId: number): boolean;
  /** Like `get`, for deserialized blocks only. */
  getValues(blockId: number): boolean;
  /** Size of a block in memory, which makes it the youngest. */
  getSize(blockId: number): number;
  /** Whether a block is in memory; does not make it younger. */
  contains(blockId: number): boolean;
  /** Removes a block as BlockManager.removeBlock does; a locked block stays ("locked": Spark would wait). */
  remove(blockId: number): "removed" | "absent" | "locked";
  /** Pins a block; false when it is not known (neither in memory nor dropped to disk). */
  lockForReading(blockId: number): boolean;
  /** Gives back one lock of `lockForReading`. */
  unlock(blockId: number): void;
  /** Empties the store and frees all storage and unroll memory (MemoryStore.clear, BlockInfoManager.clear). */
  clear(): void;

  /** Sets the cached counter of unmanaged memory (since 4.1); wakes nobody. */
  setUnmanagedMemory(mode: MemoryMode, bytes: number): void;
  /** The host's disk fails after `afterDrops` further drops: the next one ends as DROP_FAILED. null: it works. */
  setDropFailure(afterDrops: number | null): void;
  /** Whether every evicted block stays known to `lockForReading`, whatever its storage level. */
  setKeepsDropped(keeps: boolean): void;

  /** StorageMemoryPool.poolSize, bytes. */
  storagePoolSize(mode: MemoryMode): number;
  /** Storage memory in use, bytes. */
  storageMemoryUsed(mode: MemoryMode): number;
  /** ExecutionMemoryPool.poolSize, bytes. */
  executionPoolSize(mode: MemoryMode): number;
  /** Execution memory in use, bytes. */
  executionMemoryUsed(mode: MemoryMode): number;
  /** Tasks that share the execution pool. */
  activeTasks(mode: MemoryMode): number;
  /** All numbers at once. */
  state(): MemoryState;
  /** The 13 numbers of `state` in its order; valid until the next call on the kernel. */
  stateNumbers(): ArrayLike<number>;
  /** Whether the task is active in a pool, and whether it is in the unroll memory map; both may be with 0 bytes. */
  taskFlags(taskAttemptId: number): { active: [boolean, boolean]; unrolls: [boolean, boolean] };
  /** The blocks in memory, eldest first. */
  blocks(
    mode: MemoryMode,
    visit: (blockId: number, size: number, readers: number) => void,
  ): void;

  /** Whether the last call left events. */
  readonly hasEvents: boolean;
  /** Shows the events of the last call to a visitor, once; they are gone with the next call. */
  drain(visitor: MemoryEventVisitor): void;

  /** Gives the executor's memory back; the object must not be used afterwards. */
  destroy(): void;
}

/** The memory of an executor that lives in the WebAssembly kernel. */
export interface KernelExecutorMemory extends ExecutorMemory {
  /** Its handle in the kernel's ABI (assembly/README.md). */
  readonly handle: number;
  /** A view of the kernel's memory. */
  stateNumbers(): Float64Array;
}
