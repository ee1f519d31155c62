/**
 * What a driver does about stages whose output is other data when they run again: outputs made from the old data must not
 * be mixed with outputs made from the new (DAGScheduler: SPARK-23243, SPARK-25341 and what followed).
 *
 * @module
 */
import type { DAGScheduler } from "./dag_scheduler.ts";
import { freshSetOrder } from "./hash_set_order.ts";
import { ResultStage, ShuffleMapStage, type Stage } from "./stage.ts";

const OLD_FETCH_PROTOCOL = "A shuffle map stage with indeterminate output was failed and retried. However, Spark can " +
  "only do this while using the new shuffle block fetching protocol. Please check the config " +
  "'spark.shuffle.useOldFetchProtocol', see more detail in SPARK-27665 and SPARK-25341.";

/** The part of the DAG scheduler that rolls stages back, by the rules of the version. */
export class IndeterminateStages {
  readonly #dag: DAGScheduler;

  constructor(dag: DAGScheduler) {
    this.#dag = dag;
  }

  get #rules() {
    return this.#dag.options.settings.rules.scheduler;
  }

  /** A fetch failed, and the failed stage and the map stage are to be submitted again. */
  fetchFailed(failedStage: Stage, mapStage: ShuffleMapStage): void {
    if (!mapStage.isIndeterminate || mapStage.retriesOnChecksumMismatch) return;
    if (this.#rules.sharesIndeterminateRollback) {
      this.rollbackSucceedingStages(mapStage, true);
      return;
    }
    switch (this.#rules.indeterminateRollback) {
      case "failedStage":
        return this.#abortUnrollbackable(this.#succeedingStages(failedStage));
      case "mapStage":
        return this.#abortUnrollbackable(this.#succeedingStages(mapStage));
    }
  }

  /**
   * A map stage is about to be submitted: its outputs that are left are dropped when they do not go with new ones.
   *
   * @returns false when no job needs it any more.
   */
  beforeSubmit(stage: ShuffleMapStage): boolean {
    const isIndeterminate = stage.isIndeterminate && !stage.retriesOnChecksumMismatch;
    const rereadsAll = this.#rules.checksumRollback === "parents" && stage.retriesOnChecksumMismatch &&
      stage.parents.some(({ isChecksumMismatched }) => isChecksumMismatched);
    if (!isIndeterminate && !rereadsAll || stage.isAvailable) return true;
    if (this.#rules.sharesIndeterminateRollback) {
      if (stage.nextAttemptId > 0) this.rollbackSucceedingStages(stage, true);
      return this.#dag.graph.stageIdToStage.has(stage.id);
    }
    if (!this.#rules.unregistersIndeterminateOutputs) return true;
    if (isIndeterminate && this.#rules.abortsBeforeIndeterminateRerun && stage.nextAttemptId > 0) {
      const stages = this.#succeedingStages(stage);
      this.#abortUnrollbackable(stages);
      if (!this.#isNeeded(stages)) return false;
    }
    this.#dag.options.tracker.unregisterAllMapOutput(stage.shuffleDep.shuffleId);
    return true;
  }

  /** Whether a success of an older attempt of a stage does not count, as it was made from other data. */
  ignoresSuccess(stage: Stage, stageAttemptId: number): boolean {
    const { sharesIndeterminateRollback, checksumRollback, ignoresOldIndeterminateAttempts } = this.#rules;
    const isMarked = stage.maxAttemptIdToIgnore >= stageAttemptId;
    if (sharesIndeterminateRollback) return isMarked;
    const retries = stage instanceof ShuffleMapStage
      ? stage.retriesOnChecksumMismatch
      : stage.parents.some((parent) => parent instanceof ShuffleMapStage && parent.retriesOnChecksumMismatch);
    if (checksumRollback === "outputs" && retries) return isMarked;
    return ignoresOldIndeterminateAttempts && stage.isIndeterminate &&
      stageAttemptId < stage.latestInfo.attemptNumber;
  }

  /** A map task wrote other data than the one before it: what its stage's output went into has to run again. */
  outputChanged(stage: ShuffleMapStage, stageAttemptId: number): void {
    stage.isChecksumMismatched = true;
    if (!stage.retriesOnChecksumMismatch || stage.maxChecksumMismatchedId >= stageAttemptId) return;
    stage.maxChecksumMismatchedId = stageAttemptId;
    if (this.#rules.checksumRollback === "parents") this.#abortUnrollbackable(this.#succeedingStages(stage));
    else this.rollbackSucceedingStages(stage, false);
  }

  /** Drops the outputs of all stages that depend on one, and of itself if asked to, and ends those that run. */
  rollbackSucceedingStages(mapStage: ShuffleMapStage, rollbackCurrentStage: boolean): void {
    const stages = this.#succeedingStages(mapStage).filter((stage) => rollbackCurrentStage || stage !== mapStage);
    this.#abortUnrollbackable(stages);
    if (!this.#isNeeded(stages)) return;
    const { runningStages } = this.#dag;
    const isRunning = stages.map(({ id }) => runningStages.has(id));
    // Those that run first, so that they meet no more fetch failures.
    const order = [...stages.filter((_, i) => isRunning[i]), ...stages.filter((_, i) => !isRunning[i])];
    const reason = `rolling back due to indeterminate output of shuffle map stage ${mapStage}`;
    for (const stage of order) {
      if (stage instanceof ShuffleMapStage) {
        const isRolledBack = stage.nextAttemptId === 0 ||
          stage.maxAttemptIdToIgnore === stage.latestInfo.attemptNumber;
        if (this.#rules.sharesIndeterminateRollback && isRolledBack) continue;
        this.#rollback(stage, reason);
      }
      stage.markAsRollingBack();
    }
  }

  #rollback(stage: ShuffleMapStage, reason: string): void {
    const drops = !this.#dag.runningStages.has(stage.id) || this.#dag.cancelStageAndTryResubmit(stage, reason);
    if (drops) this.#dag.options.tracker.unregisterAllMapOutput(stage.shuffleDep.shuffleId);
  }

  /** Whether some job still waits for one of the stages. */
  #isNeeded(stages: readonly Stage[]): boolean {
    return [...this.#dag.activeJobs].some(({ finalStage }) => stages.includes(finalStage));
  }

  /** A stage and all that depend on it in active jobs (collectSucceedingStages), in the order of Scala's HashSet. */
  #succeedingStages(start: Stage): Stage[] {
    const succeeding = new Set([start.id]);
    const others = new Set<Stage>();
    const collect = (chain: readonly Stage[]): void => {
      const [head] = chain;
      if (succeeding.has(head.id)) {
        for (const { id } of chain.slice(1)) succeeding.add(id);
      } else if (!others.has(head)) {
        for (const parent of head.parents) collect([parent, ...chain]);
        if (!succeeding.has(head.id)) others.add(head);
      }
    };
    for (const { finalStage } of this.#dag.activeJobs) collect([finalStage]);
    return freshSetOrder(this.#rules.hashOrder, succeeding).map((stageId) => this.#dag.stage(stageId));
  }

  /** Aborts the stages whose results so far cannot be taken back (abortStageWithInvalidRollBack). */
  #abortUnrollbackable(stages: readonly Stage[]): void {
    for (const stage of stages) {
      if (stage instanceof ResultStage) this.#abortResultStage(stage);
      else if (stage.numAvailableOutputs > 0) this.#abortMapStage(stage);
    }
  }

  #abortMapStage(stage: ShuffleMapStage): void {
    if (!this.#rules.unregistersIndeterminateOutputs) this.#dag.abortStage(stage, cannotRollback(stage));
    else if (this.#dag.options.settings.useOldFetchProtocol) {
      if (!this.#rules.sharesIndeterminateRollback) this.#dag.abortStage(stage, OLD_FETCH_PROTOCOL);
      else for (const jobId of stage.jobIds.toArray()) this.#abortJob(jobId, OLD_FETCH_PROTOCOL);
    }
  }

  #abortJob(jobId: number, reason: string): void {
    const job = this.#dag.jobIdToActiveJob.get(jobId);
    if (job !== undefined) this.#dag.abortStage(job.finalStage, reason);
  }

  #abortResultStage(stage: ResultStage): void {
    if (stage.activeJob === null) return;
    if (stage.findMissingPartitions().length < stage.numTasks) {
      this.#dag.abortStage(stage, cannotRollback(stage));
    } else if (this.#rules.sharesIndeterminateRollback && this.#dag.runningStages.has(stage.id)) {
      this.#dag.abortStage(
        stage,
        "cannot rollback a running result stage, please re-run the query to ensure data correctness",
      );
    }
  }
}

function cannotRollback(stage: Stage): string {
  return "A shuffle map stage with indeterminate output was failed and retried. However, Spark cannot rollback the " +
    `${stage} to re-process the input data, and has to fail this job. Please eliminate the indeterminacy by ` +
    "checkpointing the RDD before repartition and try again.";
}
