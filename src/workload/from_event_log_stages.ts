/**
 * What an event log says about jobs, stages and RDDs, gathered as it is read.
 *
 * @module
 */
import type { DeterministicLevel, JobEnd, JobStart, RddInfo, StageInfo, TaskEnd } from "../spark/events.ts";
import type { StorageLevel } from "../spark/storage_level.ts";
import { metricName } from "./from_event_log_plans.ts";

/** An RDD, from the descriptions of all stages that contain it. */
export interface RddRecord {
  readonly id: number;
  name: string;
  callSite: string;
  scope: string | null;
  parentIds: readonly number[];
  numPartitions: number;
  /** Absent: not recorded. */
  outputDeterministicLevel?: DeterministicLevel;
  /** Storage levels with the first job that saw each, in order of jobs. */
  readonly levels: { readonly jobId: number; readonly level: StorageLevel }[];
  /** Job before which unpersist was called; null for never. */
  unpersistBeforeJob: number | null;
  /** Largest figures that stage descriptions carried (filled in before Spark 2 only). */
  numCachedPartitions: number;
  memorySize: number;
  diskSize: number;
}

/** A stage, the same for all of its attempts. */
export interface StageRecord {
  readonly stageId: number;
  readonly jobId: number | null;
  readonly name: string;
  readonly details: string;
  readonly numTasks: number;
  /** The stage's own RDD first, then those it is computed from without a shuffle. */
  readonly rddIds: readonly number[];
  readonly parentIds: readonly number[];
}

/** One submitted attempt of a stage. */
export interface StageAttempt {
  readonly index: number;
  readonly stage: StageRecord;
  readonly attemptId: number;
  /** Tasks of this attempt; fewer than the stage's when only lost partitions are run again. */
  readonly numTasks: number;
  submittedTime: number | null;
  completedTime: number | null;
  failureReason: string | null;
  taskType: "ResultTask" | "ShuffleMapTask" | null;
  tasksStarted: number;
  /** Updates of named accumulators (SQL metrics), by id. */
  readonly accumulators: Map<number, AccumulatorRecord>;
}

/** What the tasks of a stage attempt added to one accumulator. */
export interface AccumulatorRecord {
  readonly name: string;
  sum: number;
  count: number;
  max: number;
  /** Last update by partition, for the metrics that are needed by task; null past the budget or when not needed. */
  readonly byPartition: Map<number, number> | null;
}

/** A job. */
export interface JobRecord {
  readonly jobId: number;
  readonly time: number;
  endTime: number | null;
  failure: string | null;
  readonly stageIds: readonly number[];
  /** The stage whose tasks end the job: the one created last. */
  readonly finalStageId: number | null;
  readonly properties: Readonly<Record<string, string>>;
}

/** SQL metrics that are kept for every task (SQLMetrics of the operators that hold execution memory). */
const PER_TASK_METRICS = new Set([
  "peak memory",
  "spill size",
  "data size",
  "data size of build side",
  "number of output rows",
  "records read",
  "shuffle records written",
]);

/** Values kept by task over the whole log: 8 bytes and their map entry each. */
const PER_TASK_BUDGET = 1_000_000;

/**
 * Jobs, stages and RDDs by id.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { StageTable } from "./from_event_log_stages.ts";
 *
 * const stages = new StageTable();
 * assertEquals([stages.jobs.length, stages.attempts.length, stages.rdds.size], [0, 0, 0]);
 * ```
 */
export class StageTable {
  readonly jobs: JobRecord[] = [];
  readonly attempts: StageAttempt[] = [];
  /** Ids of stages whose tasks had to start together. */
  readonly barrierStages = new Set<number>();
  readonly stages = new Map<number, StageRecord>();
  readonly rdds = new Map<number, RddRecord>();
  readonly #attemptIndex = new Map<string, number>();
  readonly #latestAttempt = new Map<number, number>();
  readonly #jobIndex = new Map<number, number>();
  #perTaskValues = 0;
  #lastJobId = -1;

