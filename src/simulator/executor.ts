/**
 * One executor of the simulated cluster: its memory, its blocks and the tasks that wait in it.
 *
 * @module
 */
import { type ExecutorMemory, type MemoryMode, OFF_HEAP, ON_HEAP, type UnrollSettings } from "../kernel/types.ts";
import type { EventSink, PoolState } from "../spark/events.ts";
import { BlockManager, type BlockRules } from "./block_manager.ts";
import type { BlockManagerMaster } from "./block_manager_master.ts";
import type { CostModel } from "./cost_model.ts";
import type { ExecutionMemory } from "./memory/execution_memory.ts";
import type { Task } from "./task.ts";

/** What an executor is made of. */
export interface ExecutorOptions {
  readonly index: number;
  readonly id: string;
  readonly host: string;
  readonly cores: number;
  readonly memory: ExecutorMemory;
  readonly maxOnHeapMemory: number;
  readonly maxOffHeapMemory: number;
  readonly tungstenMemoryMode: MemoryMode;
  readonly pageSizeBytes: number;
  readonly unroll: UnrollSettings;
  readonly rules: BlockRules;
  readonly master: BlockManagerMaster;
  readonly sink: EventSink;
  readonly cost: CostModel;
  readonly now: () => number;
}

/** Most memory used at a time; bytes on and off the heap. */
export interface MemoryPeaks {
  readonly storage: [number, number];
  readonly execution: [number, number];
  readonly unified: [number, number];
}

/** Something of a task that waits for execution memory. */
export interface MemoryWaiter {
  granted(bytes: number): void;
}

/**
 * An executor. Towards the task memory managers it is the memory manager of Spark (ExecutionMemory): each call settles
 * what it caused (blocks dropped, waiting tasks woken) before it returns.
 */
export class Executor implements ExecutionMemory {
  readonly index: number;
  readonly id: string;
  readonly host: string;
  readonly cores: number;
  readonly memory: ExecutorMemory;
  readonly blocks: BlockManager;
  readonly maxOnHeapMemory: number;
  readonly maxOffHeapMemory: number;
  readonly tungstenMemoryMode: MemoryMode;
  readonly pageSizeBytes: number;
  alive = true;
  tasksStarted = 0;
  /** Attempts that run here, in the order in which they came. */
  readonly tasks: Task[] = [];
  /** Most memory used at a time since the last look, bytes; in fields of its own, as every request looks at it. */
  #onHeapStoragePeak = 0;
  #onHeapExecutionPeak = 0;
  #onHeapUnifiedPeak = 0;
  #offHeapStoragePeak = 0;
  #offHeapExecutionPeak = 0;
  #offHeapUnifiedPeak = 0;
  /** Its pools have changed since its peaks were last looked at. */
  changed = false;
  /** Its pools have changed since they were last shown. */
  stateChanged = false;
  /** Who waits for which ticket. */
  readonly waiting: Map<number, MemoryWaiter> = new Map<number, MemoryWaiter>();
  /** The task whose request is under way: it becomes the waiter when the request has to wait. */
  requester: MemoryWaiter | null = null;

  constructor(options: ExecutorOptions) {
    this.index = options.index;
    this.id = options.id;
    this.host = options.host;
    this.cores = options.cores;
    this.memory = options.memory;
    this.maxOnHeapMemory = options.maxOnHeapMemory;
    this.maxOffHeapMemory = options.maxOffHeapMemory;
    this.tungstenMemoryMode = options.tungstenMemoryMode;
    this.pageSizeBytes = options.pageSizeBytes;
    this.blocks = new BlockManager({
      executor: options.index,
      executorId: options.id,
      memory: options.memory,
      master: options.master,
      sink: options.sink,
      cost: options.cost,
      unroll: options.unroll,
      rules: options.rules,
      now: options.now,
      onGranted: (ticket, granted) => this.#granted(ticket, granted),
    });
  }

  acquireExecutionMemory(numBytes: number, taskAttemptId: number, memoryMode: MemoryMode): number {
    const granted = this.memory.acquireExecutionMemory(numBytes, taskAttemptId, memoryMode);
    if (granted < 0) this.waiting.set(this.memory.waitingTicket, this.requester!);
    this.#settle();
    this.#notePeaks(memoryMode);
    return granted;
  }

