/**
 * Traces of the DAG scheduler alone (format spark-dag-trace/1): the task scheduler, the block managers and the listeners
 * are recorded.
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";
import { type DagEvent, handleDagEvent } from "../../simulator/scheduler/dag_event_loop.ts";
import { DAGScheduler } from "../../simulator/scheduler/dag_scheduler.ts";
import { mapStatus } from "../../simulator/scheduler/map_status.ts";
import { NameTable } from "../../simulator/scheduler/names.ts";
import { OutputCommitCoordinator } from "../../simulator/scheduler/output_commit_coordinator.ts";
import { ShuffleMapStage } from "../../simulator/scheduler/stage.ts";
import type { TaskScheduler } from "../../simulator/scheduler/task_scheduler_types.ts";
import type { TaskSet } from "../../simulator/scheduler/task_set.ts";
import { fetchFailure, type Lineage, traceLineage, traceLossReason, traceSettings, unknownEvent } from "./inputs.ts";
import {
  ActionLog,
  DagStates,
  recordingJobListener,
  RecordingListener,
  RecordingTracker,
  submitTasksAction,
} from "./recorder.ts";
import type { ReplayOptions, TraceLine } from "../trace.ts";

/** What a replayed event does to the DAG scheduler. */
type Step = DagEvent | { readonly kind: "task"; readonly run: () => void };

/** Replays the events of one trace. */
export class DagReplay {
  readonly #log = new ActionLog();
  readonly #executors = new NameTable();
  readonly #hosts = new NameTable();
  /** Host of each executor. */
  readonly #hostOf = new Map<string, string>();
  readonly #lineage: Lineage;
  readonly #tracker: RecordingTracker;
  readonly #dag: DAGScheduler;
  readonly #states: DagStates;
  readonly #taskSets: TaskSet[] = [];
  readonly #cacheLocs = new Map<string, readonly string[]>();
  /** What the scheduler posts to its own queue (since 4.0). */
  readonly #posted: DagEvent[] = [];
  #nextJobId = 0;
  #nextTaskId = 0;

