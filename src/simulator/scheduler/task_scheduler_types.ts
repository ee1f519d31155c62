/**
 * The narrow interfaces between the parts of the driver, and between the driver and its host (the simulation, or the
 * replay of a trace).
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";
import type { MapOutputSizes } from "./map_status.ts";
import type { ExecutorLossReason } from "./task_end_reason.ts";
import type { TaskSet } from "./task_set.ts";

/** What the task scheduler tells the DAG scheduler; in Spark each call posts an event to its loop. */
export interface DagSchedulerClient {
  taskStarted(tid: number): void;
  taskGettingResult(tid: number): void;
  /** `output`: sizes of the map output that a successful map task wrote; null otherwise. */
  taskEnded(
    tid: number,
    reason: TaskEndReason,
    output: MapOutputSizes | null,
  ): void;
  taskSetFailed(taskSet: TaskSet, message: string): void;
  executorAdded(executor: number, host: number): void;
  executorLost(
    executor: number,
    host: number,
    reason: ExecutorLossReason,
  ): void;
  workerRemoved(host: number): void;
  speculativeTaskSubmitted(taskSet: TaskSet, index: number): void;
}

/** What the DAG scheduler asks of the task scheduler (org.apache.spark.scheduler.TaskScheduler). */
export interface TaskScheduler {
  /** Makes a task set manager, which sets `taskSet.epoch`, and asks for offers. */
  submitTasks(taskSet: TaskSet): void;
  /** Kills what runs of a stage and aborts its task sets (up to 3.5). */
  cancelTasks(stageId: number, interruptThread: boolean, reason: string): void;
  killAllTaskAttempts(
    stageId: number,
    interruptThread: boolean,
    reason: string,
  ): void;
  /** An older attempt of the stage completed the partition (since 3.0). */
  notifyPartitionCompletion(stageId: number, partition: number): void;
}

/** What the task scheduler asks of the cluster (org.apache.spark.scheduler.SchedulerBackend). */
export interface SchedulerBackend {
  /** Make offers of all free cores soon: `TaskSchedulerImpl.resourceOffers`. */
  reviveOffers(): void;
  /** Tell the executor to kill the attempt; it answers with a status. */
  killTask(
    tid: number,
    executor: number,
    kill: { readonly interruptThread: boolean; readonly reason: string },
  ): void;
}
