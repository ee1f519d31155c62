/**
 * What the driver's scheduler does in a recorded trace, in words: an event that reached it, and each action that followed.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any
type Json = any;

const list = (values: readonly unknown[]) => values.join(", ");
const counted = (n: number, what: string) => `${n} ${what}${n === 1 ? "" : "s"}`;
const attemptOf = ({ stage, attempt }: Json) => `stage ${stage}${attempt === undefined ? "" : ` (attempt ${attempt})`}`;

/** What reached the scheduler, by the trace's type of the event. */
const EVENTS: Readonly<Record<string, (event: Json) => string>> = {
  submitJob: ({ rdd }) => `a job on RDD ${rdd} is submitted`,
  submitMapStage: ({ shuffle }) => `a map-stage job for shuffle ${shuffle} is submitted`,
  submitTaskSet: (event) => `the ${counted(event.tasks.length, "task")} of ${attemptOf(event)} are submitted`,
  offers: ({ offers }) =>
    `offers: ${list(offers.map(({ exec, cores }: Json) => `${exec} with ${counted(cores, "free core")}`))}`,
  taskStarted: (event) => `a task of ${attemptOf(event)}, partition ${event.partition}, starts on ${event.exec}`,
  taskSucceeded: (event) => `the task of ${attemptOf(event)}, partition ${event.partition}, succeeds on ${event.exec}`,
  taskFailed: (event) =>
    `the task of ${attemptOf(event)}, partition ${event.partition}, fails on ${event.exec}: ${event.kind}`,
  finishedDirect: ({ tid, size }) => `task ${tid} ends, its result of ${size} bytes in the status message itself`,
  finishedIndirect: ({ tid, size, available }) =>
    `task ${tid} ends, its result of ${size} bytes ` +
    (available === false ? "was in a block manager that is gone" : "in its executor’s block manager"),
  failed: ({ tid, kind }) => `task ${tid} fails: ${kind}`,
  running: ({ tid }) => `task ${tid} says that it runs`,
  executorLost: ({ exec, reason }) => `executor ${exec} is lost${reason === undefined ? "" : `: ${reason}`}`,
  executorAdded: ({ exec, host }) => `executor ${exec} comes on host ${host}`,
  workerRemoved: ({ host }) => `the worker on host ${host} is removed`,
  resubmitFailedStages: () => "the stages that failed are due again",
  drainResults: () => "the threads that fetch results get their turn",
  checkSpeculatable: () => "the clock asks for slow tasks to copy",
  advance: ({ ms }) => `${ms} ms pass`,
  taskSetFailed: (event) => `the tasks of ${attemptOf(event)} are given up: ${event.message}`,
  cancelJob: ({ job }) => `job ${job} is cancelled`,
  cancelStage: ({ stage }) => `stage ${stage} is cancelled`,
  cancelAllJobs: () => "all jobs are cancelled",
  cancelJobGroup: ({ group }) => `the jobs of group ${group} are cancelled`,
  cancelTasks: ({ stage }) => `the tasks of stage ${stage} are cancelled`,
  killTaskAttempt: ({ tid }) => `somebody asks to kill task ${tid}`,
  killAllTaskAttempts: ({ stage }) => `somebody asks to kill all tasks of stage ${stage}`,
  setCacheLocs: ({ rdd, partition, execs }) => `partition ${partition} of RDD ${rdd} is cached on ${list(execs)}`,
  clearCacheLocs: () => "what is cached where is forgotten",
};

const removedOf = (removed: Readonly<Record<string, readonly number[]>>) => {
  const parts = Object.entries(removed).map(([shuffle, maps]) => `map ${list(maps)} of shuffle ${shuffle}`);
  return parts.length === 0 ? "nothing was there" : list(parts);
};

