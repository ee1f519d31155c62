/**
 * Jobs to stages to task sets, and what becomes of them (org.apache.spark.scheduler.DAGScheduler).
 *
 * Its methods are the handlers of the events of Spark's DAGSchedulerEventProcessLoop (DagEventLoop here): they run one
 * after the other and take no time.
 *
 * @module
 */
import type { CompletionEvent, DagSchedulerOptions } from "./dag_scheduler_types.ts";
import { freshSetOrder, type IntSet, newIntSet } from "./hash_set_order.ts";
import { IndeterminateStages } from "./indeterminate_stages.ts";
import type { Rdd, ShuffleDependency } from "./rdd.ts";
import { SchedulerException } from "./scheduler_exception.ts";
import { ActiveJob, type JobListener, type JobProperties, ResultStage, ShuffleMapStage, type Stage } from "./stage.ts";
import { StageGraph } from "./stage_graph.ts";
import type { ExecutorLossReason } from "./task_end_reason.ts";
import { TaskSet } from "./task_set.ts";
import { RESUBMIT_TIMEOUT_MS, TaskCompletion } from "./task_completion.ts";

/** The DAG scheduler. */
export class DAGScheduler {
  readonly graph: StageGraph;
  readonly options: DagSchedulerOptions;
  readonly jobIdToActiveJob = new Map<number, ActiveJob>();
  /** In the order of submission: Spark's set is by identity. */
  readonly activeJobs = new Set<ActiveJob>();
  /** Ids of stages that wait for their parents. */
  readonly waitingStages: IntSet;
  readonly runningStages: IntSet;
  /** Ids of stages to be resubmitted at the next tick. */
  readonly failedStages: IntSet;
  /** Epoch at which an executor was last found to have failed: completions of that epoch and earlier are suspect. */
  readonly executorFailureEpoch = new Map<number, number>();
  /** The same for its shuffle files (a map of its own since 2.4.8 and 3.0). */
  readonly #shuffleFileLostEpoch = new Map<number, number>();
  readonly indeterminate: IndeterminateStages;
  readonly #completion: TaskCompletion;

  constructor(options: DagSchedulerOptions) {
    this.options = options;
    this.graph = new StageGraph(options);
    const { hashOrder } = options.settings.rules.scheduler;
    this.waitingStages = newIntSet(hashOrder);
    this.runningStages = newIntSet(hashOrder);
    this.failedStages = newIntSet(hashOrder);
    this.indeterminate = new IndeterminateStages(this);
    this.#completion = new TaskCompletion(this);
  }

