/**
 * Properties of the shuffle, of SQL's partitioning, and of event logs.
 *
 * @module
 */
import { check, type ConfEntry, confEntry, INT_MAX, NEVER, TYPES } from "../conf_entry.ts";

const { bytes, kib, mib, ms, int, boolean, string } = TYPES;
const MIB = 1048576;

const SHUFFLE: readonly ConfEntry[] = [
  confEntry(
    "spark.shuffle.manager",
    string,
    "1.1",
    "sort",
    "The implementation of the shuffle.",
  ),
  confEntry(
    "spark.shuffle.compress",
    boolean,
    "0.6",
    "true",
    "Shuffle files are compressed.",
  ),
  confEntry(
    "spark.shuffle.file.buffer",
    kib,
    "1.4",
    "32k",
    "Buffer of each shuffle file that is written.",
    {
      declaredSince: "2.3.0",
      alternatives: [{
        key: "spark.shuffle.file.buffer.kb",
        deprecatedIn: "1.4",
      }],
    },
  ),
  confEntry(
    "spark.shuffle.sort.bypassMergeThreshold",
    int,
    "1.1",
    "200",
    "Up to so many partitions a shuffle without aggregation writes one file each and does not sort.",
  ),
  confEntry(
    "spark.shuffle.service.enabled",
    boolean,
    "1.2",
    "false",
    "Shuffle files are served by a process beside the executors and outlive them.",
    { declaredSince: "2.3.0" },
  ),
  confEntry(
    "spark.shuffle.service.removeShuffle",
    boolean,
    "3.3",
    [["3.3.0", "false"], ["4.0.0", "true"]],
    "The shuffle service removes files that are not needed.",
  ),
  confEntry(
    "spark.shuffle.reduceLocality.enabled",
    boolean,
    "1.5",
    "true",
    "Reduce tasks prefer hosts with much of their input.",
  ),
  confEntry(
    "spark.shuffle.mapOutput.minSizeForBroadcast",
    bytes,
    "2.0",
    "512k",
    "From which size map output locations are broadcast.",
  ),
  confEntry(
    "spark.shuffle.minNumPartitionsToHighlyCompress",
    int,
    "2.4",
    "2000",
    "Above so many partitions map output sizes are kept as an average.",
    { declaredSince: "2.4.0" },
  ),
  confEntry(
    "spark.shuffle.accurateBlockThreshold",
    bytes,
    "2.2",
    "104857600",
    "From which size a block's size is kept exactly.",
    { declaredSince: "2.2.0" },
  ),
  confEntry(
    "spark.shuffle.push.enabled",
    boolean,
    "3.1",
    "false",
    "Map tasks push their output to be merged.",
  ),
  confEntry(
    "spark.reducer.maxSizeInFlight",
    mib,
    "1.4",
    "48m",
    "Bytes that a reduce task fetches at once; outside the managed memory.",
    {
      alternatives: [{
        key: "spark.reducer.maxMbInFlight",
        deprecatedIn: "1.4",
      }],
    },
  ),
  confEntry(
    "spark.reducer.maxReqsInFlight",
    int,
    "2.0",
    String(INT_MAX),
    "Requests that a reduce task has open at once.",
  ),
  confEntry(
    "spark.reducer.maxBlocksInFlightPerAddress",
    int,
    "2.2",
    String(INT_MAX),
    "Blocks fetched from one host at once.",
    { declaredSince: "2.2.0" },
  ),
];

const SQL: readonly ConfEntry[] = [
  confEntry(
    "spark.sql.shuffle.partitions",
    int,
    "1.1",
    "200",
    "Partitions of SQL's shuffles.",
    {
      declaredSince: "1.5",
      checks: [
        check(
          "The value of spark.sql.shuffle.partitions must be positive",
          (v) => v > 0,
          "3.0.0",
        ),
      ],
    },
  ),
  confEntry(
    "spark.sql.adaptive.enabled",
    boolean,
    "1.6",
    [["1.6", "false"], ["3.2.0", "true"]],
    "Plans are changed while they run, by what was measured.",
    { declaredSince: "1.6" },
  ),
  confEntry(
    "spark.sql.adaptive.coalescePartitions.enabled",
    boolean,
    "3.0",
    "true",
    "Small shuffle partitions are merged.",
  ),
  confEntry(
    "spark.sql.adaptive.advisoryPartitionSizeInBytes",
    bytes,
    "3.0",
    "64m",
    "Size aimed at when partitions are merged or split.",
  ),
  confEntry(
    "spark.sql.adaptive.coalescePartitions.minPartitionNum",
    int,
    "3.0",
    null,
    "Fewest partitions after merging.",
  ),
  confEntry(
    "spark.sql.adaptive.coalescePartitions.parallelismFirst",
    boolean,
    "3.2",
    "true",
    "Partitions are merged only as far as every core keeps a task.",
  ),
  confEntry(
    "spark.sql.adaptive.coalescePartitions.minPartitionSize",
    bytes,
    "3.2",
    "1m",
    "Partitions are merged to this size even where cores go without a task.",
  ),
  confEntry(
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum",
    int,
    "3.0",
    null,
    "Partitions of SQL's shuffles before merging; spark.sql.shuffle.partitions where it is not set.",
  ),
  confEntry(
    "spark.sql.adaptive.skewJoin.enabled",
    boolean,
    "3.0",
    "true",
    "Partitions much larger than the others are split.",
  ),
  confEntry(
    "spark.sql.autoBroadcastJoinThreshold",
    bytes,
    "1.1",
    "10485760",
    "Tables below this are broadcast for a join; -1 is never.",
    { declaredSince: "1.5" },
  ),
  confEntry(
    "spark.sql.files.maxPartitionBytes",
    bytes,
    "2.0",
    "134217728",
    "Most bytes of a partition when files are read.",
    { declaredSince: "2.0" },
  ),
  confEntry(
    "spark.sql.files.openCostInBytes",
    bytes,
    "2.0",
    "4194304",
    "Bytes that opening a file counts for.",
    { declaredSince: "2.0" },
  ),
  confEntry(
    "spark.sql.inMemoryColumnarStorage.batchSize",
    int,
    "1.1",
    "10000",
    "Rows of one batch of a cached table.",
    { declaredSince: "1.5" },
  ),
  confEntry(
    "spark.sql.inMemoryColumnarStorage.compressed",
    boolean,
    "1.0",
    "true",
    "Columns of cached tables are compressed.",
    { declaredSince: "1.5" },
  ),
  confEntry(
    "spark.sql.windowExec.buffer.spill.threshold",
    int,
    "2.2",
    String(INT_MAX),
    "Rows of a window after which its buffer spills.",
    { declaredSince: "2.2" },
  ),
  confEntry(
    "spark.sql.sortMergeJoinExec.buffer.spill.threshold",
    int,
    "2.2",
    String(INT_MAX),
    "Matches of a merge join after which their buffer spills.",
    { declaredSince: "2.2" },
  ),
  confEntry(
    "spark.sql.objectHashAggregate.sortBased.fallbackThreshold",
    int,
    "2.2",
    "128",
    "Keys after which an aggregation of objects sorts instead.",
    { declaredSince: "2.2" },
  ),
];

