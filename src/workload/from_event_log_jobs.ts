/**
 * When the jobs of an event log were submitted: after which others, and after how much of the driver's own time.
 *
 * @module
 */
import type { Job } from "../simulator/workload.ts";
import type { JobTarget } from "./from_event_log_lineage.ts";

/** The time part of a job. */
export type JobTiming = Pick<Job, "afterJobs" | "delayMs" | "cancelAfterMs">;

/** Local properties that Spark keeps for a job (SparkContext, SQLExecution). */
export const JOB_GROUP = "spark.jobGroup.id";
export const SCHEDULER_POOL = "spark.scheduler.pool";
export const JOB_DESCRIPTION = "spark.job.description";
export const SQL_EXECUTION = "spark.sql.execution.id";

/** "Job 0 cancelled because ...", "Job 0 cancelled part of cancelled job group g"; with an error class from 4.0. */
const CANCELLED = /\bJob \d+ cancelled\b/;

/**
 * A job waits for the jobs that had ended when it was submitted and that no later one of those had waited for: a
 * driver that goes on only when an action has returned gives a chain, several threads give several. Jobs of one SQL
 * execution look at each other first, since adaptive execution submits a stage when the stages it needs have ended.
 *
 * @param startTime start of the application, ms
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { jobTimings } from "./from_event_log_jobs.ts";
 *
 * const job = (jobId: number, time: number, endTime: number) => ({
 *   job: { jobId, time, endTime, failure: null, stageIds: [], finalStageId: null, properties: {} }, stage: null, shuffle: null,
 * });
 * const timings = jobTimings([job(0, 10, 20), job(1, 12, 30), job(2, 35, 40)], 5);
 * assertEquals(timings.map(({ afterJobs, delayMs }) => [afterJobs, delayMs]), [[[], 5], [[], 7], [[0, 1], 5]]);
 * ```
 */
export function jobTimings(targets: readonly JobTarget[], startTime: number): JobTiming[] {
  const timings: JobTiming[] = [];
  const frontier = new Frontier();
  const running: number[] = [];
  for (const [i, { job }] of targets.entries()) {
    running.sort((a, b) => targets[a].job.endTime! - targets[b].job.endTime!);
    while (running.length > 0 && targets[running[0]].job.endTime! <= job.time) {
      const ended = running.shift()!;
      frontier.ended(ended, timings[ended].afterJobs, targets[ended].job.properties[SQL_EXECUTION]);
    }
    const after = frontier.before(job.properties[SQL_EXECUTION]);
    const from = after.reduce((end, j) => Math.max(end, targets[j].job.endTime!), startTime);
    timings.push({
      afterJobs: after,
      delayMs: Math.max(0, job.time - from),
      cancelAfterMs: job.failure !== null && CANCELLED.test(job.failure) && job.endTime !== null
        ? job.endTime - job.time
        : null,
    });
    if (job.endTime !== null) running.push(i);
  }
  return timings.map((timing) => ({ ...timing, afterJobs: timing.afterJobs.map((j) => targets[j].job.jobId) }));
}

/** Ended jobs that no later ended job had waited for, over all and by SQL execution; by index. */
class Frontier {
  readonly #all = new Set<number>();
  readonly #byExecution = new Map<string, Set<number>>();

  ended(job: number, after: readonly number[], execution: string | undefined): void {
    for (const before of after) this.#all.delete(before);
    this.#all.add(job);
    if (execution === undefined) return;
    let own = this.#byExecution.get(execution);
    if (own === undefined) this.#byExecution.set(execution, own = new Set());
    for (const before of after) own.delete(before);
    own.add(job);
  }

  before(execution: string | undefined): number[] {
    const own = execution === undefined ? undefined : this.#byExecution.get(execution);
    return [...(own !== undefined && own.size > 0 ? own : this.#all)].sort((a, b) => a - b);
  }
}
