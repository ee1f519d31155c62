/**
 * The types of the job spec: JSON that describes a workload. README.md in this folder describes it for people,
 * job_spec.schema.json for programs.
 *
 * @module
 */
import type { ConsumerKind, Evidence, Fault, QueryPlan } from "../simulator/workload.ts";
import type { DeterministicLevel } from "../spark/events.ts";
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
  /** Executor ID, as Spark would give it: `0`, `1`, ... */
  readonly id: string;
  /** Name of its machine; tasks are NODE_LOCAL to it. */
  readonly host: string;
  /** Cores that it offers to tasks. */
  readonly cores: number;
  /** Unified memory in bytes as a log tells it; otherwise it follows from the settings. */
  readonly maxOnHeapMemory?: number | null;
  /** The same off the heap, bytes. */
  readonly maxOffHeapMemory?: number | null;
  /** After the start of the application. */
  readonly addedMs?: number;
  /** When it goes, ms after the start of the application; null: it stays to the end. */
  readonly removedMs?: number | null;
  /** Why it goes, as the log of the driver would say. */
  readonly removedReason?: string | null;
}

/** The machines. */
export interface ClusterSpec {
  /** Spark's master URL. Default: spark.master of `conf`, else `spark://master:7077`. */
  readonly master?: string;
  /**
   * How many, or each of them. Default: spark.executor.instances, else 2; with dynamic allocation as many as the largest
   * stage could use.
   */
  readonly executors?: number | readonly ExecutorSpecInput[];
  /** Of each executor. Default: spark.executor.cores, else 1. */
  readonly cores?: number;
  /**
   * `dynamic`: `executors` are the places that there are, and executors come and go by spark.dynamicAllocation.*. `fixed`: they
   * are what there is. Default: dynamic with spark.dynamicAllocation.enabled.
   */
  readonly allocation?: "fixed" | "dynamic";
  /** From the request to the registration of an executor, with dynamic allocation. Default: 3 s. */
  readonly executorStartupMs?: TimeValue;
  /** How many, or their names; executors are spread over them in turn. Default: one for each executor. */
  readonly hosts?: number | readonly string[];
  /** The driver's host, and its own block manager's unified memory in bytes (null: from the settings). */
  readonly driver?: {
    readonly host?: string;
    readonly maxOnHeapMemory?: number | null;
    readonly maxOffHeapMemory?: number | null;
  };
  /** Default: parallel before Spark 3.0 (Java 8), g1 from then on. */
  readonly collector?: "g1" | "parallel" | "serial";
  /**
   * How much of the heap the JVM has committed when Spark asks for its size: `small` at its start, `full` with -Xms
   * equal to -Xmx. Default: `small`.
   */
  readonly heapCommitted?: "small" | "full";
  /**
   * What consumers outside Spark's memory manager hold, for Spark 4.1 and later with
   * spark.memory.unmanagedMemoryPollingInterval: each entry holds until the next of its executor and mode.
   */
  readonly unmanagedMemory?: readonly UnmanagedMemorySpec[];
}

/** What consumers outside Spark's memory manager hold in an executor from a time on. */
export interface UnmanagedMemorySpec {
  /** Id of the executor; null or absent: each of them. */
  readonly executor?: string | null;
  /** After the start of the application. Default: 0. */
  readonly atMs?: number | string;
  /** Of all such consumers together. */
  readonly bytes: number | string;
  /** Whose limits it lowers. */
  readonly memoryMode: "ON_HEAP" | "OFF_HEAP";
}

/** A cached RDD. */
export interface CachedRddSpec {
  /** By which stages refer to it. */
  readonly name: string;
  /** How many; each is one block. */
  readonly partitions: number;
  /** Name of a StorageLevel. Default: MEMORY_ONLY. */
  readonly storageLevel?: string;
  /** A partition's block in memory, in the form that the storage level asks for. */
  readonly bytes?: Quantity<SizeValue>;
  /** As objects, where both forms are known. */
  readonly deserializedBytes?: Quantity<SizeValue>;
  /** As serialized bytes, where both forms are known. */
  readonly serializedBytes?: Quantity<SizeValue>;
  /** A partition's block on disk. Default: not known. */
  readonly diskBytes?: Quantity<SizeValue>;
  /** Elements of a partition, which unrolling counts. Default: 1. */
  readonly elements?: Quantity;
  /** To compute a partition that is not in the cache, without its inputs' time. Default: 0. */
  readonly computeMs?: Quantity<TimeValue>;
  /** Bytes that computing a partition reads from outside of Spark. Default: 0. */
  readonly inputBytes?: Quantity<SizeValue>;
  /** Memory consumers of computing a partition. */
  readonly memory?: readonly MemorySpec[];
  /** What computing it again gives, as a stage's. */
  readonly outputDeterministicLevel?: DeterministicLevel;
  /** Index of the job before which it is unpersisted. */
  readonly unpersistBeforeJob?: number;
  /** Stored as bytes whatever the level says (Python, columnar cache). Default: false. */
  readonly alwaysSerialized?: boolean;
}

