/**
 * Records what the driver's scheduler does while a trace is replayed: actions in order, and the state that changed.
 * The names and fields are those of the traces (tests/testdata/scheduler/README.md).
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";
import type { DAGScheduler } from "../../simulator/scheduler/dag_scheduler.ts";
import type { CompletionEvent, SchedulerListener } from "../../simulator/scheduler/dag_scheduler_types.ts";
import { type BlockManagerId, MapOutputTracker, MISSING } from "../../simulator/scheduler/map_output_tracker.ts";
import type { MapOutputSizes } from "../../simulator/scheduler/map_status.ts";
import type { NameTable } from "../../simulator/scheduler/names.ts";
import type { SparkRules } from "../../spark/versions.ts";
import { type JobListener, ShuffleMapStage, type Stage } from "../../simulator/scheduler/stage.ts";
import type { ExecutorLossReason } from "../../simulator/scheduler/task_end_reason.ts";
import { SPECULATIVE } from "../../simulator/scheduler/task_infos.ts";
import { LOCALITIES } from "../../simulator/scheduler/task_location.ts";
import type { TaskSchedulerImpl } from "../../simulator/scheduler/task_scheduler.ts";
import type { TaskSet } from "../../simulator/scheduler/task_set.ts";
import type { TaskSetManager } from "../../simulator/scheduler/task_set_manager.ts";
import { sameJson } from "../trace.ts";

/** One recorded action. */
export type Action = { readonly a: string } & Record<string, unknown>;

/** The actions of the event that is being replayed. */
export class ActionLog {
  #actions: Action[] = [];

  add(name: string, fields: Record<string, unknown> = {}): void {
    this.#actions.push({ a: name, ...fields });
  }

  /** Takes what was recorded. */
  take(): Action[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }
}

/** A tracker whose calls are actions. */
export class RecordingTracker extends MapOutputTracker {
  readonly #log: ActionLog;
  readonly #names: { readonly executors: NameTable; readonly hosts: NameTable };
  /** The call that is being recorded raises the epoch itself. */
  #isQuiet = false;

  constructor(
    log: ActionLog,
    names: { readonly executors: NameTable; readonly hosts: NameTable },
  ) {
    super();
    this.#log = log;
    this.#names = names;
  }

  override registerMapOutput(
    shuffleId: number,
    mapId: number,
    location: BlockManagerId,
    sizes: MapOutputSizes | null,
  ): void {
    super.registerMapOutput(shuffleId, mapId, location, sizes);
    this.#log.add("registerMapOutput", {
      shuffle: shuffleId,
      map: mapId,
      exec: this.#names.executors.nameOf(location.executor),
    });
  }

  override unregisterMapOutput(
    shuffleId: number,
    mapId: number,
    location: BlockManagerId,
  ): void {
    const exec = this.#names.executors.nameOf(location.executor);
    this.#record(
      "unregisterMapOutput",
      { shuffle: shuffleId, map: mapId, exec },
      () => super.unregisterMapOutput(shuffleId, mapId, location),
    );
  }

  override unregisterAllMapOutput(shuffleId: number): void {
    this.#record(
      "unregisterAllMapOutput",
      { shuffle: shuffleId },
      () => super.unregisterAllMapOutput(shuffleId),
    );
  }

  override removeOutputsOnHost(host: number): void {
    this.#record(
      "removeOutputsOnHost",
      { host: this.#names.hosts.nameOf(host) },
      () => super.removeOutputsOnHost(host),
    );
  }

  override removeOutputsOnExecutor(executor: number): void {
    this.#record(
      "removeOutputsOnExecutor",
      { exec: this.#names.executors.nameOf(executor) },
      () => super.removeOutputsOnExecutor(executor),
    );
  }

  override incrementEpoch(): void {
    super.incrementEpoch();
    if (!this.#isQuiet) this.#log.add("incrementEpoch", { epoch: this.epoch });
  }

  #record(
    name: string,
    fields: Record<string, unknown>,
    call: () => void,
  ): void {
    const before = this.outputs();
    this.#isQuiet = true;
    call();
    this.#isQuiet = false;
    const removed: Record<string, number[]> = {};
    for (const [shuffleId, executors] of Object.entries(before)) {
      const after = this.shuffleStatuses.get(Number(shuffleId))!.executors;
      const gone: number[] = [];
      executors.forEach((executor, mapId) => {
        if (executor !== null && after[mapId] === MISSING) gone.push(mapId);
      });
      if (gone.length > 0) removed[shuffleId] = gone;
    }
    this.#log.add(name, { ...fields, removed, epoch: this.epoch });
  }

  /** Executor by map partition, null where the output is missing, by shuffle. */
  outputs(): Record<string, (string | null)[]> {
    const outputs: Record<string, (string | null)[]> = {};
    for (const [shuffleId, status] of this.shuffleStatuses) {
      outputs[shuffleId] = Array.from(
        status.executors,
        (executor) => executor === MISSING ? null : this.#names.executors.nameOf(executor),
      );
    }
    return outputs;
  }
}

