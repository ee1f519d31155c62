/**
 * A task's memory manager (org.apache.spark.memory.TaskMemoryManager): asks the executor for execution memory, makes
 * the task's own consumers spill when there is not enough, keeps the page table.
 *
 * Waiting is a status: a request that waits stays on a stack of requests (a spill may itself ask for memory) and goes
 * on in {@linkcode TaskMemoryManager.resume}, at the step where Spark's thread would wake up.
 *
 * @module
 */
import {
  type ExecutionMemory,
  FAILED,
  type Failure,
  type MemoryMode,
  OFF_HEAP,
  ON_HEAP,
  type OutOfMemory,
  WAITING,
} from "./execution_memory.ts";
import type { MemoryBlock, MemoryConsumer } from "./memory_consumer.ts";
import { MemoryRequest, type RequestKind } from "./memory_request.ts";
import { PAGE_TABLE_SIZE, PageTable } from "./page_table.ts";
import { REFERENCE_SPARK_VERSION } from "../../spark/spark_version.ts";
import { rulesFor } from "../../spark/versions.ts";
import { outOfMemoryMessage, type SpillRules } from "./spill_rules.ts";

/** Largest page in bytes: 2^31 - 1 words (TaskMemoryManager.MAXIMUM_PAGE_SIZE_BYTES). */
export const MAXIMUM_PAGE_SIZE_BYTES = (2 ** 31 - 1) * 8;

/** What a TaskMemoryManager can be told besides its memory and task. */
export interface TaskMemoryManagerOptions {
  /** Where Tungsten pages and arrays live: off-heap with spark.memory.offHeap.enabled. */
  readonly tungstenMemoryMode: MemoryMode;
  /** spark.buffer.pageSize, or what Spark computes without it; bytes. */
  readonly pageSizeBytes: number;
  /** What differs by Spark version; default: 2.4.0. */
  readonly rules?: SpillRules;
  /** Told when the JVM's allocator throws OutOfMemoryError for a page of so many bytes. */
  readonly allocationFailed?: (numBytes: number) => void;
  /** Pages above this make the JVM's allocator throw OutOfMemoryError; default: none does. */
  readonly largestAllocation?: number;
}

/** For all tasks that have nobody to tell that an allocation failed: a function of its own for each would be an object. */
const nobodyTold = () => {};

const OUT_OF_MEMORY_ERROR = "org.apache.spark.memory.SparkOutOfMemoryError";

/**
 * The memory of one task. Every step is replayed against recorded traces of the real class
 * (tests/replay/spilling_test.ts); the rules are listed in this folder's README.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "./execution_memory.ts";
 * import { MemoryConsumer } from "./memory_consumer.ts";
 * import { TaskMemoryManager } from "./task_memory_manager.ts";
 *
 * class Buffer extends MemoryConsumer {
 *   readonly name = "buffer";
 *   spill() {
 *     const freed = this.used;
 *     this.freeMemory(freed);
 *     return freed;
 *   }
 * }
 * let free = 100;
 * const memory = {
 *   acquireExecutionMemory: (n: number) => {
 *     const granted = Math.min(n, free);
 *     free -= granted;
 *     return granted;
 *   },
 *   releaseExecutionMemory: (n: number) => void (free += n),
 *   releaseAllExecutionMemoryForTask: () => 100 - free,
 *   executionMemoryUsageForTask: () => 100 - free,
 *   executionMemoryUsed: () => 100 - free,
 *   storageMemoryUsed: () => 0,
 * };
 * const task = new TaskMemoryManager(memory, 0, {
 *   tungstenMemoryMode: ON_HEAP,
 *   pageSizeBytes: 10,
 * });
 * const first = new Buffer(task, ON_HEAP);
 * const second = new Buffer(task, ON_HEAP);
 * assertEquals(first.acquireMemory(80), 80);
 * assertEquals(second.acquireMemory(60), 60); // the first one spilled
 * assertEquals([first.used, second.used], [0, 60]);
 * ```
 */
export class TaskMemoryManager {
  readonly taskAttemptId: number;
  readonly rules: SpillRules;
  readonly tungstenMemoryMode: MemoryMode;
  readonly pageSizeBytes: number;
  /** Why the last request failed. */
  failure: Failure | null = null;
  /** Most bytes held at a time on the heap, as counted from Spark 4.0 on. */
  peakOnHeapMemory = 0;
  /** Most bytes held at a time outside of the heap, as counted from Spark 4.0 on. */
  peakOffHeapMemory = 0;