/** A memory consumer of each task. */
export interface MemorySpec {
  /** The Spark class that asks. */
  readonly kind: ConsumerKind;
  /** For messages. Default: the kind. */
  readonly name?: string;
  /** Default: one for each 100 bytes. */
  readonly records?: Quantity;
  /** What goes in, in the form that the consumer holds it. */
  readonly bytes: Quantity<SizeValue>;
  /**
   * Tasks without records in which the operator does not run at all; elsewhere it takes its first array and page without any
   * record. Default: none.
   */
  readonly absentIn?: readonly number[] | null;
  /** Distinct keys of aggregations and maps; null: one for each record. */
  readonly keys?: Quantity | null;
  /** Fractions of the task's computing time. Defaults: 0, 0.7, 1. */
  readonly start?: number;
  /** When all its records are in. */
  readonly fillEnd?: number;
  /** When it gives its memory back. */
  readonly release?: number;
  /** Default: by kind. */
  readonly tungsten?: boolean;
  /** What a byte in memory becomes on disk when spilled; null: 1. */
  readonly diskBytesPerByte?: number | null;
  /** Further figures of a kind; src/simulator/memory/consumers has them. */
  readonly parameters?: Readonly<Record<string, number>>;
}

/** What the tasks of a stage demand. */
export interface DemandSpec {
  /** The stage's name in events. Default: by its id. */
  readonly name?: string;
  /** The stack at its call site, as StageInfo has it. Default: empty. */
  readonly details?: string;
  /** Computing time of each task, without waiting, fetching, spilling and garbage collection. Default: 0. */
  readonly computeMs?: Quantity<TimeValue>;
  /** To deserialize the task on the executor. Default: 0. */
  readonly deserializeMs?: Quantity<TimeValue>;
  /** To serialize the result. Default: 0. */
  readonly resultSerializationMs?: Quantity<TimeValue>;
  /** Computing time of a second attempt on another executor. Default: the same as of the first. */
  readonly speculativeComputeMs?: Quantity<TimeValue>;
  /**
   * Each task commits output in so long, once the driver allows it to: of two attempts only one may. Default: nothing is
   * committed.
   */
  readonly commitMs?: Quantity<TimeValue>;
  /**
   * Serialized result (DirectTaskResult). Default: 1,100 for map tasks, 1,900 for others (medians of recorded runs).
   */
  readonly resultBytes?: Quantity<SizeValue>;
  /** The value in it, which counts towards spark.driver.maxResultSize from 3.4. Default: resultBytes less 455. */
  readonly valueBytes?: Quantity<SizeValue>;
  /** The task as sent to its executor, which spark.rpc.message.maxSize limits. Default: not known. */
  readonly serializedTaskBytes?: Quantity<SizeValue>;
  /** Bytes that each task reads from outside of Spark. Default: 0. */
  readonly inputBytes?: Quantity<SizeValue>;
  /** Records of that. Default: 0. */
  readonly inputRecords?: Quantity;
  /** Bytes that each task writes to outside of Spark. Default: 0. */
  readonly outputBytes?: Quantity<SizeValue>;
  /** Records of that. Default: 0. */
  readonly outputRecords?: Quantity;
  /** Shuffle bytes that each task reads. Default: what the parents write, in equal shares. */
  readonly shuffleReadBytes?: Quantity<SizeValue>;
  /** Records of that. Default: what the parents write, in equal shares. */
  readonly shuffleReadRecords?: Quantity;
  /** Bytes that each map task writes. Default: 0. */
  readonly shuffleWriteBytes?: Quantity<SizeValue>;
  /** Records of that. Default: 0. */
  readonly shuffleWriteRecords?: Quantity;
  /** The memory consumers of each task. Default: none. */
  readonly memory?: readonly MemorySpec[];
}

/** A stage: what one shuffle's map side, or the end of a job, does. */
export interface StageSpec extends DemandSpec {
  /** By which other stages, jobs and faults refer to it. */
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
  /**
   * What running it again gives: the same data, the same in another order, or other data, which cannot be mixed with what
   * was made before. Default: what its inputs give (RDD.outputDeterministicLevel).
   */
  readonly outputDeterministicLevel?: DeterministicLevel;
  /** Not simulated: true is refused. */
  readonly barrier?: boolean;
}

