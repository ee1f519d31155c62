/**
 * One attempt of a task while it runs on an executor: what it holds and what it has measured.
 *
 * @module
 */
import { OFF_HEAP, ON_HEAP } from "../kernel/types.ts";
import type { BlockStatus, TaskEndReason, TaskMetrics } from "../spark/events.ts";
import type { Executor } from "./executor.ts";
import { TaskMemoryManager } from "./memory/task_memory_manager.ts";
import type { SimulationEnvironment } from "./environment.ts";
import type { Activity, Process, Stretch, TaskFailure } from "./process.ts";
import type { StageDemand } from "./workload.ts";

/** Identity of an attempt. */
export interface TaskIdentity {
  /** Task attempt id (TID). */
  readonly tid: number;
  readonly stageId: number;
  readonly stageAttemptId: number;
  /** Attempt number of the task within its task set. */
  readonly attemptNumber: number;
  readonly speculative: boolean;
  /** Index into Workload.demands. */
  readonly demandIndex: number;
  /** Dense index of the stage's final RDD. */
  readonly rdd: number;
  /** RDD partition. */
  readonly partition: number;
  /** Shuffle that it writes, dense index; null for result tasks. */
  readonly shuffle: number | null;
}

/** Metrics of a task that has measured nothing yet (TaskMetrics). */
export function emptyMetrics(): TaskMetrics {
  return {
    executorDeserializeTime: 0,
    executorDeserializeCpuTimeNs: 0,
    executorRunTime: 0,
    executorCpuTimeNs: 0,
    resultSize: 0,
    jvmGcTime: 0,
    resultSerializationTime: 0,
    memoryBytesSpilled: 0,
    diskBytesSpilled: 0,
    peakExecutionMemory: 0,
    peakOnHeapExecutionMemory: null,
    peakOffHeapExecutionMemory: null,
    inputBytes: 0,
    inputRecords: 0,
    outputBytes: 0,
    outputRecords: 0,
    shuffleRemoteBytesRead: 0,
    shuffleRemoteBytesReadToDisk: 0,
    shuffleLocalBytesRead: 0,
    shuffleRemoteBlocksFetched: 0,
    shuffleLocalBlocksFetched: 0,
    shuffleFetchWaitTime: 0,
    shuffleRecordsRead: 0,
    shuffleBytesWritten: 0,
    shuffleWriteTimeNs: 0,
    shuffleRecordsWritten: 0,
    updatedBlocks: null,
  };
}

/** How a task ended on its executor, on its way to the driver. */
export type TaskOutcome =
  | {
    readonly kind: "finished";
    readonly path: "direct" | "indirect" | "dropped";
    readonly size: number;
    readonly valueSize: number;
  }
  | { readonly kind: "failed"; readonly state: "FAILED" | "KILLED"; readonly reason: TaskEndReason };

/**
 * A running attempt. Neither here nor in other classes of which many objects with changing numbers live are there
 * parameter properties: with one, TypeScript defines all of a class's fields as undefined first, and V8 makes an object
 * for every number with a fraction that it stores in such a field; one that begins as a number is changed in place.
 */
