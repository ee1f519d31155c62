/**
 * Takes results from executors: counts them, fetches indirect ones, hands them over
 * (org.apache.spark.scheduler.TaskResultGetter).
 *
 * @module
 */
import type { MapOutputSizes } from "./map_status.ts";
import { RESULT_TOO_LARGE, TASK_RESULT_LOST, type TaskFailedReason } from "./task_end_reason.ts";
import type { TaskInfos } from "./task_infos.ts";
import type { EndState, TaskSetManager } from "./task_set_manager.ts";
import type { SparkRules } from "../../spark/versions.ts";

/** What an executor sends with a task that finished. Sizes are bytes. */
export interface TaskResult {
  readonly kind: "direct" | "indirect";
  /** Direct: the serialized DirectTaskResult. Indirect (and dropped): the size announced. */
  readonly size: number;
  /** Direct: the serialized value in it. */
  readonly valueSize: number;
  /** Map tasks: sizes of the output. */
  readonly output: MapOutputSizes | null;
  /** The value cannot be deserialized: the exception that the getter's thread meets (its toString). */
  readonly deserializationError?: {
    readonly classNotFound: boolean;
    readonly message: string;
  };
}

/** An attempt that did not succeed. */
export interface FailedTask {
  readonly tid: number;
  readonly state: EndState;
  readonly reason: TaskFailedReason;
}

/** Where indirect results lie. */
export interface ResultBlocks {
  /** Fetches the block of an indirect result and calls back, now or later: whether it was there. */
  fetch(tid: number, size: number, done: (found: boolean) => void): void;
  /** The block is not needed any more. */
  remove(tid: number): void;
}

/** The getter's threads (spark.resultGetter.threads, 4). */
export interface GetterThreads {
  /** Takes a thread, if one is free and nothing waits before. */
  acquire(): boolean;
  /** The work that took a thread is done. */
  release(): void;
  /** Has work run as soon as a thread is free; it starts holding that thread, and releases it. */
  enqueue(work: () => void): void;
}

/** What the getter asks of the task scheduler. */
export interface TaskResultReceiver {
  readonly infos: TaskInfos;
  handleTaskGettingResult(manager: TaskSetManager, tid: number): void;
  handleSuccessfulTask(
    manager: TaskSetManager,
    tid: number,
    output: MapOutputSizes | null,
  ): void;
  handleFailedTask(manager: TaskSetManager, failed: FailedTask): void;
  handlePartitionCompleted(stageId: number, partition: number): void;
}

/**
 * So many threads; what comes while all work waits in a queue. Time passes only while work waits for a callback (a fetch
 * over the network), so nothing is kept waiting by direct results.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { FixedThreads } from "./task_result_getter.ts";
 *
 * const threads = new FixedThreads(1);
 * const log: string[] = [];
 * assertEquals(threads.acquire(), true);
 * threads.enqueue(() => { log.push("second"); threads.release(); });
 * assertEquals([threads.acquire(), log.length], [false, 0]);
 * threads.release();
 * assertEquals(log, ["second"]);
 * ```
 */
export class FixedThreads implements GetterThreads {
  #idle: number;
  #queue: (() => void)[] = [];
  #next = 0;

  constructor(threads = 4) {
    this.#idle = threads;
  }

  acquire(): boolean {
    if (this.#idle === 0 || this.#next < this.#queue.length) return false;
    this.#idle--;
    return true;
  }

  release(): void {
    this.#idle++;
    while (this.#idle > 0 && this.#next < this.#queue.length) {
      const work = this.#queue[this.#next++];
      if (this.#next === this.#queue.length) {
        this.#queue = [];
        this.#next = 0;
      }
      this.#idle--;
      work();
    }
  }

  enqueue(work: () => void): void {
    this.#queue.push(work);
  }
}

/** The getter. */
export class TaskResultGetter {
  readonly #receiver: TaskResultReceiver;
  readonly #threads: GetterThreads;
  readonly #blocks: ResultBlocks;
  readonly #rules: SparkRules;

  constructor(
    receiver: TaskResultReceiver,
    options: {
      readonly threads: GetterThreads;
      readonly blocks: ResultBlocks;
      readonly rules: SparkRules;
    },
  ) {
    this.#receiver = receiver;
    this.#threads = options.threads;
    this.#blocks = options.blocks;
    this.#rules = options.rules;
  }

  /** A task reported FINISHED. */
  enqueueSuccessfulTask(
    manager: TaskSetManager,
    tid: number,
    result: TaskResult,
  ): void {
    if (this.#threads.acquire()) this.#take(manager, tid, result);
    else this.#threads.enqueue(() => this.#take(manager, tid, result));
  }

  #take(manager: TaskSetManager, tid: number, result: TaskResult): void {
    if (result.kind === "indirect") {
      this.#takeIndirect(manager, tid, result);
      return;
    }
    const counted = this.#rules.results.countsValueBytesOnly ? result.valueSize : result.size;
    if (!manager.canFetchMoreResults(counted)) this.#refuse(manager, tid);
    else if (this.#canDeserialize(manager, result)) {
      this.#handOver(manager, tid, result);
    }
    this.#threads.release();
  }

  #takeIndirect(
    manager: TaskSetManager,
    tid: number,
    result: TaskResult,
  ): void {
    if (!manager.canFetchMoreResults(result.size)) {
      this.#blocks.remove(tid);
      this.#refuse(manager, tid);
      this.#threads.release();
      return;
    }
    this.#receiver.handleTaskGettingResult(manager, tid);
    this.#blocks.fetch(tid, result.size, (found) => {
      if (!found) {
        this.#receiver.handleFailedTask(manager, {
          tid,
          state: "FINISHED",
          reason: TASK_RESULT_LOST,
        });
      } else if (this.#canDeserialize(manager, result)) {
        this.#blocks.remove(tid);
        this.#handOver(manager, tid, result);
      }
      this.#threads.release();
    });
  }

  /** The results of the set are too large. Up to 2.4.7 such a task is never reported as ended. */
  #refuse(manager: TaskSetManager, tid: number): void {
    if (!this.#rules.results.refusedResultIsKilled) return;
    this.#receiver.handleFailedTask(manager, {
      tid,
      state: "KILLED",
      reason: RESULT_TOO_LARGE,
    });
  }

  /** False, and the stage is aborted, when the value cannot be read. */
  #canDeserialize(manager: TaskSetManager, result: TaskResult): boolean {
    const error = result.deserializationError;
    if (error === undefined) return true;
    manager.abort(
      error.classNotFound
        ? `ClassNotFound with classloader: ${error.message}`
        : `Exception while getting task result: ${error.message}`,
    );
    return false;
  }

  #handOver(manager: TaskSetManager, tid: number, result: TaskResult): void {
    this.#receiver.infos.resultSize[tid] = result.size;
    this.#receiver.handleSuccessfulTask(manager, tid, result.output);
  }

  /** A task reported FAILED or KILLED. */
  enqueueFailedTask(manager: TaskSetManager, failed: FailedTask): void {
    this.#execute(() => this.#receiver.handleFailedTask(manager, failed));
  }

  /** The DAG scheduler learnt that an older attempt completed a partition (since 3.0). */
  enqueuePartitionCompletionNotification(
    stageId: number,
    partition: number,
  ): void {
    this.#execute(() => this.#receiver.handlePartitionCompleted(stageId, partition));
  }

  #execute(work: () => void): void {
    const run = () => {
      work();
      this.#threads.release();
    };
    if (this.#threads.acquire()) run();
    else this.#threads.enqueue(run);
  }
}
