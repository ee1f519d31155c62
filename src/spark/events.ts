/**
 * The listener events of Spark that the project reads, simulates and writes, as flat records.
 *
 * One vocabulary serves real logs and simulated runs: the event-log reader and the simulator both feed an
 * {@linkcode EventSink}; the summary, the reconstruction of a workload, the charts and the event-log writer are sinks.
 * Names are those of org.apache.spark.scheduler.SparkListener*, with the first letter lowered. Times are
 * milliseconds since the epoch (simulated runs start at a fixed epoch), sizes are bytes. `null` means "not recorded".
 *
 * @module
 */
import type { StorageLevel } from "./storage_level.ts";

/** Where the events come from. */
export type EventSource = "observed" | "simulated";

export interface LogStart {
  readonly kind: "logStart";
  readonly sparkVersion: string;
}

export interface ApplicationStart {
  readonly kind: "applicationStart";
  readonly appName: string;
  readonly appId: string | null;
  readonly time: number;
  readonly user: string;
  readonly appAttemptId: string | null;
}

export interface ApplicationEnd {
  readonly kind: "applicationEnd";
  readonly time: number;
  /** From Spark 4.0. */
  readonly exitCode: number | null;
}

export interface EnvironmentUpdate {
  readonly kind: "environmentUpdate";
  readonly sparkProperties: Readonly<Record<string, string>>;
  readonly jvmInformation: Readonly<Record<string, string>>;
  /** Only what the project uses of the system properties (for example the user's time zone is left out). */
  readonly systemProperties: Readonly<Record<string, string>>;
}

export interface ResourceProfileAdded {
  readonly kind: "resourceProfileAdded";
  readonly id: number;
  /** Amounts by resource name: cores, memory (MiB), offHeap (MiB), memoryOverhead (MiB). */
  readonly executorResources: Readonly<Record<string, number>>;
  readonly taskResources: Readonly<Record<string, number>>;
}

export interface ExecutorAdded {
  readonly kind: "executorAdded";
  readonly time: number;
  readonly executorId: string;
  readonly host: string;
  readonly totalCores: number;
}

export interface ExecutorRemoved {
  readonly kind: "executorRemoved";
  readonly time: number;
  readonly executorId: string;
  readonly reason: string;
}

export interface BlockManagerAdded {
  readonly kind: "blockManagerAdded";
  readonly time: number;
  readonly executorId: string;
  readonly host: string;
  /** On-heap plus off-heap. */
  readonly maximumMemory: number;
  readonly maximumOnHeapMemory: number | null;
  readonly maximumOffHeapMemory: number | null;
}

export interface BlockManagerRemoved {
  readonly kind: "blockManagerRemoved";
  readonly time: number;
  readonly executorId: string;
}

/** Part of a stage's description: one RDD of its lineage. */
export interface RddInfo {
  readonly rddId: number;
  readonly name: string;
  readonly callSite: string;
  /** The operation that made it, from the RDD's scope; null when not recorded. */
  readonly scope: string | null;
  readonly parentIds: readonly number[];
  readonly storageLevel: StorageLevel;
  readonly numPartitions: number;
  readonly numCachedPartitions: number;
  readonly memorySize: number;
  readonly diskSize: number;
}

export interface StageInfo {
  readonly stageId: number;
  readonly attemptId: number;
  readonly name: string;
  readonly numTasks: number;
  readonly rddInfos: readonly RddInfo[];
  readonly parentIds: readonly number[];
  readonly details: string;
  readonly submissionTime: number | null;
  readonly completionTime: number | null;
  readonly failureReason: string | null;
  readonly resourceProfileId: number;
  /** From 3.1: the stage pushes its shuffle data; null when not recorded. */
  readonly isShufflePushEnabled: boolean | null;
  /** Accumulated values by name that are kept (SQL metrics and internal ones), only in stageCompleted. */
  readonly accumulables: readonly AccumulableInfo[];
}

export interface AccumulableInfo {
  readonly id: number;
  readonly name: string | null;
  readonly value: number | string | null;
}

export interface JobStart {
  readonly kind: "jobStart";
  readonly jobId: number;
  readonly time: number;
  readonly stageInfos: readonly StageInfo[];
  readonly stageIds: readonly number[];
  /** The job's local properties that are used: job group, description, SQL execution id, scheduler pool. */
  readonly properties: Readonly<Record<string, string>>;
}

export interface JobEnd {
  readonly kind: "jobEnd";
  readonly jobId: number;
  readonly time: number;
  /** null for success. */
  readonly failure: string | null;
}

export interface StageSubmitted {
  readonly kind: "stageSubmitted";
  readonly stageInfo: StageInfo;
  readonly properties: Readonly<Record<string, string>>;
}