export class Task {
  /** The stretch of computing under way. First what each of the task's events looks at, side by side. */
  stretch: Stretch | null = null;
  /** Set when it has failed or been killed: its process is not resumed any more. */
  ended = false;
  /** What the process yields; null for a task that needs none (simple_task.ts) and holds no memory. */
  process: Process<TaskFailure | null> | null = null;
  /** Up to where the stretch of computing under way has been planned, 0 to 1: the place of the step that is done or due. */
  position = 0;
  /** Time of spills that has not passed yet, ms. */
  spillMs = 0;
  readonly id: TaskIdentity;
  readonly executor: Executor;
  readonly environment: SimulationEnvironment;
  readonly metrics: TaskMetrics = emptyMetrics();
  /** Blocks that it has pinned, in the order of pinning. */
  readonly locks: number[] = [];
  /** Unroll memory of partitions that could not be stored, to be given back while computing goes on. */
  readonly unrolled: Activity[] = [];
  readonly demand: StageDemand;
  readonly startMs: number;
  /** Blocks that it has changed, where its metrics record them. */
  readonly updatedBlocks: BlockStatus[] | null;
  /** When computing began: what came before was deserialization. */
  computeStartMs = 0;
  /** Time that reading spilled data takes when it is merged, not yet slept. */
  mergeMs = 0;
  /** How it ended; null as long as it runs. */
  outcome: TaskOutcome | null = null;
  /** Execution memory that it waits for since then, ms; -1 when it does not wait. */
  waitingSinceMs = -1;
  /** Blocks that it is computing and storing, outermost first; null: none so far. */
  #writes: number[] | null = null;
  #memoryManager: TaskMemoryManager | null = null;

  constructor(id: TaskIdentity, executor: Executor, environment: SimulationEnvironment) {
    this.id = id;
    this.executor = executor;
    this.environment = environment;
    this.demand = environment.workload.demands[id.demandIndex];
    this.startMs = environment.now();
    this.updatedBlocks = environment.tracksUpdatedBlocks ? [] : null;
    this.metrics.updatedBlocks = this.updatedBlocks;
    if (!environment.recordsPeaksByMode) return;
    this.metrics.peakOnHeapExecutionMemory = 0;
    this.metrics.peakOffHeapExecutionMemory = 0;
  }

  /** Its memory manager, made when it is first needed. */
  get memoryManager(): TaskMemoryManager {
    return this.#memoryManager ??= new TaskMemoryManager(this.executor, this.id.tid, {
      rules: this.environment.spillRules,
      tungstenMemoryMode: this.executor.tungstenMemoryMode,
      pageSizeBytes: this.executor.pageSizeBytes,
    });
  }

  /** Granted execution memory arrives after a wait. */
  granted(bytes: number): void {
    this.environment.resumeWaiting(this, bytes);
  }

  /** Takes a block's write lock, under which the block is computed and stored. */
  beginWrite(block: number): void {
    this.executor.blocks.beginWrite(block);
    (this.#writes ??= []).push(block);
  }

  /** Ends the write that began last. */
  endWrite(): void {
    this.executor.blocks.endWrite(this.#writes!.pop()!);
  }

  /** Unpins what was pinned after the first `keep` pins, last first. */
  unlock(keep: number): void {
    while (this.locks.length > keep) this.executor.blocks.unlock(this.locks.pop()!);
  }

  /**
   * End of the task in whatever way (Task.run's finally, Executor's TaskRunner): pins, unroll and execution memory go
   * back. Returns the execution memory that was still held, in bytes: a leak when the task succeeded.
   */
  release(): number {
    this.ended = true;
    this.executor.cancelWaits(this);
    if (!this.executor.alive) return 0;
    this.unlock(0);
    while (this.#writes !== null && this.#writes.length > 0) this.endWrite();
    const { memory, blocks } = this.executor;
    if (this.process !== null) {
      for (const mode of [ON_HEAP, OFF_HEAP]) {
        if (memory.unrollMemoryForTask(this.id.tid, mode) > 0) memory.releaseUnrollMemoryForTask(this.id.tid, mode);
      }
    }
    let leaked = 0;
    if (this.#memoryManager !== null) {
      const { peakOnHeapMemory, peakOffHeapMemory } = this.#memoryManager;
      if (this.environment.recordsPeaksByMode) {
        this.metrics.peakOnHeapExecutionMemory = peakOnHeapMemory;
        this.metrics.peakOffHeapExecutionMemory = peakOffHeapMemory;
      }
      leaked = this.#memoryManager.cleanUpAllAllocatedMemory();
    }
    blocks.settle();
    this.executor.touch();
    return leaked;
  }
}
