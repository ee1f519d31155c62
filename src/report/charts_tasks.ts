/**
 * When tasks ran on which executor, as a fold: each task while they are few, and how busy each executor was over time
 * for any number of them.
 *
 * @module
 */
import type { TaskEnd } from "../spark/events.ts";
import type { GridHolder, TimeGrid } from "./charts_time_grid.ts";

/** How a task ended. */
export type TaskStatus = "succeeded" | "failed" | "killed";

/** One task attempt; times in ms since the epoch. */
export interface TaskBar {
  readonly taskId: number;
  readonly stageId: number;
  readonly stageAttemptId: number;
  readonly index: number;
  readonly attempt: number;
  readonly status: TaskStatus;
  readonly launchTime: number;
  readonly finishTime: number;
  readonly speculative: boolean;
  /** Row within its executor: tasks that run at the same time are in different rows. */
  readonly lane: number;
  readonly memoryBytesSpilled: number | null;
  readonly resultSize: number | null;
}

/** One executor's tasks. */
export interface ExecutorTimeline {
  readonly executorId: string;
  readonly tasks: number;
  readonly failed: number;
  readonly killed: number;
  /** The tasks, by launch time; null when the run has more than the chart shows one by one. */
  readonly bars: readonly TaskBar[] | null;
  readonly lanes: number;
  /** Time buckets in which tasks ran or ended. */
  readonly busy: readonly BusyBucket[];
}

/** How busy an executor was in one bucket of time. */
export interface BusyBucket {
  readonly timeMs: number;
  readonly widthMs: number;
  /** Running tasks on average. */
  readonly running: number;
  readonly ended: number;
  /** Of those that ended. */
  readonly failed: number;
  readonly killed: number;
}

interface Bucket {
  /** Change of the number of running tasks, from this bucket on. */
  delta: number;
  /** What the number of running tasks times the width gives too much or too little in this bucket, ms. */
  correctionMs: number;
  ended: number;
  failed: number;
  killed: number;
}

class Executor implements GridHolder {
  tasks = 0;
  failed = 0;
  killed = 0;
  bars: Omit<TaskBar, "lane">[] = [];
  buckets = new Map<number, Bucket>();

  constructor(readonly id: string) {}

  bucket(index: number): Bucket {
    let bucket = this.buckets.get(index);
    if (bucket === undefined) {
      bucket = { delta: 0, correctionMs: 0, ended: 0, failed: 0, killed: 0 };
      this.buckets.set(index, bucket);
    }
    return bucket;
  }

  halve(widthMs: number): void {
    const old = this.buckets;
    this.buckets = new Map();
    for (const [index, bucket] of old) {
      const merged = this.bucket(Math.floor(index / 2));
      merged.delta += bucket.delta;
      merged.correctionMs += bucket.correctionMs;
      // The change of an odd bucket now counts from half a bucket earlier.
      if (index % 2 === 1) merged.correctionMs -= widthMs * bucket.delta;
      merged.ended += bucket.ended;
      merged.failed += bucket.failed;
      merged.killed += bucket.killed;
    }
  }
}

/** The fold. */
export class TaskTimelines {
  readonly #grid: TimeGrid;
  readonly #maxBars: number;
  readonly #executors = new Map<string, Executor>();
  #bars = 0;

  /** @param maxBars more tasks than this are shown by how busy the executors were only */
  constructor(grid: TimeGrid, maxBars: number) {
    this.#grid = grid;
    this.#maxBars = maxBars;
  }

