/**
 * What a task's end means for its stage and job (DAGScheduler.handleTaskCompletion).
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";
import type { DAGScheduler } from "./dag_scheduler.ts";
import type { CompletionEvent } from "./dag_scheduler_types.ts";
import type { BlockManagerId } from "./map_output_tracker.ts";
import { SchedulerException } from "./scheduler_exception.ts";
import { ResultStage, ShuffleMapStage, type Stage } from "./stage.ts";

/** DAGScheduler.RESUBMIT_TIMEOUT: so long after a fetch failure the failed stages are resubmitted, all at once. */
export const RESUBMIT_TIMEOUT_MS = 200;

type FetchFailed = Extract<TaskEndReason, { readonly reason: "FetchFailed" }>;

/** Handles the ends of tasks for a DAG scheduler. */
export class TaskCompletion {
  readonly #dag: DAGScheduler;

  constructor(dag: DAGScheduler) {
    this.#dag = dag;
  }

  get #options() {
    return this.#dag.options;
  }

  get #rules() {
    return this.#options.settings.rules.scheduler;
  }

  handle(event: CompletionEvent): void {
    const { taskSet, reason } = event;
    const { commitCoordinator, listener } = this.#options;
    if (reason.reason !== "Success") {
      commitCoordinator.taskCompleted(
        taskSet.stageId,
        taskSet.partitions[event.index],
        {
          stageAttempt: taskSet.stageAttemptId,
          taskAttempt: event.attempt,
          reason,
        },
      );
    }
    const stage = this.#dag.graph.stageIdToStage.get(taskSet.stageId);
    if (stage === undefined) {
      listener.taskEnd(event);
      return;
    }
    if (this.#countsAccumulators(event, stage)) {
      listener.accumulatorsUpdated(event);
    }
    listener.taskEnd(event);
    switch (reason.reason) {
      case "Success":
        this.#succeeded(event, stage);
        break;
      case "FetchFailed":
        this.#fetchFailed(event, stage, reason);
        break;
      case "Resubmitted":
        this.#resubmitted(event, stage);
    }
  }

  /** A result task's updates count once for its partition; a map task's every time, also when it is run again. */
  #countsAccumulators(event: CompletionEvent, stage: Stage): boolean {
    switch (event.reason.reason) {
      case "Success": {
        if (stage instanceof ShuffleMapStage) return true;
        const job = stage.activeJob;
        if (job === null) return false;
        if (!this.#rules.resultAccumulatorsCountOnce) return true;
        const outputId = event.taskSet.outputIds![event.index];
        return job.finished[outputId] === 0;
      }
      case "ExceptionFailure":
        return true;
      case "TaskKilled":
        return this.#rules.countsKilledTasks;
      default:
        return false;
    }
  }

  #succeeded(event: CompletionEvent, stage: Stage): void {
    const { taskSet } = event;
    const { settings, taskScheduler } = this.#options;
    const ignored = this.#dag.indeterminate.ignoresSuccess(stage, taskSet.stageAttemptId);
    if (
      !ignored && settings.rules.scheduler.dagNotifiesPartitionCompletion &&
      taskSet.stageAttemptId < stage.latestInfo.attemptNumber
    ) {
      const partition = taskSet.partitions[event.index];
      taskScheduler.notifyPartitionCompletion(taskSet.stageId, partition);
    }
    if (stage instanceof ResultStage) this.#resultSucceeded(event, stage, ignored);
    else this.#mapSucceeded(event, stage, ignored);
  }

  #resultSucceeded(event: CompletionEvent, stage: ResultStage, ignored: boolean): void {
    const job = stage.activeJob;
    // The job has ended: the result of a slower copy.
    if (job === null) return;
    const outputId = event.taskSet.outputIds![event.index];
    if (job.finished[outputId] !== 0) return;
    if (ignored && this.#options.settings.rules.scheduler.abortsOnOldIndeterminateResult) {
      this.#dag.abortStage(
        stage,
        `Task with indeterminate results from old attempt succeeded, aborting the stage ${stage} to ensure data correctness.`,
      );
      return;
    }
    job.finished[outputId] = 1;
    job.numFinished++;
    if (job.numFinished === job.numPartitions) {
      this.#dag.markStageAsFinished(stage);
      const kills = this.#options.settings.rules.scheduler.killsTasksAtJobEnd;
      if (kills) {
        const why = `Job ${job.jobId} is finished.`;
        this.#dag.cancelRunningIndependentStages(job, why);
      }
      this.#dag.cleanUpAfter(job);
      if (kills) {
        this.#options.taskScheduler.killAllTaskAttempts(
          stage.id,
          job.properties.interruptOnCancel,
          "Stage finished",
        );
      }
      this.#options.listener.jobEnd(job.jobId, null);
    }
    this.#dag.tellResult(job, outputId);
  }

  #mapSucceeded(event: CompletionEvent, stage: ShuffleMapStage, ignored: boolean): void {
    const { taskSet } = event;
    const partition = taskSet.partitions[event.index];
    if (!ignored) {
      const failedAt = this.#dag.executorFailureEpoch.get(event.executor);
      // Of a failed executor's time: possibly bogus, the output may be gone.
      const isBogus = failedAt !== undefined && taskSet.epoch <= failedAt;
      const isPending = isBogus && this.#rules.bogusOldAttemptIsPending &&
        taskSet.stageAttemptId !== stage.latestInfo.attemptNumber;
      if (!isPending) stage.pendingPartitions.delete(partition);
      if (!isBogus) this.#registerOutput(event, stage, partition);
    }
    if (
      this.#dag.runningStages.has(stage.id) && stage.pendingPartitions.size === 0
    ) this.#dag.processShuffleMapStageCompletion(stage);
  }

  #registerOutput(event: CompletionEvent, stage: ShuffleMapStage, partition: number): void {
    const { tracker, settings } = this.#options;
    const { shuffleId } = stage.shuffleDep;
    tracker.registerMapOutput(shuffleId, partition, event, event.output);
    if (settings.rules.scheduler.checksumRollback === "never") return;
    const checksum = event.checksum ?? (stage.isIndeterminate ? event.tid : 0);
    if (tracker.shuffleStatuses.get(shuffleId)!.noteChecksum(partition, checksum)) {
      this.#dag.indeterminate.outputChanged(stage, event.taskSet.stageAttemptId);
    }
  }

  /** A task could not fetch a map output: its stage fails, the map stage runs again, both after a while. */
  #fetchFailed(
    event: CompletionEvent,
    failedStage: Stage,
    reason: FetchFailed,
  ): void {
    const dag = this.#dag;
    const mapStage = dag.graph.shuffleIdToMapStage.get(reason.shuffleId);
    if (mapStage === undefined) {
      throw new SchedulerException(
        "java.util.NoSuchElementException",
        `key not found: ${reason.shuffleId}`,
      );
    }
    const { stageAttemptId } = event.taskSet;
    // There is a newer attempt already.
    if (failedStage.latestInfo.attemptNumber !== stageAttemptId) return;
    failedStage.failedAttemptIds.add(stageAttemptId);
    const abortReason = dag.stageAbortReason(failedStage, reason.message);
    const shouldAbort = abortReason !== null;
    if (dag.runningStages.has(failedStage.id)) {
      dag.markStageAsFinished(failedStage, reason.message, !shouldAbort);
    }
    const address = this.#addressOf(reason);
    const unregister = () => {
      if (reason.mapIndex === -1 || address === null) return;
      this.#options.tracker.unregisterMapOutput(reason.shuffleId, reason.mapIndex, address);
    };
    if (this.#rules.unregistersBeforeResubmit) unregister();
    if (shouldAbort) dag.abortStage(failedStage, abortReason);
    if (!shouldAbort || this.#rules.abortedStagesCountAsFailed) {
      this.#putDownAsFailed(failedStage, mapStage, !shouldAbort);
    }
    if (!this.#rules.unregistersBeforeResubmit) unregister();
    if (address !== null) {
      const { externalShuffleService, unRegisterOutputOnHost } = this.#options.settings;
      dag.removeExecutorAndUnregisterOutputs(address.executor, {
        fileLost: true,
        host: externalShuffleService && unRegisterOutputOnHost ? address.host : null,
        epoch: event.taskSet.epoch,
      });
    }
  }

  #addressOf(reason: FetchFailed): BlockManagerId | null {
    if (reason.executorId === null || reason.host === null) return null;
    return {
      executor: this.#options.executors.idOf(reason.executorId),
      host: this.#options.hosts.idOf(reason.host),
    };
  }

  /** Both stages run again at the next tick, which is asked for unless `asks` is false or one is to come. */
  #putDownAsFailed(failedStage: Stage, mapStage: ShuffleMapStage, asks: boolean): void {
    const { failedStages } = this.#dag;
    const isScheduled = this.#rules.resubmitTimer === "eachStage"
      ? failedStages.has(failedStage.id)
      : failedStages.size > 0;
    failedStages.add(failedStage.id);
    failedStages.add(mapStage.id);
    if (isScheduled || !asks) return;
    this.#dag.indeterminate.fetchFailed(failedStage, mapStage);
    this.#options.scheduleResubmit(RESUBMIT_TIMEOUT_MS);
  }

  /** The output of a finished map task went with its executor: it runs again in the same task set. */
  #resubmitted(event: CompletionEvent, stage: Stage): void {
    if (stage instanceof ResultStage) {
      const text = "TaskSetManagers should only send Resubmitted task statuses for tasks in ShuffleMapStages.";
      switch (this.#rules.resubmittedResultError) {
        case "none":
          return;
        case "AssertionError":
          throw new SchedulerException("java.lang.AssertionError", `assertion failed: ${text}`);
        case "SparkException":
          throw new SchedulerException("org.apache.spark.SparkException", text);
      }
    }
    stage.pendingPartitions.add(event.taskSet.partitions[event.index]);
  }
}
