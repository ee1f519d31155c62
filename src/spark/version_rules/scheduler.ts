/**
 * Rules that differ by version: the schedulers.
 *
 * @module
 */
import { from, rule, type VersionRule } from "../version_rule.ts";

/** Of the schedulers. */
export const SCHEDULER_RULES: {
  readonly killsTasksAtJobEnd: VersionRule<boolean>;
  readonly dagNotifiesPartitionCompletion: VersionRule<boolean>;
  readonly epochOfEmptyMapStage: VersionRule<boolean>;
  readonly taskStartHasOwnAttempt: VersionRule<boolean>;
  readonly workerLossRemovesHostOutputs: VersionRule<boolean>;
  readonly separateFileLostEpoch: VersionRule<boolean>;
  readonly skippedStageUsesAttempt: VersionRule<boolean>;
  readonly failureCountRestartsOnSuccess: VersionRule<boolean>;
  readonly lossBeforeRunningIsNotCounted: VersionRule<boolean>;
  readonly newTaskSetMakesOldZombie: VersionRule<boolean>;
  readonly reportsNotSerializable: VersionRule<boolean>;
  readonly hasStageMaxAttempts: VersionRule<boolean>;
  readonly unregistersIndeterminateOutputs: VersionRule<boolean>;
  readonly ignoresOldIndeterminateAttempts: VersionRule<boolean>;
  readonly abortsAfterKillingTasks: VersionRule<boolean>;
  readonly completesFailedAttempts: VersionRule<boolean>;
  readonly suspendsKilledTaskSets: VersionRule<boolean>;
  readonly removesExecutorsAsync: VersionRule<boolean>;
  readonly checksumRollback: VersionRule<boolean>;
  readonly hashOrder: VersionRule<"2.12" | "2.13">;
  readonly resubmitsOnlyEndedAttempts: VersionRule<boolean>;
  readonly zombiesKeepNoPending: VersionRule<boolean>;
  readonly offersSkipSetsWithoutPending: VersionRule<boolean>;
  readonly defaultPoolIsFair: VersionRule<boolean>;
  readonly existingOutputFileAborts: VersionRule<boolean>;
  readonly localityTimerNeedsFullUse: VersionRule<boolean>;
  readonly localityReturnsToNewLevel: VersionRule<boolean>;
  readonly copiesWaitByLocality: VersionRule<boolean>;
  readonly typicalDuration: VersionRule<"meanOfMiddle" | "upperMedian">;
  readonly checksEfficiency: VersionRule<boolean>;
  readonly allocationTracksAttempts: VersionRule<boolean>;
  readonly addTimerNeedsGrowth: VersionRule<boolean>;
  readonly copiesCountByIndex: VersionRule<boolean>;
  readonly postsEmptyJobs: VersionRule<boolean>;
  readonly fetchFailedText: VersionRule<"mapId" | "mapIndex">;
  readonly lossReasonName: VersionRule<"SlaveLost" | "ExecutorProcessLost">;
  readonly lostTaskText: VersionRule<"host" | "hostExecutor" | "separate">;
  readonly stageCancelledText: VersionRule<"plain" | "reason">;
  readonly jobCancelledText: VersionRule<"plain" | "errorClass">;
  readonly fetchFailedAbortText: VersionRule<"inline" | "newLine">;
} = Object.freeze({
  killsTasksAtJobEnd: from(
    "run",
    "3.0.0",
    null,
    "attempts of the result stage that still run when its job ends are killed",
  ),
  dagNotifiesPartitionCompletion: from(
    "run",
    "3.0.0",
    null,
    "the DAGScheduler tells the task sets of a stage that a partition is done; before, the TaskSetManager did",
  ),
  epochOfEmptyMapStage: from(
    "run",
    "3.2.0",
    null,
    "a map stage that is available when it is submitted also raises the epoch",
  ),
  taskStartHasOwnAttempt: from(
    "run",
    "3.2.0",
    null,
    "a task's start names the stage attempt that it belongs to, not the stage's newest",
  ),
  workerLossRemovesHostOutputs: from(
    "run",
    "3.1.0",
    null,
    "an executor lost with its worker takes the shuffle outputs of the whole host with it",
  ),
  separateFileLostEpoch: from(
    "run",
    ["2.4.7", "3.0.1"],
    "SPARK-32003",
    "lost shuffle files have their own epoch, so a fetch failure after the executor's loss still removes outputs",
  ),
  skippedStageUsesAttempt: from(
    "run",
    ["3.2.1", "3.3.0"],
    "SPARK-37481",
    "a skipped stage uses up attempt 0",
  ),
  failureCountRestartsOnSuccess: from(
    "run",
    "3.3.0",
    null,
    "a success sets the count of a partition's failures back to 0",
  ),
  lossBeforeRunningIsNotCounted: from(
    "run",
    "3.4.0",
    null,
    "the loss of an executor that had not reported the task as running is no failure of the task",
  ),
  newTaskSetMakesOldZombie: from(
    "run",
    ["2.3.4", "2.4.1", "3.0.0"],
    "SPARK-23433",
    "a stage's new task set makes the older ones zombies; before, a second active one was an error",
  ),
  reportsNotSerializable: from(
    "run",
    "3.4.0",
    null,
    "a NotSerializableException ends the task in the events before the stage is aborted",
  ),
  hasStageMaxAttempts: from(
    "read",
    "3.5.0",
    "SPARK-42577",
    "spark.stage.maxAttempts limits all attempts of a stage",
  ),
  unregistersIndeterminateOutputs: from(
    "read",
    "3.0.0",
    null,
    "an indeterminate map stage that is not complete loses all its outputs when it is resubmitted",
  ),
  ignoresOldIndeterminateAttempts: from(
    "read",
    "3.5.0",
    null,
    "successes of older attempts of an indeterminate map stage are ignored",
  ),
  abortsAfterKillingTasks: from(
    "run",
    "4.0.0",
    null,
    "a failing job kills its tasks first and posts the abort of the stage afterwards",
  ),
  completesFailedAttempts: from(
    "run",
    "4.0.0",
    null,
    "a job that fails also kills and completes stages with failed attempts",
  ),
  suspendsKilledTaskSets: from(
    "run",
    "4.0.0",
    null,
    "task sets whose attempts were all killed launch nothing any more",
  ),
  removesExecutorsAsync: from(
    "run",
    "4.1.0",
    null,
    "the block manager master is told of a lost executor without waiting",
  ),
  checksumRollback: from(
    "read",
    "4.1.0",
    null,
    "a shuffle output whose checksum changed rolls back the succeeding stages",
  ),
  hashOrder: rule<"2.12" | "2.13">(
    "run",
    null,
    "the order in which Scala's hash sets are walked (Spark 4 is built for Scala 2.13 only)",
    [["1.0", "2.12"], ["4.0.0", "2.13"]],
  ),
  resubmitsOnlyEndedAttempts: from(
    "read",
    ["2.4.5", "3.0.0"],
    null,
    "the loss of an executor does not rerun a finished partition for an attempt that still ran there",
  ),
  zombiesKeepNoPending: from(
    "run",
    "3.0.0",
    null,
    "a zombie task set puts no task back on its pending lists and leaves its locality levels alone",
  ),
  offersSkipSetsWithoutPending: from(
    "run",
    "3.1.0",
    null,
    "only task sets with something pending take part in offers",
  ),
  defaultPoolIsFair: from(
    "run",
    ["3.2.4", "3.3.2"],
    "SPARK-42157",
    "spark.scheduler.mode FAIR without a file of pools: the jobs in the pool named default share the cores",
  ),
  existingOutputFileAborts: from(
    "read",
    "3.0.0",
    "SPARK-27194",
    "a task that finds its output file there already aborts the stage at once",
  ),
  localityTimerNeedsFullUse: from(
    "run",
    "3.1.0",
    "SPARK-18886",
    "the locality timer starts anew when all offers were used, not whenever a task was launched",
  ),
  localityReturnsToNewLevel: from(
    "run",
    "3.1.0",
    null,
    "a task set goes back to a nearer locality level that appears with a new executor",
  ),
  copiesWaitByLocality: from(
    "run",
    "3.0.0",
    null,
    "speculative copies wait in lists by locality, and only successes of the task set itself count for the quantile",
  ),
  typicalDuration: rule<"meanOfMiddle" | "upperMedian">(
    "read",
    null,
    "of an even number of durations speculation takes the mean of the two in the middle, or the larger",
    [["1.0", "meanOfMiddle"], ["3.4.0", "upperMedian"]],
  ),
  checksEfficiency: from(
    "run",
    "3.4.0",
    "SPARK-32170",
    "a slow task that gets through its records fast enough is not speculated",
  ),
  allocationTracksAttempts: from(
    "read",
    "3.0.0",
    null,
    "dynamic allocation counts tasks by stage attempt, and an idle executor's time follows its cached blocks and shuffles",
  ),
  addTimerNeedsGrowth: from(
    "read",
    "3.1.0",
    null,
    "dynamic allocation starts its timer for the next executors anew only when it could ask for some",
  ),
  copiesCountByIndex: from(
    "read",
    "3.4.0",
    "SPARK-41192",
    "dynamic allocation counts the speculative copies that wait by task; before, those asked for less those launched",
  ),
  postsEmptyJobs: from(
    "read",
    "3.0.0",
    null,
    "a job on no partition posts its start and its end",
  ),
  fetchFailedText: rule<"mapId" | "mapIndex">(
    "read",
    null,
    "FetchFailed names the map task by mapId, or by mapIndex and mapId",
    [["1.0", "mapId"], ["3.0.0", "mapIndex"]],
  ),
  lossReasonName: rule<"SlaveLost" | "ExecutorProcessLost">(
    "run",
    null,
    "the class of the reason when an executor's process is lost",
    [["1.0", "SlaveLost"], ["3.1.0", "ExecutorProcessLost"]],
  ),
  lostTaskText: rule<"host" | "hostExecutor" | "separate">(
    "run",
    null,
    "'Lost task 0.3 in stage 0.0 (TID 4, h1)', '(TID 4, h1, executor e1)', or '(TID 4) (h1 executor e1)'",
    [["1.0", "host"], ["2.1", "hostExecutor"], ["3.1.0", "separate"]],
  ),
  stageCancelledText: rule<"plain" | "reason">(
    "run",
    null,
    "tasks are killed with 'Stage cancelled', or with 'Stage cancelled: ' and the reason",
    [["1.0", "plain"], ["3.5.0", "reason"]],
  ),
  jobCancelledText: rule<"plain" | "errorClass">(
    "run",
    null,
    "'Job 0 cancelled ...', or '[SPARK_JOB_CANCELLED] Job 0 cancelled ... SQLSTATE: XXKDA'",
    [["1.0", "plain"], ["4.0.0", "errorClass"]],
  ),
  fetchFailedAbortText: rule<"inline" | "newLine">(
    "run",
    null,
    "the failure that made a stage give up follows 'Most recent failure reason:' after a space, or on a new line",
    [["1.0", "inline"], ["3.2.0", "newLine"]],
  ),
});