export interface StageCompleted {
  readonly kind: "stageCompleted";
  readonly stageInfo: StageInfo;
}

export type TaskLocality =
  | "PROCESS_LOCAL"
  | "NODE_LOCAL"
  | "NO_PREF"
  | "RACK_LOCAL"
  | "ANY";

/** Fields that taskStart, taskGettingResult and taskEnd share (TaskInfo). */
export interface TaskInfo {
  stageId: number;
  /** -1 where the log has none (Spark writes the attempt of the stage at that moment). */
  stageAttemptId: number;
  taskId: number;
  index: number;
  attempt: number;
  /** From 3.3; equal to index before. */
  partitionId: number;
  launchTime: number;
  executorId: string;
  host: string;
  locality: TaskLocality;
  speculative: boolean;
}

/**
 * A task started. A source may hand the same object again for the next event: a sink copies what it keeps
 * (the same holds for the other task events).
 */
export interface TaskStart extends TaskInfo {
  kind: "taskStart";
}

export interface TaskGettingResult extends TaskInfo {
  kind: "taskGettingResult";
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
  executorDeserializeTime: number;
  executorDeserializeCpuTimeNs: number;
  executorRunTime: number;
  executorCpuTimeNs: number;
  resultSize: number;
  jvmGcTime: number;
  resultSerializationTime: number;
  memoryBytesSpilled: number;
  diskBytesSpilled: number;
  /** null in logs that do not record it (before 1.6). */
  peakExecutionMemory: number | null;
  /** From Spark 4.0. */
  peakOnHeapExecutionMemory: number | null;
  /** From Spark 4.0. */
  peakOffHeapExecutionMemory: number | null;
  inputBytes: number;
  inputRecords: number;
  outputBytes: number;
  outputRecords: number;
  shuffleRemoteBytesRead: number;
  shuffleRemoteBytesReadToDisk: number;
  shuffleLocalBytesRead: number;
  shuffleRemoteBlocksFetched: number;
  shuffleLocalBlocksFetched: number;
  shuffleFetchWaitTime: number;
  shuffleRecordsRead: number;
  shuffleBytesWritten: number;
  shuffleWriteTimeNs: number;
  shuffleRecordsWritten: number;
  /** Only with spark.taskMetrics.trackUpdatedBlockStatuses, or before 2.3; null when not recorded. */
  updatedBlocks: readonly BlockStatus[] | null;
}

/** One block's state after a change, as TaskMetrics record it. */
export interface BlockStatus {
  readonly blockId: string;
  readonly storageLevel: StorageLevel;
  readonly memorySize: number;
  readonly diskSize: number;
}

export interface TaskEnd extends TaskInfo {
  kind: "taskEnd";
  taskType: "ResultTask" | "ShuffleMapTask";
  reason: TaskEndReason;
  /** 0 when the result was sent directly. */
  gettingResultTime: number;
  finishTime: number;
  failed: boolean;
  killed: boolean;
  /** null where Spark recorded none (lost executors, rejected results). */
  metrics: TaskMetrics | null;
  /** Updates of SQL metrics and accumulators with a name that does not begin with "internal.metrics.". */
  accumulables: readonly {
    readonly id: number;
    readonly name: string;
    readonly update: number | null;
  }[];
}

/** A block changed (only with spark.eventLog.logBlockUpdates.enabled). On a drop useMemory is false and memorySize is what was freed. */
export interface BlockUpdated extends BlockStatus {
  readonly kind: "blockUpdated";
  readonly executorId: string;
  /** Simulated runs know the time; Spark records none. */
  readonly time: number | null;
}

export interface UnpersistRdd {
  readonly kind: "unpersistRdd";
  readonly rddId: number;
}

/** Peaks of an executor during a stage (from 3.0, with spark.eventLog.logStageExecutorMetrics). */
export interface StageExecutorMetrics {
  readonly kind: "stageExecutorMetrics";
  readonly executorId: string;
  readonly stageId: number;
  readonly stageAttemptId: number;
  /** By Spark's names: OnHeapStorageMemory, OnHeapExecutionMemory, JVMHeapMemory, ProcessTreePythonRSSMemory, ... */
  readonly metrics: Readonly<Record<string, number>>;
}

export interface SpeculativeTaskSubmitted {
  readonly kind: "speculativeTaskSubmitted";
  readonly stageId: number;
  readonly stageAttemptId: number;
}

export interface SqlExecutionStart {
  readonly kind: "sqlExecutionStart";
  readonly executionId: number;
  readonly description: string;
  readonly time: number;
  readonly plan: SparkPlanInfo | null;
}

export interface SqlAdaptiveExecutionUpdate {
  readonly kind: "sqlAdaptiveExecutionUpdate";
  readonly executionId: number;
  readonly plan: SparkPlanInfo | null;
}

