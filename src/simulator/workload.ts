/**
 * The workload: what a job demands, free of settings. Made from a job spec, a template or a real event log
 * (src/workload/), run by the simulation.
 *
 * Columns are indexed by RDD partition. Sizes are bytes, times ms. `null` columns mean "not known"; the simulation
 * treats them as absent and the evidence says so.
 *
 * @module
 */
import type { PoolSettings } from "./scheduler/pool.ts";
import type { DeterministicLevel } from "../spark/events.ts";
import type { StorageLevel } from "../spark/storage_level.ts";

/** Where a figure comes from. */
export type Grade = "observed" | "inferred" | "assumed";

/** One figure of the workload and where it comes from. */
export interface Evidence {
  /** What it is about: `rdd 4`, `stage 3 (sort at ...)`, `cluster`. */
  readonly subject: string;
  /** Which figure: `memoryBytes`, `computeMs`, ... */
  readonly field: string;
  /** How well it is known. */
  readonly grade: Grade;
  /** How it was found, in one sentence. */
  readonly how: string;
  /** The setting that would have recorded it, where there is one. */
  readonly wouldRecord?: string;
}

/** A column of figures, one for each partition. */
export type Column = Float64Array;

/** An executor as it was or is to be. */
export interface ExecutorSpec {
  /** Executor ID: `0`, `1`, ...; `driver` in local mode. */
  readonly id: string;
  /** Name of its machine. */
  readonly host: string;
  /** Cores that it offers to tasks. */
  readonly cores: number;
  /** Unified memory that its block manager announced, null when it is to be computed from the settings. */
  readonly maxOnHeapMemory: number | null;
  /** The same off the heap. */
  readonly maxOffHeapMemory: number | null;
  /** After the start of the application. */
  readonly addedMs: number;
  /** null: it stays to the end. */
  readonly removedMs: number | null;
  /** Why it goes; null while it stays. */
  readonly removedReason: string | null;
}

/** How a cluster gives the executors that dynamic allocation asks for. */
export interface ExecutorProvision {
  /** From the request to the registration of an executor, ms. Those of the start are there when the application starts. */
  readonly startupMs: number;
}

/**
 * From request to registration where nobody says: an executor that took a lost one's place on a machine that was ready
 * came after 2.2 to 2.4 s in recorded runs (local-cluster, 3.5.9), containers with an image after 9 to 12 s (YARN, 3.2.1).
 */
export const EXECUTOR_STARTUP_MS = 3000;

/** Says that a start-up time is an assumption. */
export function executorStartupEvidence(startupMs: number): Evidence {
  return {
    subject: "cluster",
    field: "executorStartupMs",
    grade: "assumed",
    how: `An executor that dynamic allocation asks for comes after ${startupMs} ms`,
  };
}

/**
 * What consumers outside Spark's memory manager (RocksDB state stores, ...) hold in an executor from a time on, until
 * another entry of the same executor and mode. No event log tells it.
 */
export interface UnmanagedMemory {
  /** null: in each executor. */
  readonly executorId: string | null;
  /** After the start of the application. */
  readonly atMs: number;
  /** Of all such consumers together. */
  readonly bytes: number;
  /** Whose limits it lowers. */
  readonly memoryMode: "ON_HEAP" | "OFF_HEAP";
}

/** The machines and processes a workload ran on or is to run on. */
export interface Cluster {
  /** Spark's master URL: `local[2]`, `local-cluster[2,2,2048]`, `spark://...`, `yarn`, `k8s://...`. */
  readonly master: string;
  /** All that ever register, in the order in which they do; with `provision` the places that there are for one each. */
  readonly executors: readonly ExecutorSpec[];
  /** Executors come and go by spark.dynamicAllocation.*; null: as `executors` says. */
  readonly provision: ExecutorProvision | null;
  /** Unified memory of the driver's own block manager; null when it is to be computed from the settings. */
  readonly driver: {
    readonly host: string;
    readonly maxOnHeapMemory: number | null;
    readonly maxOffHeapMemory: number | null;
  };
  /** The JVM's collector and committed heap, which decide how much of -Xmx Spark sees. */
  readonly collector: "g1" | "parallel" | "serial";
  /** Whether the heap is committed as it grows (`small`) or from the start (`full`, -Xms equal to -Xmx). */
  readonly heapCommitted: "small" | "full";
  /** Memory that the memory manager only polls (from 4.1); absent: none is known. */
  readonly unmanagedMemory?: readonly UnmanagedMemory[];
}

