/**
 * Rules that differ by version: what the schedulers did otherwise before 2.4.0.
 *
 * @module
 */
import { from, rule, type VersionRule } from "../version_rule.ts";

/** Of the schedulers before 2.4.0. */
export const EARLY_SCHEDULER_RULES: {
  readonly unregistersBeforeResubmit: VersionRule<boolean>;
  readonly countsKilledTasks: VersionRule<boolean>;
  readonly lateSuccessIsKilled: VersionRule<boolean>;
  readonly killsOtherAttempts: VersionRule<boolean>;
  readonly killedAttemptsAreNotResubmitted: VersionRule<boolean>;
  readonly postsSpeculativeTasks: VersionRule<boolean>;
  readonly emptyMapStageEndsJobs: VersionRule<boolean>;
  readonly removedWorkerTakesOutputs: VersionRule<boolean>;
  readonly workerLossTakesOutputs: VersionRule<boolean>;
  readonly resultAccumulatorsCountOnce: VersionRule<boolean>;
  readonly bogusOldAttemptIsPending: VersionRule<boolean>;
  readonly resubmitTimer: VersionRule<"whenNoneFailed" | "eachStage">;
  readonly abortedStagesCountAsFailed: VersionRule<boolean>;
  readonly retriedStageKeepsCommits: VersionRule<boolean>;
  readonly looksAtAllWaiting: VersionRule<boolean>;
  readonly completionReachesAllTaskSets: VersionRule<boolean>;
  readonly resubmittedResultError: VersionRule<"none" | "AssertionError" | "SparkException">;
} = Object.freeze({
  unregistersBeforeResubmit: from(
    "run",
    "2.4.0",
    null,
    "the output that could not be fetched is forgotten before the stages are put down to run again, not after",
    "when a fetch fails",
  ),
  countsKilledTasks: from(
    "run",
    "2.4.0",
    "SPARK-20087",
    "accumulators and metrics of killed tasks are recorded",
    "when tasks are killed",
  ),
  lateSuccessIsKilled: from(
    "run",
    "2.4.0",
    "SPARK-13343",
    "a success that comes after another attempt's, which had it killed, counts as killed",
    "when two attempts of a task end at nearly the same time",
  ),
  killsOtherAttempts: from(
    "read",
    "2.1.0",
    "SPARK-10530",
    "a success kills the other attempts of its task; before, they ran to their end",
    "when spark.speculation starts copies of tasks",
  ),
  killedAttemptsAreNotResubmitted: from(
    "read",
    "2.3.0",
    "SPARK-22074",
    "the loss of an executor does not rerun a task of which it only ran the attempt that was killed for another's success",
    "when an executor is lost that ran a killed copy of a task",
  ),
  postsSpeculativeTasks: from(
    "read",
    "2.3.0",
    "SPARK-19326",
    "a copy that is to be made is told to listeners, dynamic allocation among them",
    "when spark.speculation starts copies of tasks",
  ),
  emptyMapStageEndsJobs: from(
    "read",
    "2.3.1",
    "SPARK-23948",
    "a map stage of which nothing is missing when it is submitted ends the jobs that wait for it",
    "when a map stage is submitted for outputs that are all there",
  ),
  removedWorkerTakesOutputs: from(
    "read",
    "2.3.0",
    "SPARK-20832",
    "a worker that is removed takes the shuffle outputs on its host with it",
    "when a worker is removed from a standalone cluster",
  ),
  workerLossTakesOutputs: from(
    "read",
    "2.0.1",
    "SPARK-17370",
    "an executor lost with its worker loses its shuffle outputs in spite of the external shuffle service",
    "when an executor is lost with its worker and spark.shuffle.service.enabled is set",
  ),
  resultAccumulatorsCountOnce: rule<boolean>(
    "read",
    "SPARK-22681",
    "accumulators of a second success of a result partition do not count",
    "when a result task succeeds twice",
    [["1.0", true], ["2.2", false], ["2.3.0", true]],
  ),
  bogusOldAttemptIsPending: rule<boolean>(
    "read",
    "SPARK-20715",
    "a success on a lost executor from an older attempt of a map stage leaves its partition pending",
    "when an older attempt of a map stage succeeds on an executor that was lost",
    [["1.0", false], ["2.2", true], ["2.3.0", false]],
  ),
  resubmitTimer: rule<"whenNoneFailed" | "eachStage">(
    "read",
    null,
    "failed stages are submitted again 200 ms after the first of them failed, or after each",
    "when fetches fail in several stages",
    [["1.0", "whenNoneFailed"], ["2.2", "eachStage"]],
  ),
  abortedStagesCountAsFailed: rule<boolean>(
    "read",
    "SPARK-17644",
    "a stage that gave up stays among the failed ones, and keeps later fetch failures from being answered",
    "when a fetch fails after a stage gave up",
    [["1.0", true], ["2.0.1", false]],
  ),
  retriedStageKeepsCommits: from(
    "read",
    "2.1.3",
    null,
    "who may commit a partition is still known when its stage runs again",
    "when tasks that commit output run again after a fetch failure",
  ),
  looksAtAllWaiting: rule<boolean>(
    "read",
    null,
    "stages that wait are looked at after every event, so that parents that were lost run again at once; since, when a parent " +
      "is done",
    "when outputs are lost that a waiting stage needs, while another of its parents runs",
    [["1.0", true], ["2.1.0", false]],
  ),
  completionReachesAllTaskSets: from(
    "read",
    ["2.2.2", "2.3.1"],
    "SPARK-23433",
    "a partition that one attempt of a stage completes is not launched any more by the others",
    "when two attempts of a stage run at the same time",
  ),
  resubmittedResultError: rule<"none" | "AssertionError" | "SparkException">(
    "run",
    null,
    "how the driver fails when a finished result task is said to run again",
    "when a result task is resubmitted, which is an error of Spark itself",
    [["1.0", "none"], ["2.2", "AssertionError"], ["2.4.0", "SparkException"]],
  ),
});