  constructor(header: TraceLine, options: ReplayOptions) {
    const settings = traceSettings(header, options);
    for (const { id, host } of header.executors ?? []) {
      this.#hostOf.set(id, host);
    }
    this.#lineage = traceLineage(header);
    const names = { executors: this.#executors, hosts: this.#hosts };
    this.#tracker = new RecordingTracker(this.#log, names);
    const removeExecutor = settings.rules.scheduler.removesExecutorsAsync
      ? "blockManagerRemoveExecutorAsync"
      : "blockManagerRemoveExecutor";
    this.#dag = new DAGScheduler({
      settings,
      taskScheduler: this.#taskScheduler(),
      tracker: this.#tracker,
      commitCoordinator: new OutputCommitCoordinator(),
      blockManagerMaster: {
        removeExecutor: (executor) =>
          this.#log.add(removeExecutor, {
            exec: this.#executors.nameOf(executor),
          }),
        getLocations: (rddId, partition) =>
          (this.#cacheLocs.get(`${rddId} ${partition}`) ?? [])
            .map((executorId) => this.#address(executorId)),
      },
      listener: new RecordingListener(
        this.#log,
        () => this.#states.noteStages(),
      ),
      ...names,
      nowMs: () => 1,
      scheduleResubmit: (delayMs) => this.#log.add("scheduleResubmit", { delayMs }),
      postStageFailed: (stageId, message) => this.#posted.push({ kind: "stageFailed", stageId, message }),
    });
    this.#states = new DagStates(this.#dag, this.#tracker, this.#executors);
  }

  #taskScheduler(): TaskScheduler {
    return {
      submitTasks: (taskSet) => {
        taskSet.epoch = this.#tracker.epoch;
        this.#taskSets.push(taskSet);
        this.#log.add("submitTasks", submitTasksAction(taskSet, taskSet.epoch));
      },
      cancelTasks: (stage, interrupt) => this.#log.add("cancelTasks", { stage, interrupt }),
      killAllTaskAttempts: (stage) => this.#log.add("killAllTaskAttempts", { stage }),
      notifyPartitionCompletion: (stage, partition) => this.#log.add("notifyPartitionCompletion", { stage, partition }),
    };
  }

  #hostNameOf(executorId: string): string {
    return this.#hostOf.get(executorId) ?? `host-${executorId}`;
  }

  #address(executorId: string, host = this.#hostNameOf(executorId)) {
    return {
      executor: this.#executors.idOf(executorId),
      host: this.#hosts.idOf(host),
    };
  }

  /** Replays an event. @returns what the trace records of it. */
  run(event: TraceLine): Record<string, unknown> {
    const step = this.#stepOf(event);
    if (step !== null) {
      if (step.kind === "task") step.run();
      else handleDagEvent(this.#dag, step);
    }
    for (
      let next = this.#posted.shift();
      next !== undefined;
      next = this.#posted.shift()
    ) {
      this.#log.add("dag", { event: "StageFailed" });
      handleDagEvent(this.#dag, next);
    }
    return this.observed();
  }

  /** Records that the event could not be handled. */
  failed(className: string, message: string): Record<string, unknown> {
    this.#log.add("error", { class: className, message });
    return this.observed();
  }

  /** What has been recorded since the last event. */
  observed(): Record<string, unknown> {
    this.#states.noteStages();
    const stagesCreated = this.#states.takeNewStages();
    return {
      ...(stagesCreated.length > 0 ? { stagesCreated } : {}),
      actions: this.#log.take(),
      state: this.#states.state(),
    };
  }

  /** The event of the DAG scheduler's loop; null for what only changes the surroundings. */
  #stepOf(event: TraceLine): Step | null {
    switch (event.type) {
      case "taskStarted":
      case "taskSucceeded":
      case "taskFailed":
        return this.#taskStep(event);
      case "taskSetFailed":
        return {
          kind: "taskSetFailed",
          taskSet: this.#taskSet(event),
          message: event.message,
        };
      case "executorAdded":
        this.#hostOf.set(event.exec, event.host);
        return { kind: "executorAdded", ...this.#address(event.exec) };
      case "executorLost":
        return {
          kind: "executorLost",
          ...this.#address(event.exec),
          reason: traceLossReason(
            event.workerLost === true ? "workerLost" : "slaveLost",
          ),
        };
      case "workerRemoved":
        return { kind: "workerRemoved", host: this.#hosts.idOf(event.host) };
      case "setCacheLocs":
        this.#cacheLocs.set(`${event.rdd} ${event.partition}`, event.execs);
        return null;
      case "clearCacheLocs":
        this.#cacheLocs.clear();
        return null;
      default:
        return jobEvent(event, {
          lineage: this.#lineage,
          log: this.#log,
          nextJobId: () => this.#nextJobId++,
        });
    }
  }

  #taskSet(event: TraceLine): TaskSet {
    const taskSet = this.#taskSets.find((set) => set.stageId === event.stage && set.stageAttemptId === event.attempt);
    if (taskSet === undefined) throw unknownEvent(event);
    return taskSet;
  }

  #taskStep(event: TraceLine): Step {
    const taskSet = this.#taskSet(event);
    const tid = this.#nextTaskId++;
    if (event.type === "taskStarted") {
      return {
        kind: "task",
        run: () => this.#dag.handleBeginEvent(taskSet, tid),
      };
    }
    const index = Array.from(taskSet.partitions).indexOf(event.partition);
    const completion = {
      taskSet,
      index,
      tid,
      attempt: event.taskAttempt ?? 0,
      reason: this.#reason(event),
      ...this.#address(event.exec ?? "x", event.host),
      output: this.#output(event, taskSet),
      checksum: event.checksum ?? 0,
    };
    return {
      kind: "task",
      run: () => this.#dag.handleTaskCompletion(completion),
    };
  }

  /** The harness has every block 2 bytes large. */
  #output(event: TraceLine, taskSet: TaskSet) {
    if (event.type !== "taskSucceeded" || !taskSet.isShuffleMap) return null;
    const stage = this.#dag.graph.stageIdToStage.get(taskSet.stageId);
    const numReducers = stage instanceof ShuffleMapStage ? stage.shuffleDep.numReducers : 1;
    return mapStatus(new Array(numReducers).fill(2));
  }

  #reason(event: TraceLine): TaskEndReason {
    if (event.type === "taskSucceeded") return { reason: "Success" };
    switch (event.kind) {
      case "exception":
        return {
          reason: "ExceptionFailure",
          className: "X",
          description: event.message ?? "boom",
          fullStackTrace: "st",
        };
      case "fetchFailed":
        return fetchFailure(event, (executorId) => this.#hostNameOf(executorId));
      case "executorLost":
        return {
          reason: "ExecutorLostFailure",
          executorId: event.exec,
          exitCausedByApp: true,
          lossReason: "lost",
        };
      case "resubmitted":
        return { reason: "Resubmitted" };
      case "taskKilled":
        return { reason: "TaskKilled", killReason: "killed" };
      case "taskResultLost":
        return { reason: "TaskResultLost" };
      case "commitDenied":
        return {
          reason: "TaskCommitDenied",
          jobId: 0,
          partitionId: event.partition,
          attemptNumber: 0,
        };
      case "unknown":
        return { reason: "UnknownReason" };
      default:
        throw unknownEvent(event);
    }
  }
}

/** An event that concerns jobs. */
export function jobEvent(
  event: TraceLine,
  context: {
    readonly lineage: Lineage;
    readonly log: ActionLog;
    readonly nextJobId: () => number;
  },
): DagEvent {
  const { lineage, log } = context;
  switch (event.type) {
    case "submitJob": {
      const rdd = lineage.rdds.get(event.rdd);
      if (rdd === undefined) throw unknownEvent(event);
      const jobId = context.nextJobId();
      return {
        kind: "jobSubmitted",
        jobId,
        rdd,
        partitions: event.partitions ??
          Array.from({ length: rdd.numPartitions }, (_, i) => i),
        ...submitter(log, jobId, event.group),
      };
    }
    case "submitMapStage": {
      const dependency = lineage.shuffles.get(event.shuffle);
      if (dependency === undefined) throw unknownEvent(event);
      const jobId = context.nextJobId();
      return {
        kind: "mapStageSubmitted",
        jobId,
        dependency,
        ...submitter(log, jobId),
      };
    }
    case "cancelJob":
      return {
        kind: "jobCancelled",
        jobId: event.job,
        reason: event.reason ?? null,
      };
    case "cancelStage":
      return {
        kind: "stageCancelled",
        stageId: event.stage,
        reason: event.reason ?? null,
      };
    case "cancelJobGroup":
      return { kind: "jobGroupCancelled", group: event.group };
    case "cancelAllJobs":
      return { kind: "allJobsCancelled" };
    case "resubmitFailedStages":
      return { kind: "resubmitFailedStages" };
    default:
      throw unknownEvent(event);
  }
}

function submitter(log: ActionLog, jobId: number, group?: string) {
  return {
    listener: recordingJobListener(log, jobId),
    properties: {
      callSite: `job${jobId}`,
      group: group ?? null,
      pool: null,
      interruptOnCancel: false,
    },
  };
}