/** Class name of a reason, as the traces have it. */
export function reasonName(reason: TaskEndReason): string {
  return reason.reason;
}

/** Class name of a loss reason. */
export function lossReasonName(
  reason: ExecutorLossReason,
  rules: SparkRules,
): string {
  switch (reason.kind) {
    case "killed":
      return "ExecutorKilled";
    case "pending":
      return "LossReasonPending";
    case "exited":
      return "ExecutorExited";
    case "processLost":
      return rules.scheduler.lossReasonName;
  }
}

/** The listener bus as actions. */
export class RecordingListener implements SchedulerListener {
  readonly #log: ActionLog;
  /** Called before a job's start and a stage's submission: stages made so far are noted. */
  readonly #noteStages: () => void;

  constructor(log: ActionLog, noteStages: () => void) {
    this.#log = log;
    this.#noteStages = noteStages;
  }

  jobStart(jobId: number, stages: readonly Stage[]): void {
    this.#noteStages();
    this.#log.add("jobStart", {
      job: jobId,
      stages: stages.map(({ id }) => id),
    });
  }

  jobEnd(jobId: number, failure: string | null): void {
    this.#log.add(
      "jobEnd",
      failure === null ? { job: jobId, result: "succeeded" } : { job: jobId, result: "failed", message: failure },
    );
  }

  stageSubmitted(stage: Stage): void {
    this.#noteStages();
    this.#log.add("stageSubmitted", {
      stage: stage.id,
      attempt: stage.latestInfo.attemptNumber,
      numTasks: stage.latestInfo.numTasks,
    });
  }

  stageCompleted(stage: Stage, willRetry: boolean): void {
    this.#log.add("stageCompleted", {
      stage: stage.id,
      attempt: stage.latestInfo.attemptNumber,
      failureReason: stage.latestInfo.failureReason,
      willRetry,
    });
  }

  taskStart(stageId: number, stageAttemptId: number): void {
    this.#log.add("taskStart", { stage: stageId, attempt: stageAttemptId });
  }

  taskGettingResult(): void {
    this.#log.add("listener", { type: "SparkListenerTaskGettingResult" });
  }

  taskEnd(event: CompletionEvent): void {
    const { taskSet } = event;
    this.#log.add("taskEnd", {
      stage: taskSet.stageId,
      attempt: taskSet.stageAttemptId,
      taskType: taskSet.isShuffleMap ? "ShuffleMapTask" : "ResultTask",
      reason: reasonName(event.reason),
    });
  }

  accumulatorsUpdated(): void {}

  speculativeTaskSubmitted(): void {
    this.#log.add("listener", { type: "SparkListenerSpeculativeTaskSubmitted" });
  }

  schedulerFailed(): void {}
}