  get #rules() {
    return this.options.settings.rules;
  }

  /** A stage, also one that no job needs any more. */
  stage(stageId: number): Stage {
    return this.graph.stages[stageId];
  }

  // Jobs

  /** An action on some partitions of an RDD. Stages that exist already are shared. */
  handleJobSubmitted(
    jobId: number,
    action: { readonly rdd: Rdd; readonly partitions: ArrayLike<number> },
    submitter: {
      readonly listener: JobListener;
      readonly properties: JobProperties;
    },
  ): void {
    const { listener, properties } = submitter;
    const finalStage = this.graph.createResultStage(
      action.rdd,
      action.partitions,
      { jobId, callSite: properties.callSite },
    );
    const job = new ActiveJob(jobId, finalStage, listener, properties);
    finalStage.activeJob = job;
    this.#startJob(job);
  }

  /** A map stage on its own (adaptive execution). */
  handleMapStageSubmitted(
    jobId: number,
    dependency: ShuffleDependency,
    submitter: {
      readonly listener: JobListener;
      readonly properties: JobProperties;
    },
  ): void {
    const { listener, properties } = submitter;
    const finalStage = this.graph.getOrCreateShuffleMapStage(dependency, jobId);
    const job = new ActiveJob(jobId, finalStage, listener, properties);
    finalStage.addActiveJob(job);
    this.#startJob(job);
    if (finalStage.isAvailable) this.#markMapStageJobAsFinished(job);
  }

  #startJob(job: ActiveJob): void {
    this.graph.clearCacheLocs();
    this.jobIdToActiveJob.set(job.jobId, job);
    this.activeJobs.add(job);
    const stageIds = this.graph.jobIdToStageIds.get(job.jobId);
    if (stageIds === undefined) {
      // A map stage that another job made is not registered for this one (SPARK bug, trace a56).
      throw new SchedulerException(
        "java.util.NoSuchElementException",
        `key not found: ${job.jobId}`,
      );
    }
    const stages = stageIds.toArray()
      .map((stageId) => this.graph.stageIdToStage.get(stageId))
      .filter((stage) => stage !== undefined);
    this.options.listener.jobStart(job.jobId, stages, job.properties);
    this.submitStage(job.finalStage);
  }

  /** The active job with the lowest id that needs the stage. */
  #activeJobForStage(stage: Stage): ActiveJob | undefined {
    const jobId = stage.jobIds.toArray().sort((a, b) => a - b)
      .find((id) => this.jobIdToActiveJob.has(id));
    return jobId === undefined ? undefined : this.jobIdToActiveJob.get(jobId);
  }

  // Stages

  /** Submits a stage, after its missing parents. */
  submitStage(stage: Stage): void {
    const job = this.#activeJobForStage(stage);
    if (job === undefined) {
      this.abortStage(stage, `No active job for stage ${stage.id}`);
      return;
    }
    if (
      this.waitingStages.has(stage.id) || this.runningStages.has(stage.id) ||
      this.failedStages.has(stage.id)
    ) return;
    const { maxStageAttempts } = this.options.settings;
    if (
      this.#rules.scheduler.hasStageMaxAttempts && stage.nextAttemptId >= maxStageAttempts
    ) {
      this.abortStage(
        stage,
        `${stage} (name=${stage.name}) has been resubmitted for the maximum ` +
          `allowable number of times: ${maxStageAttempts}, which is the max value of ` +
          "config `spark.stage.maxAttempts` and `spark.stage.maxConsecutiveAttempts`.",
      );
      return;
    }
    const missing = this.graph.missingParentStages(stage);
    if (missing.length === 0) {
      this.#submitMissingTasks(stage, job.jobId);
      return;
    }
    for (const parent of missing) this.submitStage(parent);
    this.waitingStages.add(stage.id);
  }

  #submitMissingTasks(stage: Stage, jobId: number): void {
    const { listener, commitCoordinator, taskScheduler, nowMs } = this.options;
    if (stage instanceof ShuffleMapStage && !this.indeterminate.beforeSubmit(stage)) return;
    const missing = stage.findMissingPartitions();
    this.runningStages.add(stage.id);
    commitCoordinator.stageStart(stage.id);
    const partitions = stage instanceof ResultStage ? missing.map((outputId) => stage.partitions[outputId]) : missing;
    const locations = this.graph.preferredLocations(stage.rdd, partitions);
    stage.makeNewStageAttempt(missing.length);
    if (missing.length > 0) stage.latestInfo.submissionTime = nowMs();
    listener.stageSubmitted(stage);
    if (stage instanceof ShuffleMapStage) {
      stage.pendingPartitions.clear();
      for (const partition of missing) stage.pendingPartitions.add(partition);
    }
    if (missing.length === 0) {
      this.#completeEmptyStage(stage);
      return;
    }
    const isMap = stage instanceof ShuffleMapStage;
    taskScheduler.submitTasks(
      new TaskSet({
        stageId: stage.id,
        stageAttemptId: stage.latestInfo.attemptNumber,
        priority: jobId,
        pool: this.jobIdToActiveJob.get(jobId)!.properties.pool,
        shuffleId: isMap ? stage.shuffleDep.shuffleId : null,
        partitions,
        outputIds: isMap ? undefined : missing,
        locations,
      }),
    );
  }

  /** Nothing of the stage is missing: it is done. */
  #completeEmptyStage(stage: Stage): void {
    if (
      stage instanceof ShuffleMapStage && this.#rules.scheduler.epochOfEmptyMapStage
    ) {
      this.processShuffleMapStageCompletion(stage);
      return;
    }
    this.markStageAsFinished(stage);
    if (stage instanceof ShuffleMapStage && this.#rules.scheduler.emptyMapStageEndsJobs) {
      this.markMapStageJobsAsFinished(stage);
    }
    this.#submitWaitingChildStages(stage);
  }

  /** All pending partitions of a map stage have completed. */
  processShuffleMapStageCompletion(stage: ShuffleMapStage): void {
    this.markStageAsFinished(stage);
    this.options.tracker.incrementEpoch();
    this.graph.clearCacheLocs();
    if (stage.isAvailable) {
      this.markMapStageJobsAsFinished(stage);
      this.#submitWaitingChildStages(stage);
    } else {
      // Outputs were lost, or came from a failed executor: run those again.
      this.submitStage(stage);
    }
  }

  /** Children of a stage that wait, by the job that made them; ties in the order of Scala's HashSet. */
  #submitWaitingChildStages(parent: Stage): void {
    if (this.#rules.scheduler.looksAtAllWaiting) return;
    const waiting = this.waitingStages.toArray().filter((stageId) => this.stage(stageId).parents.includes(parent));
    const children = freshSetOrder(this.#rules.scheduler.hashOrder, waiting)
      .map((stageId) => this.stage(stageId));
    for (const child of children) this.waitingStages.delete(child.id);
    children.sort((a, b) => a.firstJobId - b.firstJobId);
    for (const child of children) this.submitStage(child);
  }

  /** An event was handled: before 2.1 all stages that wait are tried, by the job that made them (submitWaitingStages). */
  eventHandled(): void {
    if (!this.#rules.scheduler.looksAtAllWaiting || this.waitingStages.size === 0) return;
    const waiting = this.waitingStages.toArray().map((stageId) => this.stage(stageId));
    this.waitingStages.clear();
    waiting.sort((a, b) => a.firstJobId - b.firstJobId);
    for (const stage of waiting) this.submitStage(stage);
  }

  /** The tick after a fetch failure: all failed stages are submitted again. */
  resubmitFailedStages(): void {
    if (this.failedStages.size === 0) return;
    this.graph.clearCacheLocs();
    const failed = this.failedStages.toArray()
      .map((stageId) => this.stage(stageId));
    this.failedStages.clear();
    failed.sort((a, b) => a.firstJobId - b.firstJobId);
    for (const stage of failed) this.submitStage(stage);
  }

  /** An attempt of a stage has ended. */
  markStageAsFinished(
    stage: Stage,
    errorMessage: string | null = null,
    willRetry = false,
  ): void {
    stage.latestInfo.completionTime = this.options.nowMs();
    if (errorMessage === null) stage.failedAttemptIds.clear();
    else stage.latestInfo.failureReason = errorMessage;
    if (!willRetry || !this.#rules.scheduler.retriedStageKeepsCommits) {
      this.options.commitCoordinator.stageEnd(stage.id);
    }
    this.options.listener.stageCompleted(stage, willRetry);
    this.runningStages.delete(stage.id);
  }

  /** Jobs that waited for this map stage alone. */
  markMapStageJobsAsFinished(stage: ShuffleMapStage): void {
    if (!stage.isAvailable) return;
    for (const job of stage.mapStageJobs) this.#markMapStageJobAsFinished(job);
  }

  #markMapStageJobAsFinished(job: ActiveJob): void {
    job.finished[0] = 1;
    job.numFinished++;
    this.tellResult(job, 0);
    this.cleanUpAfter(job);
    this.options.listener.jobEnd(job.jobId, null);
  }

  /** Hands a result to the job's submitter. */
  tellResult(job: ActiveJob, outputId: number): void {
    const failure = job.listener.taskSucceeded(outputId);
    if (typeof failure === "string") {
      // SparkDriverExecutionException: the submitter's own handler threw.
      job.listener.jobFailed("Execution error");
    }
  }

  // Failure

  /** A task set gave up. */
  handleTaskSetFailed(stageId: number, message: string): void {
    const stage = this.graph.stageIdToStage.get(stageId);
    if (stage !== undefined) this.abortStage(stage, message);
  }

  /** Fails all jobs that depend on a stage. */
  abortStage(failedStage: Stage, reason: string): void {
    if (!this.graph.stageIdToStage.has(failedStage.id)) return;
    const dependent = [...this.activeJobs].filter((job) => this.graph.dependsOn(job.finalStage, failedStage));
    failedStage.latestInfo.completionTime = this.options.nowMs();
    for (const job of dependent) {
      this.#failJob(job, `Job aborted due to stage failure: ${reason}`);
    }
  }

  #failJob(job: ActiveJob, message: string): void {
    this.cancelRunningIndependentStages(job, message);
    this.cleanUpAfter(job);
    job.listener.jobFailed(message);
    this.options.listener.jobEnd(job.jobId, message);
  }

  /** Ends the running stages that only this job needs. */
  cancelRunningIndependentStages(job: ActiveJob, reason: string): void {
    const stageIds = this.graph.jobIdToStageIds.get(job.jobId);
    for (const stageId of stageIds?.toArray() ?? []) {
      const stage = this.graph.stageIdToStage.get(stageId);
      if (stage === undefined) continue;
      if (stage.jobIds.size !== 1 || !stage.jobIds.has(job.jobId)) continue;
      const ends = this.runningStages.has(stageId) ||
        (this.#rules.scheduler.completesFailedAttempts &&
          stage.failedAttemptIds.size > 0);
      if (!ends) continue;
      this.#cancelStageTasks(stageId, job, reason);
      this.markStageAsFinished(stage, reason);
    }
  }

  #cancelStageTasks(stageId: number, job: ActiveJob, reason: string): void {
    const { taskScheduler, postStageFailed } = this.options;
    const interrupt = job.properties.interruptOnCancel;
    if (!this.#rules.scheduler.abortsAfterKillingTasks) {
      taskScheduler.cancelTasks(stageId, interrupt, reason);
      return;
    }
    taskScheduler.killAllTaskAttempts(stageId, interrupt, reason);
    postStageFailed(stageId, reason);
  }

  /**
   * Kills the tasks of a running map stage and lets it run again, unless it has failed too often.
   *
   * @returns whether it runs again.
   */
  cancelStageAndTryResubmit(stage: ShuffleMapStage, reason: string): boolean {
    const interrupt = this.jobIdToActiveJob.get(stage.firstJobId)?.properties.interruptOnCancel ?? false;
    this.options.taskScheduler.killAllTaskAttempts(stage.id, interrupt, reason);
    stage.failedAttemptIds.add(stage.latestInfo.attemptNumber);
    const abortReason = this.stageAbortReason(stage, reason, " ");
    this.markStageAsFinished(stage, reason, abortReason === null);
    if (abortReason !== null) this.abortStage(stage, `rollback failed due to: ${abortReason}`);
    else if (this.failedStages.add(stage.id)) this.options.scheduleResubmit(RESUBMIT_TIMEOUT_MS);
    return abortReason === null;
  }

  /** Why a stage that failed is not tried again; null when it is. `separator` stands before the last failure. */
  stageAbortReason(stage: Stage, failure: string, separator?: string): string | null {
    const { maxConsecutiveStageAttempts, maxStageAttempts, rules } = this.options.settings;
    const { fetchFailedAbortText: form, failuresCountAllAttempts } = rules.scheduler;
    const reason = `Most recent failure reason:${separator ?? (form === "newLine" ? "\n" : " ")}` +
      (form === "inline" ? failure.replaceAll("\n", " ") : failure);
    if (stage.failedAttemptIds.size >= maxConsecutiveStageAttempts) {
      return `${stage} (${stage.name}) has failed the maximum allowable number of times: ` +
        `${maxConsecutiveStageAttempts}. ${reason}`;
    }
    return failuresCountAllAttempts && stage.nextAttemptId >= maxStageAttempts
      ? `${stage} (${stage.name}) has exceeded the maximum allowable total stage attempts: ${maxStageAttempts}. ${reason}`
      : null;
  }

  /** Forgets a job and the stages that only it needed (cleanupStateForJobAndIndependentStages). */
  cleanUpAfter(job: ActiveJob): void {
    const stageIds = this.graph.jobIdToStageIds.get(job.jobId);
    for (const stageId of stageIds?.toArray() ?? []) {
      const stage = this.graph.stageIdToStage.get(stageId);
      if (stage === undefined || !stage.jobIds.delete(job.jobId)) continue;
      if (stage.jobIds.size > 0) continue;
      this.runningStages.delete(stageId);
      this.waitingStages.delete(stageId);
      this.failedStages.delete(stageId);
      this.graph.remove(stage);
    }
    this.graph.jobIdToStageIds.delete(job.jobId);
    this.jobIdToActiveJob.delete(job.jobId);
    this.activeJobs.delete(job);
    if (job.finalStage instanceof ResultStage) job.finalStage.activeJob = null;
    else job.finalStage.removeActiveJob(job);
  }

  // Cancellation

  /** Cancels a job; nothing when it is not there. `reason` follows "cancelled". */
  handleJobCancellation(jobId: number, reason: string | null): void {
    if (!this.graph.jobIdToStageIds.has(jobId)) return;
    const job = this.jobIdToActiveJob.get(jobId);
    if (job === undefined) {
      // A stage that was made for a job which has ended, as another job shares its child, keeps the job's id (SPARK bug).
      throw new SchedulerException("java.util.NoSuchElementException", `key not found: ${jobId}`);
    }
    const text = `Job ${jobId} cancelled ${reason ?? ""}`;
    this.#failJob(
      job,
      this.#rules.scheduler.jobCancelledText === "errorClass" ? `[SPARK_JOB_CANCELLED] ${text} SQLSTATE: XXKDA` : text,
    );
  }

  /** Cancels all jobs that need a stage. */
  handleStageCancellation(stageId: number, reason: string | null): void {
    const stage = this.graph.stageIdToStage.get(stageId);
    if (stage === undefined) return;
    const why = `because ${reason ?? `Stage ${stageId} was cancelled`}`;
    for (const jobId of stage.jobIds.toArray()) {
      this.handleJobCancellation(jobId, why);
    }
  }

  /** Cancels the jobs of a group. */
  handleJobGroupCancelled(group: string): void {
    const jobIds = [...this.activeJobs]
      .filter((job) => job.properties.group === group)
      .map((job) => job.jobId);
    for (const jobId of freshSetOrder(this.#rules.scheduler.hashOrder, jobIds)) {
      this.handleJobCancellation(jobId, `part of cancelled job group ${group}`);
    }
  }

  /** Cancels the jobs that made the running stages; jobs that only share such a stage are forgotten (trace a14). */
  doCancelAllJobs(): void {
    const jobIds = this.runningStages.toArray()
      .map((stageId) => this.stage(stageId).firstJobId);
    for (const jobId of freshSetOrder(this.#rules.scheduler.hashOrder, jobIds)) {
      this.handleJobCancellation(
        jobId,
        "as part of cancellation of all jobs",
      );
    }
    this.activeJobs.clear();
    this.jobIdToActiveJob.clear();
  }

  /** An event could not be handled: Spark cancels all jobs and stops the SparkContext. */
  onError(error: SchedulerException): void {
    this.doCancelAllJobs();
    this.options.listener.schedulerFailed(error.className, error.message);
  }

  // Tasks

  /** A task was launched. */
  handleBeginEvent(taskSet: TaskSet, tid: number): void {
    const { stageId, stageAttemptId } = taskSet;
    const stage = this.graph.stageIdToStage.get(stageId);
    const attempt = this.#rules.scheduler.taskStartHasOwnAttempt
      ? stageAttemptId
      : stage?.latestInfo.attemptNumber ?? -1;
    this.options.listener.taskStart(stageId, attempt, tid);
  }

  handleGetTaskResult(tid: number): void {
    this.options.listener.taskGettingResult(tid);
  }

  handleSpeculativeTaskSubmitted(taskSet: TaskSet, index: number): void {
    this.options.listener.speculativeTaskSubmitted(taskSet, index);
  }

  /** A task ended. */
  handleTaskCompletion(event: CompletionEvent): void {
    this.#completion.handle(event);
  }

  // Executors

  /** An executor is gone. */
  handleExecutorLost(
    executor: number,
    host: number,
    reason: ExecutorLossReason,
  ): void {
    const { externalShuffleService, rules } = this.options.settings;
    const workerLost = reason.kind === "processLost" && reason.workerLost && rules.scheduler.workerLossTakesOutputs;
    this.removeExecutorAndUnregisterOutputs(executor, {
      fileLost: workerLost || !externalShuffleService,
      host: workerLost && rules.scheduler.workerLossRemovesHostOutputs ? host : null,
      epoch: this.options.tracker.epoch,
    });
  }

  /** Forgets the blocks of an executor, and its shuffle outputs (or its host's) when the files are lost, once an epoch. */
  removeExecutorAndUnregisterOutputs(
    executor: number,
    loss: {
      readonly fileLost: boolean;
      readonly host: number | null;
      readonly epoch: number;
    },
  ): void {
    const { blockManagerMaster } = this.options;
    const isNews = (epochs: Map<number, number>) => {
      const known = epochs.get(executor);
      if (known !== undefined && known >= loss.epoch) return false;
      epochs.set(executor, loss.epoch);
      return true;
    };
    const executorIsNews = isNews(this.executorFailureEpoch);
    if (executorIsNews) {
      blockManagerMaster.removeExecutor(executor);
      if (this.#rules.scheduler.separateFileLostEpoch || loss.fileLost) {
        this.graph.clearCacheLocs();
      }
    }
    if (!loss.fileLost) return;
    const filesAreNews = this.#rules.scheduler.separateFileLostEpoch
      ? isNews(this.#shuffleFileLostEpoch)
      : executorIsNews;
    if (filesAreNews) this.#removeOutputs(executor, loss.host);
  }

  #removeOutputs(executor: number, host: number | null): void {
    const { tracker } = this.options;
    if (host === null) tracker.removeOutputsOnExecutor(executor);
    else tracker.removeOutputsOnHost(host);
  }

  /** A worker was removed from the cluster: what is on its host is gone. */
  handleWorkerRemoved(host: number): void {
    if (!this.#rules.scheduler.removedWorkerTakesOutputs) return;
    this.options.tracker.removeOutputsOnHost(host);
    this.graph.clearCacheLocs();
  }

  /** An executor registered: one that failed under this id is forgotten. */
  handleExecutorAdded(executor: number): void {
    this.executorFailureEpoch.delete(executor);
    this.#shuffleFileLostEpoch.delete(executor);
  }
}