/** A dependency of an RDD, in Spark's order. */
export type RddDependency =
  | {
    readonly kind: "narrow";
    readonly rddId: number;
    /**
     * `oneToOne`: partition i needs partition i. `range`: partition i needs parent partition i - outStart, for
     * outStart <= i < outStart + parent partitions (union). `coalesce`: partition i needs a run of parent partitions.
     * `all`: every partition needs all (cartesian and the like).
     */
    readonly mapping: "oneToOne" | "range" | "coalesce" | "all";
    readonly outStart?: number;
  }
  | { readonly kind: "shuffle"; readonly shuffleId: number };

/** One RDD of the lineage. */
export interface Rdd {
  /** Unique in the workload. */
  readonly id: number;
  /** RDD.name */
  readonly name: string;
  /** Line of the program that made it. */
  readonly callSite: string;
  /** The operation that made it (RDDOperationScope); null when not known. */
  readonly scope: string | null;
  /** How many partitions; the length of its columns. */
  readonly numPartitions: number;
  /** What persist() asked for; null when it is not cached. */
  readonly storageLevel: StorageLevel | null;
  /** Its parents, in Spark's order. */
  readonly dependencies: readonly RddDependency[];
  /** Size of a partition's block in memory when stored as objects. Where only one form is known the other is null. */
  readonly deserializedBytes: Column | null;
  /** Size of a partition's block in memory when stored as bytes. */
  readonly serializedBytes: Column | null;
  /** Size of a partition's block on disk. */
  readonly diskBytes: Column | null;
  /** Elements of a partition (what unrolling counts in steps of 16). */
  readonly elements: Column | null;
  /** Time to compute a partition from its parents, without theirs; only for cached RDDs, null when not known. */
  readonly computeMs: Column | null;
  /** Input bytes that computing a partition reads from outside of Spark; only for cached RDDs. */
  readonly inputBytes: Column | null;
  /** Shuffle bytes that computing a partition fetches; only for cached RDDs. */
  readonly shuffleReadBytes: Column | null;
  /** Records of that. */
  readonly shuffleReadRecords: Column | null;
  /**
   * Memory that computing a partition takes; only for cached RDDs. A stage's own demand leaves out what its cached
   * RDDs cost: that comes on top when a partition is not found in the cache.
   */
  readonly consumers: readonly ConsumerDemand[];
  /** The job before which persist() was called; absent: before all jobs. Jobs before it compute the RDD as any other. */
  readonly persistBeforeJob?: number;
  /** The job before which unpersist() was called, null for never. */
  readonly unpersistBeforeJob: number | null;
  /** The value is stored in serialized form whatever the level says (Python, columnar cache). */
  readonly alwaysSerialized: boolean;
  /** What computing it again gives, where it is stated; absent: what its dependencies give. */
  readonly outputDeterministicLevel?: DeterministicLevel;
  /** Hosts of its input (getPreferredLocations), for each partition; null when not known. */
  readonly preferredHosts: readonly (readonly string[])[] | null;
}

/** A shuffle: the map stage that writes it is described by `demand`. */
export interface Shuffle {
  /** Shuffle id, unique in the workload. */
  readonly id: number;
  /** RDD of the map side. */
  readonly rddId: number;
  /** Partitions of its output. */
  readonly numReducers: number;
  /** Index into Workload.demands. */
  readonly demand: number;
  /** Share of each reducer in the bytes of every map output; null: equal. */
  readonly reducerShares: Column | null;
}

