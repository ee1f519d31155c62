/**
 * What the DAG scheduler works with, and what it tells.
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";
import type { BlockManagerId, MapOutputTracker } from "./map_output_tracker.ts";
import type { MapOutputSizes } from "./map_status.ts";
import type { NameTable } from "./names.ts";
import type { OutputCommitCoordinator } from "./output_commit_coordinator.ts";
import type { SchedulerSettings } from "./settings.ts";
import type { JobProperties, Stage } from "./stage.ts";
import type { TaskScheduler } from "./task_scheduler_types.ts";
import type { TaskSet } from "./task_set.ts";

/** A task that ended. The object is only valid during the call. */
export interface CompletionEvent {
  readonly taskSet: TaskSet;
  /** Index in the set. */
  readonly index: number;
  readonly tid: number;
  /** Attempt number of the task. */
  readonly attempt: number;
  readonly reason: TaskEndReason;
  /** Where it ran; for a map task, where its output is. */
  readonly executor: number;
  readonly host: number;
  /** Sizes of a map task's output. */
  readonly output: MapOutputSizes | null;
  /** Of that output, whatever the order of its rows; absent: its own for an indeterminate stage, else always the same. */
  readonly checksum?: number;
}

/** The listener bus: what real Spark posts as SparkListener events, in the same order. */
export interface SchedulerListener {
  jobStart(
    jobId: number,
    stages: readonly Stage[],
    properties: JobProperties,
  ): void;
  /** `failure`: the message; null for success. */
  jobEnd(jobId: number, failure: string | null): void;
  /** `stage.latestInfo` is the attempt. */
  stageSubmitted(stage: Stage): void;
  /** `willRetry`: a fetch failure ended the attempt and another follows (OutputCommitCoordinator.stageEnd is not called). */
  stageCompleted(stage: Stage, willRetry: boolean): void;
  taskStart(stageId: number, stageAttemptId: number, tid: number): void;
  taskGettingResult(tid: number): void;
  taskEnd(event: CompletionEvent): void;
  /**
   * A task's accumulator updates count: for a result task once for each partition, for a map task each time it runs, and
   * for failed and killed tasks those that count failed values. Comes before taskEnd.
   */
  accumulatorsUpdated(event: CompletionEvent): void;
  speculativeTaskSubmitted(taskSet: TaskSet, index: number): void;
  /** The event loop met an exception: Spark stops the SparkContext. */
  schedulerFailed(className: string, message: string): void;
}

/** What the DAG scheduler asks of the block manager master. */
export interface BlockManagerMaster {
  /** An executor is gone: its blocks are, too. */
  removeExecutor(executor: number): void;
  /** Block managers that have a partition of a persisted RDD. */
  getLocations(rddId: number, partition: number): readonly BlockManagerId[];
}

/** What the DAG scheduler works with. */
export interface DagSchedulerOptions {
  readonly settings: SchedulerSettings;
  readonly taskScheduler: TaskScheduler;
  readonly tracker: MapOutputTracker;
  readonly commitCoordinator: OutputCommitCoordinator;
  readonly blockManagerMaster: BlockManagerMaster;
  readonly listener: SchedulerListener;
  readonly executors: NameTable;
  readonly hosts: NameTable;
  /** Virtual time in ms. */
  nowMs(): number;
  /** Call DAGScheduler.resubmitFailedStages (through the event loop) after so long. */
  scheduleResubmit(delayMs: number): void;
  /** Post StageFailed to the event loop (since 4.0). */
  postStageFailed(stageId: number, reason: string): void;
}