export interface SqlExecutionEnd {
  readonly kind: "sqlExecutionEnd";
  readonly executionId: number;
  readonly time: number;
  readonly errorMessage: string | null;
}

export interface DriverAccumUpdates {
  readonly kind: "driverAccumUpdates";
  readonly executionId: number;
  readonly updates: readonly (readonly [id: number, value: number])[];
}

/** A node of a physical plan (org.apache.spark.sql.execution.SparkPlanInfo). */
export interface SparkPlanInfo {
  readonly nodeName: string;
  readonly simpleString: string;
  readonly children: readonly SparkPlanInfo[];
  readonly metrics: readonly {
    readonly name: string;
    readonly accumulatorId: number;
    readonly metricType: string;
  }[];
}

/**
 * Something of the memory manager or the result path that Spark decides but does not write to an event log.
 * Only simulated runs have these; the event-log writer leaves them out.
 */
export type SimulationEvent =
  | {
    readonly kind: "blockEvicted";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
    readonly memorySize: number;
    readonly offHeap: boolean;
    /** It went to disk. */
    readonly droppedToDisk: boolean;
    /** For a block to be stored or unrolled, or for a task's execution memory. */
    readonly forBlockId: string | null;
    readonly forTaskId: number | null;
  }
  | {
    /** A block that is on disk was read and put into memory too, of which Spark writes no update (BlockManager.maybeCacheDiskValuesInMemory). */
    readonly kind: "blockReadBack";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
    readonly memorySize: number;
    readonly offHeap: boolean;
  }
  | {
    readonly kind: "putRefused";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
    readonly numBytes: number;
    readonly taskId: number | null;
    readonly toDisk: boolean;
  }
  | {
    readonly kind: "cacheRead";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
    readonly taskId: number;
    readonly from: "memory" | "disk" | "remoteMemory" | "remoteDisk" | "miss";
    readonly numBytes: number;
  }
  | {
    readonly kind: "memoryWait";
    readonly time: number;
    readonly executorId: string;
    readonly taskId: number;
    readonly numBytes: number;
    readonly waitMs: number;
  }
  | {
    readonly kind: "spill";
    readonly time: number;
    readonly executorId: string;
    readonly taskId: number;
    readonly consumer: string;
    readonly memoryBytes: number;
    readonly diskBytes: number;
    /** The consumer that asked; equal to `consumer` when it spilled itself. */
    readonly trigger: string;
  }
  | {
    readonly kind: "outOfMemory";
    readonly time: number;
    readonly executorId: string;
    readonly taskId: number;
    readonly consumer: string;
    readonly requested: number;
    readonly granted: number;
  }
  | {
    readonly kind: "taskResult";
    readonly time: number;
    readonly executorId: string;
    readonly taskId: number;
    readonly stageId: number;
    readonly stageAttemptId: number;
    readonly path: "direct" | "indirect" | "dropped" | "lost";
    readonly numBytes: number;
  }
  | {
    /** The pools of an executor after a change, for charts; bytes. */
    readonly kind: "memoryState";
    readonly time: number;
    readonly executorId: string;
    readonly onHeap: PoolState;
    readonly offHeap: PoolState | null;
  };

/** The two pools of one memory mode, in bytes. */
export interface PoolState {
  readonly storagePoolSize: number;
  readonly storageMemoryUsed: number;
  readonly unrollMemoryUsed: number;
  readonly executionPoolSize: number;
  readonly executionMemoryUsed: number;
}

/** A warning about the input or about the limits of an answer; counted by code. */
export interface SourceWarning {
  readonly kind: "warning";
  readonly code: string;
  readonly message: string;
  /** How many times, 1 unless the source has counted them. */
  readonly count: number;
}

/** Any event. */
export type SparkEvent =
  | LogStart
  | ApplicationStart
  | ApplicationEnd
  | EnvironmentUpdate
  | ResourceProfileAdded
  | ExecutorAdded
  | ExecutorRemoved
  | BlockManagerAdded
  | BlockManagerRemoved
  | JobStart
  | JobEnd
  | StageSubmitted
  | StageCompleted
  | TaskStart
  | TaskGettingResult
  | TaskEnd
  | BlockUpdated
  | UnpersistRdd
  | StageExecutorMetrics
  | SpeculativeTaskSubmitted
  | SqlExecutionStart
  | SqlAdaptiveExecutionUpdate
  | SqlExecutionEnd
  | DriverAccumUpdates
  | SimulationEvent
  | SourceWarning;

/** Takes events in order. The object is only valid during the call: copy what is kept. */
export interface EventSink {
  event(event: SparkEvent): void;
}