/** An action, or a map stage submitted by adaptive execution. */
export interface Job {
  /** Job id, unique in the workload. */
  readonly id: number;
  /** What it ends in: an action, or a shuffle (SparkContext.submitMapStage). */
  readonly kind: "result" | "mapStage";
  /** Result jobs: the final RDD. Map-stage jobs: RDD of the shuffle's map side. */
  readonly rddId: number;
  /** Map-stage jobs: the shuffle. */
  readonly shuffleId: number | null;
  /** Partitions that the action computes (take, first); null for all. */
  readonly partitions: readonly number[] | null;
  /** Index into Workload.demands for the result stage; for map-stage jobs the shuffle's. */
  readonly demand: number;
  /** Submitted when these jobs have ended and then `delayMs` has passed; without any, `delayMs` after the start. */
  readonly afterJobs: readonly number[];
  /** Time of the driver between those jobs and this one. */
  readonly delayMs: number;
  /** The user cancels it so long after its start; null for never. */
  readonly cancelAfterMs: number | null;
  /** The program goes on when it fails; otherwise its failure ends the application. */
  readonly failureHandled: boolean;
  /** Its call site. */
  readonly name: string;
  /** spark.jobGroup.id */
  readonly group: string | null;
  /** spark.scheduler.pool */
  readonly pool: string | null;
  /** spark.job.description */
  readonly description: string | null;
  /** spark.sql.execution.id; null for jobs without a query. */
  readonly sqlExecutionId: number | null;
}

/** Kinds of memory consumer, by the Spark class that asks. src/simulator/memory/consumers has one model each. */
export type ConsumerKind =
  | "UnsafeExternalSorter"
  | "ShuffleExternalSorter"
  | "HashAggregation"
  | "HashedRelation"
  | "ExternalAppendOnlyMap"
  | "ExternalSorter"
  | "Raw";

/**
 * What one memory consumer of each task of a stage is fed with. Fractions are of the task's computing time:
 * it fills from `start` to `fillEnd`, and holds its memory until `release`.
 */
export interface ConsumerDemand {
  /** The Spark class that asks. */
  readonly kind: ConsumerKind;
  /** For messages: plan node or RDD name. */
  readonly name: string;
  /** When the first record goes in. */
  readonly start: number;
  /** When the last record is in. */
  readonly fillEnd: number;
  /** When the memory is given back. */
  readonly release: number;
  /** Off-heap when the settings select off-heap Tungsten memory; RDD collections are always on-heap. */
  readonly tungsten: boolean;
  /** Records that go in, by partition. Without any an operator takes its first array and page all the same. */
  readonly records: Column;
  /** Partitions without records in which the operator does not run at all (branches of a union); null: none. */
  readonly absentIn: readonly number[] | null;
  /** Bytes that go in, in the form the consumer holds them (UnsafeRow bytes, estimated object bytes), by partition. */
  readonly bytes: Column;
  /** Distinct keys (aggregations, maps), by partition; null: one for each record. */
  readonly keys: Column | null;
  /** What a byte in memory becomes on disk when spilled; null: 1. */
  readonly diskBytesPerByte: number | null;
  /** Further figures of a kind, documented by its model. */
  readonly parameters: Readonly<Record<string, number>>;
}

