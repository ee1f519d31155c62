/**
 * Events of jobs and stages, with the RDDs that they are made of.
 *
 * @module
 */
import type { StorageLevel } from "../storage_level.ts";
import type { EventOf } from "./event_of.ts";

/**
 * What computing an RDD again gives (org.apache.spark.rdd.DeterministicLevel): the same data in the same order, the same
 * data in any order, or other data.
 */
export type DeterministicLevel = "DETERMINATE" | "UNORDERED" | "INDETERMINATE";

/** Part of a stage's description: one RDD of its lineage. */
export interface RddInfo {
  /** `RDD ID`, unique in the application. */
  readonly rddId: number;
  /** RDD.name, or the class (MapPartitionsRDD) where the program gave none. */
  readonly name: string;
  /** Line of the program that made it, as Spark shortens it: `map at App.scala:12`. */
  readonly callSite: string;
  /** The operation that made it, from the RDD's scope; null when not recorded. */
  readonly scope: string | null;
  /** RDDs that it is computed from, those behind a shuffle included. */
  readonly parentIds: readonly number[];
  /** What persist() asked for; StorageLevel.NONE when it is not cached. */
  readonly storageLevel: StorageLevel;
  /** Partitions of the RDD. */
  readonly numPartitions: number;
  /** Of these, in memory or on disk when the event was made; 0 in most logs: Spark keeps it for its UI. */
  readonly numCachedPartitions: number;
  /** Bytes of its blocks in memory at that time. */
  readonly memorySize: number;
  /** Bytes of its blocks on disk at that time. */
  readonly diskSize: number;
  /** `Barrier` (since 2.4): the tasks of its stage start together. Absent: no. */
  readonly isBarrier?: boolean;
  /** `DeterministicLevel` (since 3.2); absent: not recorded. */
  readonly outputDeterministicLevel?: DeterministicLevel;
}

/** A stage's attempt (org.apache.spark.scheduler.StageInfo). */
export interface StageInfo {
  /** `Stage ID`, unique in the application. */
  readonly stageId: number;
  /** `Stage Attempt ID`, from 0; a stage is tried again when its input is lost. */
  readonly attemptId: number;
  /** Call site of the action or of the shuffle. */
  readonly name: string;
  /** Tasks of the stage: partitions that it computes, those that an earlier attempt finished included. */
  readonly numTasks: number;
  /** The RDDs between its shuffle input and its end, the last one first. */
  readonly rddInfos: readonly RddInfo[];
  /** Stages whose shuffle output it reads. */
  readonly parentIds: readonly number[];
  /** Stack of the program at its call site. */
  readonly details: string;
  /** When its tasks were submitted, ms since the epoch; null while it waits, or when it was skipped. */
  readonly submissionTime: number | null;
  /** When it ended, ms since the epoch; null while it runs. */
  readonly completionTime: number | null;
  /** Why it failed; null while it runs, and for success. */
  readonly failureReason: string | null;
  /** Of {@linkcode ResourceProfileAdded}; 0 when not recorded. */
  readonly resourceProfileId: number;
  /** From 3.1: the stage pushes its shuffle data; null when not recorded. */
  readonly isShufflePushEnabled: boolean | null;
  /** Accumulated values by name that are kept (SQL metrics and internal ones), only in stageCompleted. */
  readonly accumulables: readonly AccumulableInfo[];
}

/** An accumulator's value at the end of a stage. */
export interface AccumulableInfo {
  /** AccumulatorV2.id; SQL plans refer to it. */
  readonly id: number;
  /** `internal.metrics...` for task metrics, the metric's name for SQL; null when the program gave none. */
  readonly name: string | null;
  /** Total over the stage's tasks; a text where it is no number. */
  readonly value: number | string | null;
}

/** The driver was asked for a job: an action, or a map stage of adaptive execution. */
export interface JobStart extends EventOf<"jobStart"> {
  /** `Job ID`, from 0. */
  readonly jobId: number;
  /** `Submission Time`, ms since the epoch; -1 when not recorded. */
  readonly time: number;
  /** All stages that it may need, those that will be skipped included. */
  readonly stageInfos: readonly StageInfo[];
  /** Their ids, the final stage's among them. */
  readonly stageIds: readonly number[];
  /** The job's local properties that are used: job group, description, SQL execution id, scheduler pool. */
  readonly properties: Readonly<Record<string, string>>;
}

/** A job succeeded or failed. */
export interface JobEnd extends EventOf<"jobEnd"> {
  /** As in {@linkcode JobStart}. */
  readonly jobId: number;
  /** `Completion Time`, ms since the epoch; -1 when not recorded. */
  readonly time: number;
  /** null for success. */
  readonly failure: string | null;
}

/** DAGScheduler handed a stage's missing tasks to the TaskScheduler. */
export interface StageSubmitted extends EventOf<"stageSubmitted"> {
  /** The stage, not yet completed. */
  readonly stageInfo: StageInfo;
  /** Local properties of the job that needs it, as in {@linkcode JobStart}. */
  readonly properties: Readonly<Record<string, string>>;
}

/** A stage's attempt ended, well or with a failureReason. */
export interface StageCompleted extends EventOf<"stageCompleted"> {
  /** The stage with its times and accumulated values. */
  readonly stageInfo: StageInfo;
}

/** The program called unpersist() on an RDD: its blocks are dropped everywhere. */
export interface UnpersistRdd extends EventOf<"unpersistRdd"> {
  /** As in {@linkcode RddInfo}. */
  readonly rddId: number;
}

/** A task seems slow and a copy of it was wished for (spark.speculation). */
export interface SpeculativeTaskSubmitted extends EventOf<"speculativeTaskSubmitted"> {
  /** Stage of the task. */
  readonly stageId: number;
  /** Its attempt, from 0. */
  readonly stageAttemptId: number;
}
