/**
 * The graph of stages with their attempts, as a fold.
 *
 * @module
 */
import type { SparkEvent, StageInfo, TaskEnd } from "../spark/events.ts";

/** One submitted attempt of a stage; times in ms since the epoch. */
export interface StageAttempt {
  readonly attemptId: number;
  readonly submissionTime: number | null;
  readonly completionTime: number | null;
  readonly status: "succeeded" | "failed" | "unfinished";
  readonly failureReason: string | null;
  /** Tasks of this attempt; after a resubmission only those that run again. */
  readonly numTasks: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly killed: number;
  readonly memoryBytesSpilled: number;
  readonly shuffleReadBytes: number;
  readonly shuffleWriteBytes: number;
  readonly inputBytes: number;
}

/** A stage. Without attempts it was skipped: its output was there already. */
export interface StageNode {
  readonly stageId: number;
  readonly name: string;
  readonly parentIds: readonly number[];
  readonly jobIds: readonly number[];
  readonly attempts: readonly StageAttempt[];
  /** Ids of the cached RDDs in it. */
  readonly cachedRddIds: readonly number[];
}

/** A job and its stages. */
export interface JobNode {
  readonly jobId: number;
  readonly description: string | null;
  readonly startTime: number;
  readonly endTime: number | null;
  readonly status: "succeeded" | "failed" | "unfinished";
  readonly failure: string | null;
  readonly stageIds: readonly number[];
}

/** The graph; `leftOut` counts stages beyond the limit. */
export interface StageGraph {
  readonly jobs: readonly JobNode[];
  readonly stages: readonly StageNode[];
  readonly leftOut: number;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Stage {
  name: string;
  parentIds: readonly number[];
  jobIds: number[];
  cachedRddIds: readonly number[];
  attempts: Map<number, Mutable<StageAttempt>>;
}

/** The fold. */
export class StageGraphs {
  readonly #maxStages: number;
  readonly #stages = new Map<number, Stage>();
  readonly #jobs = new Map<number, Mutable<JobNode>>();
  #leftOut = 0;

  /** @param maxStages stages beyond are counted only */
  constructor(maxStages: number) {
    this.#maxStages = maxStages;
  }

  event(event: SparkEvent): void {
    switch (event.kind) {
      case "jobStart":
        this.#jobs.set(event.jobId, {
          jobId: event.jobId,
          description: event.properties["spark.job.description"] ?? null,
          startTime: event.time,
          endTime: null,
          status: "unfinished",
          failure: null,
          stageIds: [...event.stageIds],
        });
        for (const info of event.stageInfos) {
          this.#stage(info)?.jobIds.push(event.jobId);
        }
        return;
      case "jobEnd": {
        const job = this.#jobs.get(event.jobId);
        if (job === undefined) return;
        job.endTime = event.time;
        job.status = event.failure === null ? "succeeded" : "failed";
        job.failure = event.failure;
        return;
      }
      case "stageSubmitted":
        this.#attempt(event.stageInfo);
        return;
      case "stageCompleted": {
        const attempt = this.#attempt(event.stageInfo);
        if (attempt === null) return;
        const { failureReason, submissionTime, completionTime } = event.stageInfo;
        attempt.submissionTime = submissionTime ?? attempt.submissionTime;
        attempt.completionTime = completionTime;
        attempt.status = failureReason === null ? "succeeded" : "failed";
        attempt.failureReason = failureReason;
        return;
      }
      case "taskEnd":
        return this.#taskEnd(event);
    }
  }

  #stage(info: StageInfo): Stage | null {
    let stage = this.#stages.get(info.stageId);
    if (stage === undefined) {
      if (this.#stages.size >= this.#maxStages) {
        this.#leftOut++;
        return null;
      }
      stage = {
        name: info.name,
        parentIds: [...info.parentIds],
        jobIds: [],
        cachedRddIds: info.rddInfos
          .filter(({ storageLevel }) => storageLevel.useMemory || storageLevel.useDisk)
          .map(({ rddId }) => rddId),
        attempts: new Map(),
      };
      this.#stages.set(info.stageId, stage);
    }
    return stage;
  }

  #attempt(info: StageInfo): Mutable<StageAttempt> | null {
    const stage = this.#stage(info);
    if (stage === null) return null;
    let attempt = stage.attempts.get(info.attemptId);
    if (attempt === undefined) {
      attempt = {
        attemptId: info.attemptId,
        submissionTime: info.submissionTime,
        completionTime: null,
        status: "unfinished",
        failureReason: null,
        numTasks: info.numTasks,
        succeeded: 0,
        failed: 0,
        killed: 0,
        memoryBytesSpilled: 0,
        shuffleReadBytes: 0,
        shuffleWriteBytes: 0,
        inputBytes: 0,
      };
      stage.attempts.set(info.attemptId, attempt);
    }
    return attempt;
  }

  #taskEnd(event: TaskEnd): void {
    if (event.reason.reason === "Resubmitted") return;
    const attempt = this.#stages.get(event.stageId)?.attempts.get(
      event.stageAttemptId,
    );
    if (attempt === undefined) return;
    if (event.reason.reason === "Success") attempt.succeeded++;
    else if (event.killed || event.reason.reason === "TaskKilled") {
      attempt.killed++;
    } else attempt.failed++;
    const { metrics } = event;
    if (metrics === null) return;
    attempt.memoryBytesSpilled += metrics.memoryBytesSpilled;
    attempt.shuffleReadBytes += metrics.shuffleLocalBytesRead +
      metrics.shuffleRemoteBytesRead;
    attempt.shuffleWriteBytes += metrics.shuffleBytesWritten;
    attempt.inputBytes += metrics.inputBytes;
  }

  finish(): StageGraph {
    return {
      jobs: [...this.#jobs.values()],
      stages: [...this.#stages].map(([stageId, stage]) => ({
        stageId,
        name: stage.name,
        parentIds: stage.parentIds,
        jobIds: stage.jobIds,
        attempts: [...stage.attempts.values()],
        cachedRddIds: stage.cachedRddIds,
      })).sort((a, b) => a.stageId - b.stageId),
      leftOut: this.#leftOut,
    };
  }
}