/** An action over a stage. */
export interface JobInput {
  /** Id of the stage that it ends in. */
  readonly stage: number | string;
  /** An action, or a map stage that adaptive execution submits by itself. Default: `result`. */
  readonly kind?: "result" | "mapStage";
  /** Partitions that the action computes (take, first). Default: all. */
  readonly partitions?: readonly number[];
  /** Indices of the jobs that end before it begins. Default: the one before. */
  readonly after?: readonly number[];
  /** Between the end of those jobs and its beginning. Default: 0. */
  readonly delayMs?: TimeValue;
  /** The user cancels it so long after its beginning. Default: never. */
  readonly cancelAfterMs?: TimeValue;
  /** The program goes on when the job fails. Default: it ends. */
  readonly failureHandled?: boolean;
  /** Its call site. Default: the stage's name. */
  readonly name?: string;
  /** spark.jobGroup.id */
  readonly group?: string;
  /** spark.scheduler.pool */
  readonly pool?: string;
  /** spark.job.description */
  readonly description?: string;
}

/** A pool of spark.scheduler.mode FAIR, as the file of spark.scheduler.allocation.file describes it. */
export interface PoolSpec {
  /** By which jobs refer to it. */
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
  /** By which stages refer to it. */
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
    readonly kind: "resultUnreadable";
    readonly stage: number | string;
    readonly partition: number;
    readonly attempts?: number;
    readonly classNotFound?: boolean;
    readonly description?: string;
  }
  | {
    readonly kind: "resultHandlerException";
    readonly stage: number | string;
    readonly partition: number;
    readonly className?: string;
    readonly description?: string;
  }
  | {
    readonly kind: "slowHost";
    readonly host: string;
    readonly factor: number;
  };

/** An RDD of the exact form: the fields of the simulator's Rdd; what is left out is null, false or empty. */
export interface RddSpec {
  /** By which dependencies, shuffles and jobs refer to it. */
  readonly id: number;
  /** RDD.name */
  readonly name: string;
  /** Line of the program that made it. */
  readonly callSite?: string;
  /** The operation that made it (RDDOperationScope). */
  readonly scope?: string | null;
  /** How many partitions. */
  readonly numPartitions: number;
  /** What persist() asked for: Spark's name or the five fields; null: not cached. */
  readonly storageLevel?: string | StorageLevel | null;
  /** Parents, in Spark's order; the simulator's RddDependency says what each mapping means. */
  readonly dependencies?: readonly (
    | {
      readonly kind: "narrow";
      readonly rddId: number;
      readonly mapping: "oneToOne" | "range" | "coalesce" | "all";
      readonly outStart?: number;
    }
    | { readonly kind: "shuffle"; readonly shuffleId: number }
  )[];
  /** A partition's block in memory as objects. */
  readonly deserializedBytes?: Quantity<SizeValue> | null;
  /** A partition's block in memory as bytes. */
  readonly serializedBytes?: Quantity<SizeValue> | null;
  /** A partition's block on disk. */
  readonly diskBytes?: Quantity<SizeValue> | null;
  /** Elements of a partition, which unrolling counts. */
  readonly elements?: Quantity | null;
  /** To compute a partition from its parents, without their time. */
  readonly computeMs?: Quantity<TimeValue> | null;
  /** Bytes that computing a partition reads from outside of Spark. */
  readonly inputBytes?: Quantity<SizeValue> | null;
  /** Shuffle bytes that computing a partition fetches. */
  readonly shuffleReadBytes?: Quantity<SizeValue> | null;
  /** Records of that. */
  readonly shuffleReadRecords?: Quantity | null;
  /** Memory consumers of computing a partition. */
  readonly memory?: readonly MemorySpec[];
  /** Id of the job before which it is persisted; null: before all. */
  readonly persistBeforeJob?: number | null;
  /** Id of the job before which it is unpersisted; null: never. */
  readonly unpersistBeforeJob?: number | null;
  /** Stored as bytes whatever the level says (Python, columnar cache). */
  readonly alwaysSerialized?: boolean;
  /** What computing it again gives; null: what its dependencies give. */
  readonly outputDeterministicLevel?: DeterministicLevel | null;
  /** Hosts of its input (getPreferredLocations), for each partition. */
  readonly preferredHosts?: readonly (readonly string[])[] | null;
}

