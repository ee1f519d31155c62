/**
 * Memory of each executor over time, as a fold: the pools where the run tells them (simulated runs), what the block
 * updates and the tasks' peaks tell otherwise, and marks for what happened.
 *
 * @module
 */
import type { BlockUpdated, PoolState, SparkEvent, TaskEnd } from "../spark/events.ts";
import { type MarkExample, type MarkKind, MarkTally, type MemoryMark } from "./charts_marks.ts";
import { StateSeries, StepSeries } from "./charts_series.ts";
import type { GridHolder, TimeGrid } from "./charts_time_grid.ts";

/** Memory at one moment in bytes; `null` where the log does not tell. */
export interface MemoryPoint {
  readonly timeMs: number;
  readonly onHeap: MemoryValues;
  readonly offHeap: MemoryValues | null;
}

/** The two pools of one memory mode in bytes; storage includes unroll memory, as Spark counts it. */
export interface MemoryValues {
  readonly storagePoolSize: number | null;
  readonly storageMemoryUsed: number;
  readonly unrollMemoryUsed: number | null;
  readonly executionPoolSize: number | null;
  /** Simulated: in use. Observed: the sum of the peaks of the tasks that ran, an upper bound. */
  readonly executionMemoryUsed: number;
}

/** One executor's chart. */
export interface ExecutorMemoryChart {
  readonly executorId: string;
  readonly host: string;
  readonly cores: number | null;
  readonly maxOnHeapMemory: number | null;
  readonly maxOffHeapMemory: number | null;
  readonly points: readonly MemoryPoint[];
  readonly marks: readonly MemoryMark[];
}

/** Numbers of a sample: total used (to find the peak), then five for each mode. */
const TOTAL = 0;
const ON_HEAP = 1;
const OFF_HEAP = 6;
const SAMPLE = 11;

/** One executor while the fold runs. */
class Executor implements GridHolder {
  host = "";
  cores: number | null = null;
  maxOnHeap: number | null = null;
  maxOffHeap: number | null = null;
  /** Whether the run tells its pools (simulated). */
  hasPools = false;
  readonly series = new StateSeries(SAMPLE);
  /** Peaks of the running tasks, for runs that do not tell the pools. */
  readonly peaks = new StepSeries();
  readonly marks = new MarkTally();
  readonly sample = new Float64Array(SAMPLE);
  readonly blocks = new Map<string, { onHeap: number; offHeap: number }>();

  constructor(readonly id: string) {}

  halve(): void {
    this.series.halve();
    this.peaks.halve();
    this.marks.halve();
  }
}

/** How many samples there may be over all executors before the buckets are widened. */
const MAX_SAMPLES = 1 << 16;

/** The fold. */
export class MemoryCharts {
  readonly #grid: TimeGrid;
  readonly #executors = new Map<string, Executor>();
  #samples = 0;
  /** The run says what an ordinary event log does not: evictions, waits, spills. */
  #isSimulated = false;

  constructor(grid: TimeGrid) {
    this.#grid = grid;
  }

  event(event: SparkEvent): void {
    switch (event.kind) {
      case "executorAdded": {
        const executor = this.#executor(event.executorId);
        executor.host = event.host;
        executor.cores = event.totalCores;
        return;
      }
      case "blockManagerAdded": {
        const executor = this.#executor(event.executorId);
        executor.host ||= event.host.replace(/:\d+$/, "");
        executor.maxOnHeap = event.maximumOnHeapMemory ?? event.maximumMemory;
        executor.maxOffHeap = event.maximumOffHeapMemory;
        return;
      }
      case "executorRemoved":
        return this.#removed(event.executorId, event.time, event.reason);
      case "blockManagerRemoved":
        return this.#emptied(event.executorId, event.time);
      case "blockUpdated":
        return this.#blockUpdated(event);
      case "taskEnd":
        return this.#taskEnd(event);
      case "unpersistRdd":
        return this.#unpersisted(`rdd_${event.rddId}_`);
      default:
        return this.#simulated(event);
    }
  }

