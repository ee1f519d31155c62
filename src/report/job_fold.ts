/**
 * Jobs of a run, and whether the run succeeded.
 *
 * @module
 */
import type { JobEnd, JobStart } from "../spark/events.ts";
import type { Summary } from "./summary.ts";

interface JobState {
  startTime: number | null;
  stageIds: readonly number[];
  end: JobEnd | null;
}

/**
 * Whether a job's failure says that somebody cancelled it, which is not a failure of the run.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { isCancelled } from "./job_fold.ts";
 *
 * assertEquals(isCancelled("[SPARK_JOB_CANCELLED] Job 0 cancelled by user SQLSTATE: XXKDA"), true);
 * assertEquals(isCancelled("Job 0 cancelled because SparkContext was shut down"), false);
 * ```
 */
export function isCancelled(message: string): boolean {
  return /^(\[SPARK_JOB_CANCELLED\] )?Job \d+ cancelled\b/.test(message) &&
    !message.includes("SparkContext was shut down");
}

/** Follows jobs. */
export class JobFold {
  readonly #jobs = new Map<number, JobState>();

  /** A job began. */
  started(event: JobStart): void {
    const job = this.#job(event.jobId);
    job.startTime = event.time;
    job.stageIds = event.stageIds;
  }

  /** A job ended. */
  ended(event: JobEnd): void {
    this.#job(event.jobId).end = event;
  }

  /** Jobs in the order in which they came. */
  summaries(): Summary["jobs"] {
    return [...this.#jobs].map(([jobId, { startTime, stageIds, end }]) => ({
      jobId,
      status: end === null ? "unfinished" : end.failure === null ? "succeeded" : "failed",
      reason: end?.failure ?? null,
      stageIds: [...stageIds],
      durationMs: startTime === null || end === null || startTime < 0 || end.time < 0 ? null : end.time - startTime,
    }));
  }

  /** What became of the run; `ended` says whether the application has an end. */
  outcome(ended: boolean): Summary["outcome"] {
    const failure = [...this.#jobs.values()].map(({ end }) => end?.failure ?? null)
      .find((message): message is string => message !== null && !isCancelled(message));
    if (!ended) return { status: "unfinished", reason: failure ?? "the application has no end in the log" };
    if (failure !== undefined) return { status: "failed", reason: failure };
    const open = [...this.#jobs].find(([, { end }]) => end === null);
    if (open !== undefined) return { status: "unfinished", reason: `job ${open[0]} has no end in the log` };
    return { status: "succeeded", reason: null };
  }

  /** Stages of succeeded jobs that are not among those that ran. */
  skippedStages(ran: ReadonlySet<number>): number {
    const skipped = new Set<number>();
    for (const { stageIds, end } of this.#jobs.values()) {
      if (end?.failure !== null) continue;
      for (const stageId of stageIds) if (!ran.has(stageId)) skipped.add(stageId);
    }
    return skipped.size;
  }

  #job(jobId: number): JobState {
    let job = this.#jobs.get(jobId);
    if (job === undefined) this.#jobs.set(jobId, job = { startTime: null, stageIds: [], end: null });
    return job;
  }
}
