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
  const before: Set<number>[] = [];
  return targets.map(({ job }, i) => {
    const ended = targets.map((_, j) => j).slice(0, i).filter((j) => {
      const end = targets[j].job.endTime;
      return end !== null && end <= job.time;
    });
    const execution = job.properties[SQL_EXECUTION];
    const siblings = ended.filter((j) =>
      execution !== undefined && targets[j].job.properties[SQL_EXECUTION] === execution
    );
    const candidates = siblings.length > 0 ? siblings : ended;
    const covered = new Set<number>();
    for (const j of candidates) for (const k of before[j]) covered.add(k);
    const after = candidates.filter((j) => !covered.has(j));
    before.push(new Set([...after, ...after.flatMap((j) => [...before[j]])]));
    const from = after.reduce((end, j) => Math.max(end, targets[j].job.endTime!), startTime);
    return {
      afterJobs: after.map((j) => targets[j].job.jobId),
      delayMs: Math.max(0, job.time - from),
      cancelAfterMs: job.failure !== null && CANCELLED.test(job.failure) && job.endTime !== null
        ? job.endTime - job.time
        : null,
    };
  });
}