  #simulated(event: SparkEvent): void {
    switch (event.kind) {
      case "memoryState": {
        const executor = this.#executor(event.executorId);
        executor.hasPools = true;
        this.#isSimulated = true;
        setMode(executor.sample, ON_HEAP, event.onHeap);
        if (event.offHeap !== null) {
          setMode(executor.sample, OFF_HEAP, event.offHeap);
        }
        return this.#sampled(executor, event.time);
      }
      case "blockEvicted":
        return this.#mark("evicted", event.executorId, {
          timeMs: event.time,
          bytes: event.memorySize,
          subject: event.blockId,
          cause: event.forBlockId ?? taskName(event.forTaskId),
          taskId: event.forTaskId,
          toDisk: event.droppedToDisk,
          waitMs: null,
        });
      case "putRefused":
        return this.#mark("refused", event.executorId, {
          timeMs: event.time,
          bytes: event.numBytes,
          subject: event.blockId,
          cause: taskName(event.taskId),
          taskId: event.taskId,
          toDisk: event.toDisk,
          waitMs: null,
        });
      case "memoryWait":
        return this.#mark("wait", event.executorId, {
          timeMs: event.time,
          bytes: event.numBytes,
          subject: taskName(event.taskId)!,
          cause: null,
          taskId: event.taskId,
          toDisk: false,
          waitMs: event.waitMs,
        });
      case "spill":
        return this.#mark("spill", event.executorId, {
          timeMs: event.time,
          bytes: event.memoryBytes,
          subject: event.consumer,
          cause: event.trigger,
          taskId: event.taskId,
          toDisk: true,
          waitMs: null,
        });
      case "outOfMemory":
        return this.#mark("outOfMemory", event.executorId, {
          timeMs: event.time,
          bytes: event.requested,
          subject: event.consumer,
          cause: taskName(event.taskId),
          taskId: event.taskId,
          toDisk: false,
          waitMs: null,
        });
    }
  }

  #executor(id: string): Executor {
    let executor = this.#executors.get(id);
    if (executor === undefined) {
      executor = new Executor(id);
      this.#executors.set(id, executor);
      this.#grid.add(executor);
    }
    return executor;
  }

  #mark(kind: MarkKind, executorId: string, example: MarkExample): void {
    if (kind !== "removed") this.#isSimulated = true;
    const bucket = this.#grid.bucketOf(example.timeMs);
    this.#executor(executorId).marks.add(kind, bucket, example);
  }

  #sampled(executor: Executor, timeMs: number): void {
    const { sample } = executor;
    sample[TOTAL] = sample[ON_HEAP + 1] + sample[ON_HEAP + 4] +
      sample[OFF_HEAP + 1] + sample[OFF_HEAP + 4];
    const bucket = this.#grid.bucketOf(timeMs);
    if (executor.series.add(bucket, sample)) this.#samples++;
    while (this.#samples > MAX_SAMPLES && this.#grid.widthMs < 2 ** 40) {
      this.#grid.widen();
      this.#samples = 0;
      for (const { series } of this.#executors.values()) {
        this.#samples += series.buckets.length;
      }
    }
  }

  #removed(executorId: string, timeMs: number, reason: string): void {
    this.#mark("removed", executorId, {
      timeMs,
      bytes: 0,
      subject: reason,
      cause: null,
      taskId: null,
      toDisk: false,
      waitMs: null,
    });
    this.#emptied(executorId, timeMs);
  }

  #emptied(executorId: string, timeMs: number): void {
    const executor = this.#executor(executorId);
    executor.blocks.clear();
    if (executor.sample[ON_HEAP + 1] + executor.sample[OFF_HEAP + 1] === 0) {
      return;
    }
    executor.sample.fill(0);
    this.#sampled(executor, timeMs);
  }

  /** Block updates give storage memory where the run does not tell its pools. */
  #blockUpdated(event: BlockUpdated): void {
    const executor = this.#executor(event.executorId);
    if (executor.hasPools) return;
    const timeMs = event.time ?? this.#grid.nowMs;
    const known = executor.blocks.get(event.blockId);
    const { useMemory, useOffHeap } = event.storageLevel;
    const size = useMemory ? event.memorySize : 0;
    const next = {
      onHeap: useOffHeap ? 0 : size,
      offHeap: useOffHeap ? size : 0,
    };
    executor.sample[ON_HEAP + 1] += next.onHeap - (known?.onHeap ?? 0);
    executor.sample[OFF_HEAP + 1] += next.offHeap - (known?.offHeap ?? 0);
    if (size > 0) executor.blocks.set(event.blockId, next);
    else executor.blocks.delete(event.blockId);
    this.#sampled(executor, timeMs);
    // Spark writes no update when an RDD is unpersisted, so an RDD block that leaves memory was evicted.
    const dropped = known !== undefined && size === 0 &&
      event.blockId.startsWith("rdd_");
    if (dropped && !this.#isSimulated) {
      executor.marks.add("evicted", this.#grid.bucketOf(timeMs), {
        timeMs,
        bytes: known.onHeap + known.offHeap,
        subject: event.blockId,
        cause: null,
        taskId: null,
        toDisk: event.storageLevel.useDisk,
        waitMs: null,
      });
    }
  }

  #unpersisted(prefix: string): void {
    for (const executor of this.#executors.values()) {
      if (executor.hasPools) continue;
      let freed = false;
      for (const [blockId, size] of executor.blocks) {
        if (!blockId.startsWith(prefix)) continue;
        executor.sample[ON_HEAP + 1] -= size.onHeap;
        executor.sample[OFF_HEAP + 1] -= size.offHeap;
        executor.blocks.delete(blockId);
        freed = true;
      }
      if (freed) this.#sampled(executor, this.#grid.nowMs);
    }
  }

  #taskEnd(event: TaskEnd): void {
    const { metrics } = event;
    if (metrics === null || this.#isSimulated) return;
    const executor = this.#executor(event.executorId);
    const peak = metrics.peakExecutionMemory ?? 0;
    if (peak > 0 && event.finishTime >= event.launchTime) {
      // The later time first: asking for it may widen the buckets.
      const finish = this.#grid.bucketOf(event.finishTime);
      executor.peaks.add(finish, -peak);
      executor.peaks.add(this.#grid.bucketOf(event.launchTime), peak);
    }
    if (metrics.memoryBytesSpilled > 0) {
      executor.marks.add("spill", this.#grid.bucketOf(event.finishTime), {
        timeMs: event.finishTime,
        bytes: metrics.memoryBytesSpilled,
        subject: taskName(event.taskId)!,
        cause: null,
        taskId: event.taskId,
        toDisk: true,
        waitMs: null,
      });
    }
  }

  /** The charts, executors in the order in which they came. */
  finish(): ExecutorMemoryChart[] {
    return [...this.#executors.values()].map((executor) => ({
      executorId: executor.id,
      host: executor.host,
      cores: executor.cores,
      maxOnHeapMemory: executor.maxOnHeap,
      maxOffHeapMemory: executor.maxOffHeap,
      points: executor.hasPools ? poolPoints(executor, this.#grid) : observedPoints(executor, this.#grid),
      marks: executor.marks.finish(this.#grid),
    }));
  }
}

