/**
 * Executors of a run: where they ran, what they held, why they left.
 *
 * @module
 */
import type {
  BlockManagerAdded,
  ExecutorAdded,
  ExecutorRemoved,
  SimulationEvent,
  StageExecutorMetrics,
} from "../spark/events.ts";
import type { BlockFold } from "./block_fold.ts";
import type { ExecutorSummary } from "./summary.ts";

interface ExecutorState {
  host: string;
  cores: number | null;
  maxMemory: number | null;
  offHeap: number;
  peakStorage: number | null;
  peakExecution: number | null;
  peakHeap: number | null;
  tasks: number;
  removedReason: string | null;
  /** It was announced as an executor or ran a task; a driver's block manager alone is none. */
  isExecutor: boolean;
}

function max(a: number | null, b: number): number {
  return a === null || b > a ? b : a;
}

/** Sums over the executors of a run. */
export class ExecutorFold {
  readonly #executors = new Map<string, ExecutorState>();

  /** An executor registered with the scheduler; in local mode the driver does. */
  added(event: ExecutorAdded): void {
    const executor = this.#executor(event.executorId);
    executor.host = event.host;
    executor.cores = event.totalCores;
    executor.isExecutor = true;
  }

  /** A block manager registered. */
  blockManagerAdded(event: BlockManagerAdded): void {
    const executor = this.#executor(event.executorId);
    executor.host = event.host;
    executor.maxMemory = event.maximumMemory;
    executor.offHeap = event.maximumOffHeapMemory ?? 0;
    if (event.executorId !== "driver" && event.executorId !== "<driver>") executor.isExecutor = true;
  }

  /** An executor left. */
  removed(event: ExecutorRemoved): void {
    const executor = this.#executor(event.executorId);
    executor.removedReason = event.reason;
    executor.isExecutor = true;
  }

  /**
   * A task of an executor ended. `peakHeap` is what was seen of the heap while it ran, `peakExecution` what its memory
   * manager recorded (from 4.0): the executor held as much at least.
   */
  taskEnd(executorId: string, peakHeap: number | null = null, peakExecution: number | null = null): void {
    const executor = this.#executor(executorId);
    executor.tasks++;
    if (peakExecution !== null) executor.peakExecution = max(executor.peakExecution, peakExecution);
    if (peakHeap !== null) executor.peakHeap = max(executor.peakHeap, peakHeap);
    executor.isExecutor = true;
  }

  /** Peaks that executors sent with their heartbeats (ExecutorMetrics, since 3.0). */
  metrics(event: StageExecutorMetrics): void {
    const executor = this.#executor(event.executorId);
    const { metrics } = event;
    const sum = (kind: string) => {
      const on = metrics[`OnHeap${kind}Memory`];
      const off = metrics[`OffHeap${kind}Memory`];
      return on === undefined && off === undefined ? null : (on ?? 0) + (off ?? 0);
    };
    const storage = sum("Storage");
    const execution = sum("Execution");
    if (storage !== null) executor.peakStorage = max(executor.peakStorage, storage);
    if (execution !== null) executor.peakExecution = max(executor.peakExecution, execution);
    // 0 for a process that was not polled during the stage.
    if (metrics.JVMHeapMemory > 0) executor.peakHeap = max(executor.peakHeap, metrics.JVMHeapMemory);
  }

  /** Most of the driver's heap that was seen in use, null when none was recorded. */
  driverPeakHeap(): number | null {
    return this.#executors.get("driver")?.peakHeap ?? null;
  }

  /** The pools of a simulated executor. */
  memoryState(event: Extract<SimulationEvent, { kind: "memoryState" }>): void {
    const executor = this.#executor(event.executorId);
    const { onHeap, offHeap } = event;
    executor.peakStorage = max(executor.peakStorage, onHeap.storageMemoryUsed + (offHeap?.storageMemoryUsed ?? 0));
    executor.peakExecution = max(
      executor.peakExecution,
      onHeap.executionMemoryUsed + (offHeap?.executionMemoryUsed ?? 0),
    );
  }

  /** Unified memory of the largest executor by mode, or null when none reported it. */
  unified(): { onHeap: number; offHeap: number } | null {
    let largest: { onHeap: number; offHeap: number } | null = null;
    for (const { isExecutor, maxMemory, offHeap } of this.#executors.values()) {
      if (!isExecutor || maxMemory === null) continue;
      if (largest === null || maxMemory > largest.onHeap + largest.offHeap) {
        largest = { onHeap: maxMemory - offHeap, offHeap };
      }
    }
    return largest;
  }

  /** Executors in the order in which they came; `recorded` says whether evictions are known. */
  summaries(blocks: BlockFold, recorded: boolean): ExecutorSummary[] {
    return [...this.#executors].filter(([, { isExecutor }]) => isExecutor).map(([executorId, executor]) => {
      const stored = blocks.ofExecutor(executorId);
      const peak = stored === null ? executor.peakStorage : max(executor.peakStorage, stored.peakBytes);
      return {
        executorId,
        host: executor.host,
        cores: executor.cores,
        maxMemory: executor.maxMemory,
        peakStorageBytes: recorded ? peak ?? 0 : executor.peakStorage,
        peakExecutionBytes: executor.peakExecution,
        peakHeapBytes: executor.peakHeap,
        tasks: executor.tasks,
        evictions: recorded ? stored?.evictions ?? 0 : null,
        removedReason: executor.removedReason,
      };
    });
  }

  #executor(executorId: string): ExecutorState {
    let executor = this.#executors.get(executorId);
    if (executor === undefined) {
      executor = {
        host: "",
        cores: null,
        maxMemory: null,
        offHeap: 0,
        peakStorage: null,
        peakExecution: null,
        peakHeap: null,
        tasks: 0,
        removedReason: null,
        isExecutor: false,
      };
      this.#executors.set(executorId, executor);
    }
    return executor;
  }
}
