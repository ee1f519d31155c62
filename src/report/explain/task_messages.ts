/**
 * Messages of the schedulers: attempts of tasks.
 *
 * @module
 */
import { kind, type MessageKind } from "./message_kind.ts";

const LOOK_FIRST = "The most recent failure is the cause: explain that message (it follows, often with 'Caused by')";

/** The kinds of messages about attempts of tasks. */
export const TASK_MESSAGES: readonly MessageKind[] = [
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
];
