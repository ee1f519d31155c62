/**
 * The types of the job spec: JSON that describes a workload. README.md in this folder describes it for people,
 * job_spec.schema.json for programs.
 *
 * @module
 */
import type { ConsumerKind, Evidence, Fault } from "../simulator/workload.ts";
import type { StorageLevel } from "../spark/storage_level.ts";
import type { InputWarning } from "./check_input.ts";

/** A size: whole bytes, or Spark's notation ("64m", "2g"; 1024-based). */
export type SizeValue = number | string;
/** A time: milliseconds, or Spark's notation ("200ms", "3s", "2min"). */
export type TimeValue = number | string;

/**
 * A figure of every task or partition, drawn with a seed. Whole units come out. The seed is the spec's and the place of
 * the figure in it, so that one more stage does not change the others; `seed` overrides it.
 */
export type Distribution<T = number> =
  | { readonly distribution: "constant"; readonly value: T }
  | {
    readonly distribution: "uniform";
    readonly min: T;
    readonly max: T;
    readonly seed?: number;
  }
  | {
    readonly distribution: "normal";
    readonly mean: T;
    readonly standardDeviation: T;
    readonly min?: T;
    readonly max?: T;
    readonly seed?: number;
  }
  | {
    readonly distribution: "lognormal";
    readonly median: T;
    /** Standard deviation of the logarithm: 0.5 is moderate, 1 is wild. */
    readonly sigma: number;
    readonly max?: T;
    readonly seed?: number;
  }
  | {
    /** A total split so that the k-th largest share is proportional to 1 / k^exponent. */
    readonly distribution: "zipf";
    readonly total: T;
    readonly exponent: number;
    /** Largest shares at random places instead of the first ones. */
    readonly shuffled?: boolean;
    readonly seed?: number;
  }
  | { readonly distribution: "list"; readonly values: readonly T[] };

/** A figure of every task of a stage or every partition of an RDD: one for all, a list, or a distribution. */
export type Quantity<T = number> = T | readonly T[] | Distribution<T>;

/** An executor, one by one. */
export interface ExecutorSpecInput {
  readonly id: string;
  readonly host: string;
  readonly cores: number;
  /** Unified memory in bytes as a log tells it; otherwise it follows from the settings. */
  readonly maxOnHeapMemory?: number | null;
  readonly maxOffHeapMemory?: number | null;
  /** After the start of the application. */
  readonly addedMs?: number;
  readonly removedMs?: number | null;
  readonly removedReason?: string | null;
}

/** The machines. */
export interface ClusterSpec {
  readonly master?: string;
  /** How many, or each of them. Default: spark.executor.instances, else 2. */
  readonly executors?: number | readonly ExecutorSpecInput[];
  /** Of each executor. Default: spark.executor.cores, else 1. */
  readonly cores?: number;
  /** How many, or their names; executors are spread over them in turn. Default: one for each executor. */
  readonly hosts?: number | readonly string[];
  readonly driver?: {
    readonly host?: string;
    readonly maxOnHeapMemory?: number | null;
    readonly maxOffHeapMemory?: number | null;
  };
  /** Default: parallel before Spark 3.0 (Java 8), g1 from then on. */
  readonly collector?: "g1" | "parallel" | "serial";
  readonly heapCommitted?: "small" | "full";
}

/** A cached RDD. */
export interface CachedRddSpec {
  readonly name: string;
  readonly partitions: number;
  /** Name of a StorageLevel. Default: MEMORY_ONLY. */
  readonly storageLevel?: string;
  /** A partition's block in memory, in the form that the storage level asks for. */
  readonly bytes?: Quantity<SizeValue>;
  /** As objects, where both forms are known. */
  readonly deserializedBytes?: Quantity<SizeValue>;
  /** As serialized bytes, where both forms are known. */
  readonly serializedBytes?: Quantity<SizeValue>;
  readonly diskBytes?: Quantity<SizeValue>;
  readonly elements?: Quantity;
  /** To compute a partition that is not in the cache, without its inputs' time. Default: 0. */
  readonly computeMs?: Quantity<TimeValue>;
  readonly inputBytes?: Quantity<SizeValue>;
  /** Memory consumers of computing a partition. */
  readonly memory?: readonly MemorySpec[];
  /** Index of the job before which it is unpersisted. */
  readonly unpersistBeforeJob?: number;
  readonly alwaysSerialized?: boolean;
}

