/**
 * Events of the application, its executors and their block managers.
 *
 * @module
 */
import type { EventOf } from "./event_of.ts";

/** The first line of a log. */
export interface LogStart extends EventOf<"logStart"> {
  /** `Spark Version`, for example `3.5.1`; distributors append their own. */
  readonly sparkVersion: string;
}

/** The application begins: SparkContext is being made. */
export interface ApplicationStart extends EventOf<"applicationStart"> {
  /** spark.app.name. */
  readonly appName: string;
  /** spark.app.id, for example `app-20261130174132-0000`; null when not recorded. */
  readonly appId: string | null;
  /** ms since the epoch. */
  readonly time: number;
  /** SparkContext.sparkUser. */
  readonly user: string;
  /** The cluster manager's number of the attempt (YARN); null where there is none. */
  readonly appAttemptId: string | null;
}

/** The application ends: SparkContext.stop. A log without it was cut off, or its driver died. */
export interface ApplicationEnd extends EventOf<"applicationEnd"> {
  /** ms since the epoch. */
  readonly time: number;
  /** Given to SparkContext.stop, from Spark 4.0; null when not recorded. */
  readonly exitCode: number | null;
}

/** The settings of the application, as the Environment tab of Spark's UI shows them. */
export interface EnvironmentUpdate extends EventOf<"environmentUpdate"> {
  /** `Spark Properties`: what was set, defaults left out. */
  readonly sparkProperties: Readonly<Record<string, string>>;
  /** `JVM Information` of the driver: `Java Version`, `Java Home`, `Scala Version`. */
  readonly jvmInformation: Readonly<Record<string, string>>;
  /** Only what the project uses of the system properties (for example the user's time zone is left out). */
  readonly systemProperties: Readonly<Record<string, string>>;
}

/** A ResourceProfile was made, from 3.1 (stage-level scheduling); profile 0 is that of the settings. */
export interface ResourceProfileAdded extends EventOf<"resourceProfileAdded"> {
  /** `Resource Profile Id`, to which StageInfo refers. */
  readonly id: number;
  /** Amounts by resource name: cores, memory (MiB), offHeap (MiB), memoryOverhead (MiB). */
  readonly executorResources: Readonly<Record<string, number>>;
  /** What a task takes, by resource name: cpus, and others (gpu). */
  readonly taskResources: Readonly<Record<string, number>>;
}

/** An executor registered at the driver. */
export interface ExecutorAdded extends EventOf<"executorAdded"> {
  /** ms since the epoch. */
  readonly time: number;
  /** `Executor ID`: a number in text, or `driver` in local mode. */
  readonly executorId: string;
  /** Name or address of its machine. */
  readonly host: string;
  /** Cores that it offers to tasks (spark.executor.cores). */
  readonly totalCores: number;
}

/** The driver lost or gave up an executor. */
export interface ExecutorRemoved extends EventOf<"executorRemoved"> {
  /** ms since the epoch. */
  readonly time: number;
  /** As in {@linkcode ExecutorAdded}. */
  readonly executorId: string;
  /** `Removed Reason` (ExecutorLossReason), in the cluster manager's words. */
  readonly reason: string;
}

/** A block manager registered at BlockManagerMaster; the driver has one as well, with the id `driver`. */
export interface BlockManagerAdded extends EventOf<"blockManagerAdded"> {
  /** ms since the epoch; -1 when not recorded. */
  readonly time: number;
  /** Of its BlockManagerId. */
  readonly executorId: string;
  /** Of its BlockManagerId. */
  readonly host: string;
  /** On-heap plus off-heap. */
  readonly maximumMemory: number;
  /** Unified memory on the heap, bytes (MemoryManager.maxOnHeapStorageMemory); null in older logs. */
  readonly maximumOnHeapMemory: number | null;
  /** Off-heap memory, bytes; null in older logs. */
  readonly maximumOffHeapMemory: number | null;
}

/** A block manager is gone, and its blocks with it. */
export interface BlockManagerRemoved extends EventOf<"blockManagerRemoved"> {
  /** ms since the epoch; -1 when not recorded. */
  readonly time: number;
  /** Of its BlockManagerId. */
  readonly executorId: string;
}

/** Peaks of an executor during a stage (from 3.0, with spark.eventLog.logStageExecutorMetrics). */
export interface StageExecutorMetrics extends EventOf<"stageExecutorMetrics"> {
  /** Whose peaks; `driver` for the driver's own. */
  readonly executorId: string;
  /** Stage during which they were measured. */
  readonly stageId: number;
  /** Its attempt, from 0. */
  readonly stageAttemptId: number;
  /** By Spark's names: OnHeapStorageMemory, OnHeapExecutionMemory, JVMHeapMemory, ProcessTreePythonRSSMemory, ... */
  readonly metrics: Readonly<Record<string, number>>;
}