/** What the scheduler did, by the trace's name of the action. */
const ACTIONS: Readonly<Record<string, (action: Json) => string>> = {
  jobStart: ({ job, stages }) => `Job ${job} starts, with stages ${list(stages)}.`,
  jobEnd: ({ job, result }) => `Job ${job} ends: ${result}.`,
  jobFailed: ({ job, message }) => `Job ${job} fails: ${message}.`,
  jobTaskSucceeded: ({ job, index }) => `Job ${job} takes the result of partition ${index}.`,
  stageSubmitted: (action) => `${named(action)} is submitted with ${counted(action.numTasks, "task")}.`,
  stageCompleted: (action) =>
    `${named(action)} ` +
    (action.failureReason === null
      ? "is complete."
      : `fails${action.willRetry ? " and will be tried again" : ""}: ${action.failureReason}.`),
  submitTasks: (action) =>
    `Tasks for partitions ${list(action.partitions)} of ${attemptOf(action)} go to the scheduler.`,
  launch: ({ tid, stage, partition, exec, locality, speculative }) =>
    `Task ${tid} (stage ${stage}, partition ${partition}) is launched on ${exec}, ${locality}` +
    `${speculative ? ", as a copy of a slow one" : ""}.`,
  taskStart: (action) => `Listeners hear of a task of ${attemptOf(action)} that starts.`,
  taskEnd: (action) => `Listeners hear of the end of a task of ${attemptOf(action)}: ${action.reason}.`,
  registerMapOutput: ({ shuffle, map, exec }) => `The output of map ${map} for shuffle ${shuffle} is at ${exec}.`,
  unregisterMapOutput: ({ shuffle, map, exec }) =>
    `The output of map ${map} for shuffle ${shuffle} at ${exec} is forgotten.`,
  removeOutputsOnExecutor: ({ exec, removed }) => `Map outputs at ${exec} are forgotten: ${removedOf(removed)}.`,
  removeOutputsOnHost: ({ host, removed }) => `Map outputs on host ${host} are forgotten: ${removedOf(removed)}.`,
  incrementEpoch: ({ epoch }) => `The epoch of map outputs is ${epoch} now: executors ask for their locations anew.`,
  reviveOffers: () => "The backend is asked for offers.",
  dagTaskEnded: ({ partition, tid, reason, stage }) =>
    `The DAGScheduler is told of task ${tid} (stage ${stage}, partition ${partition}): ${reason}.`,
  dagTaskGettingResult: ({ tid }) => `The result of task ${tid} is being fetched.`,
  dagTaskSetFailed: (action) => `The task set of ${attemptOf(action)} is aborted: ${action.message}.`,
  dagExecutorAdded: ({ exec, host }) => `Executor ${exec} on host ${host} is new.`,
  dagExecutorLost: ({ exec }) => `The DAGScheduler is told that ${exec} is lost.`,
  dagSpeculativeTaskSubmitted: ({ stage, partition }) => `Partition ${partition} of stage ${stage} may be copied.`,
  dag: ({ event }) => `The DAGScheduler handles ${event}.`,
  taskSetFinished: (action) => `The task set of ${attemptOf(action)} is finished.`,
  blockManagerRemoveExecutor: ({ exec }) => `The blocks at ${exec} are forgotten.`,
  blockManagerRemoveExecutorAsync: ({ exec }) => `The blocks at ${exec} will be forgotten.`,
  scheduleResubmit: ({ delayMs }) => `In ${delayMs} ms the failed stages will be submitted again.`,
  killAllTaskAttempts: ({ stage }) => `All running tasks of stage ${stage} are killed.`,
  cancelTasks: ({ stage }) => `The tasks of stage ${stage} are cancelled.`,
  killTask: ({ tid, exec, reason }) => `Task ${tid} on ${exec} is killed: ${reason}.`,
  notifyPartitionCompletion: ({ stage, partition }) =>
    `Other attempts of stage ${stage} are told that partition ${partition} is done.`,
  listener: ({ type }) => `Listeners hear ${type}.`,
  result: ({ value }) => `The answer is ${value}.`,
  error: ({ class: name, message }) => `${name} is thrown: ${message}.`,
};

const named = (action: Json) => `S${attemptOf(action).slice(1)}`;

/** What has no words of its own is shown as it is written. */
function verbatim(name: string, fields: object): string {
  return `${name} ${JSON.stringify(fields)}`;
}

/**
 * The event of a line.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { eventTold } from "./scheduler_told.ts";
 *
 * assertEquals(eventTold({ type: "submitJob", rdd: 7 }), "a job on RDD 7 is submitted");
 * ```
 */
export function eventTold(event: Json): string {
  const { type, ...fields } = event;
  return EVENTS[type]?.(event) ?? verbatim(type, fields);
}

/**
 * An action that followed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { actionTold } from "./scheduler_told.ts";
 *
 * assertEquals(actionTold({ a: "scheduleResubmit", delayMs: 200 }), "In 200 ms the failed stages will be submitted again.");
 * ```
 */
export function actionTold(action: Json): string {
  const { a, ...fields } = action;
  return ACTIONS[a]?.(action) ?? verbatim(a, fields);
}

/** Actions after which something is worse than before. */
const BAD = new Set(["jobFailed", "dagTaskSetFailed", "dagExecutorLost", "unregisterMapOutput", "error"]);
const GOOD = new Set(["jobTaskSucceeded", "registerMapOutput", "launch"]);

/** How a step went, for its colour: what failed counts more than what succeeded. */
export function toneOf(actions: readonly Json[]): "good" | "bad" | "plain" {
  if (actions.some(({ a, failureReason }) => BAD.has(a) || (failureReason ?? null) !== null)) return "bad";
  return actions.some(({ a, result }) => GOOD.has(a) || result === "succeeded") ? "good" : "plain";
}
