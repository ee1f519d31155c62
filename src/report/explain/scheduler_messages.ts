/**
 * Messages of the schedulers: failed and killed tasks, aborted stages, lost executors, fetch failures.
 *
 * @module
 */
import { BYTES, kind, type MessageKind, re } from "./message_kind.ts";

const LOOK_FIRST = "The most recent failure is the cause: explain that message (it follows, often with 'Caused by')";

/** The kinds of messages of scheduling. */
export const SCHEDULER_MESSAGES: readonly MessageKind[] = [
  kind({
    code: "scheduler.taskFailedTimes",
    title: "one task failed too often",
    severity: "failure",
    printedBy: "TaskSetManager",
    anchor: "times, most recent failure",
    pattern: /Task (\d+)(?:\.\d+)? in stage ([\d.]+) failed (\d+) times, most recent failure: (.{0,300})/,
    meaning:
      "spark.task.maxFailures failures of one partition abort the stage and its jobs (4; in local mode 1). Killed tasks, fetch failures " +
      "and executors lost for reasons outside the application do not count. From 3.3 on a success sets the count back.",
    settings: ["spark.task.maxFailures"],
    remedies: [LOOK_FIRST, "Raising spark.task.maxFailures helps only against causes that come and go"],
    read: ([, index, stage, failures, reason]) => ({
      values: { taskIndex: Number(index), stage, failures: Number(failures), mostRecent: reason },
    }),
  }),
  kind({
    code: "scheduler.abortingJob",
    title: "a job is aborted because one task failed too often",
    severity: "failure",
    printedBy: "TaskSetManager",
    anchor: "times; aborting job",
    pattern: /Task (\d+) in stage ([\d.]+) failed (\d+) times; aborting job/,
    meaning: "The failures themselves are in the lines before it ('Lost task …').",
    settings: ["spark.task.maxFailures"],
    remedies: [LOOK_FIRST],
    read: ([, index, stage, failures]) => ({
      values: { taskIndex: Number(index), stage, failures: Number(failures) },
    }),
  }),
  kind({
    code: "scheduler.exceptionInTask",
    title: "a task failed with an exception",
    severity: "failure",
    printedBy: "Executor",
    anchor: "Exception in task",
    pattern: /Exception in task (\d+)\.(\d+) in stage ([\d.]+) \(TID (\d+)\)/,
    meaning: "The exception and its causes follow in the executor's log.",
    settings: ["spark.task.maxFailures"],
    remedies: ["Explain the exception: the last 'Caused by' is where it began"],
    read: ([, index, attempt, stage, tid]) => ({
      values: { taskIndex: Number(index), attempt: Number(attempt), stage, taskId: Number(tid) },
    }),
  }),
  kind({
    code: "scheduler.lostTask",
    title: "an attempt of a task failed",
    severity: "slow",
    printedBy: "TaskSetManager",
    anchor: "Lost task",
    pattern:
      /Lost task (\d+)\.(\d+) in stage ([\d.]+) \(TID (\d+)(?:, ([^,)\s]+)(?:, executor ([^)\s]+))?\)|\) \(([^\s)]+) executor ([^)\s]+)\))/,
    meaning:
      "The first number is the partition's index, the second how many attempts came before. It is tried again until " +
      "spark.task.maxFailures. Up to 3.0 host and executor stand in the same parentheses as the TID.",
    settings: ["spark.task.maxFailures"],
    remedies: ["What follows the colon is the reason: explain that"],
    read: ([, index, attempt, stage, tid, hostA, executorA, hostB, executorB]) => ({
      values: {
        taskIndex: Number(index),
        attempt: Number(attempt),
        stage,
        taskId: Number(tid),
        host: hostA ?? hostB ?? null,
        executor: executorA ?? executorB ?? null,
      },
    }),
  }),
  kind({
    code: "scheduler.jobAborted",
    title: "a job failed with one of its stages",
    severity: "failure",
    printedBy: "DAGScheduler",
    anchor: "Job aborted due to stage failure",
    pattern: /Job aborted due to stage failure: (.{0,300})/,
    meaning: "The frame around the real reason, which follows it.",
    remedies: [LOOK_FIRST],
    read: ([, reason]) => ({ values: { reason } }),
  }),
  kind({
    code: "scheduler.stageGaveUp",
    title: "a stage failed to fetch its input too often",
    severity: "failure",
    printedBy: "DAGScheduler",
    anchor: "has failed the maximum allowable number of times",
    pattern:
      /(?:ShuffleMapStage|ResultStage) (\d+) \((.{0,200}?)\) has failed the maximum allowable number of times: (\d+)/,
    meaning:
      "Shuffle outputs were lost again and again: each attempt ran into a fetch failure. spark.stage.maxConsecutiveAttempts (4) of them in " +
      "a row abort. Executors that die of memory take their shuffle files with them unless a shuffle service serves them.",
    settings: ["spark.stage.maxConsecutiveAttempts", "spark.shuffle.service.enabled", "spark.executor.memoryOverhead"],
    remedies: [
      "Find out why executors go: exit codes 137, 143 and 52, container kills, heartbeats",
      "An external shuffle service keeps shuffle files when an executor goes",
    ],
    read: ([, stage, name, attempts]) => ({ values: { stageId: Number(stage), name, attempts: Number(attempts) } }),
  }),
  kind({
    code: "scheduler.missingOutput",
    title: "a shuffle output that is needed is not there",
    severity: "slow",
    printedBy: "MapOutputTracker",
    anchor: "Missing an output location for shuffle",
    pattern: /Missing an output location for shuffle (\d+)(?: partition (\d+))?/,
    meaning:
      "The map task's executor was lost, so its output was struck from the list. The stage attempt fails, the missing partitions of the map " +
      "stage run again, then the rest of this one.",
    settings: ["spark.shuffle.service.enabled", "spark.executor.memory", "spark.executor.memoryOverhead"],
    remedies: [
      "Look why that executor was lost (memory, mostly): its exit code or the cluster manager's message comes before",
    ],
    read: ([, shuffle, partition]) => ({
      values: { shuffleId: Number(shuffle), partition: partition === undefined ? null : Number(partition) },
    }),
  }),
  kind({
    code: "scheduler.fetchFailed",
    title: "a task could not fetch its shuffle input",
    severity: "slow",
    printedBy: "TaskSetManager",
    anchor: "FetchFailed(",
    pattern: /FetchFailed\((null|BlockManagerId\(([^,]+), ([^,]+), (\d+)[^)]*\)), shuffleId=(\d+)/,
    meaning:
      "It does not count against spark.task.maxFailures: the stage attempt fails instead, the lost outputs are made again, and the stage " +
      "goes on with what was missing. 'null' means that the location was not known any more.",
    settings: ["spark.stage.maxConsecutiveAttempts", "spark.network.timeout", "spark.shuffle.service.enabled"],
    remedies: ["Look at the executor that is named: was it lost, killed, or in garbage collection?"],
    read: ([, , executor, host, , shuffle]) => ({
      values: { executor: executor ?? null, host: host ?? null, shuffleId: Number(shuffle) },
    }),
  }),
  kind({
    code: "scheduler.executorLostFailure",
    title: "a task failed because its executor was lost",
    severity: "slow",
    printedBy: "TaskSetManager",
    anchor: "ExecutorLostFailure",
    pattern:
      /ExecutorLostFailure \(executor (\S+) (exited caused by one of the running tasks|exited unrelated to the running tasks|lost)\)(?: Reason: (.{0,400}))?/,
    meaning:
      "'caused by one of the running tasks' counts as a failure of each task that ran there, 'unrelated' does not. Its cached blocks and " +
      "(without a shuffle service) its shuffle outputs are gone.",
    settings: [
      "spark.task.maxFailures",
      "spark.executor.memory",
      "spark.executor.memoryOverhead",
      "spark.shuffle.service.enabled",
    ],
    remedies: ["The reason says why: explain it, too"],
    read: ([, executor, how, reason]) => ({ values: { executor, how, reason: reason ?? null } }),
  }),
  kind({
    code: "scheduler.heartbeat",
    title: "an executor did not report for too long",
    severity: "failure",
    printedBy: "HeartbeatReceiver",
    anchor: "eartbeat",
    pattern:
      /(?:Executor heartbeat timed out after|Removing executor (\S+) with no recent heartbeats:) (\d+) ms(?: exceeds timeout (\d+) ms)?/,
    meaning:
      "Mostly the executor is in one long garbage collection because its heap is full; or the machine swaps or is gone. It is removed after " +
      "spark.network.timeout.",
    settings: [
      "spark.network.timeout",
      "spark.executor.heartbeatInterval",
      "spark.executor.memory",
      "spark.executor.cores",
    ],
    remedies: [
      "Look at the GC time of its tasks; give it more memory or fewer cores",
      "A longer spark.network.timeout only hides long collections",
    ],
    read: ([, executor, silent, timeout]) => ({
      values: {
        executor: executor ?? null,
        silentMs: Number(silent),
        timeoutMs: timeout === undefined ? null : Number(timeout),
      },
      arithmetic: timeout === undefined ? [] : [`${silent} ms > ${timeout} ms`],
    }),
  }),
  kind({
    code: "scheduler.heartbeatFailures",
    title: "an executor gave up because the driver did not answer",
    severity: "failure",
    printedBy: "Executor",
    anchor: "unable to send heartbeats to driver",
    pattern: /Exit as unable to send heartbeats to driver more than (\d+) times/,
    meaning:
      "The driver is gone, or so busy (garbage collection, many tasks) that it does not answer; the executor exits with code 56.",
    settings: ["spark.driver.memory", "spark.executor.heartbeatInterval"],
    remedies: ["Look at the driver: its heap, its garbage collection"],
    read: ([, times]) => ({ values: { times: Number(times), exitCode: 56 } }),
  }),
  kind({
    code: "scheduler.notCounted",
    title: "a failure that does not count",
    severity: "harmless",
    printedBy: "TaskSetManager",
    anchor: "Not counting this failure towards the maximum number of failures",
    pattern: /Not counting this failure towards the maximum number of failures/,
    meaning:
      "The executor went for a reason outside the application (preemption, decommissioning, scaling in): the task is just run again.",
    settings: ["spark.task.maxFailures"],
  }),
  kind({
    code: "scheduler.bogusCompletion",
    title: "a map task's output is ignored",
    severity: "harmless",
    printedBy: "DAGScheduler",
    anchor: "Ignoring possibly bogus",
    pattern: /Ignoring possibly bogus (.{1,100}?) completion from executor (\S+)/,
    meaning:
      "The executor was declared lost after this task had started, so its output may be gone: it is not registered, though the partition is " +
      "not pending any more. If it turns out to be missing the stage is resubmitted for it.",
    read: ([, task, executor]) => ({ values: { task, executor } }),
  }),
  kind({
    code: "scheduler.resubmittingStage",
    title: "a map stage runs again for outputs that are missing",
    severity: "slow",
    printedBy: "DAGScheduler",
    anchor: "because some of its tasks had failed",
    pattern: /Resubmitting (\S+ \d+) \((.{0,200}?)\) because some of its tasks had failed: ([\d, ]+)/,
    meaning: "All its tasks have ended, but outputs were lost meanwhile: only the partitions listed run again.",
    read: ([, stage, name, partitions]) => ({
      values: { stage, name, partitions: partitions.split(",").map(Number) },
    }),
  }),
  kind({
    code: "scheduler.resubmitted",
    title: "a finished map task is run again",
    severity: "slow",
    printedBy: "TaskSetManager",
    anchor: "Resubmitted",
    pattern: /Resubmitted \(resubmitted due to lost executor\)/,
    meaning: "Its output went with its executor while the stage still ran. It does not count as a failure.",
    settings: ["spark.shuffle.service.enabled"],
  }),
  kind({
    code: "scheduler.alreadyCompleted",
    title: "a second copy of a task finished too late",
    severity: "harmless",
    printedBy: "TaskSetManager",
    anchor: "Ignoring task-finished event for",
    pattern: /Ignoring task-finished event for (.{1,100}?) because (?:it|task \d+) has already completed successfully/,
    meaning:
      "Another attempt of the partition counted; this one's result is thrown away, and its size is taken off the total of results.",
    settings: ["spark.speculation"],
    read: ([, task]) => ({ values: { task } }),
  }),
  kind({
    code: "scheduler.speculatable",
    title: "a slow task gets a second copy",
    severity: "information",
    printedBy: "TaskSetManager",
    anchor: "as speculatable because it ran more",
    pattern: /Marking task (\d+) in stage ([\d.]+) \(on (\S+)\) as speculatable because it ran more than (\d+) ms/,
    meaning:
      "spark.speculation.quantile of the tasks have finished, and this one has run longer than spark.speculation.multiplier times their median. " +
      "From 3.4 on it must also process slowly. A copy never starts on the same host.",
    settings: [
      "spark.speculation",
      "spark.speculation.quantile",
      "spark.speculation.multiplier",
      "spark.speculation.minTaskRuntime",
    ],
    read: ([, index, stage, host, threshold]) => ({
      values: { taskIndex: Number(index), stage, host, thresholdMs: Number(threshold) },
    }),
  }),
  kind({
    code: "scheduler.killedOther",
    title: "the other copies of a task are killed",
    severity: "harmless",
    printedBy: "TaskSetManager",
    anchor: "succeeded on",
    pattern: /Killing attempt (\d+) for (.{1,100}?) on (\S+) as the attempt (\d+) succeeded on (\S+)/,
    meaning: "One attempt of the partition has succeeded; the others end as TaskKilled (another attempt succeeded).",
    settings: ["spark.speculation"],
    read: ([, killed, task, host, winner]) => ({
      values: { killedAttempt: Number(killed), task, host, winningAttempt: Number(winner) },
    }),
  }),
  kind({
    code: "scheduler.taskKilled",
    title: "a task was killed on purpose",
    severity: "harmless",
    printedBy: "TaskSetManager",
    anchor: "TaskKilled (",
    pattern: /TaskKilled \((another attempt succeeded|Stage cancelled(?:: .{0,200})?|Stage finished|[^)]{1,200})\)/,
    meaning:
      "It does not count as a failure. 'Stage finished' (3.0): the job needed it no more; 'Stage cancelled': the stage was aborted or its job " +
      "cancelled, from 3.5 on with the reason.",
    read: ([, reason]) => ({ values: { reason } }),
  }),
  kind({
    code: "scheduler.noResources",
    title: "no task can be started",
    severity: "failure",
    printedBy: "TaskSchedulerImpl",
    anchor: "Initial job has not accepted any resources",
    pattern: /Initial job has not accepted any resources/,
    meaning:
      "No executor has registered, or none has spark.task.cpus free cores: the cluster has no room for an executor of the size asked for, or " +
      "executors die at their start.",
    settings: [
      "spark.executor.memory",
      "spark.executor.memoryOverhead",
      "spark.executor.cores",
      "spark.task.cpus",
      "spark.cores.max",
    ],
    remedies: [
      "Look at the cluster manager for pending or failing executors",
      "Ask for smaller executors, or fewer cores",
    ],
  }),
  kind({
    code: "scheduler.executorLost",
    title: "an executor is lost",
    severity: "slow",
    printedBy: "TaskSchedulerImpl",
    anchor: "Lost executor",
    pattern: /Lost executor (\S+) on (\S+): (.{0,400})/,
    meaning:
      "Its running tasks fail, its cached blocks are gone, and without a shuffle service its shuffle outputs as well.",
    settings: ["spark.executor.memory", "spark.executor.memoryOverhead", "spark.shuffle.service.enabled"],
    remedies: ["The reason says why: explain it, too"],
    read: ([, executor, host, reason]) => ({ values: { executor, host: host.replace(/:$/, ""), reason } }),
  }),
  kind({
    code: "scheduler.outputsLost",
    title: "shuffle outputs are struck from the list",
    severity: "slow",
    printedBy: "DAGScheduler",
    anchor: "Shuffle files lost for",
    pattern: /Shuffle files lost for (executor|host): (\S+) \(epoch (\d+)\)/,
    meaning:
      "What that executor (or, when its worker is gone, every executor of the host, 3.1) had made for later stages has to be made again.",
    settings: ["spark.shuffle.service.enabled", "spark.files.fetchFailure.unRegisterOutputOnHost"],
    read: ([, what, who, epoch]) => ({ values: { what, who, epoch: Number(epoch) } }),
  }),
  kind({
    code: "scheduler.conflictingTaskSets",
    title: "two task sets of a stage are active at once",
    severity: "failure",
    printedBy: "TaskSchedulerImpl",
    until: "2.4.0",
    anchor: "more than one active taskSet for stage",
    pattern: /more than one active taskSet for stage (\d+)/,
    meaning:
      "A bug with stages that are retried after a fetch failure (SPARK-23433), fixed in 2.3.4, 2.4.1 and 3.0: later versions turn the older task " +
      "set into a zombie. It shuts the scheduler down.",
    remedies: ["Upgrade; avoid losing executors (memory)"],
    read: ([, stage]) => ({ values: { stageId: Number(stage) } }),
  }),
  kind({
    code: "scheduler.lateUpdate",
    title: "a status of a task comes too late",
    severity: "harmless",
    printedBy: "TaskSchedulerImpl",
    anchor: "because its task set is gone",
    pattern: /Ignoring update with state (\w+) for TID (\d+) because its task set is gone/,
    meaning: "The stage has ended, or the executor was declared lost, before this report came.",
    read: ([, state, tid]) => ({ values: { state, taskId: Number(tid) } }),
  }),
  kind({
    code: "scheduler.cancelled",
    title: "a job was cancelled",
    severity: "failure",
    printedBy: "DAGScheduler",
    anchor: "cancelled",
    pattern:
      /Job (\d+) cancelled (because SparkContext was shut down|part of cancelled job (?:group|tag)[^,;]{0,100}|by user|because Stage \d+ was cancelled|.{0,100})/,
    meaning:
      "Somebody stopped it: the user, a job group's cancellation, or the end of the context. 'because SparkContext was shut down' is the end of " +
      "the application and follows from another failure, often of the driver.",
    remedies: ["When the context was shut down, look at the driver's own log for the cause"],
    read: ([, job, why]) => ({ values: { jobId: Number(job), why } }),
  }),
  kind({
    code: "scheduler.excluded",
    title: "no executor is left on which a task may run",
    severity: "failure",
    printedBy: "TaskSchedulerImpl",
    anchor: "cannot run anywhere due to",
    pattern:
      /(?:Aborting TaskSet|Task \d+).{0,200}?cannot run anywhere due to (?:node and executor )?(blacklist|excludeOnFailure)/,
    meaning: "It failed on every executor often enough for all of them to be excluded.",
    settings: ["spark.excludeOnFailure.enabled", "spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor"],
    remedies: ["Find the failure that excludes them: it is the same everywhere"],
  }),
  kind({
    code: "scheduler.submitting",
    title: "the tasks of a stage are submitted",
    severity: "information",
    printedBy: "DAGScheduler",
    anchor: "missing tasks from",
    pattern: /Submitting (\d+) missing tasks from (ResultStage|ShuffleMapStage) (\d+)/,
    meaning:
      "One for each partition whose output is missing: fewer than the stage has when it is a retry, or when results are there already.",
    read: ([, tasks, type, stage]) => ({ values: { tasks: Number(tasks), stageType: type, stageId: Number(stage) } }),
  }),
  kind({
    code: "scheduler.starting",
    title: "a task is launched",
    severity: "information",
    printedBy: "TaskSetManager",
    anchor: "Starting task",
    pattern:
      /Starting task (\d+)\.(\d+) in stage ([\d.]+) \(TID (\d+).{0,200}?(PROCESS_LOCAL|NODE_LOCAL|NO_PREF|RACK_LOCAL|ANY)(?:, (\d+) bytes)?/,
    meaning:
      "The locality says how near its data is; PROCESS_LOCAL reads cached blocks of the same executor. The bytes are the serialized task.",
    settings: ["spark.locality.wait", "spark.rpc.message.maxSize"],
    read: ([, index, attempt, stage, tid, locality, bytes]) => ({
      values: {
        taskIndex: Number(index),
        attempt: Number(attempt),
        stage,
        taskId: Number(tid),
        locality,
        serializedBytes: bytes === undefined ? null : Number(bytes),
      },
    }),
  }),
  kind({
    code: "scheduler.finished",
    title: "a task succeeded",
    severity: "information",
    printedBy: "TaskSetManager",
    anchor: "Finished task",
    pattern: /Finished task (\d+)\.(\d+) in stage ([\d.]+) \(TID (\d+)\) in (\d+) ms on .{1,100}?\((\d+)\/(\d+)\)/,
    meaning: "The driver has its result; the last numbers count the partitions that are done.",
    read: ([, index, attempt, stage, tid, ms, done, all]) => ({
      values: {
        taskIndex: Number(index),
        attempt: Number(attempt),
        stage,
        taskId: Number(tid),
        durationMs: Number(ms),
        done: Number(done),
        all: Number(all),
      },
    }),
  }),
  kind({
    code: "scheduler.killingStage",
    title: "the attempts of a stage that still run are killed",
    severity: "harmless",
    printedBy: "TaskSchedulerImpl",
    anchor: "Killing all running tasks in stage",
    pattern: /Killing all running tasks in stage (\d+): (.{0,200})/,
    meaning:
      "'Stage finished' comes with every job from 3.0 on and mostly finds nothing to kill; 'Stage cancelled' follows a failure or a cancellation.",
    read: ([, stage, reason]) => ({ values: { stageId: Number(stage), reason } }),
  }),
  kind({
    code: "scheduler.droppedEvents",
    title: "events were lost, so the event log has gaps",
    severity: "information",
    printedBy: "AsyncEventQueue",
    anchor: "events from",
    pattern: re`Dropped ${BYTES} events? from (\w+)`,
    meaning:
      "The listener could not keep up. When it is eventLog, task ends are missing from the log, and figures of it are too low.",
    remedies: ["Raise spark.scheduler.listenerbus.eventqueue.capacity"],
    read: ([, count, queue]) => ({ values: { events: Number(count), queue } }),
  }),
];
