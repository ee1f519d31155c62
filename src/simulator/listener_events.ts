/**
 * What the scheduler tells its listeners, as the events of an event log (the listener bus of Spark, with the fields of
 * JsonProtocol).
 *
 * @module
 */
import type {
  AccumulableInfo,
  DeterministicLevel,
  EventSink,
  RddInfo,
  StageInfo,
  TaskEnd,
  TaskGettingResult,
  TaskInfo,
  TaskLocality,
  TaskMetrics,
  TaskStart,
} from "../spark/events.ts";
import { STORAGE_LEVELS, type StorageLevel } from "../spark/storage_level.ts";
import type { CompletionEvent, SchedulerListener } from "./scheduler/dag_scheduler_types.ts";
import { outputDeterministicLevel } from "./scheduler/deterministic_level.ts";
import type { NameTable } from "./scheduler/names.ts";
import { someRddInStage } from "./scheduler/rdd.ts";
import type { JobProperties, Stage } from "./scheduler/stage.ts";
import { FAILED, KILLED, SPECULATIVE, type TaskInfos } from "./scheduler/task_infos.ts";
import { LOCALITIES } from "./scheduler/task_location.ts";
import type { TaskSet } from "./scheduler/task_set.ts";
import type { Rdd } from "./workload.ts";

/** What the events are made of, besides the scheduler's calls. */
export interface ListenerHost {
  readonly sink: EventSink;
  readonly infos: TaskInfos;
  readonly executors: NameTable;
  readonly hosts: NameTable;
  nowMs(): number;
  /** RDDs of the stage's pipeline, the final one first. */
  pipeline(stage: Stage): readonly Rdd[];
  /** Level at which an RDD is cached at present; null when it is not. */
  storageLevelOf(rddId: number): StorageLevel | null;
  /** Cached partitions of an RDD and their sizes. */
  cachedOf(rddId: number): { readonly partitions: number; readonly memorySize: number; readonly diskSize: number };
  /** Ids of the RDDs that an RDD depends on, through shuffles too. */
  parentIdsOf(rdd: Rdd): readonly number[];
  /** Name and details (call site) of a stage. */
  describe(stage: Stage): { readonly name: string; readonly details: string };
  /** Partition of a task that was launched. */
  partitionOf(tid: number): number;
  /** What a task measured; null when nothing was reported. */
  metricsOf(tid: number): TaskMetrics | null;
  jobStarted(jobId: number): Readonly<Record<string, string>>;
  jobEnded(jobId: number, failure: string | null): void;
  stageStarted(stage: Stage): void;
  stageEnded(stage: Stage): void;
  taskEnded(event: CompletionEvent): void;
  schedulerFailed(message: string): void;
}

/** Times of an event log are whole ms. */
function ms(time: number): number {
  return Math.round(time);
}

