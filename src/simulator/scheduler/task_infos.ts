/**
 * What the driver knows of each task attempt (org.apache.spark.scheduler.TaskInfo), in columns by task id.
 *
 * @module
 */

/** Bits of {@linkcode TaskInfos.flags}. */
export const FAILED = 1;
export const KILLED = 2;
export const SPECULATIVE = 4;
/** Launched, and RUNNING not yet reported (TaskInfo.launching). */
export const LAUNCHING = 8;
/** Killed because another attempt succeeded (TaskSetManager.killedByOtherAttempt). */
export const KILLED_BY_OTHER = 16;
/** The task scheduler waits for its status (TaskSchedulerImpl.taskIdToTaskSetManager has it). */
export const KNOWN = 32;

/** TaskInfo.status. */
export type TaskStatus =
  | "RUNNING"
  | "GET RESULT"
  | "FAILED"
  | "KILLED"
  | "SUCCESS";

function grown<T extends Int32Array | Float64Array | Uint8Array>(
  old: T,
  fresh: T,
): T {
  fresh.set(old);
  return fresh;
}

/**
 * The columns. Task ids count from 0 in the order of launching; times are ms, 0 for "not yet".
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TaskInfos } from "./task_infos.ts";
 *
 * const infos = new TaskInfos();
 * const tid = infos.add(0, 2);
 * infos.launchTime[tid] = 1000;
 * assertEquals([tid, infos.status(tid)], [0, "RUNNING"]);
 * infos.markFinished(tid, "FAILED", 1500);
 * assertEquals([infos.status(tid), infos.duration(tid)], ["FAILED", 500]);
 * ```
 */
export class TaskInfos {
  /** Number of attempts; the next task id. */
  length = 0;
  /** Which task set manager (TaskSetManager.number). */
  manager: Int32Array = new Int32Array(256);
  index: Int32Array = new Int32Array(256);
  /** Attempt number of the task. */
  attempt: Int32Array = new Int32Array(256);
  executor: Int32Array = new Int32Array(256);
  host: Int32Array = new Int32Array(256);
  launchTime: Float64Array = new Float64Array(256);
  gettingResultTime: Float64Array = new Float64Array(256);
  finishTime: Float64Array = new Float64Array(256);
  /** Serialized size of the result: the whole DirectTaskResult, or what an indirect one announced; bytes. */
  resultSize: Float64Array = new Float64Array(256);
  /** Index into LOCALITIES. */
  locality: Uint8Array = new Uint8Array(256);
  flags: Uint8Array = new Uint8Array(256);
  /** The attempt before of the same task, -1 for none. */
  previous: Int32Array = new Int32Array(256);

  /** Adds an attempt and returns its task id; the caller fills in the other columns. */
  add(manager: number, index: number): number {
    const tid = this.length;
    if (tid === this.manager.length) this.#grow();
    this.length++;
    this.manager[tid] = manager;
    this.index[tid] = index;
    this.flags[tid] = LAUNCHING;
    this.previous[tid] = -1;
    return tid;
  }

  #grow(): void {
    const length = this.manager.length * 2;
    const ints = (old: Int32Array) => grown(old, new Int32Array(length));
    const doubles = (old: Float64Array) => grown(old, new Float64Array(length));
    this.manager = ints(this.manager);
    this.index = ints(this.index);
    this.attempt = ints(this.attempt);
    this.executor = ints(this.executor);
    this.host = ints(this.host);
    this.previous = ints(this.previous);
    this.launchTime = doubles(this.launchTime);
    this.gettingResultTime = doubles(this.gettingResultTime);
    this.finishTime = doubles(this.finishTime);
    this.resultSize = doubles(this.resultSize);
    this.locality = grown(this.locality, new Uint8Array(length));
    this.flags = grown(this.flags, new Uint8Array(length));
  }

  has(tid: number, flag: number): boolean {
    return (this.flags[tid] & flag) !== 0;
  }

  set(tid: number, flag: number): void {
    this.flags[tid] |= flag;
  }

  clear(tid: number, flag: number): void {
    this.flags[tid] &= ~flag;
  }

  /** Not ended. */
  isRunning(tid: number): boolean {
    return this.finishTime[tid] === 0;
  }

  /** TaskInfo.markFinished; a failure, once noted, stays (as in Spark, where only later versions rule the case out). */
  markFinished(
    tid: number,
    state: "FINISHED" | "FAILED" | "KILLED",
    nowMs: number,
  ): void {
    this.finishTime[tid] = nowMs;
    if (state === "FAILED") this.flags[tid] |= FAILED;
    else if (state === "KILLED") this.flags[tid] |= KILLED;
  }

  /** Time from launch to end. */
  duration(tid: number): number {
    return this.finishTime[tid] - this.launchTime[tid];
  }

  /** TaskInfo.status. */
  status(tid: number): TaskStatus {
    if (this.isRunning(tid)) {
      return this.gettingResultTime[tid] !== 0 ? "GET RESULT" : "RUNNING";
    }
    if (this.has(tid, FAILED)) return "FAILED";
    return this.has(tid, KILLED) ? "KILLED" : "SUCCESS";
  }
}
