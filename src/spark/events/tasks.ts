/**
 * Events of tasks: TaskInfo, TaskMetrics, TaskEndReason, and the blocks that they change.
 *
 * @module
 */
import type { StorageLevel } from "../storage_level.ts";
import type { EventOf } from "./event_of.ts";

/** How near to its data a task runs (org.apache.spark.scheduler.TaskLocality), the nearest first. */
export type TaskLocality =
  | "PROCESS_LOCAL"
  | "NODE_LOCAL"
  | "NO_PREF"
  | "RACK_LOCAL"
  | "ANY";

/** Fields that taskStart, taskGettingResult and taskEnd share (TaskInfo). */
export interface TaskInfo {
  /** Stage of the task; -1 in taskGettingResult, where Spark writes none. */
  stageId: number;
  /** -1 where the log has none (Spark writes the attempt of the stage at that moment). */
  stageAttemptId: number;
  /** `Task ID` (task attempt id), unique in the application. */
  taskId: number;
  /** Place in the task set: which task of the stage's attempt. */
  index: number;
  /** Attempt of that task, from 0. */
  attempt: number;
  /** From 3.3; equal to index before. */
  partitionId: number;
  /** ms since the epoch. */
  launchTime: number;
  /** Where it runs. */
  executorId: string;
  /** Machine of that executor. */
  host: string;
  /** How near to its data it runs. */
  locality: TaskLocality;
  /** It is a copy of a task that seemed slow (spark.speculation). */
  speculative: boolean;
}

/**
 * A task started. A source may hand the same object again for the next event: a sink copies what it keeps
 * (the same holds for the other task events).
 */
export interface TaskStart extends TaskInfo, EventOf<"taskStart"> {}

/** The driver fetches a task's result from the executor's block manager (an indirect result). */
export interface TaskGettingResult extends TaskInfo, EventOf<"taskGettingResult"> {
  /** When it began to, ms since the epoch. */
  gettingResultTime: number;
}

/** Why a task ended (org.apache.spark.TaskEndReason). */
export type TaskEndReason =
  | { readonly reason: "Success" }
  | { readonly reason: "Resubmitted" }
  | { readonly reason: "TaskResultLost" }
  | { readonly reason: "UnknownReason" }
  | { readonly reason: "TaskKilled"; readonly killReason: string }
  | {
    readonly reason: "ExceptionFailure";
    readonly className: string;
    readonly description: string;
    readonly fullStackTrace: string;
  }
  | {
    readonly reason: "FetchFailed";
    /** Executor of the block manager that failed; null when the map output was missing. */
    readonly executorId: string | null;
    readonly host: string | null;
    readonly shuffleId: number;
    readonly mapId: number;
    readonly mapIndex: number;
    readonly reduceId: number;
    readonly message: string;
  }
  | {
    readonly reason: "TaskCommitDenied";
    readonly jobId: number;
    readonly partitionId: number;
    readonly attemptNumber: number;
  }
  | {
    readonly reason: "ExecutorLostFailure";
    readonly executorId: string;
    readonly exitCausedByApp: boolean;
    readonly lossReason: string | null;
  };