/** What the tasks of one stage demand; columns by RDD partition of the stage's final RDD. */
export interface StageDemand {
  /** StageInfo.name: its call site. */
  readonly name: string;
  /** StageInfo.details: the stack at its call site. */
  readonly details: string;
  /** Stage of the log that it was taken from; null for specs. */
  readonly recordedStageId: number | null;
  /** Computing, without cached RDDs' own computeMs, spilling, waiting, fetching and garbage collection. */
  readonly computeMs: Column;
  /** To deserialize the task on the executor. */
  readonly deserializeMs: Column;
  /** To serialize the result. */
  readonly resultSerializationMs: Column;
  /** Computing time of a second attempt on another executor (a slow host's tasks); null: the same. */
  readonly speculativeComputeMs: Column | null;
  /** Serialized task result (DirectTaskResult). */
  readonly resultBytes: Column;
  /** Serialized value in it, what counts towards maxResultSize from 3.4; null: resultBytes less 455. */
  readonly valueBytes: Column | null;
  /** Serialized task as sent to the executor; null when not known. */
  readonly serializedTaskBytes: Column | null;
  /** Bytes that a task reads from outside of Spark. */
  readonly inputBytes: Column;
  /** Records of that. */
  readonly inputRecords: Column;
  /** Bytes that a task writes to outside of Spark. */
  readonly outputBytes: Column;
  /** Records of that. */
  readonly outputRecords: Column;
  /**
   * Time of the commit of a task's output, once the driver's OutputCommitCoordinator has allowed it; null: nothing is
   * committed, or nobody else could want to.
   */
  readonly commitMs: Column | null;
  /** Shuffle bytes that a task reads. */
  readonly shuffleReadBytes: Column;
  /** Records of that. */
  readonly shuffleReadRecords: Column;
  /** Map stages: bytes a map task writes. */
  readonly shuffleWriteBytes: Column;
  /** Records of that. */
  readonly shuffleWriteRecords: Column;
  /** Memory that a task takes, its cached RDDs' left out. */
  readonly consumers: readonly ConsumerDemand[];
  /** Ids of the broadcasts its tasks read. */
  readonly broadcastIds: readonly number[];
}

/** A broadcast variable, kept in pieces and as a value in the storage pool of each executor that reads it. */
export interface Broadcast {
  /** Broadcast id, unique in the workload. */
  readonly id: number;
  /** Serialized and compressed size of all pieces (spark.broadcast.blockSize each). */
  readonly pieceBytes: number;
  /** Size of the deserialized value in memory. */
  readonly valueBytes: number;
  /** The job before which unpersist() or destroy() took it from the executors; absent: never. A later reader fetches it again. */
  readonly removeBeforeJob?: number;
}

/** Something that goes wrong. Times are after the start of the application. */
export type Fault =
  | {
    readonly kind: "taskException";
    /** Index into Workload.demands. */
    readonly demand: number;
    readonly partition: number;
    /** Attempts that fail: 0 to attempts - 1. */
    readonly attempts: number;
    readonly className: string;
    readonly description: string;
    /** How far the task gets, 0 to 1 of its computing time. */
    readonly atFraction: number;
  }
  | {
    readonly kind: "executorLost";
    readonly executorId: string;
    /** Either a time or a number of tasks started on that executor. */
    readonly atMs: number | null;
    readonly afterTasks: number | null;
    readonly reason: string;
    /** The machine is gone as well. */
    readonly workerLost: boolean;
    /** The application is to blame (counts as a task failure). */
    readonly exitCausedByApp: boolean;
    /** A new executor takes its place after so long; null: none does. */
    readonly replacedAfterMs: number | null;
  }
  | {
    readonly kind: "fetchFailure";
    /** Index into Workload.demands of the reading stage. */
    readonly demand: number;
    readonly partition: number;
    readonly attempts: number;
  }
  | {
    readonly kind: "slowHost";
    readonly host: string;
    readonly factor: number;
  }
  | {
    readonly kind: "resultLost";
    readonly demand: number;
    readonly partition: number;
    readonly attempts: number;
  }
  | {
    /** The driver cannot read the result that an attempt sent: the stage is aborted (TaskResultGetter). */
    readonly kind: "resultUnreadable";
    /** Index into Workload.demands. */
    readonly demand: number;
    readonly partition: number;
    readonly attempts: number;
    /** A class of the result is not there; otherwise any other exception. */
    readonly classNotFound: boolean;
    /** The class loader that was asked, or the exception, as Spark prints it. */
    readonly description: string;
  }
  | {
    /** The program's handler of a job's results throws: the job fails for the program (SparkDriverExecutionException). */
    readonly kind: "resultHandlerException";
    /** Index into Workload.demands of the job's last stage. */
    readonly demand: number;
    readonly partition: number;
    readonly className: string;
    readonly description: string;
  };