  readonly #memory: ExecutionMemory;
  readonly #largestAllocation: number;
  readonly #allocationFailed: (numBytes: number) => void;
  /** Registered consumers, ascending by order. */
  readonly #consumers: MemoryConsumer[] = [];
  /** The innermost request that is under way and was not met at once. */
  #request: MemoryRequest | null = null;
  readonly #pageTable = new PageTable();
  #consumersMade = 0;
  #currentOnHeap = 0;
  #currentOffHeap = 0;
  /** Bytes granted for pages that the JVM could not allocate. */
  #acquiredButNotUsed = 0;

  constructor(
    memory: ExecutionMemory,
    taskAttemptId: number,
    options: TaskMemoryManagerOptions,
  ) {
    this.#memory = memory;
    this.taskAttemptId = taskAttemptId;
    this.rules = options.rules ?? rulesFor(REFERENCE_SPARK_VERSION).spilling;
    this.#largestAllocation = options.largestAllocation ?? Infinity;
    this.#allocationFailed = options.allocationFailed ?? nobodyTold;
    this.tungstenMemoryMode = options.tungstenMemoryMode;
    this.pageSizeBytes = options.pageSizeBytes;
  }

  /** A number for the next consumer of this task. */
  nextConsumerOrder(): number {
    return this.#consumersMade++;
  }

  /** Bytes that the innermost request has so far; 0 when none is under way. */
  get gotSoFar(): number {
    return this.#request?.got ?? 0;
  }

  /** A request waits for other tasks. */
  get waiting(): boolean {
    return this.#request !== null;
  }

  /** The task's execution memory, both modes (getMemoryConsumptionForThisTask). */
  get memoryConsumption(): number {
    const { taskAttemptId } = this;
    return this.#memory.executionMemoryUsageForTask(taskAttemptId, ON_HEAP) +
      this.#memory.executionMemoryUsageForTask(taskAttemptId, OFF_HEAP);
  }

  /** MemoryConsumer.acquireMemory: any part of `numBytes` will do. */
  requestMemory(numBytes: number, consumer: MemoryConsumer): number {
    return this.#ask("memory", numBytes, 0, consumer);
  }

  /** MemoryConsumer.allocatePage: the page size or `required` bytes, and at least `required`. */
  requestPage(required: number, consumer: MemoryConsumer): number {
    const asked = required > consumer.pageSize ? required : consumer.pageSize;
    return this.#ask("page", asked, required, consumer);
  }

  /** MemoryConsumer.allocateArray: all of `required` bytes. */
  requestArray(required: number, consumer: MemoryConsumer): number {
    return this.#ask("array", required, required, consumer);
  }

  /**
   * TaskMemoryManager.allocatePage itself: a page of what is granted, perhaps smaller than asked; 0 bytes give null.
   * It does not count as used by the consumer.
   */
  allocatePage(size: number, consumer: MemoryConsumer): number {
    return this.#ask("tablePage", size, 0, consumer);
  }

  /**
   * The memory manager has granted `granted` bytes to the request that waits. Goes on from there: returns the bytes
   * of the whole request when it is complete (its consumer has been told), `WAITING` when it waits again, or `FAILED`.
   */
  resume(granted: number): number {
    const consumer = this.#asking();
    return this.#ended(this.#settle(this.#granted(this.#request!, granted)), consumer);
  }

  /** The request that waits has ended with an exception (interrupted, or its task was forgotten). Returns FAILED. */
  abort(failure: Failure): number {
    const consumer = this.#asking();
    this.failure = failure;
    this.#request = this.#request!.outer;
    return this.#ended(this.#settle(FAILED), consumer);
  }

