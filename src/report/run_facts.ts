/**
 * What a run shows beside its Summary: what the verdict is made from.
 *
 * @module
 */
import type { SparkConf } from "../spark/conf.ts";
import type { RddInfo, TaskEnd } from "../spark/events.ts";
import type { RddBlocks } from "./block_fold.ts";
import type { StageFold } from "./stage_fold.ts";

/** Task failures of one kind. */
export interface FailureGroup {
  readonly reason: TaskEnd["reason"]["reason"];
  /** Exception class, or empty. */
  readonly className: string;
  /** First lines of the message of the first of them. */
  readonly message: string;
  count: number;
  readonly stageIds: Set<number>;
  readonly executorIds: Set<string>;
}

/** An executor that left. */
export interface ExecutorLoss {
  readonly executorId: string;
  readonly reason: string;
  readonly time: number;
}

/** Facts for the verdict. */
export interface RunFacts {
  /** Settings of the run with its version's defaults. */
  readonly conf: SparkConf;
  /** All in one Java virtual machine (master `local...`): the driver's memory counts. */
  readonly local: boolean;
  /** Unified memory of the largest executor, as its block manager reported it; null when the log does not say. */
  readonly unified: { readonly onHeap: number; readonly offHeap: number } | null;
  /** In the order of Summary.stages. */
  readonly stages: readonly StageFold[];
  readonly failures: readonly FailureGroup[];
  /** Kill reasons with their counts. */
  readonly kills: ReadonlyMap<string, number>;
  readonly losses: readonly ExecutorLoss[];
  /** Tasks that failed because their executor was lost, by executor. */
  readonly tasksLost: ReadonlyMap<string, number>;
  /** RDDs with a storage level, as their last stage described them. */
  readonly persisted: ReadonlyMap<number, RddInfo>;
  readonly rddBlocks: readonly RddBlocks[];
  /** Evictions of RDD blocks by what they were for; where a log leaves it open, in neither. */
  readonly evictions: { readonly storage: number; readonly execution: number; readonly broadcast: number };
  readonly unpersisted: ReadonlySet<number>;
  /** RDD blocks in memory or on disk that were lost with their executors. */
  readonly blocksLost: number;
  /** The most bytes of broadcast variables that one executor held at a time. */
  readonly broadcastBytes: number;
  /** Jobs that read only some partitions of their RDD (take, first, limit). */
  readonly partialJobs: number;
  /** Stages of succeeded jobs that never ran because their outputs were there. */
  readonly skippedStages: number;
  readonly speculativeTasks: number;
  readonly sqlErrors: readonly string[];
  readonly sqlExecutions: number;
  /** ApplicationEnd's exit code (from Spark 4.0). */
  readonly exitCode: number | null;
  /** Block updates were recorded (spark.eventLog.logBlockUpdates.enabled). */
  readonly blocksRecorded: boolean;
  /** Nodes of physical plans by name, with how often they came. */
  readonly planNodes: ReadonlyMap<string, number>;
}
