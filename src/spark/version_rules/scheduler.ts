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
  readonly indeterminateRollback: VersionRule<"never" | "failedStage" | "mapStage">;
  readonly unregistersIndeterminateOutputs: VersionRule<boolean>;
  readonly ignoresOldIndeterminateAttempts: VersionRule<boolean>;
  readonly abortsBeforeIndeterminateRerun: VersionRule<boolean>;
  readonly abortsOnOldIndeterminateResult: VersionRule<boolean>;
  readonly sharesIndeterminateRollback: VersionRule<boolean>;
  readonly abortsAfterKillingTasks: VersionRule<boolean>;
  readonly completesFailedAttempts: VersionRule<boolean>;
  readonly suspendsKilledTaskSets: VersionRule<boolean>;
  readonly removesExecutorsAsync: VersionRule<boolean>;
  readonly checksumRollback: VersionRule<"never" | "parents" | "outputs">;
  readonly hashOrder: VersionRule<"2.12" | "2.13">;
  readonly resubmitsOnlyEndedAttempts: VersionRule<boolean>;
  readonly zombiesKeepNoPending: VersionRule<boolean>;
  readonly offersSkipSetsWithoutPending: VersionRule<boolean>;
  readonly defaultPoolIsFair: VersionRule<boolean>;
  readonly existingOutputFileAborts: VersionRule<boolean>;
  readonly localityTimerNeedsFullUse: VersionRule<boolean>;
  readonly localityReturnsToNewLevel: VersionRule<boolean>;
  readonly copiesWaitByLocality: VersionRule<boolean>;
  readonly typicalDuration: VersionRule<"afterHalf" | "meanOfMiddle" | "upperMedian">;
  readonly checksEfficiency: VersionRule<boolean>;
  readonly allocationTracksAttempts: VersionRule<boolean>;
  readonly addTimerNeedsGrowth: VersionRule<boolean>;
  readonly copiesCountByIndex: VersionRule<boolean>;
  readonly deniedCommitIsKilled: VersionRule<boolean>;
  readonly postsEmptyJobs: VersionRule<boolean>;
  readonly fetchFailedText: VersionRule<"mapId" | "mapIndex">;
  readonly lossReasonName: VersionRule<"SlaveLost" | "ExecutorProcessLost">;
  readonly lostTaskText: VersionRule<"host" | "hostExecutor" | "separate">;
  readonly stageCancelledText: VersionRule<"lowerCase" | "plain" | "reason">;
  readonly jobCancelledText: VersionRule<"plain" | "errorClass">;
  readonly fetchFailedAbortText: VersionRule<"inline" | "newLine" | "verbatim">;
  readonly failuresCountAllAttempts: VersionRule<boolean>;
} = Object.freeze({
  killsTasksAtJobEnd: from(
    "run",
    "3.0.0",
    "SPARK-25773",
    "attempts of the result stage that still run when its job ends are killed",
    "when attempts still run at the end of their job",
  ),
  dagNotifiesPartitionCompletion: from(
    "run",
    "3.0.0",
    null,
    "the DAGScheduler tells the task sets of a stage that a partition is done; before, the TaskSetManager did",
    "when two attempts of a stage run at the same time",
  ),
  epochOfEmptyMapStage: from(
    "run",
    "3.2.0",
    null,
    "a map stage that is available when it is submitted also raises the epoch",
    "when a map stage is run again or submitted for outputs that are all there",
  ),
  taskStartHasOwnAttempt: from(
    "run",
    ["3.2.4", "3.3.3", "3.4.0"],
    "SPARK-42967",
    "a task's start names the stage attempt that it belongs to, not the stage's newest",
    "when two attempts of a stage run at the same time",
  ),
  workerLossRemovesHostOutputs: from(
    "run",
    "3.1.0",
    null,
    "an executor lost with its worker takes the shuffle outputs of the whole host with it",
    "when an executor is lost with its worker and shuffle outputs are on the host",
  ),
  separateFileLostEpoch: from(
    "run",
    ["2.4.7", "3.0.1"],
    "SPARK-32003",
    "lost shuffle files have their own epoch, so a fetch failure after the executor's loss still removes outputs",
    "when fetches fail after their executor was lost",
  ),
  skippedStageUsesAttempt: from(
    "run",
    ["3.2.1", "3.3.0"],
    "SPARK-37481",
    "a skipped stage uses up attempt 0",
    "when a skipped stage must run later",
  ),
  failureCountRestartsOnSuccess: from(
    "run",
    "3.3.0",
    "SPARK-37580",
    "a success sets the count of a partition's failures back to 0",
    "when a task fails, succeeds, is lost and fails again",
  ),
  lossBeforeRunningIsNotCounted: from(
    "run",
    "3.4.0",
    "SPARK-39955",
    "the loss of an executor that had not reported the task as running is no failure of the task",
    "when an executor is lost before a task is reported as running",
  ),
  newTaskSetMakesOldZombie: from(
    "run",
    ["2.3.4", "2.4.1", "3.0.0"],
    "SPARK-23433",
    "a stage's new task set makes the older ones zombies; before, a second active one was an error",
    "when a stage runs again while an attempt of it is active",
  ),
  reportsNotSerializable: from(
    "run",
    "3.4.0",
    "SPARK-40094",
    "a NotSerializableException ends the task in the events before the stage is aborted",
    "when a task throws NotSerializableException",
  ),
  hasStageMaxAttempts: from(
    "read",
    "3.5.0",
    "SPARK-42577",
    "spark.stage.maxAttempts limits all attempts of a stage",
    "when spark.stage.maxAttempts is set and a stage is tried that often",
  ),
  indeterminateRollback: rule<"never" | "failedStage" | "mapStage">(
    "run",
    "SPARK-23243",
    "a fetch from an indeterminate map stage fails: jobs whose stages have results already are aborted, looked for from the " +
      "stage that failed to fetch, or from the map stage (SPARK-28699)",
    "when a fetch from an indeterminate map stage fails",
    [["1.0", "never"], [["2.2.3", "2.3.2", "2.4.0"], "failedStage"], [["2.3.4", "2.4.4", "3.0.0"], "mapStage"]],
  ),
  unregistersIndeterminateOutputs: from(
    "run",
    "3.0.0",
    "SPARK-25341",
    "an indeterminate map stage that is not complete loses all its outputs when it is submitted; before, its job was aborted",
    "when outputs of an indeterminate map stage are lost",
  ),
  ignoresOldIndeterminateAttempts: from(
    "run",
    ["3.5.1", "4.0.0"],
    "SPARK-45182",
    "successes of older attempts of an indeterminate map stage are ignored",
    "when an indeterminate map stage runs again",
  ),
  abortsBeforeIndeterminateRerun: from(
    "run",
    ["3.5.6", "4.0.0"],
    "SPARK-51272",
    "before an indeterminate map stage runs again, jobs are aborted whose result stages have results already",
    "when an indeterminate map stage runs again",
  ),
  abortsOnOldIndeterminateResult: from(
    "run",
    "4.1.1",
    "SPARK-54556",
    "a result from an older attempt of an indeterminate result stage aborts its job; before, it counted",
    "when an indeterminate result stage runs again",
  ),
  sharesIndeterminateRollback: from(
    "run",
    "4.2.0",
    "SPARK-54956",
    "a fetch failure from an indeterminate map stage rolls its succeeding stages back at once, as a changed checksum does",
    "when a fetch from an indeterminate map stage fails",
  ),
  abortsAfterKillingTasks: from(
    "run",
    "4.0.0",
    "SPARK-46052",
    "a failing job kills its tasks first and posts the abort of the stage afterwards",
    "when a job fails or is cancelled while its tasks run",
  ),
  completesFailedAttempts: from(
    "run",
    "4.0.0",
    "SPARK-50648",
    "a job that fails also kills and completes stages with failed attempts",
    "when a job fails after an attempt of a stage has failed",
  ),
  suspendsKilledTaskSets: from(
    "run",
    "4.0.0",
    "SPARK-46052",
    "task sets whose attempts were all killed launch nothing any more",
    "when a job fails or is cancelled while its tasks run",
  ),
  removesExecutorsAsync: from(
    "run",
    "4.1.0",
    "SPARK-53564",
    "the block manager master is told of a lost executor without waiting",
    "when an executor is lost",
  ),
  checksumRollback: rule<"never" | "parents" | "outputs">(
    "run",
    "SPARK-53575",
    "a shuffle output whose checksum changed: stages that read it run again in full when they are submitted, or lose their " +
      "outputs at once (SPARK-54556)",
    "when a map task that runs again writes other data, and the shuffle retries on a changed checksum",
    [["1.0", "never"], ["4.1.0", "parents"], ["4.1.1", "outputs"]],
  ),
  hashOrder: rule<"2.12" | "2.13">(
    "run",
    null,
    "the order in which Scala's hash sets are walked (Spark 4 is built for Scala 2.13 only)",
    "when several tasks, stages or jobs are killed, lost or submitted together",
    [["1.0", "2.12"], ["4.0.0", "2.13"]],
  ),
  resubmitsOnlyEndedAttempts: from(
    "read",
    ["2.4.5", "3.0.0"],
    "SPARK-30325",
    "the loss of an executor does not rerun a finished partition for an attempt that still ran there",
    "when an executor is lost that ran a copy of a finished task",
  ),
  zombiesKeepNoPending: from(
    "run",
    "3.0.0",
    null,
    "a zombie task set puts no task back on its pending lists and leaves its locality levels alone",
    "when tasks of a stage attempt that was given up fail or are lost",
  ),
  offersSkipSetsWithoutPending: from(
    "run",
    "3.1.0",
    null,
    "only task sets with something pending take part in offers",
    "when stages run at the same time and tasks wait for their preferred executors",
  ),
  defaultPoolIsFair: from(
    "run",
    ["3.2.4", "3.3.2"],
    "SPARK-42157",
    "spark.scheduler.mode FAIR without a file of pools: the jobs in the pool named default share the cores",
    "when spark.scheduler.mode is FAIR, no file of pools is given, and jobs run at the same time",
  ),
  existingOutputFileAborts: from(
    "read",
    "3.0.0",
    "SPARK-27194",
    "a task that finds its output file there already aborts the stage at once",
    "when a task finds its output file there already",
  ),
  localityTimerNeedsFullUse: from(
    "run",
    "3.1.0",
    "SPARK-18886",
    "the locality timer starts anew when all offers were used, not whenever a task was launched",
    "when tasks wait for their preferred executors",
  ),
  localityReturnsToNewLevel: from(
    "run",
    "3.1.0",
    null,
    "a task set goes back to a nearer locality level that appears with a new executor",
    "when an executor comes while tasks with preferences wait",
  ),
  copiesWaitByLocality: from(
    "run",
    "3.0.0",
    null,
    "speculative copies wait in lists by locality, and only successes of the task set itself count for the quantile",
    "when spark.speculation starts copies of tasks",
  ),
  typicalDuration: rule<"afterHalf" | "meanOfMiddle" | "upperMedian">(
    "read",
    null,
    "of n sorted durations speculation takes the one after the first n / 2, rounded; the median (SPARK-16929), for an even n " +
      "the mean of the two in the middle; or the larger of these",
    "when spark.speculation judges durations",
    [["1.0", "afterHalf"], ["2.2", "meanOfMiddle"], ["3.4.0", "upperMedian"]],
  ),
  checksEfficiency: from(
    "run",
    "3.4.0",
    "SPARK-32170",
    "a slow task that gets through its records fast enough is not speculated",
    "when spark.speculation finds tasks slow that read records",
  ),
  allocationTracksAttempts: from(
    "read",
    "3.0.0",
    null,
    "dynamic allocation counts tasks by stage attempt, and an idle executor's time follows its cached blocks and shuffles",
    "when spark.dynamicAllocation.enabled is set",
  ),
  addTimerNeedsGrowth: from(
    "read",
    "3.1.0",
    null,
    "dynamic allocation starts its timer for the next executors anew only when it could ask for some",
    "when spark.dynamicAllocation.enabled is set",
  ),
  copiesCountByIndex: from(
    "read",
    "3.4.0",
    "SPARK-41192",
    "dynamic allocation counts the speculative copies that wait by task; before, those asked for less those launched",
    "when spark.dynamicAllocation.enabled is set and copies of tasks run",
  ),
  deniedCommitIsKilled: from(
    "read",
    "2.3.0",
    null,
    "a task that may not commit its output reports KILLED, not FAILED",
    "when the driver denies a task the commit of its output",
  ),
  postsEmptyJobs: from(
    "read",
    "3.0.0",
    "SPARK-26714",
    "a job on no partition posts its start and its end",
    "when a job has no partition to compute",
  ),
  fetchFailedText: rule<"mapId" | "mapIndex">(
    "read",
    null,
    "FetchFailed names the map task by mapId, or by mapIndex and mapId",
    "when a fetch fails",
    [["1.0", "mapId"], ["3.0.0", "mapIndex"]],
  ),
  lossReasonName: rule<"SlaveLost" | "ExecutorProcessLost">(
    "run",
    null,
    "the class of the reason when an executor's process is lost",
    "when an executor is lost",
    [["1.0", "SlaveLost"], ["3.1.0", "ExecutorProcessLost"]],
  ),
  lostTaskText: rule<"host" | "hostExecutor" | "separate">(
    "run",
    null,
    "'Lost task 0.3 in stage 0.0 (TID 4, h1)', '(TID 4, h1, executor e1)', or '(TID 4) (h1 executor e1)'",
    "when a task fails",
    [["1.0", "host"], ["2.1", "hostExecutor"], ["3.1.0", "separate"]],
  ),
  stageCancelledText: rule<"lowerCase" | "plain" | "reason">(
    "run",
    null,
    "tasks are killed with 'stage cancelled', 'Stage cancelled', or 'Stage cancelled: ' and the reason",
    "when tasks are killed with their stage",
    [["1.0", "lowerCase"], ["2.3.0", "plain"], ["3.5.0", "reason"]],
  ),
  jobCancelledText: rule<"plain" | "errorClass">(
    "run",
    null,
    "'Job 0 cancelled ...', or '[SPARK_JOB_CANCELLED] Job 0 cancelled ... SQLSTATE: XXKDA'",
    "when a job is cancelled",
    [["1.0", "plain"], ["4.0.0", "errorClass"]],
  ),
  fetchFailedAbortText: rule<"inline" | "newLine" | "verbatim">(
    "run",
    null,
    "the failure that made a stage give up follows 'Most recent failure reason:' in one line, on a new line, or as it is",
    "when a stage gives up after fetch failures",
    [["1.0", "inline"], ["3.2.0", "newLine"], ["4.2.0", "verbatim"]],
  ),
  failuresCountAllAttempts: from(
    "run",
    "4.2.0",
    "SPARK-56496",
    "a failed stage gives up at once when it has had spark.stage.maxAttempts; before, when it is submitted again",
    "when spark.stage.maxAttempts is set and a stage is tried that often",
  ),
});
