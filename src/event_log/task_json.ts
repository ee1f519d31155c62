/**
 * Tasks in event logs: TaskInfo, TaskMetrics and TaskEndReason as org.apache.spark.util.JsonProtocol writes them, from 1.0 to 4.x.
 *
 * @module
 */
import type { BlockStatus, TaskEnd, TaskEndReason, TaskInfo, TaskLocality, TaskMetrics } from "../spark/events.ts";
import type { StorageLevel } from "../spark/storage_level.ts";
import {
  booleanOr,
  countOf,
  countOr,
  isLong,
  type JsonObject,
  MalformedEvent,
  numberOf,
  numberOr,
  objectOf,
  objectOrNull,
  objectsOf,
  sizeOf,
  stageAttemptOf,
  stringOf,
  stringOr,
} from "./json_fields.ts";

const LOCALITIES: ReadonlySet<string> = new Set<TaskLocality>([
  "PROCESS_LOCAL",
  "NODE_LOCAL",
  "NO_PREF",
  "RACK_LOCAL",
  "ANY",
]);

/** Names of accumulators that carry task metrics begin with this (InternalAccumulator.METRICS_PREFIX, since 2.0). */
export const METRICS_PREFIX = "internal.metrics.";

/** Storage level of a block or RDD; "Use Off Heap" is written since 3.4. */
export function storageLevelOf(json: JsonObject): StorageLevel {
  return {
    useDisk: booleanOr(json, "Use Disk", false),
    useMemory: booleanOr(json, "Use Memory", false),
    // 1.x wrote "Use Tachyon", later "Use ExternalBlockStore", for what was to become off-heap memory.
    useOffHeap: booleanOr(json, "Use Off Heap", false),
    deserialized: booleanOr(json, "Deserialized", false),
    replication: countOr(json, "Replication", 1),
  };
}

/** A task's identity and place. */
export function taskInfoOf(
  info: JsonObject,
  stageId: number,
  stageAttemptId: number,
): TaskInfo {
  const index = countOf(info, "Index");
  const locality = stringOr(info, "Locality", "ANY");
  if (!LOCALITIES.has(locality)) {
    throw new MalformedEvent(`Locality is not one of Spark's: ${locality}`);
  }
  return {
    stageId,
    stageAttemptId,
    taskId: sizeOf(info, "Task ID"),
    index,
    attempt: countOr(info, "Attempt", 0),
    // Since 3.3; -1 stands for "unknown" in events of older logs that a newer Spark wrote again.
    partitionId: partitionOf(info, index),
    launchTime: numberOf(info, "Launch Time"),
    executorId: stringOf(info, "Executor ID"),
    host: stringOr(info, "Host", ""),
    locality: locality as TaskLocality,
    speculative: booleanOr(info, "Speculative", false),
  };
}

function partitionOf(info: JsonObject, index: number): number {
  return info["Partition ID"] === -1 ? index : countOr(info, "Partition ID", index);
}

/** Why a task ended; an unknown reason is UnknownReason, as in JsonProtocol. */
export function taskEndReasonOf(json: JsonObject): TaskEndReason {
  const reason = stringOf(json, "Reason");
  switch (reason) {
    case "Success":
    case "Resubmitted":
    case "TaskResultLost":
      return { reason };
    case "TaskKilled":
      return {
        reason,
        killReason: stringOr(json, "Kill Reason", "unknown reason"),
      };
    case "ExceptionFailure":
      return {
        reason,
        className: stringOr(json, "Class Name", ""),
        description: stringOr(json, "Description", ""),
        fullStackTrace: stringOr(json, "Full Stack Trace", ""),
      };
    case "FetchFailed": {
      const address = objectOrNull(json, "Block Manager Address");
      return {
        reason,
        executorId: address && stringOf(address, "Executor ID"),
        host: address && stringOf(address, "Host"),
        shuffleId: numberOf(json, "Shuffle ID"),
        mapId: numberOf(json, "Map ID"),
        // Since 3.0; before, "Map ID" was the index.
        mapIndex: numberOr(json, "Map Index", numberOf(json, "Map ID")),
        reduceId: numberOf(json, "Reduce ID"),
        message: stringOr(json, "Message", "Unknown reason"),
      };
    }
    case "TaskCommitDenied":
      return {
        reason,
        jobId: numberOr(json, "Job ID", -1),
        partitionId: numberOr(json, "Partition ID", -1),
        attemptNumber: numberOr(json, "Attempt Number", -1),
      };
    case "ExecutorLostFailure":
      return {
        reason,
        executorId: stringOr(json, "Executor ID", "Unknown"),
        exitCausedByApp: booleanOr(json, "Exit Caused By App", true),
        lossReason: stringOr(json, "Loss Reason", null),
      };
    default:
      return { reason: "UnknownReason" };
  }
}