/** A memory consumer of each task. */
export interface MemorySpec {
  readonly kind: ConsumerKind;
  readonly name?: string;
  /** Default: one for each 100 bytes. */
  readonly records?: Quantity;
  readonly bytes: Quantity<SizeValue>;
  readonly keys?: Quantity | null;
  /** Fractions of the task's computing time. Defaults: 0, 0.7, 1. */
  readonly start?: number;
  readonly fillEnd?: number;
  readonly release?: number;
  /** Default: by kind. */
  readonly tungsten?: boolean;
  readonly diskBytesPerByte?: number | null;
  readonly parameters?: Readonly<Record<string, number>>;
}

/** What the tasks of a stage demand. */
export interface DemandSpec {
  readonly name?: string;
  readonly details?: string;
  readonly computeMs?: Quantity<TimeValue>;
  readonly deserializeMs?: Quantity<TimeValue>;
  readonly resultSerializationMs?: Quantity<TimeValue>;
  readonly speculativeComputeMs?: Quantity<TimeValue>;
  readonly resultBytes?: Quantity<SizeValue>;
  readonly valueBytes?: Quantity<SizeValue>;
  readonly serializedTaskBytes?: Quantity<SizeValue>;
  readonly inputBytes?: Quantity<SizeValue>;
  readonly inputRecords?: Quantity;
  readonly outputBytes?: Quantity<SizeValue>;
  readonly outputRecords?: Quantity;
  readonly shuffleReadBytes?: Quantity<SizeValue>;
  readonly shuffleReadRecords?: Quantity;
  readonly shuffleWriteBytes?: Quantity<SizeValue>;
  readonly shuffleWriteRecords?: Quantity;
  readonly memory?: readonly MemorySpec[];
}

/** A stage: what one shuffle's map side, or the end of a job, does. */
export interface StageSpec extends DemandSpec {
  readonly id: number | string;
  /** Stages whose shuffle output it reads. */
  readonly parents?: readonly (number | string)[];
  /** Default: the partitions of what it caches or reads. */
  readonly tasks?: number;
  /** Cached RDDs that it uses. */
  readonly reads?: readonly string[];
  /** Cached RDDs that lie between its input and its output, in order: whoever misses a partition computes it from there. */
  readonly caches?: readonly string[];
  /** Names of broadcasts that its tasks read. */
  readonly broadcasts?: readonly string[];
}

/** An action over a stage. */
export interface JobInput {
  readonly stage: number | string;
  readonly kind?: "result" | "mapStage";
  /** Partitions that the action computes (take, first). Default: all. */
  readonly partitions?: readonly number[];
  /** Indices of the jobs that end before it begins. Default: the one before. */
  readonly after?: readonly number[];
  readonly delayMs?: TimeValue;
  readonly cancelAfterMs?: TimeValue;
  /** The program goes on when the job fails. Default: it ends. */
  readonly failureHandled?: boolean;
  readonly name?: string;
  readonly group?: string;
  /** spark.scheduler.pool */
  readonly pool?: string;
  readonly description?: string;
}

/** A pool of spark.scheduler.mode FAIR, as the file of spark.scheduler.allocation.file describes it. */
export interface PoolSpec {
  readonly name: string;
  /** Default: FIFO. */
  readonly schedulingMode?: "FIFO" | "FAIR";
  /** Default: 0. */
  readonly minShare?: number;
  /** Default: 1. */
  readonly weight?: number;
}

/** A broadcast variable. */
export interface BroadcastSpec {
  readonly name: string;
  /** Serialized and compressed, all pieces. */
  readonly bytes: SizeValue;
  /** The value in memory. Default: three times `bytes`. */
  readonly valueBytes?: SizeValue;
}

/** A fault to inject; `stage` is a stage's id. The simulator's {@linkcode Fault} says what each does. */
export type FaultSpec =
  | {
    readonly kind: "taskException";
    readonly stage: number | string;
    readonly partition: number;
    readonly attempts?: number;
    readonly className?: string;
    readonly description?: string;
    readonly atFraction?: number;
  }
  | {
    readonly kind: "executorLost";
    readonly executor: string;
    readonly atMs?: TimeValue;
    readonly afterTasks?: number;
    readonly reason?: string;
    readonly workerLost?: boolean;
    readonly exitCausedByApp?: boolean;
    readonly replacedAfterMs?: TimeValue | null;
  }
  | {
    readonly kind: "fetchFailure" | "resultLost";
    readonly stage: number | string;
    readonly partition: number;
    readonly attempts?: number;
  }
  | {
    readonly kind: "slowHost";
    readonly host: string;
    readonly factor: number;
  };

