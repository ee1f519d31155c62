/**
 * Messages of the schedulers: jobs, stages, executors, shuffle outputs.
 *
 * @module
 */
import { BYTES, kind, type MessageKind, re } from "./message_kind.ts";

const LOOK_FIRST = "The most recent failure is the cause: explain that message (it follows, often with 'Caused by')";

/** The kinds of messages about jobs, stages and executors. */
export const STAGE_MESSAGES: readonly MessageKind[] = [
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
    code: "scheduler.heartbeatUnanswered",
    title: "the driver did not answer an executor's heartbeat in time",
    severity: "slow",
    printedBy: "Executor",
    anchor: "eartbeat",
    pattern:
      /Issue communicating with driver in heartbeater|Futures timed out after \[(\d+) (?:milli)?seconds\]\. This timeout is controlled by spark\.executor\.heartbeatInterval/,
    meaning:
      "The driver, or this executor, was in a garbage collection or too busy. One is tolerated; after spark.executor.heartbeat.maxFailures (60) in a row " +
      "the executor exits with code 56, and the driver removes an executor that it has not heard of for spark.network.timeout.",
    settings: [
      "spark.executor.heartbeatInterval",
      "spark.network.timeout",
      "spark.driver.memory",
      "spark.executor.memory",
    ],
    remedies: [
      "Look at the garbage collection of the driver and of this executor",
      "spark.executor.heartbeatInterval must stay well below spark.network.timeout",
    ],
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