/** A job's submitter as actions. */
export function recordingJobListener(
  log: ActionLog,
  jobId: number,
): JobListener {
  return {
    taskSucceeded(index) {
      log.add("jobTaskSucceeded", { job: jobId, index });
    },
    jobFailed(message) {
      log.add("jobFailed", { job: jobId, message });
    },
  };
}

/** `submitTasks`, with the epoch that its tasks have. */
export function submitTasksAction(
  taskSet: TaskSet,
  epoch: number,
): Record<string, unknown> {
  const action: Record<string, unknown> = {
    stage: taskSet.stageId,
    attempt: taskSet.stageAttemptId,
    priority: taskSet.priority,
    partitions: Array.from(taskSet.partitions),
  };
  if (taskSet.outputIds !== null) {
    action.outputIds = Array.from(taskSet.outputIds);
  }
  return { ...action, epoch };
}

/** `launch` actions of the attempts of one round of offers, by task id. */
export function recordLaunches(
  log: ActionLog,
  scheduler: TaskSchedulerImpl,
  tids: readonly number[],
): void {
  const { infos, executors } = scheduler;
  for (const tid of tids.slice().sort((a, b) => a - b)) {
    const { taskSet } = scheduler.managerOf(tid);
    const index = infos.index[tid];
    log.add("launch", {
      tid,
      stage: taskSet.stageId,
      stageAttempt: taskSet.stageAttemptId,
      index,
      partition: taskSet.partitions[index],
      attempt: infos.attempt[tid],
      exec: executors.nameOf(infos.executor[tid]),
      locality: LOCALITIES[infos.locality[tid]],
      speculative: infos.has(tid, SPECULATIVE),
    });
  }
}

function taskSetState(manager: TaskSetManager): Record<string, unknown> {
  const successful: number[] = [];
  manager.successful.forEach((done, index) => {
    if (done !== 0) successful.push(index);
  });
  return {
    stage: manager.stageId,
    attempt: manager.taskSet.stageAttemptId,
    zombie: manager.isZombie,
    tasksSuccessful: manager.tasksSuccessful,
    successful,
    runningTids: manager.runningTasks.toArray().sort((a, b) => a - b),
    copiesRunning: Array.from(manager.copiesRunning),
    numFailures: Array.from(manager.numFailures),
    totalResultSize: manager.totalResultSize,
    calculatedTasks: manager.calculatedTasks,
    localityLevels: manager.locality.levels.map((level) => LOCALITIES[level]),
  };
}

/** The task sets that changed since the last event. */
export class TaskSetStates {
  readonly #last: Record<string, unknown>[] = [];