const PYTHON: readonly ConfEntry[] = [
  confEntry(
    "spark.python.worker.memory",
    mib,
    "1.1",
    "512m",
    "Memory after which a Python worker's aggregation spills.",
  ),
  confEntry(
    "spark.python.worker.reuse",
    boolean,
    "1.2",
    "true",
    "Python workers serve several tasks.",
  ),
];

const EVENT_LOG: readonly ConfEntry[] = [
  confEntry(
    "spark.eventLog.enabled",
    boolean,
    "1.0",
    "false",
    "Events are logged.",
  ),
  confEntry(
    "spark.eventLog.dir",
    string,
    "1.0",
    "/tmp/spark-events",
    "Where event logs go.",
  ),
  confEntry(
    "spark.eventLog.compress",
    boolean,
    "1.0",
    [["1.0", "false"], ["4.0.0", "true"]],
    "Event logs are compressed.",
    { declaredSince: "2.3.0" },
  ),
  confEntry(
    "spark.eventLog.compression.codec",
    string,
    "3.0",
    [["3.0.0", null], ["3.2.0", "zstd"]],
    "Codec of event logs.",
    { fallback: "spark.io.compression.codec" },
  ),
  confEntry(
    "spark.eventLog.overwrite",
    boolean,
    "1.0",
    "false",
    "An existing event log is replaced.",
    { declaredSince: "2.3.0" },
  ),
  confEntry(
    "spark.eventLog.buffer.kb",
    kib,
    "1.0",
    "100k",
    "Buffer for writing event logs.",
    { declaredSince: "2.3.0" },
  ),
  confEntry(
    "spark.eventLog.rolling.enabled",
    boolean,
    "3.0",
    [["3.0.0", "false"], ["4.0.0", "true"]],
    "Event logs are split into files of a size.",
  ),
  confEntry(
    "spark.eventLog.rolling.maxFileSize",
    bytes,
    "3.0",
    "128m",
    "Size of the files of a rolling event log.",
    {
      checks: [
        check(
          "Max file size of event log should be configured to be at least 10 MiB.",
          (v) => v >= 10 * MIB,
          "3.0.0",
          "4.1.0",
        ),
        check(
          "Max file size of event log should be configured to be at least 2 MiB.",
          (v) => v >= 2 * MIB,
          "4.1.0",
        ),
      ],
    },
  ),
  confEntry(
    "spark.eventLog.logBlockUpdates.enabled",
    boolean,
    "2.3",
    "false",
    "Each change of a block is logged: evictions and cached blocks can be read off.",
    { declaredSince: "2.3.0" },
  ),
  confEntry(
    "spark.eventLog.logStageExecutorMetrics",
    boolean,
    "3.0",
    "false",
    "Peaks of each executor in each stage are logged.",
  ),
  confEntry(
    "spark.executor.metrics.pollingInterval",
    ms,
    "3.0",
    "0",
    "How often an executor measures its memory; 0 is with each heartbeat.",
  ),
  confEntry(
    "spark.executor.processTreeMetrics.enabled",
    boolean,
    "3.0",
    "false",
    "Memory of the executor's processes, Python's too, is measured.",
  ),
  confEntry(
    "spark.taskMetrics.trackUpdatedBlockStatuses",
    boolean,
    "2.3",
    "false",
    "Tasks record which blocks they changed.",
    { declaredSince: "2.3.0" },
  ),
  confEntry(
    "spark.app.name",
    string,
    "0.9",
    null,
    "The application's name.",
    { declaredSince: NEVER },
  ),
  confEntry(
    "spark.app.id",
    string,
    "1.0",
    null,
    "The application's identifier.",
    { declaredSince: NEVER },
  ),
];

/** Of the shuffle, SQL, Python workers and event logs. */
export const SHUFFLE_AND_LOG_ENTRIES: readonly ConfEntry[] = [
  ...SHUFFLE,
  ...SQL,
  ...PYTHON,
  ...EVENT_LOG,
];
