/**
 * Rules that differ by version: the memory manager, the block store and the sizing of the heap.
 *
 * @module
 */
import { type Collector, from, rule, type VersionRule } from "../version_rule.ts";

/** Of the memory manager, the block store and the sizing of the heap. */
export const MEMORY_RULES: {
  readonly manager: VersionRule<"static" | "unified">;
  readonly refusesEmptyExecutionPool: VersionRule<boolean>;
  readonly checksExecutorMemory: VersionRule<boolean>;
  readonly borrowsOnlyWhatIsMissing: VersionRule<boolean>;
  readonly evictionReachesExecutionAtOnce: VersionRule<boolean>;
  readonly offHeapStorage: VersionRule<boolean>;
  readonly locksBlocks: VersionRule<boolean>;
  readonly transfersUnrollMemory: VersionRule<boolean>;
  readonly freesConsumedUnroll: VersionRule<boolean>;
  readonly missingBlockError: VersionRule<"IllegalStateException" | "SparkException">;
  readonly wrongEntryError: VersionRule<"plain" | "internal" | "internalSqlState">;
  readonly minMemoryError: VersionRule<"double" | "plain" | "errorClass">;
  readonly confValueError: VersionRule<"plain" | "named" | "errorClass">;
  readonly pageSizeLeavesHeaderUnder: VersionRule<readonly Collector[]>;
  readonly usualCollector: VersionRule<"parallel" | "g1">;
  readonly containerHoldsOffHeap: VersionRule<boolean>;
  readonly unmanagedConsumers: VersionRule<boolean>;
} = Object.freeze({
  manager: rule<"static" | "unified">(
    "read",
    "SPARK-10000",
    "one pool that storage and execution share, or two fixed ones (StaticMemoryManager)",
    "in every run",
    [["1.0", "static"], ["1.6", "unified"]],
  ),
  refusesEmptyExecutionPool: from(
    "run",
    "3.0.0",
    null,
    "an on-heap execution pool of 0 bytes is refused at start, and spark.memory.storageFraction must be below 1",
    "when the settings leave execution no memory",
  ),
  checksExecutorMemory: from(
    "read",
    "2.0",
    "SPARK-12759",
    "spark.executor.memory below 1.5 times the reserved memory is refused",
    "when spark.executor.memory is below 450 MiB",
  ),
  borrowsOnlyWhatIsMissing: from(
    "run",
    "2.3.0",
    "SPARK-21090",
    "storage borrows from execution what it lacks; before, up to the whole request",
    "when a block needs more than the storage pool has free",
  ),
  evictionReachesExecutionAtOnce: from(
    "run",
    "2.0",
    null,
    "bytes evicted for execution join its pool in the same call; in 1.6 they become free storage first",
    "when cached blocks make room for a task",
  ),
  offHeapStorage: from(
    "read",
    "2.0",
    "SPARK-13992",
    "blocks can be stored off-heap; in 1.6 all of spark.memory.offHeap.size belongs to execution",
    "when blocks are to be stored off-heap",
  ),
  locksBlocks: from(
    "run",
    "2.0",
    "SPARK-12757",
    "blocks that are being read or written are not evicted",
    "when a block that is in use would be evicted",
  ),
  transfersUnrollMemory: from(
    "run",
    "2.0",
    "SPARK-10907",
    "what was reserved to unroll a block becomes the block's; in 1.6 it is freed and the block asks for all of its size, and " +
      "without room the values go to disk, or on to the task with nothing reserved for them",
    "when cached partitions are unrolled that turn out larger than what was reserved",
  ),
  freesConsumedUnroll: from(
    "run",
    "2.0",
    null,
    "memory of a block that was unrolled in part is free again when the task has consumed it; in 1.6 at the end of the task",
    "when cached partitions do not fit into memory",
  ),
  missingBlockError: rule<"IllegalStateException" | "SparkException">(
    "run",
    null,
    "unlocking a block that is not there: IllegalStateException 'Block X not found', or SparkException 'Block X does not exist'",
    "when a block is unlocked that is not there, which is an error of Spark itself",
    [["1.0", "IllegalStateException"], ["3.3.0", "SparkException"]],
  ),
  wrongEntryError: rule<"plain" | "internal" | "internalSqlState">(
    "run",
    null,
    "reading an entry as the wrong kind: IllegalArgumentException, or SparkException [INTERNAL_ERROR_STORAGE], from 4.0 with SQLSTATE",
    "when a block is read as the wrong kind, which is an error of Spark itself",
    [["1.0", "plain"], ["3.5.0", "internal"], ["4.0.0", "internalSqlState"]],
  ),
  minMemoryError: rule<"double" | "plain" | "errorClass">(
    "run",
    null,
    "how too little memory is refused: 1.6 prints a Double, 2.0 names the options, 3.5 has [INVALID_DRIVER_MEMORY]",
    "when the application is given too little memory to start",
    [["1.0", "double"], ["2.0", "plain"], ["3.5.0", "errorClass"]],
  ),
  confValueError: rule<"plain" | "named" | "errorClass">(
    "run",
    null,
    "how a bad setting is refused: the check's text, with key and value from 3.2, [INVALID_CONF_VALUE...] from 4.1",
    "when a setting is refused",
    [["1.0", "plain"], ["3.2.0", "named"], ["4.1.0", "errorClass"]],
  ),
  pageSizeLeavesHeaderUnder: rule<readonly Collector[]>(
    "run",
    "SPARK-37593",
    "collectors under which the default on-heap page is 16 bytes smaller, so that it fits their regions",
    "when tasks take on-heap memory by the page, whose size is not set, under one of these collectors",
    [
      ["1.0", []],
      ["3.3.0", ["g1"]],
      ["4.1.0", ["g1", "zgc", "shenandoah"]],
    ],
  ),
  usualCollector: rule<"parallel" | "g1">(
    "read",
    null,
    "the collector of the Java that this version usually runs on: assumed where none is named",
    "when neither the log nor the settings name the collector",
    [["1.0", "parallel"], ["3.0.0", "g1"]],
  ),
  containerHoldsOffHeap: from(
    "read",
    "3.0.0",
    "SPARK-28577",
    "the executor's container is asked for with room for spark.memory.offHeap.size",
    "when executors in containers use off-heap memory",
  ),
  unmanagedConsumers: from(
    "run",
    "4.1.0",
    "SPARK-53001",
    "memory of consumers outside the manager lowers what storage and execution may take (off by default)",
    "when consumers outside the manager register and spark.memory.unmanagedMemoryPollingInterval is above 0",
  ),
});