/** What a task measured (org.apache.spark.executor.TaskMetrics). Times in ms except where named ns. */
export interface TaskMetrics {
  /** To deserialize the task on the executor. */
  executorDeserializeTime: number;
  /** CPU time of that; 0 when not recorded (before 2.1). */
  executorDeserializeCpuTimeNs: number;
  /** To run it, shuffle fetches and spills included. */
  executorRunTime: number;
  /** CPU time of that; 0 when not recorded (before 2.1). */
  executorCpuTimeNs: number;
  /** Bytes of the serialized result as sent to the driver (of an indirect one, what it stands for). */
  resultSize: number;
  /** Garbage collection of the whole JVM while it ran. */
  jvmGcTime: number;
  /** To serialize the result. */
  resultSerializationTime: number;
  /** Bytes in memory of what was spilled. */
  memoryBytesSpilled: number;
  /** Bytes on disk of what was spilled. */
  diskBytesSpilled: number;
  /** Sum over the task's consumers of the most that each held, bytes; null in logs that do not record it (before 1.6). */
  peakExecutionMemory: number | null;
  /** From Spark 4.0. */
  peakOnHeapExecutionMemory: number | null;
  /** From Spark 4.0. */
  peakOffHeapExecutionMemory: number | null;
  /** Bytes read from outside of Spark and from cached blocks (InputMetrics). */
  inputBytes: number;
  /** Records of that. */
  inputRecords: number;
  /** Bytes written to outside of Spark (OutputMetrics). */
  outputBytes: number;
  /** Records of that. */
  outputRecords: number;
  /** Shuffle bytes fetched from other executors (ShuffleReadMetrics), compressed. */
  shuffleRemoteBytesRead: number;
  /** Of these, what went to disk first (spark.maxRemoteBlockSizeFetchToMem); 0 when not recorded. */
  shuffleRemoteBytesReadToDisk: number;
  /** Shuffle bytes read from the executor's own disk. */
  shuffleLocalBytesRead: number;
  /** Shuffle blocks fetched from other executors. */
  shuffleRemoteBlocksFetched: number;
  /** Shuffle blocks read from the executor's own disk. */
  shuffleLocalBlocksFetched: number;
  /** Time in which the task had nothing to do but wait for shuffle blocks. */
  shuffleFetchWaitTime: number;
  /** Records read of shuffles. */
  shuffleRecordsRead: number;
  /** Shuffle bytes written (ShuffleWriteMetrics), compressed. */
  shuffleBytesWritten: number;
  /** Time of writing them to disk. */
  shuffleWriteTimeNs: number;
  /** Records of that. */
  shuffleRecordsWritten: number;
  /** Only with spark.taskMetrics.trackUpdatedBlockStatuses, or before 2.3; null when not recorded. */
  updatedBlocks: readonly BlockStatus[] | null;
}

/** One block's state after a change, as TaskMetrics record it. */
export interface BlockStatus {
  /** BlockId.name: `rdd_4_0`, `broadcast_1_piece0`, ... */
  readonly blockId: string;
  /** How it is kept now: neither in memory nor on disk when it was dropped. */
  readonly storageLevel: StorageLevel;
  /** Bytes in memory. */
  readonly memorySize: number;
  /** Bytes on disk. */
  readonly diskSize: number;
}

/** A task ended, in whatever way. */
export interface TaskEnd extends TaskInfo, EventOf<"taskEnd"> {
  /** Whether it wrote a shuffle's map output or computed an action's result. */
  taskType: "ResultTask" | "ShuffleMapTask";
  /** Success, or what went wrong. */
  reason: TaskEndReason;
  /** 0 when the result was sent directly. */
  gettingResultTime: number;
  /** ms since the epoch. */
  finishTime: number;
  /** TaskInfo.failed: it ended in the state FAILED; whether that counts against the stage, `reason` says. */
  failed: boolean;
  /** TaskInfo.killed: the driver had it killed (a copy finished first, the job was cancelled). */
  killed: boolean;
  /** null where Spark recorded none (lost executors, rejected results). */
  metrics: TaskMetrics | null;
  /**
   * Most of the JVM's heap that was seen in use while it ran, garbage included, bytes (`JVMHeapMemory` of the task's
   * executor metrics, from 3.0); null where no heartbeat looked while it ran. Absent in simulated runs.
   */
  peakHeapMemory?: number | null;
  /** Updates of SQL metrics and accumulators with a name that does not begin with "internal.metrics.". */
  accumulables: readonly {
    readonly id: number;
    readonly name: string;
    readonly update: number | null;
  }[];
}

/** A block changed (only with spark.eventLog.logBlockUpdates.enabled). On a drop useMemory is false and memorySize is what was freed. */
export interface BlockUpdated extends BlockStatus, EventOf<"blockUpdated"> {
  /** Executor of its block manager. */
  readonly executorId: string;
  /** Simulated runs know the time; Spark records none. */
  readonly time: number | null;
}