/** An RDD of the exact form: the fields of the simulator's Rdd; what is left out is null, false or empty. */
export interface RddSpec {
  readonly id: number;
  readonly name: string;
  readonly callSite?: string;
  readonly scope?: string | null;
  readonly numPartitions: number;
  readonly storageLevel?: string | StorageLevel | null;
  readonly dependencies?: readonly (
    | {
      readonly kind: "narrow";
      readonly rddId: number;
      readonly mapping: "oneToOne" | "range" | "coalesce" | "all";
      readonly outStart?: number;
    }
    | { readonly kind: "shuffle"; readonly shuffleId: number }
  )[];
  readonly deserializedBytes?: Quantity<SizeValue> | null;
  readonly serializedBytes?: Quantity<SizeValue> | null;
  readonly diskBytes?: Quantity<SizeValue> | null;
  readonly elements?: Quantity | null;
  readonly computeMs?: Quantity<TimeValue> | null;
  readonly inputBytes?: Quantity<SizeValue> | null;
  readonly shuffleReadBytes?: Quantity<SizeValue> | null;
  readonly shuffleReadRecords?: Quantity | null;
  readonly memory?: readonly MemorySpec[];
  readonly unpersistBeforeJob?: number | null;
  readonly alwaysSerialized?: boolean;
  readonly preferredHosts?: readonly (readonly string[])[] | null;
}

/** A demand of the exact form. */
export interface ExactDemandSpec extends DemandSpec {
  readonly tasks: number;
  readonly recordedStageId?: number | null;
  readonly broadcastIds?: readonly number[];
}

/** A shuffle of the exact form. */
export interface ShuffleSpec {
  readonly id: number;
  readonly rddId: number;
  readonly numReducers: number;
  readonly demand: number;
  readonly reducerShares?: readonly number[] | null;
}

/** A job of the exact form. */
export interface ExactJobSpec {
  readonly id: number;
  readonly kind?: "result" | "mapStage";
  readonly rddId: number;
  readonly shuffleId?: number | null;
  readonly partitions?: readonly number[] | null;
  readonly demand: number;
  readonly afterJobs?: readonly number[];
  readonly delayMs?: number;
  readonly cancelAfterMs?: number | null;
  readonly failureHandled?: boolean;
  readonly name?: string;
  readonly group?: string | null;
  readonly pool?: string | null;
  readonly description?: string | null;
  readonly sqlExecutionId?: number | null;
}

/** The exact form: RDDs, shuffles, jobs and demands as the simulator has them. What a log is turned into. */
export interface LineageSpec {
  readonly rdds: readonly RddSpec[];
  readonly shuffles?: readonly ShuffleSpec[];
  readonly demands: readonly ExactDemandSpec[];
  readonly jobs: readonly ExactJobSpec[];
  readonly broadcasts?: readonly {
    readonly id: number;
    readonly pieceBytes: number;
    readonly valueBytes: number;
  }[];
  readonly faults?: readonly Fault[];
}

/** A job spec: either `stages` (by hand) or `lineage` (exact). */
export interface JobSpec {
  readonly name?: string;
  readonly appId?: string | null;
  readonly sparkVersion?: string;
  readonly seed?: number;
  /** Spark's own property names and value syntax. */
  readonly conf?: Readonly<Record<string, string | number | boolean>>;
  readonly cluster?: ClusterSpec;
  readonly pools?: readonly PoolSpec[] | null;
  readonly cached?: readonly CachedRddSpec[];
  readonly stages?: readonly StageSpec[];
  readonly jobs?: readonly JobInput[];
  readonly broadcasts?: readonly BroadcastSpec[];
  readonly faults?: readonly FaultSpec[];
  readonly lineage?: LineageSpec;
  readonly evidence?: readonly Evidence[];
  readonly warnings?: readonly InputWarning[];
}