function taskName(taskId: number | null): string | null {
  return taskId === null || taskId < 0 ? null : `task ${taskId}`;
}

function setMode(sample: Float64Array, at: number, pools: PoolState): void {
  sample[at] = pools.storagePoolSize;
  sample[at + 1] = pools.storageMemoryUsed;
  sample[at + 2] = pools.unrollMemoryUsed;
  sample[at + 3] = pools.executionPoolSize;
  sample[at + 4] = pools.executionMemoryUsed;
}

function poolValues(samples: Float64Array, at: number): MemoryValues {
  return {
    storagePoolSize: samples[at],
    storageMemoryUsed: samples[at + 1],
    unrollMemoryUsed: samples[at + 2],
    executionPoolSize: samples[at + 3],
    executionMemoryUsed: samples[at + 4],
  };
}

/** Two points a bucket where the fullest moment is not the last: the peak stays visible. */
function poolPoints(executor: Executor, grid: TimeGrid): MemoryPoint[] {
  const { series } = executor;
  return series.buckets.flatMap((bucket, i) => {
    const fullest = series.fullest(i);
    const last = series.last(i);
    const time = grid.timeOf(bucket);
    const end = poolPoint(time + Math.floor(grid.widthMs / 2), last);
    return last.every((value, k) => value === fullest[k]) ? [end] : [poolPoint(time, fullest), end];
  });
}

function poolPoint(timeMs: number, state: Float64Array): MemoryPoint {
  const hasOffHeap = state[OFF_HEAP] + state[OFF_HEAP + 3] > 0;
  return {
    timeMs,
    onHeap: poolValues(state, ON_HEAP),
    offHeap: hasOffHeap ? poolValues(state, OFF_HEAP) : null,
  };
}

/** Storage from block updates, execution from the running tasks' peaks. */
function observedPoints(executor: Executor, grid: TimeGrid): MemoryPoint[] {
  const { series, peaks } = executor;
  const index = new Map(series.buckets.map((bucket, i) => [bucket, i]));
  const buckets = [...new Set([...series.buckets, ...peaks.byBucket.keys()])]
    .sort((a, b) => a - b);
  let execution = 0;
  let onHeap = 0;
  let offHeap = 0;
  let sawOffHeap = false;
  return buckets.map((bucket) => {
    execution += peaks.byBucket.get(bucket) ?? 0;
    const at = index.get(bucket);
    // The fullest moment of the bucket is shown, so that a short peak is seen; the last one holds from then on.
    const shown = at === undefined ? null : series.fullest(at);
    const storage = shown?.[ON_HEAP + 1] ?? onHeap;
    const storageOffHeap = shown?.[OFF_HEAP + 1] ?? offHeap;
    sawOffHeap ||= storageOffHeap > 0;
    if (at !== undefined) {
      onHeap = series.last(at)[ON_HEAP + 1];
      offHeap = series.last(at)[OFF_HEAP + 1];
    }
    return {
      timeMs: grid.timeOf(bucket),
      onHeap: observedValues(storage, Math.max(0, execution)),
      offHeap: sawOffHeap ? observedValues(storageOffHeap, 0) : null,
    };
  });
}

function observedValues(storage: number, execution: number): MemoryValues {
  return {
    storagePoolSize: null,
    storageMemoryUsed: storage,
    unrollMemoryUsed: null,
    executionPoolSize: null,
    executionMemoryUsed: execution,
  };
}