/** The listener. Task events are one object each, filled anew: a sink copies what it keeps. */
export class ListenerEvents implements SchedulerListener {
  readonly #host: ListenerHost;
  readonly #properties = new Map<number, Readonly<Record<string, string>>>();
  readonly #info = {
    stageId: 0,
    stageAttemptId: 0,
    taskId: 0,
    index: 0,
    attempt: 0,
    partitionId: 0,
    launchTime: 0,
    executorId: "",
    host: "",
    locality: "ANY" as TaskLocality,
    speculative: false,
  };
  readonly #start: TaskStart = { kind: "taskStart", ...this.#info };
  readonly #getting: TaskGettingResult = { kind: "taskGettingResult", ...this.#info, gettingResultTime: 0 };
  readonly #end: TaskEnd = {
    kind: "taskEnd",
    ...this.#info,
    taskType: "ResultTask",
    reason: { reason: "Success" },
    gettingResultTime: 0,
    finishTime: 0,
    failed: false,
    killed: false,
    metrics: null,
    accumulables: [],
  };

  constructor(host: ListenerHost) {
    this.#host = host;
  }

  jobStart(jobId: number, stages: readonly Stage[], _properties: JobProperties): void {
    const { sink } = this.#host;
    const properties = this.#host.jobStarted(jobId);
    this.#properties.set(jobId, properties);
    sink.event({
      kind: "jobStart",
      jobId,
      time: ms(this.#host.nowMs()),
      stageInfos: stages.map((stage) => this.#stageInfo(stage)),
      stageIds: stages.map(({ id }) => id),
      properties,
    });
  }

  jobEnd(jobId: number, failure: string | null): void {
    const { sink } = this.#host;
    this.#properties.delete(jobId);
    sink.event({ kind: "jobEnd", jobId, time: ms(this.#host.nowMs()), failure });
    this.#host.jobEnded(jobId, failure);
  }

  stageSubmitted(stage: Stage): void {
    this.#host.stageStarted(stage);
    const properties = this.#properties.get(stage.firstJobId) ?? {};
    this.#host.sink.event({ kind: "stageSubmitted", stageInfo: this.#stageInfo(stage), properties });
  }

  stageCompleted(stage: Stage): void {
    this.#host.stageEnded(stage);
    this.#host.sink.event({ kind: "stageCompleted", stageInfo: this.#stageInfo(stage) });
  }

  taskStart(stageId: number, stageAttemptId: number, tid: number): void {
    this.#fill(this.#start, { stageId, stageAttemptId, tid });
    this.#host.sink.event(this.#start);
  }

  taskGettingResult(tid: number): void {
    const { infos, sink } = this.#host;
    this.#fill(this.#getting, { stageId: this.#end.stageId, stageAttemptId: this.#end.stageAttemptId, tid });
    this.#getting.gettingResultTime = ms(infos.gettingResultTime[tid]);
    sink.event(this.#getting);
  }

  taskEnd(event: CompletionEvent): void {
    const { infos, sink } = this.#host;
    const { tid, taskSet, reason } = event;
    const end = this.#end;
    this.#fill(end, { stageId: taskSet.stageId, stageAttemptId: taskSet.stageAttemptId, tid });
    end.taskType = taskSet.isShuffleMap ? "ShuffleMapTask" : "ResultTask";
    end.reason = reason;
    end.gettingResultTime = ms(infos.gettingResultTime[tid]);
    end.finishTime = ms(infos.finishTime[tid]);
    end.failed = infos.has(tid, FAILED);
    end.killed = infos.has(tid, KILLED);
    end.metrics = this.#host.metricsOf(tid);
    sink.event(end);
    this.#host.taskEnded(event);
  }

  accumulatorsUpdated(): void {}

  speculativeTaskSubmitted(taskSet: TaskSet): void {
    const { stageId, stageAttemptId } = taskSet;
    this.#host.sink.event({ kind: "speculativeTaskSubmitted", stageId, stageAttemptId });
  }

  schedulerFailed(className: string, message: string): void {
    this.#host.schedulerFailed(`${className}: ${message}`);
  }

  #fill(info: TaskInfo, task: { stageId: number; stageAttemptId: number; tid: number }): void {
    const { infos, executors, hosts } = this.#host;
    const { tid } = task;
    info.stageId = task.stageId;
    info.stageAttemptId = task.stageAttemptId;
    info.taskId = tid;
    info.index = infos.index[tid];
    info.attempt = infos.attempt[tid];
    info.partitionId = this.#host.partitionOf(tid);
    info.launchTime = ms(infos.launchTime[tid]);
    info.executorId = executors.nameOf(infos.executor[tid]);
    info.host = hosts.nameOf(infos.host[tid]);
    info.locality = LOCALITIES[infos.locality[tid]];
    info.speculative = infos.has(tid, SPECULATIVE);
  }

  #stageInfo(stage: Stage): StageInfo {
    const { attemptNumber, numTasks, submissionTime, completionTime, failureReason } = stage.latestInfo;
    const { name, details } = this.#host.describe(stage);
    const none: readonly AccumulableInfo[] = [];
    return {
      stageId: stage.id,
      attemptId: attemptNumber,
      name,
      numTasks,
      rddInfos: this.#rddInfos(stage),
      parentIds: stage.parents.map(({ id }) => id),
      details,
      submissionTime: submissionTime === null ? null : ms(submissionTime),
      completionTime: completionTime === null ? null : ms(completionTime),
      failureReason,
      resourceProfileId: 0,
      isShufflePushEnabled: null,
      accumulables: none,
    };
  }

  #rddInfos(stage: Stage): RddInfo[] {
    const levels = new Map<number, DeterministicLevel>();
    someRddInStage(stage.rdd, (rdd) => {
      levels.set(rdd.id, outputDeterministicLevel(rdd));
      return false;
    });
    return this.#host.pipeline(stage).map((rdd) => this.#rddInfo(rdd, levels.get(rdd.id)));
  }

  #rddInfo(rdd: Rdd, outputDeterministicLevel: DeterministicLevel | undefined): RddInfo {
    const level = this.#host.storageLevelOf(rdd.id);
    const cached = level === null ? null : this.#host.cachedOf(rdd.id);
    return {
      rddId: rdd.id,
      name: rdd.name,
      callSite: rdd.callSite,
      scope: rdd.scope,
      parentIds: this.#host.parentIdsOf(rdd),
      storageLevel: level ?? STORAGE_LEVELS.NONE,
      numPartitions: rdd.numPartitions,
      numCachedPartitions: cached?.partitions ?? 0,
      memorySize: cached?.memorySize ?? 0,
      diskSize: cached?.diskSize ?? 0,
      ...(outputDeterministicLevel === undefined ? {} : { outputDeterministicLevel }),
    };
  }
}