  releaseExecutionMemory(numBytes: number, taskAttemptId: number, memoryMode: MemoryMode): void {
    this.memory.releaseExecutionMemory(numBytes, taskAttemptId, memoryMode);
    this.#settle();
  }

  releaseAllExecutionMemoryForTask(taskAttemptId: number): number {
    const released = this.memory.releaseAllExecutionMemoryForTask(taskAttemptId);
    this.#settle();
    return released;
  }

  executionMemoryUsageForTask(taskAttemptId: number, mode: MemoryMode): number {
    return this.memory.executionMemoryUsageForTask(taskAttemptId, mode);
  }

  executionMemoryUsed(mode: MemoryMode): number {
    return this.memory.executionMemoryUsed(mode);
  }

  storageMemoryUsed(mode: MemoryMode): number {
    return this.memory.storageMemoryUsed(mode);
  }

  /** Gives up what a task waits for: it was killed, or its executor is gone. */
  cancelWaits(waiter: MemoryWaiter): void {
    if (this.waiting.size === 0) return;
    for (const [ticket, who] of this.waiting) {
      if (who !== waiter) continue;
      this.waiting.delete(ticket);
      if (this.alive) this.memory.cancel(ticket);
    }
  }

  /** An attempt runs here no more. */
  taskEnded(task: Task): void {
    const { tasks } = this;
    for (let i = tasks.indexOf(task) + 1; i < tasks.length; i++) tasks[i - 1] = tasks[i];
    tasks.pop();
  }

  /** The pools changed: notes the peaks. */
  touch(): void {
    this.changed = true;
    this.stateChanged = true;
    this.#notePeaks(ON_HEAP);
    if (this.maxOffHeapMemory > 0) this.#notePeaks(OFF_HEAP);
  }

  /** Peaks since the last look. */
  takePeaks(): MemoryPeaks {
    const peaks: MemoryPeaks = {
      storage: [this.#onHeapStoragePeak, this.#offHeapStoragePeak],
      execution: [this.#onHeapExecutionPeak, this.#offHeapExecutionPeak],
      unified: [this.#onHeapUnifiedPeak, this.#offHeapUnifiedPeak],
    };
    this.#onHeapStoragePeak = this.#onHeapExecutionPeak = this.#onHeapUnifiedPeak = 0;
    this.#offHeapStoragePeak = this.#offHeapExecutionPeak = this.#offHeapUnifiedPeak = 0;
    this.#notePeaks(ON_HEAP);
    if (this.maxOffHeapMemory > 0) this.#notePeaks(OFF_HEAP);
    return peaks;
  }

  #notePeaks(mode: MemoryMode): void {
    const storage = this.memory.storageMemoryUsed(mode);
    const execution = this.memory.executionMemoryUsed(mode);
    const unified = storage + execution;
    if (mode === ON_HEAP) {
      if (storage > this.#onHeapStoragePeak) this.#onHeapStoragePeak = storage;
      if (execution > this.#onHeapExecutionPeak) this.#onHeapExecutionPeak = execution;
      if (unified > this.#onHeapUnifiedPeak) this.#onHeapUnifiedPeak = unified;
    } else {
      if (storage > this.#offHeapStoragePeak) this.#offHeapStoragePeak = storage;
      if (execution > this.#offHeapExecutionPeak) this.#offHeapExecutionPeak = execution;
      if (unified > this.#offHeapUnifiedPeak) this.#offHeapUnifiedPeak = unified;
    }
  }

  /** The pools of one mode, for charts. */
  poolState(mode: MemoryMode): PoolState {
    const state = this.memory.state();
    return {
      storagePoolSize: this.memory.storagePoolSize(mode),
      storageMemoryUsed: this.memory.storageMemoryUsed(mode),
      unrollMemoryUsed: mode === ON_HEAP ? state.onHeapUnrollMemory : state.offHeapUnrollMemory,
      executionPoolSize: this.memory.executionPoolSize(mode),
      executionMemoryUsed: this.memory.executionMemoryUsed(mode),
    };
  }

  #settle(): void {
    if (this.memory.hasEvents) this.blocks.settle();
    this.changed = true;
    this.stateChanged = true;
  }

  #granted(ticket: number, granted: number): void {
    const waiter = this.waiting.get(ticket);
    if (waiter === undefined) return;
    this.waiting.delete(ticket);
    waiter.granted(granted);
  }
}
