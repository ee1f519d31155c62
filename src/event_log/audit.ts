/**
 * What a log leaves open: whether it has a beginning and an end, whether tasks ended, whether Spark dropped events.
 *
 * @module
 */
import type { SourceWarning, SparkEvent, StageInfo } from "../spark/events.ts";

/** Builds a warning. */
export function warning(
  code: string,
  message: string,
  count = 1,
): SourceWarning {
  return { kind: "warning", code, message, count };
}

interface StageState {
  succeeded: number;
  completed: StageInfo | null;
}

/**
 * Looks at every event of a log as it passes.
 *
 * Spark's listener bus drops events when its queue is full (AsyncEventQueue, spark.scheduler.listenerbus.eventqueue.capacity);
 * the log then has tasks that end without a start, or completed stages with too few ends.
 */
export class LogAudit {
  #logStart = false;
  #applicationStart = false;
  #applicationEnd = false;
  #running = new Set<number>();
  #endsWithoutStart = 0;
  #stages = new Map<string, StageState>();
  #attempts = new Map<number, number>();
  #openJobs = new Set<number>();
  #openStages = new Set<string>();

  /** Takes the next event. */
  event(event: SparkEvent): void {
    switch (event.kind) {
      case "taskStart":
        this.#running.add(event.taskId);
        break;
      case "taskEnd":
        if (
          !this.#running.delete(event.taskId) &&
          event.reason.reason !== "Resubmitted"
        ) this.#endsWithoutStart++;
        if (event.reason.reason === "Success") {
          this.#stage(event.stageId, event.stageAttemptId).succeeded++;
        }
        break;
      case "stageSubmitted":
        this.#openStages.add(`${event.stageInfo.stageId}.${event.stageInfo.attemptId}`);
        break;
      case "stageCompleted": {
        const { stageId, attemptId } = event.stageInfo;
        this.#openStages.delete(`${stageId}.${attemptId}`);
        this.#stage(stageId, attemptId).completed = event.stageInfo;
        this.#attempts.set(
          stageId,
          Math.max(this.#attempts.get(stageId) ?? 0, attemptId),
        );
        break;
      }
      case "jobStart":
        this.#openJobs.add(event.jobId);
        break;
      case "jobEnd":
        this.#openJobs.delete(event.jobId);
        break;
      case "logStart":
        this.#logStart = true;
        break;
      case "applicationStart":
        this.#applicationStart = true;
        break;
      case "applicationEnd":
        this.#applicationEnd = true;
        break;
    }
  }

  /** What is missing, after the last event. */
  warnings(): SourceWarning[] {
    const found: SourceWarning[] = [];
    if (!this.#logStart) {
      found.push(warning(
        "log.no_log_start",
        "the log does not say which version of Spark wrote it",
      ));
    }
    if (!this.#applicationStart) {
      found.push(warning(
        "log.no_application_start",
        "the log has no application start: its beginning is missing",
      ));
    }
    if (!this.#applicationEnd) {
      found.push(warning(
        "log.no_application_end",
        "the log has no application end: the application was running, was killed, or the log was cut off",
      ));
    }
    const dropped = this.#endsWithoutStart + this.#missingEnds();
    if (dropped > 0) {
      found.push(warning(
        "log.events_dropped",
        "tasks without a start or an end: Spark's listener bus dropped events, or a part of the log is missing " +
          "(spark.scheduler.listenerbus.eventqueue.capacity)",
        dropped,
      ));
    }
    if (this.#running.size > 0) {
      found.push(warning(
        "log.tasks_unfinished",
        "tasks that started and have no end in the log",
        this.#running.size,
      ));
    }
    // The stages of a job that runs when the application ends have no end either.
    if (this.#applicationEnd && this.#openJobs.size === 0 && this.#openStages.size > 0) {
      found.push(warning(
        "log.stages_unfinished",
        "stages that were submitted and have no end in the log, though their jobs ended",
        this.#openStages.size,
      ));
    }
    if (this.#applicationEnd && this.#openJobs.size > 0) {
      found.push(warning(
        "log.jobs_unfinished",
        "jobs that started and have no end in the log, though the application ended",
        this.#openJobs.size,
      ));
    }
    return found;
  }

  #stage(stageId: number, attemptId: number): StageState {
    const key = `${stageId}.${attemptId}`;
    let state = this.#stages.get(key);
    if (state === undefined) {
      state = { succeeded: 0, completed: null };
      this.#stages.set(key, state);
    }
    return state;
  }

  /** A stage with one attempt that succeeded has an end for each task; of retried stages that cannot be said. */
  #missingEnds(): number {
    let missing = 0;
    for (const { succeeded, completed } of this.#stages.values()) {
      if (
        completed !== null && completed.failureReason === null &&
        this.#attempts.get(completed.stageId) === 0 &&
        succeeded < completed.numTasks && succeeded > 0
      ) missing += completed.numTasks - succeeded;
    }
    return missing;
  }
}
