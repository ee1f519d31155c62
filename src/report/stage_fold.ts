/**
 * One stage attempt, summed up over its tasks.
 *
 * @module
 */
import type { StageInfo, TaskEnd, TaskMetrics } from "../spark/events.ts";
import type { StageSummary } from "./summary.ts";

/** SQL metrics that say something about memory (org.apache.spark.sql.execution.metric.SQLMetrics), by their names. */
const SQL_METRICS: ReadonlySet<string> = new Set([
  "spill size",
  "peak memory",
  "number of sort fallback tasks",
  "data size of build side",
  "data size",
]);

/** The largest value of something over a stage's tasks, with the sum, so that it can be compared with the others' mean. */
export interface Spread {
  max: number;
  sum: number;
  count: number;
}

function add(spread: Spread, value: number): void {
  if (value > spread.max) spread.max = value;
  spread.sum += value;
  spread.count++;
}

const noSpread = (): Spread => ({ max: 0, sum: 0, count: 0 });

/** Sums over the tasks of one stage attempt. */
export class StageFold {
  info: StageInfo | null = null;
  submitted = false;
  completed = false;
  succeeded = 0;
  failed = 0;
  killed = 0;
  executorRunMs = 0;
  gcMs = 0;
  deserializeMs = 0;
  memoryBytesSpilled = 0;
  diskBytesSpilled = 0;
  spilledTasks = 0;
  peak: Spread = noSpread();
  /** Peak of the tasks that spilled. */
  peakOfSpilled = 0;
  resultBytes = 0;
  maxResultBytes = 0;
  direct = 0;
  indirect = 0;
  lost = 0;
  dropped = 0;
  shuffleReadBytes = 0;
  shuffleWriteBytes = 0;
  inputBytes = 0;
  tasksWithMetrics = 0;
  speculative = 0;
  fetchFailed = 0;
  readonly duration: Spread = noSpread();
  readonly shuffleRead: Spread = noSpread();
  readonly sqlMetrics: Map<string, Spread> = new Map<string, Spread>();
  /** RDD blocks evicted while it ran, and their bytes. */
  evictions = 0;
  bytesEvicted = 0;
  /** RDD blocks stored while it ran. */
  blocksStored = 0;
  /** Bytes of broadcast blocks that came to executors while it ran. */
  broadcastBytes = 0;
  /** "ResultTask" or "ShuffleMapTask", as its first task says. */
  taskType: TaskEnd["taskType"] | null = null;

  constructor(readonly stageId: number, readonly attempt: number) {}

  /** Takes a task's end. `observed` results are told apart by how long the driver fetched them. */
  taskEnd(event: TaskEnd, observed: boolean): void {
    this.taskType ??= event.taskType;
    const { reason } = event.reason;
    if (reason === "Success") {
      this.succeeded++;
      add(this.duration, event.finishTime - event.launchTime);
      if (observed && event.metrics !== null) {
        if (event.gettingResultTime > 0) this.indirect++;
        else this.direct++;
      }
    } else if (event.killed) this.killed++;
    else this.failed++;
    if (event.speculative) this.speculative++;
    if (reason === "FetchFailed") this.fetchFailed++;
    if (observed && reason === "TaskResultLost") this.lost++;
    if (event.metrics !== null) this.#metrics(event.metrics);
    for (const { name, update } of event.accumulables) {
      if (update === null || !SQL_METRICS.has(name)) continue;
      let spread = this.sqlMetrics.get(name);
      if (spread === undefined) this.sqlMetrics.set(name, spread = noSpread());
      add(spread, Math.max(0, update));
    }
  }

  #metrics(metrics: TaskMetrics): void {
    this.tasksWithMetrics++;
    this.executorRunMs += metrics.executorRunTime;
    this.gcMs += metrics.jvmGcTime;
    this.deserializeMs += metrics.executorDeserializeTime;
    this.memoryBytesSpilled += metrics.memoryBytesSpilled;
    this.diskBytesSpilled += metrics.diskBytesSpilled;
    const peak = taskPeak(metrics);
    if (peak !== null) add(this.peak, peak);
    if (metrics.diskBytesSpilled > 0) {
      this.spilledTasks++;
      this.peakOfSpilled = Math.max(this.peakOfSpilled, peak ?? 0);
    }
    this.resultBytes += metrics.resultSize;
    if (metrics.resultSize > this.maxResultBytes) this.maxResultBytes = metrics.resultSize;
    const read = metrics.shuffleRemoteBytesRead + metrics.shuffleLocalBytesRead;
    this.shuffleReadBytes += read;
    add(this.shuffleRead, read);
    this.shuffleWriteBytes += metrics.shuffleBytesWritten;
    this.inputBytes += metrics.inputBytes;
  }

  /** Results of the executors that were refused are not told apart in a log: see {@linkcode StageSummary.results}. */
  summary(droppedRecorded: boolean): StageSummary {
    const { info, peak } = this;
    const submittedAtMs = info?.submissionTime ?? null;
    const completedAtMs = info?.completionTime ?? null;
    const failureReason = info?.failureReason ?? null;
    return {
      stageId: this.stageId,
      attempt: this.attempt,
      name: info?.name ?? "",
      status: failureReason !== null ? "failed" : this.completed ? "succeeded" : "unfinished",
      failureReason,
      submittedAtMs,
      completedAtMs,
      results: {
        direct: this.direct,
        indirect: this.indirect,
        dropped: droppedRecorded ? this.dropped : null,
        lost: this.lost,
      },
      tasks: {
        total: info?.numTasks ?? this.succeeded + this.failed + this.killed,
        succeeded: this.succeeded,
        failed: this.failed,
        killed: this.killed,
      },
      durationMs: submittedAtMs === null || completedAtMs === null ? null : completedAtMs - submittedAtMs,
      executorRunMs: this.executorRunMs,
      memoryBytesSpilled: this.memoryBytesSpilled,
      diskBytesSpilled: this.diskBytesSpilled,
      spilledTasks: this.spilledTasks,
      peakExecutionMemory: {
        max: peak.count === 0 ? null : peak.max,
        sum: peak.count === 0 ? null : peak.sum,
      },
      resultBytes: this.resultBytes,
      shuffleReadBytes: this.shuffleReadBytes,
      shuffleWriteBytes: this.shuffleWriteBytes,
      inputBytes: this.inputBytes,
    };
  }
}

/**
 * Most execution memory that a task held: its peaks on and off the heap, which its memory manager records from 4.0, else
 * what its operators add up, which leaves some of them out (hash join builds) and counts others early.
 */
export function taskPeak(metrics: TaskMetrics): number | null {
  return managedPeak(metrics) ?? metrics.peakExecutionMemory;
}

/** The peaks by mode of a task's memory manager; null before 4.0. */
export function managedPeak(metrics: TaskMetrics): number | null {
  const { peakOnHeapExecutionMemory: onHeap, peakOffHeapExecutionMemory: offHeap } = metrics;
  return onHeap === null && offHeap === null ? null : (onHeap ?? 0) + (offHeap ?? 0);
}