/** A block's state in "Updated Blocks" and in block updates. */
export function blockStatusOf(blockId: string, json: JsonObject): BlockStatus {
  return {
    blockId,
    storageLevel: storageLevelOf(objectOf(json, "Storage Level")),
    memorySize: sizeOf(json, "Memory Size"),
    diskSize: sizeOf(json, "Disk Size"),
  };
}

const NO_FIELDS: JsonObject = {};

/** What a task measured; parts that were optional in 1.x count as 0 where they are missing. */
export function taskMetricsOf(
  json: JsonObject,
  options: { peakExecutionMemory: number | null; tracksUpdatedBlocks: boolean },
): TaskMetrics {
  const read = objectOrNull(json, "Shuffle Read Metrics") ?? NO_FIELDS;
  const write = objectOrNull(json, "Shuffle Write Metrics") ?? NO_FIELDS;
  const input = objectOrNull(json, "Input Metrics") ?? NO_FIELDS;
  const output = objectOrNull(json, "Output Metrics") ?? NO_FIELDS;
  const blocks = objectsOf(json, "Updated Blocks");
  return {
    executorDeserializeTime: numberOr(json, "Executor Deserialize Time", 0),
    executorDeserializeCpuTimeNs: numberOr(
      json,
      "Executor Deserialize CPU Time",
      0,
    ),
    executorRunTime: numberOr(json, "Executor Run Time", 0),
    executorCpuTimeNs: numberOr(json, "Executor CPU Time", 0),
    resultSize: numberOr(json, "Result Size", 0),
    jvmGcTime: numberOr(json, "JVM GC Time", 0),
    resultSerializationTime: numberOr(json, "Result Serialization Time", 0),
    memoryBytesSpilled: numberOr(json, "Memory Bytes Spilled", 0),
    diskBytesSpilled: numberOr(json, "Disk Bytes Spilled", 0),
    peakExecutionMemory: numberOr(
      json,
      "Peak Execution Memory",
      options.peakExecutionMemory,
    ),
    peakOnHeapExecutionMemory: numberOr(
      json,
      "Peak On Heap Execution Memory",
      null,
    ),
    peakOffHeapExecutionMemory: numberOr(
      json,
      "Peak Off Heap Execution Memory",
      null,
    ),
    inputBytes: numberOr(input, "Bytes Read", 0),
    inputRecords: numberOr(input, "Records Read", 0),
    outputBytes: numberOr(output, "Bytes Written", 0),
    outputRecords: numberOr(output, "Records Written", 0),
    shuffleRemoteBytesRead: numberOr(read, "Remote Bytes Read", 0),
    shuffleRemoteBytesReadToDisk: numberOr(
      read,
      "Remote Bytes Read To Disk",
      0,
    ),
    shuffleLocalBytesRead: numberOr(read, "Local Bytes Read", 0),
    shuffleRemoteBlocksFetched: numberOr(read, "Remote Blocks Fetched", 0),
    shuffleLocalBlocksFetched: numberOr(read, "Local Blocks Fetched", 0),
    shuffleFetchWaitTime: numberOr(read, "Fetch Wait Time", 0),
    shuffleRecordsRead: numberOr(read, "Total Records Read", 0),
    shuffleBytesWritten: numberOr(write, "Shuffle Bytes Written", 0),
    shuffleWriteTimeNs: numberOr(write, "Shuffle Write Time", 0),
    shuffleRecordsWritten: numberOr(write, "Shuffle Records Written", 0),
    updatedBlocks: blocks.length > 0 || options.tracksUpdatedBlocks
      ? blocks.map((block) => blockStatusOf(stringOf(block, "Block ID"), objectOf(block, "Status")))
      : null,
  };
}