  jobStart(event: JobStart): void {
    const stageIds = event.stageInfos.length > 0 ? event.stageInfos.map(({ stageId }) => stageId) : [...event.stageIds];
    this.#lastJobId = Math.max(this.#lastJobId, event.jobId);
    for (const info of event.stageInfos) this.#define(info, event.jobId);
    // Told twice by a log that has lines twice: ids are given out once.
    if (this.#jobIndex.has(event.jobId)) return;
    this.#jobIndex.set(event.jobId, this.jobs.length);
    this.jobs.push({
      jobId: event.jobId,
      time: event.time,
      endTime: null,
      failure: null,
      stageIds,
      finalStageId: stageIds.length === 0 ? null : Math.max(...stageIds),
      properties: event.properties,
    });
  }

  jobEnd(event: JobEnd): void {
    const index = this.#jobIndex.get(event.jobId);
    if (index === undefined) return;
    this.jobs[index].endTime = event.time;
    this.jobs[index].failure = event.failure;
  }

  /** A stage attempt was submitted; returns it. */
  stageSubmitted(info: StageInfo): StageAttempt {
    const attempt = this.attempt(info.stageId, info.attemptId, info);
    attempt.submittedTime = info.submissionTime;
    return attempt;
  }

  stageCompleted(info: StageInfo): void {
    const attempt = this.attempt(info.stageId, info.attemptId, info);
    attempt.submittedTime ??= info.submissionTime;
    attempt.completedTime = info.completionTime;
    attempt.failureReason = info.failureReason;
  }

  unpersistRdd(rddId: number): void {
    const rdd = this.rdds.get(rddId);
    if (rdd !== undefined) rdd.unpersistBeforeJob ??= this.#lastJobId + 1;
  }

  /** The attempt with these ids; -1 stands for the latest one. Unknown ones (a log that begins late) are made. */
  attempt(
    stageId: number,
    attemptId: number,
    info: StageInfo | null = null,
  ): StageAttempt {
    const latest = this.#latestAttempt.get(stageId);
    if (attemptId < 0 && latest !== undefined) return this.attempts[latest];
    const key = `${stageId}.${Math.max(0, attemptId)}`;
    const known = this.#attemptIndex.get(key);
    if (known !== undefined) return this.attempts[known];
    const stage = this.#define(info, null, stageId);
    const attempt: StageAttempt = {
      index: this.attempts.length,
      stage,
      attemptId: Math.max(0, attemptId),
      numTasks: info?.numTasks ?? stage.numTasks,
      submittedTime: null,
      completedTime: null,
      failureReason: null,
      taskType: null,
      tasksStarted: 0,
      accumulators: new Map(),
    };
    this.#attemptIndex.set(key, attempt.index);
    this.#latestAttempt.set(stageId, attempt.index);
    this.attempts.push(attempt);
    return attempt;
  }

  /** Adds a finished task's accumulator updates to its stage attempt. */
  accumulate(attempt: StageAttempt, end: TaskEnd): void {
    attempt.taskType ??= end.taskType;
    for (const { id, name: fullName, update } of end.accumulables) {
      if (update === null) continue;
      const name = metricName(fullName);
      let record = attempt.accumulators.get(id);
      if (record === undefined) {
        const perTask = PER_TASK_METRICS.has(name) &&
          this.#perTaskValues < PER_TASK_BUDGET;
        record = {
          name,
          sum: 0,
          count: 0,
          max: 0,
          byPartition: perTask ? new Map() : null,
        };
        attempt.accumulators.set(id, record);
      }
      record.sum += update;
      record.count++;
      record.max = Math.max(record.max, update);
      if (record.byPartition !== null) {
        record.byPartition.set(end.partitionId, update);
        this.#perTaskValues++;
      }
    }
  }

  #define(
    info: StageInfo | null,
    jobId: number | null,
    stageId = info?.stageId ?? -1,
  ): StageRecord {
    for (const rdd of info?.rddInfos ?? []) this.#describe(rdd, jobId);
    if (info?.rddInfos.some(({ isBarrier }) => isBarrier === true)) this.barrierStages.add(stageId);
    const known = this.stages.get(stageId);
    if (known !== undefined) return known;
    const stage: StageRecord = {
      stageId,
      jobId,
      name: info?.name ?? `stage ${stageId}`,
      details: info?.details ?? "",
      numTasks: info?.numTasks ?? 0,
      rddIds: ownRddFirst(info?.rddInfos ?? []),
      parentIds: info?.parentIds ?? [],
    };
    this.stages.set(stageId, stage);
    return stage;
  }

  #describe(info: RddInfo, jobId: number | null): void {
    let rdd = this.rdds.get(info.rddId);
    if (rdd === undefined) {
      rdd = {
        id: info.rddId,
        name: info.name,
        callSite: info.callSite,
        scope: info.scope,
        parentIds: info.parentIds,
        numPartitions: info.numPartitions,
        ...(info.outputDeterministicLevel === undefined
          ? {}
          : { outputDeterministicLevel: info.outputDeterministicLevel }),
        levels: [],
        unpersistBeforeJob: null,
        numCachedPartitions: 0,
        memorySize: 0,
        diskSize: 0,
      };
      this.rdds.set(info.rddId, rdd);
    }
    const last = rdd.levels.at(-1);
    if (last === undefined || !sameLevel(last.level, info.storageLevel)) {
      rdd.levels.push({
        jobId: jobId ?? Math.max(0, this.#lastJobId),
        level: info.storageLevel,
      });
    }
    rdd.numCachedPartitions = Math.max(
      rdd.numCachedPartitions,
      info.numCachedPartitions,
    );
    rdd.memorySize = Math.max(rdd.memorySize, info.memorySize);
    rdd.diskSize = Math.max(rdd.diskSize, info.diskSize);
  }
}

/** Ids of a stage's RDDs with the one first that no other is computed from (StageInfo.fromStage puts it there). */
function ownRddFirst(infos: readonly RddInfo[]): number[] {
  const ids = infos.map(({ rddId }) => rddId);
  const parents = new Set(infos.flatMap(({ parentIds }) => parentIds));
  const own = infos.findIndex(({ rddId }) => !parents.has(rddId));
  if (own > 0) {
    const [id] = ids.splice(own, 1);
    ids.unshift(id);
  }
  return ids;
}

function sameLevel(a: StorageLevel, b: StorageLevel): boolean {
  return a.useDisk === b.useDisk && a.useMemory === b.useMemory &&
    a.useOffHeap === b.useOffHeap && a.deserialized === b.deserialized &&
    a.replication === b.replication;
}