  /** Gives back bytes (releaseExecutionMemory). */
  releaseExecutionMemory(numBytes: number, consumer: MemoryConsumer): void {
    this.#memory.releaseExecutionMemory(
      numBytes,
      this.taskAttemptId,
      consumer.mode,
    );
    if (consumer.mode === OFF_HEAP) this.#currentOffHeap -= numBytes;
    else this.#currentOnHeap -= numBytes;
  }

  /**
   * Gives back a page. False when a clean-up had freed it already: Spark then fails with an
   * ArrayIndexOutOfBoundsException, because the block's page number is no index any more.
   */
  freePage(page: MemoryBlock, consumer: MemoryConsumer): boolean {
    if (!this.#pageTable.remove(page)) return false;
    this.releaseExecutionMemory(page.size, consumer);
    return true;
  }

  /**
   * The task has ended: frees its pages, forgets its consumers and returns the bytes that were still held; more than
   * 0 after a success is a leak (cleanUpAllAllocatedMemory). Page numbers stay taken, as in Spark.
   */
  cleanUpAllAllocatedMemory(): number {
    for (const consumer of this.#consumers) consumer.registered = false;
    this.#consumers.length = 0;
    this.#pageTable.clear();
    this.#memory.releaseExecutionMemory(
      this.#acquiredButNotUsed,
      this.taskAttemptId,
      this.tungstenMemoryMode,
    );
    return this.#memory.releaseAllExecutionMemoryForTask(this.taskAttemptId);
  }

  /** What showMemoryUsage logs: the task's bytes that belong to no consumer, and the executor's. */
  memoryUsage(): Pick<OutOfMemory, "notAccountedFor" | "executionMemoryUsed" | "storageMemoryUsed"> {
    let accountedFor = 0;
    for (const consumer of this.#consumers) accountedFor += consumer.used;
    const memory = this.#memory;
    return {
      notAccountedFor: this.memoryConsumption - accountedFor,
      executionMemoryUsed: memory.executionMemoryUsed(ON_HEAP) + memory.executionMemoryUsed(OFF_HEAP),
      storageMemoryUsed: memory.storageMemoryUsed(ON_HEAP) + memory.storageMemoryUsed(OFF_HEAP),
    };
  }

  /**
   * A consumer's spill threw: what TaskMemoryManager makes of it. An interrupted write is a RuntimeException (the
   * task is being killed), any other IOException an out-of-memory error. Returns FAILED, for `spill` to return.
   */
  spillFailed(consumer: MemoryConsumer, message: string | null): number {
    this.failure = message === null
      ? {
        className: "java.lang.RuntimeException",
        message: null,
        outOfMemory: null,
      }
      : {
        className: OUT_OF_MEMORY_ERROR,
        message: `error while calling spill() on ${consumer.name} : ${message}`,
        outOfMemory: null,
      };
    return FAILED;
  }

  #ask(
    kind: RequestKind,
    required: number,
    needed: number,
    consumer: MemoryConsumer,
  ): number {
    if (kind !== "memory" && required > MAXIMUM_PAGE_SIZE_BYTES) {
      return this.#fail(
        "org.apache.spark.memory.TooLargePageException",
        `Cannot allocate a page of ${required} bytes.`,
      );
    }
    if (this.#request !== null && this.#request.phase !== "spilling") {
      throw new Error(`${consumer.name} asks for memory while its task waits for some`);
    }
    if (required <= 0) {
      return this.#fail(
        "java.lang.AssertionError",
        required < 0 ? "assertion failed" : "assertion failed: invalid number of bytes requested: 0",
      );
    }
    const granted = this.#memory.acquireExecutionMemory(
      required,
      this.taskAttemptId,
      consumer.mode,
    );
    if (granted === required) {
      this.#acquired(granted, consumer);
      return this.#complete(kind, required, needed, granted, consumer);
    }
    const request = new MemoryRequest(kind, required, needed, consumer, this.#request);
    this.#request = request;
    return granted === WAITING ? WAITING : this.#granted(request, granted);
  }

  /** The memory manager has answered the request on top of the stack. */
  #granted(request: MemoryRequest, granted: number): number {
    request.got += granted;
    if (request.phase === "first" && request.got < request.required) {
      request.collect(this.#consumers, this.rules);
    } else if (request.own && this.rules.selfSpill === "once") {
      return this.#finish(request);
    }
    return this.#spillUntilMet(request);
  }

  /** Asks consumers to spill, one after another, until the request is met or none is left. */
  #spillUntilMet(request: MemoryRequest): number {
    while (request.got < request.required && request.choose(this.rules)) {
      request.phase = "spilling";
      const released = request.victim.spill(request.missing, request.consumer);
      const status = this.#spilled(request, released);
      if (status !== 0) return status < 0 ? status : this.#finish(request);
    }
    return this.#finish(request);
  }

  /**
   * A consumer has spilled: the freed bytes count only through another call of the memory manager. Returns 0 to go
   * on, 1 when the request is at its end, WAITING or FAILED.
   */
  #spilled(request: MemoryRequest, released: number): number {
    if (released === WAITING) return WAITING;
    if (released === FAILED) {
      this.#request = request.outer;
      return FAILED;
    }
    if (released === 0 || (!this.rules.asksAgain && !request.own)) request.strike();
    if (released === 0) return request.own ? 1 : 0;
    request.phase = "reacquiring";
    const granted = this.#memory.acquireExecutionMemory(
      request.required - request.got,
      this.taskAttemptId,
      request.consumer.mode,
    );
    if (granted === WAITING) return WAITING;
    request.got += granted;
    return request.own && this.rules.selfSpill === "once" ? 1 : 0;
  }

  /** The request on top of the stack has all it can get. */
  #finish(request: MemoryRequest): number {
    this.#request = request.outer;
    this.#acquired(request.got, request.consumer);
    return this.#complete(
      request.kind,
      request.required,
      request.needed,
      request.got,
      request.consumer,
    );
  }

  /** End of acquireExecutionMemory: the consumer is registered, the task's bytes are counted. */
  #acquired(got: number, consumer: MemoryConsumer): void {
    if (!consumer.registered) this.#register(consumer);
    if (consumer.mode === OFF_HEAP) {
      this.#currentOffHeap += got;
      if (this.#currentOffHeap > this.peakOffHeapMemory) {
        this.peakOffHeapMemory = this.#currentOffHeap;
      }
    } else {
      this.#currentOnHeap += got;
      if (this.#currentOnHeap > this.peakOnHeapMemory) {
        this.peakOnHeapMemory = this.#currentOnHeap;
      }
    }
  }

  #register(consumer: MemoryConsumer): void {
    consumer.registered = true;
    const consumers = this.#consumers;
    let at = consumers.length;
    consumers.push(consumer);
    for (; at > 0 && consumers[at - 1].order > consumer.order; at--) consumers[at] = consumers[at - 1];
    consumers[at] = consumer;
  }

  /** Makes of the acquired bytes what was asked for. */
  #complete(
    kind: RequestKind,
    required: number,
    needed: number,
    got: number,
    consumer: MemoryConsumer,
  ): number {
    if (kind === "memory") {
      consumer.used += got;
      return got;
    }
    consumer.page = null;
    if (got > this.#largestAllocation) {
      this.#acquiredButNotUsed += got;
      this.#allocationFailed(got);
      return this.#ask(kind, required, needed, consumer);
    }
    if (got > 0) {
      consumer.page = this.#pageTable.add(got);
      if (consumer.page === null) {
        this.releaseExecutionMemory(got, consumer);
        const message = `Have already allocated a maximum of ${PAGE_TABLE_SIZE} pages`;
        return this.#fail("java.lang.IllegalStateException", message);
      }
    }
    if (kind === "tablePage") return got;
    if (got < needed || got === 0) return this.#outOfMemory(needed, consumer);
    consumer.used += got;
    return got;
  }

  /** MemoryConsumer.throwOom: the page that is too small is given back, the usage is taken down. */
  #outOfMemory(required: number, consumer: MemoryConsumer): number {
    const { page } = consumer;
    const got = page === null ? 0 : page.size;
    if (page !== null) this.freePage(page, consumer);
    consumer.page = null;
    this.failure = {
      className: OUT_OF_MEMORY_ERROR,
      message: outOfMemoryMessage(required, got, this.rules.outOfMemoryText),
      outOfMemory: { ...this.memoryUsage(), consumer: consumer.name, required, got },
    };
    return FAILED;
  }

  /** Hands the end of the innermost request to whoever made it: a consumer that was spilling, or the task. */
  #settle(result: number): number {
    while (result !== WAITING && this.#request !== null) {
      const request = this.#request;
      const status = this.#spilled(request, request.victim.resumeSpill(result));
      if (status < 0) result = status;
      else if (status > 0) result = this.#finish(request);
      else result = this.#spillUntilMet(request);
    }
    return result;
  }

  /** The consumer that made the outermost request. */
  #asking(): MemoryConsumer {
    let request = this.#request!;
    while (request.outer !== null) request = request.outer;
    return request.consumer;
  }

  /** Tells the consumer that began it how its request ended. */
  #ended(result: number, consumer: MemoryConsumer): number {
    if (result !== WAITING) consumer.requestCompleted(result);
    return result;
  }

  #fail(className: string, message: string): number {
    this.failure = { className, message, outOfMemory: null };
    return FAILED;
  }
}
