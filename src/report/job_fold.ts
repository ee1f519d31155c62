/**
 * Jobs of a run, and whether the run succeeded.
 *
 * @module
 */
import type { JobEnd, JobStart, SqlExecutionStart } from "../spark/events.ts";
import { queryDescription } from "../spark/plan_name.ts";
import type { Summary } from "./summary.ts";

interface JobState {
  startTime: number | null;
  stageIds: readonly number[];
  end: JobEnd | null;
  /** spark.job.description */
  description: string | undefined;
  /** spark.sql.execution.id */
  execution: string | undefined;
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

/** Executions whose names are kept. */
const MAX_EXECUTIONS = 100_000;
/** A SQL text may be the description. */
const MAX_DESCRIPTION = 200;

/** Follows jobs. */
export class JobFold {
  readonly #executions = new Map<string, { readonly name: string; readonly description: string }>();
  readonly #jobs = new Map<number, JobState>();

  /** A job began. */
  started(event: JobStart): void {
    const job = this.#job(event.jobId);
    job.startTime = event.time;
    job.stageIds = event.stageIds;
    job.description = event.properties["spark.job.description"];
    job.execution = event.properties["spark.sql.execution.id"];
  }

  /** A SQL execution began; its jobs come after it. */
  executionStarted({ executionId, description, plan }: SqlExecutionStart): void {
    if (this.#executions.size < MAX_EXECUTIONS) {
      const name = queryDescription(executionId, plan, "");
      this.#executions.set(`${executionId}`, { name, description });
    }
  }

  /** A job ended. */
  ended(event: JobEnd): void {
    this.#job(event.jobId).end = event;
  }

  /** Jobs in the order in which they came. */
  summaries(): Summary["jobs"] {
    return [...this.#jobs].map(([jobId, { startTime, stageIds, end, description, execution }]) => ({
      jobId,
      status: end === null ? "unfinished" : end.failure === null ? "succeeded" : "failed",
      reason: end?.failure ?? null,
      stageIds: [...stageIds],
      durationMs: startTime === null || end === null || startTime < 0 || end.time < 0 ? null : end.time - startTime,
      ...this.#described(description, execution),
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

  #described(description: string | undefined, execution: string | undefined): { description?: string } {
    const query = execution === undefined ? undefined : this.#executions.get(execution);
    // Spark Streaming links the batch in HTML (JobScheduler.JobHandler).
    const said = (description ?? query?.description ?? "").replace(/<\/?a\b[^>]*>/g, "");
    const text = query === undefined ? said : said === "" ? query.name : `${query.name}: ${said}`;
    return text === "" ? {} : { description: text.slice(0, MAX_DESCRIPTION) };
  }

  #job(jobId: number): JobState {
    let job = this.#jobs.get(jobId);
    if (job === undefined) {
      this.#jobs.set(
        jobId,
        job = {
          startTime: null,
          stageIds: [],
          end: null,
          description: undefined,
          execution: undefined,
        },
      );
    }
    return job;
  }
}