/** A number that Spark writes as a number or, for accumulators other than its own, as text. */
export function accumulatorNumber(value: unknown): number | null {
  if (typeof value === "number") return isLong(value) ? value : null;
  if (typeof value !== "string" || !/^-?\d{1,18}$/.test(value)) return null;
  return Number(value);
}

/** Named accumulator updates of a task, without the task metrics that travel as accumulators too. */
function accumulablesOf(info: JsonObject): TaskEnd["accumulables"] {
  const kept: { id: number; name: string; update: number | null }[] = [];
  for (const accumulable of objectsOf(info, "Accumulables")) {
    const name = stringOr(accumulable, "Name", null);
    if (name === null || name.startsWith(METRICS_PREFIX)) continue;
    const update = accumulatorNumber(accumulable["Update"]);
    kept.push({ id: numberOf(accumulable, "ID"), name, update });
  }
  return kept;
}

/**
 * Peak execution memory from the accumulators: before 3.0 it is written only there, under another name in 1.6 and 2.x. 2.x
 * leaves accumulators out that are 0, so there a task without it had a peak of 0.
 */
function accumulatedPeak(info: JsonObject): number | null {
  let metrics = false;
  for (const accumulable of objectsOf(info, "Accumulables")) {
    const name = accumulable["Name"];
    if (typeof name !== "string") continue;
    if (
      name === `${METRICS_PREFIX}peakExecutionMemory` ||
      name === "peakExecutionMemory"
    ) {
      return accumulatorNumber(accumulable["Update"]);
    }
    metrics ||= name.startsWith(METRICS_PREFIX);
  }
  return metrics ? 0 : null;
}

/** SparkListenerTaskEnd. */
export function taskEndOf(
  json: JsonObject,
  tracksUpdatedBlocks: boolean,
): TaskEnd {
  const info = objectOf(json, "Task Info");
  const reasonJson = objectOf(json, "Task End Reason");
  const reason = taskEndReasonOf(reasonJson);
  // 1.x kept a failed task's metrics in its reason.
  const metrics = objectOrNull(json, "Task Metrics") ??
    objectOrNull(reasonJson, "Metrics");
  const taskType = stringOf(json, "Task Type");
  if (taskType !== "ResultTask" && taskType !== "ShuffleMapTask") {
    throw new MalformedEvent(`Task Type is not one of Spark's: ${taskType}`);
  }
  return {
    kind: "taskEnd",
    ...taskInfoOf(
      info,
      countOf(json, "Stage ID"),
      stageAttemptOf(json),
    ),
    taskType,
    reason,
    gettingResultTime: numberOr(info, "Getting Result Time", 0),
    finishTime: numberOf(info, "Finish Time"),
    failed: booleanOr(info, "Failed", false),
    // Since 2.1.
    killed: booleanOr(info, "Killed", reason.reason === "TaskKilled"),
    metrics: metrics === null ? null : taskMetricsOf(metrics, {
      peakExecutionMemory: metrics["Peak Execution Memory"] === undefined ? accumulatedPeak(info) : null,
      tracksUpdatedBlocks,
    }),
    // 0 when the metrics were not polled while the task ran.
    peakHeapMemory: numberOr(objectOrNull(json, "Task Executor Metrics") ?? NO_FIELDS, "JVMHeapMemory", 0) || null,
    accumulables: accumulablesOf(info),
  };
}