/** A demand of the exact form. */
export interface ExactDemandSpec extends DemandSpec {
  /** Partitions of the RDD that the stage ends in: the length of its columns. */
  readonly tasks: number;
  /** Stage of the log that it was taken from. */
  readonly recordedStageId?: number | null;
  /** Broadcasts that its tasks read. */
  readonly broadcastIds?: readonly number[];
}

/** A shuffle of the exact form. */
export interface ShuffleSpec {
  /** By which dependencies and jobs refer to it. */
  readonly id: number;
  /** RDD of the map side. */
  readonly rddId: number;
  /** Partitions of its output. */
  readonly numReducers: number;
  /** Index into `demands` of the map stage. */
  readonly demand: number;
  /** Share of each reducer in the bytes of every map output; null: equal. */
  readonly reducerShares?: readonly number[] | null;
}

/** A job of the exact form. */
export interface ExactJobSpec {
  /** Job ID, by which other jobs refer to it. */
  readonly id: number;
  /** Default: `result`. */
  readonly kind?: "result" | "mapStage";
  /** The final RDD; of map-stage jobs the shuffle's map side. */
  readonly rddId: number;
  /** Of map-stage jobs: the shuffle. */
  readonly shuffleId?: number | null;
  /** Partitions that the action computes; null: all. */
  readonly partitions?: readonly number[] | null;
  /** Index into `demands` of the final stage. */
  readonly demand: number;
  /** Ids of the jobs that end before it begins; none: it begins with the application. */
  readonly afterJobs?: readonly number[];
  /** Between their end, or the start of the application, and its beginning, ms. */
  readonly delayMs?: number;
  /** The user cancels it so long after its beginning, ms; null: never. */
  readonly cancelAfterMs?: number | null;
  /** The program goes on when the job fails. Default: it ends. */
  readonly failureHandled?: boolean;
  /** Its call site. */
  readonly name?: string;
  /** spark.jobGroup.id */
  readonly group?: string | null;
  /** spark.scheduler.pool */
  readonly pool?: string | null;
  /** spark.job.description */
  readonly description?: string | null;
  /** spark.sql.execution.id */
  readonly sqlExecutionId?: number | null;
}

/** The exact form: RDDs, shuffles, jobs and demands as the simulator has them. What a log is turned into. */
export interface LineageSpec {
  /** All RDDs. */
  readonly rdds: readonly RddSpec[];
  /** All shuffles. */
  readonly shuffles?: readonly ShuffleSpec[];
  /** What the stages demand; shuffles and jobs refer to them by index. */
  readonly demands: readonly ExactDemandSpec[];
  /** All jobs. */
  readonly jobs: readonly ExactJobSpec[];
  /** Broadcast variables: the bytes of their serialized pieces and of the value in memory. */
  readonly broadcasts?: readonly {
    readonly id: number;
    readonly pieceBytes: number;
    readonly valueBytes: number;
    /** Id of the job before which executors drop it. */
    readonly removeBeforeJob?: number;
  }[];
  /** Faults with the simulator's own references. */
  readonly faults?: readonly Fault[];
  /** Plans of queries that join tables, for what-ifs that change a plan. */
  readonly queries?: readonly QueryPlan[];
}

/** A job spec: either `stages` (by hand) or `lineage` (exact). */
export interface JobSpec {
  /** The application's name. Default: `job spec`. */
  readonly name?: string;
  /** The application id that a log had; null: the run makes one up. */
  readonly appId?: string | null;
  /** Whose rules and defaults hold. Default: 3.5.9. */
  readonly sparkVersion?: string;
  /** Of everything that is drawn. Default: 0. */
  readonly seed?: number;
  /** Spark's own property names and value syntax. */
  readonly conf?: Readonly<Record<string, string | number | boolean>>;
  /** The machines. */
  readonly cluster?: ClusterSpec;
  /** Pools of spark.scheduler.mode FAIR; null: no file describes any. */
  readonly pools?: readonly PoolSpec[] | null;
  /** Cached RDDs of the form by hand. */
  readonly cached?: readonly CachedRddSpec[];
  /** The form by hand. */
  readonly stages?: readonly StageSpec[];
  /** Default: one for each stage that no other reads, in order. */
  readonly jobs?: readonly JobInput[];
  /** Broadcast variables of the form by hand. */
  readonly broadcasts?: readonly BroadcastSpec[];
  /** Faults of the form by hand. */
  readonly faults?: readonly FaultSpec[];
  /** The exact form. */
  readonly lineage?: LineageSpec;
  /** Where the figures come from, when the spec was made from a log. */
  readonly evidence?: readonly Evidence[];
  /** What the log could not tell, when the spec was made from one. */
  readonly warnings?: readonly InputWarning[];
}