  changed(managers: readonly TaskSetManager[]): Record<string, unknown>[] {
    const changed: Record<string, unknown>[] = [];
    managers.forEach((manager, i) => {
      const state = taskSetState(manager);
      if (sameJson(state, this.#last[i])) return;
      this.#last[i] = state;
      changed.push(state);
    });
    return changed;
  }
}

/** The DAG scheduler's stages and state after each event. */
export class DagStates {
  readonly #dag: DAGScheduler;
  readonly #tracker: RecordingTracker;
  readonly #executors: NameTable;
  #lastOutputs: Record<string, unknown> = {};
  #lastPending: Record<string, unknown> = {};
  #lastFailedEpoch: Record<string, number> = {};
  readonly #seen = new Set<number>();
  readonly #removed = new Set<number>();
  #newStages: Record<string, unknown>[] = [];

  constructor(
    dag: DAGScheduler,
    tracker: RecordingTracker,
    executors: NameTable,
  ) {
    this.#dag = dag;
    this.#tracker = tracker;
    this.#executors = executors;
  }

  /** Notes stages that were made since the last call. */
  noteStages(): void {
    const ids = [...this.#dag.graph.stageIdToStage.keys()]
      .sort((a, b) => a - b);
    for (const id of ids) {
      if (this.#seen.has(id)) continue;
      this.#seen.add(id);
      this.#newStages.push(stageShape(this.#dag.stage(id)));
    }
  }

  /** Takes the stages made during the event. */
  takeNewStages(): Record<string, unknown>[] {
    const stages = this.#newStages;
    this.#newStages = [];
    return stages;
  }

  /** The state: sets always, the rest where it changed. */
  state(): Record<string, unknown> {
    const dag = this.#dag;
    const sorted = (ids: number[]) => ids.sort((a, b) => a - b);
    const state: Record<string, unknown> = {
      waiting: sorted(dag.waitingStages.toArray()),
      running: sorted(dag.runningStages.toArray()),
      failed: sorted(dag.failedStages.toArray()),
      activeJobs: sorted([...dag.activeJobs].map(({ jobId }) => jobId)),
      epoch: this.#tracker.epoch,
    };
    this.#addOutputs(state);
    this.#addPending(state);
    this.#addFailures(state);
    const removed = sorted(
      [...this.#seen].filter((id) => !dag.graph.stageIdToStage.has(id) && !this.#removed.has(id)),
    );
    for (const id of removed) this.#removed.add(id);
    if (removed.length > 0) state.stagesRemoved = removed;
    return state;
  }

  #addOutputs(state: Record<string, unknown>): void {
    const outputs = this.#tracker.outputs();
    const changed = changes(outputs, this.#lastOutputs);
    this.#lastOutputs = outputs;
    if (Object.keys(changed).length === 0) return;
    state.available = Object.fromEntries(
      Object.entries(changed).map(([shuffleId, executors]) => [
        shuffleId,
        executors.filter((executor) => executor !== null).length,
      ]),
    );
    state.outputs = changed;
  }

  #addPending(state: Record<string, unknown>): void {
    const pending: Record<string, number[]> = {};
    for (const [id, stage] of this.#dag.graph.stageIdToStage) {
      if (stage instanceof ShuffleMapStage) {
        pending[id] = stage.pendingPartitions.toArray();
      }
    }
    const changed = changes(pending, this.#lastPending);
    this.#lastPending = pending;
    if (Object.keys(changed).length > 0) state.pendingPartitions = changed;
  }

  #addFailures(state: Record<string, unknown>): void {
    const failedEpoch: Record<string, number> = {};
    for (const [executor, epoch] of this.#dag.executorFailureEpoch) {
      failedEpoch[this.#executors.nameOf(executor)] = epoch;
    }
    if (!sameJson(failedEpoch, this.#lastFailedEpoch)) {
      state.failedEpoch = failedEpoch;
    }
    this.#lastFailedEpoch = failedEpoch;
    const failedAttempts: Record<string, number[]> = {};
    for (const [id, stage] of this.#dag.graph.stageIdToStage) {
      if (stage.failedAttemptIds.size === 0) continue;
      failedAttempts[id] = [...stage.failedAttemptIds].sort((a, b) => a - b);
    }
    if (Object.keys(failedAttempts).length > 0) {
      state.failedAttemptIds = failedAttempts;
    }
  }
}

function changes<T>(
  now: Record<string, T>,
  before: Record<string, unknown>,
): Record<string, T> {
  return Object.fromEntries(
    Object.entries(now).filter(([key, value]) => !(key in before) || !sameJson(value, before[key])),
  );
}

/** A stage as the traces describe it. */
function stageShape(stage: Stage): Record<string, unknown> {
  const common = {
    rdd: stage.rdd.id,
    numPartitions: stage.numPartitions,
    numTasks: stage.numTasks,
    parents: stage.parents.map(({ id }) => id),
  };
  return stage instanceof ShuffleMapStage
    ? {
      id: stage.id,
      kind: "shuffleMap",
      ...common,
      shuffleId: stage.shuffleDep.shuffleId,
      firstJobId: stage.firstJobId,
    }
    : {
      id: stage.id,
      kind: "result",
      ...common,
      partitions: Array.from(stage.partitions),
      firstJobId: stage.firstJobId,
    };
}