  taskEnd(event: TaskEnd): void {
    // "Resubmitted" tells again of a task that ended before; it ran no further time.
    if (event.reason.reason === "Resubmitted") return;
    const { executorId, launchTime } = event;
    const finishTime = Math.max(event.finishTime, launchTime);
    let executor = this.#executors.get(executorId);
    if (executor === undefined) {
      executor = new Executor(executorId);
      this.#executors.set(executorId, executor);
      this.#grid.add(executor);
    }
    const status = event.killed
      ? "killed"
      : event.reason.reason === "Success"
      ? "succeeded"
      : event.reason.reason === "TaskKilled"
      ? "killed"
      : "failed";
    executor.tasks++;
    if (status === "failed") executor.failed++;
    if (status === "killed") executor.killed++;
    if (launchTime > 0) this.#busy(executor, launchTime, finishTime, status);
    if (++this.#bars > this.#maxBars) return this.#dropBars();
    executor.bars.push({
      taskId: event.taskId,
      stageId: event.stageId,
      stageAttemptId: event.stageAttemptId,
      index: event.index,
      attempt: event.attempt,
      status,
      launchTime,
      finishTime,
      speculative: event.speculative,
      memoryBytesSpilled: event.metrics?.memoryBytesSpilled ?? null,
      resultSize: event.metrics?.resultSize ?? null,
    });
  }

  #busy(
    executor: Executor,
    launchTime: number,
    finishTime: number,
    status: TaskStatus,
  ): void {
    const grid = this.#grid;
    // The later time first: asking for it may widen the buckets.
    const last = executor.bucket(grid.bucketOf(finishTime));
    const lastStart = grid.timeOf(grid.bucketOf(finishTime));
    last.delta -= 1;
    last.correctionMs += finishTime - Math.max(lastStart, grid.startMs!);
    last.ended++;
    if (status === "failed") last.failed++;
    if (status === "killed") last.killed++;
    const first = grid.bucketOf(launchTime);
    const bucket = executor.bucket(first);
    bucket.delta += 1;
    bucket.correctionMs -= Math.max(0, launchTime - grid.timeOf(first));
  }

  #dropBars(): void {
    for (const executor of this.#executors.values()) executor.bars = [];
  }

  /** The timelines, executors in the order in which their first task ended. */
  finish(): ExecutorTimeline[] {
    const showBars = this.#bars <= this.#maxBars;
    return [...this.#executors.values()].map((executor) => {
      const { bars, lanes } = laneOut(executor.bars);
      return {
        executorId: executor.id,
        tasks: executor.tasks,
        failed: executor.failed,
        killed: executor.killed,
        bars: showBars ? bars : null,
        lanes,
        busy: busyBuckets(executor, this.#grid),
      };
    });
  }
}

/** Gives each task the first row that is free when it starts. */
function laneOut(
  tasks: readonly Omit<TaskBar, "lane">[],
): { bars: TaskBar[]; lanes: number } {
  const freeAt: number[] = [];
  const bars = [...tasks]
    .sort((a, b) => a.launchTime - b.launchTime || a.taskId - b.taskId)
    .map((task) => {
      let lane = freeAt.findIndex((time) => time <= task.launchTime);
      if (lane < 0) lane = freeAt.length;
      freeAt[lane] = Math.max(task.finishTime, task.launchTime + 1);
      return { ...task, lane };
    });
  return { bars, lanes: freeAt.length };
}

function busyBuckets(executor: Executor, grid: TimeGrid): BusyBucket[] {
  const indexes = [...executor.buckets.keys()].sort((a, b) => a - b);
  const busy: BusyBucket[] = [];
  let running = 0;
  indexes.forEach((index, i) => {
    const bucket = executor.buckets.get(index)!;
    running += bucket.delta;
    const area = running * grid.widthMs + bucket.correctionMs;
    busy.push({
      timeMs: grid.timeOf(index),
      widthMs: grid.widthMs,
      running: Math.max(0, area / grid.widthMs),
      ended: bucket.ended,
      failed: bucket.failed,
      killed: bucket.killed,
    });
    const gap = (indexes[i + 1] ?? index + 1) - index - 1;
    if (gap > 0 && running > 0) {
      busy.push({
        timeMs: grid.timeOf(index + 1),
        widthMs: gap * grid.widthMs,
        running,
        ended: 0,
        failed: 0,
        killed: 0,
      });
    }
  });
  return busy;
}