/**
 * An operator of a query's physical plan. The simulation does not look at it: what-ifs do that ask for settings under
 * which Spark would plan the query otherwise.
 */
export interface PlanOperator {
  /** SparkPlanInfo.nodeName: `Exchange`, `BroadcastHashJoin`, ... */
  readonly name: string;
  /** SparkPlanInfo.simpleString, which has keys and columns. */
  readonly description: string;
  /** Its children among the query's operators, all before it. What is reused is one operator. */
  readonly inputs: readonly number[];
  /** Rows that it gave; null where no metric counts them. */
  readonly rows: number | null;
  /** Of an exchange the bytes of its rows, of a broadcast its relation's in memory, of a scan its files'; else null. */
  readonly bytes: number | null;
  /** Index into Workload.demands of the stage that it ran in, of an exchange's map side; null: no metric tells it. */
  readonly demand: number | null;
}

/** A query of Spark SQL with the plan that ran, its last operator the root. */
export interface QueryPlan {
  /** spark.sql.execution.id */
  readonly executionId: number;
  /** Children before parents. */
  readonly operators: readonly PlanOperator[];
}

/** All that a simulation needs besides settings. */
export interface Workload {
  /** The application's name. */
  readonly name: string;
  /** The application id of the log; null: the run makes one up. */
  readonly appId: string | null;
  /** Of the log, or asked for. */
  readonly sparkVersion: string;
  /** Of what Spark leaves to chance, unless the run is given one. */
  readonly seed: number;
  /** The settings that were recorded, or that come with the spec. */
  readonly conf: Readonly<Record<string, string>>;
  /** The machines and processes. */
  readonly cluster: Cluster;
  /** What the file of spark.scheduler.allocation.file describes; null: there is none. For spark.scheduler.mode FAIR. */
  readonly pools: readonly PoolSettings[] | null;
  /** The lineage. */
  readonly rdds: readonly Rdd[];
  /** All shuffles. */
  readonly shuffles: readonly Shuffle[];
  /** All jobs, by their ids. */
  readonly jobs: readonly Job[];
  /** What the stages demand; shuffles and jobs refer to them by index. */
  readonly demands: readonly StageDemand[];
  /** All broadcast variables. */
  readonly broadcasts: readonly Broadcast[];
  /** What goes wrong. */
  readonly faults: readonly Fault[];
  /** Plans of the queries that join tables; absent: none is known. */
  readonly queries?: readonly QueryPlan[];
  /** Where the figures come from. */
  readonly evidence: readonly Evidence[];
  /** What the log could not tell, with counts. */
  readonly warnings: readonly {
    readonly code: string;
    readonly message: string;
    readonly count: number;
  }[];
}

/**
 * A workload without jobs on one executor; for tests and as a base.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "./workload.ts";
 *
 * assertEquals(emptyWorkload("nothing").jobs.length, 0);
 * ```
 */
export function emptyWorkload(name: string): Workload {
  const executor: ExecutorSpec = {
    id: "0",
    host: "localhost",
    cores: 1,
    maxOnHeapMemory: null,
    maxOffHeapMemory: null,
    addedMs: 0,
    removedMs: null,
    removedReason: null,
  };
  return {
    name,
    appId: null,
    sparkVersion: "2.4.0",
    seed: 1,
    conf: {},
    cluster: {
      master: "local-cluster[1,1,1024]",
      executors: [executor],
      provision: null,
      driver: { host: "localhost", maxOnHeapMemory: null, maxOffHeapMemory: null },
      collector: "g1",
      heapCommitted: "small",
    },
    pools: null,
    rdds: [],
    shuffles: [],
    jobs: [],
    demands: [],
    broadcasts: [],
    faults: [],
    evidence: [],
    warnings: [],
  };
}
