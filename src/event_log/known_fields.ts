/**
 * Fields that Spark writes (org.apache.spark.util.JsonProtocol, 1.0 to 4.1): what a log has beside them is counted, so that nobody
 * takes a distribution's additions for read.
 *
 * @module
 */
import { isObject, type JsonObject } from "./json_fields.ts";

const TASK_INFO = [
  "Task ID",
  "Index",
  "Attempt",
  "Partition ID",
  "Launch Time",
  "Executor ID",
  "Host",
  "Locality",
  "Speculative",
  "Getting Result Time",
  "Finish Time",
  "Failed",
  "Killed",
  "Accumulables",
];

const TASK_METRICS = [
  "Host Name",
  "Executor Deserialize Time",
  "Executor Deserialize CPU Time",
  "Executor Run Time",
  "Executor CPU Time",
  "Peak Execution Memory",
  "Peak On Heap Execution Memory",
  "Peak Off Heap Execution Memory",
  "Result Size",
  "JVM GC Time",
  "Result Serialization Time",
  "Memory Bytes Spilled",
  "Disk Bytes Spilled",
  "Shuffle Read Metrics",
  "Shuffle Write Metrics",
  "Input Metrics",
  "Output Metrics",
  "Updated Blocks",
  "Shuffle Finish Time",
];

const STAGE_INFO = [
  "Stage ID",
  "Stage Attempt ID",
  "Stage Name",
  "Number of Tasks",
  "RDD Info",
  "Parent IDs",
  "Details",
  "Submission Time",
  "Completion Time",
  "Failure Reason",
  "Accumulables",
  "Resource Profile Id",
  "Shuffle Push Enabled",
  "Shuffle Push Mergers Count",
  "Emitted Task Size Warning",
];

const BLOCK_UPDATED_INFO = [
  "Block Manager ID",
  "Block ID",
  "Storage Level",
  "Memory Size",
  "Disk Size",
  "Tachyon Size",
  "ExternalBlockStore Size",
];

/** Fields by event, then fields of those objects that events consist of, by event and name. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  SparkListenerLogStart: ["Spark Version"],
  SparkListenerApplicationStart: [
    "App Name",
    "App ID",
    "Timestamp",
    "User",
    "App Attempt ID",
    "Driver Logs",
    "Driver Attributes",
  ],
  SparkListenerApplicationEnd: ["Timestamp", "ExitCode"],
  SparkListenerEnvironmentUpdate: [
    "JVM Information",
    "Spark Properties",
    "Hadoop Properties",
    "System Properties",
    "Metrics Properties",
    "Classpath Entries",
  ],
  SparkListenerResourceProfileAdded: ["Resource Profile Id", "Executor Resource Requests", "Task Resource Requests"],
  SparkListenerExecutorAdded: ["Timestamp", "Executor ID", "Executor Info"],
  SparkListenerExecutorRemoved: ["Timestamp", "Executor ID", "Removed Reason"],
  SparkListenerBlockManagerAdded: [
    "Block Manager ID",
    "Maximum Memory",
    "Timestamp",
    "Maximum Onheap Memory",
    "Maximum Offheap Memory",
  ],
  SparkListenerBlockManagerRemoved: ["Block Manager ID", "Timestamp"],
  SparkListenerJobStart: ["Job ID", "Submission Time", "Stage Infos", "Stage IDs", "Properties"],
  SparkListenerJobEnd: ["Job ID", "Completion Time", "Job Result"],
  SparkListenerStageSubmitted: ["Stage Info", "Properties"],
  SparkListenerStageCompleted: ["Stage Info"],
  SparkListenerTaskStart: ["Stage ID", "Stage Attempt ID", "Task Info"],
  SparkListenerTaskGettingResult: ["Task Info"],
  SparkListenerTaskEnd: [
    "Stage ID",
    "Stage Attempt ID",
    "Task Type",
    "Task End Reason",
    "Task Info",
    "Task Executor Metrics",
    "Task Metrics",
  ],
  SparkListenerBlockUpdated: ["Block Updated Info"],
  SparkListenerUnpersistRDD: ["RDD ID"],
  SparkListenerStageExecutorMetrics: ["Executor ID", "Stage ID", "Stage Attempt ID", "Executor Metrics"],
  SparkListenerSpeculativeTaskSubmitted: [
    "stageId",
    "stageAttemptId",
    "_taskIndex",
    "_partitionId",
    "taskIndex",
    "partitionId",
  ],
  SparkListenerSQLExecutionStart: [
    "executionId",
    "rootExecutionId",
    "description",
    "details",
    "physicalPlanDescription",
    "sparkPlanInfo",
    "time",
    "modifiedConfigs",
    "jobTags",
    "jobGroupId",
    "queryId",
  ],
  SparkListenerSQLAdaptiveExecutionUpdate: ["executionId", "physicalPlanDescription", "sparkPlanInfo"],
  SparkListenerSQLExecutionEnd: ["executionId", "time", "errorMessage"],
  SparkListenerDriverAccumUpdates: ["executionId", "accumUpdates"],
  "Task Info": TASK_INFO,
  "Task Metrics": TASK_METRICS,
  "Stage Info": STAGE_INFO,
  "Block Updated Info": BLOCK_UPDATED_INFO,
};

const SETS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(FIELDS).map(([name, fields]) => [name, new Set([...fields, "Event"])]),
);

/** Parts of events whose fields are looked at too. */
const PARTS = ["Task Info", "Task Metrics", "Stage Info", "Block Updated Info"] as const;

/**
 * Fields of an event that Spark does not write, as `EventName/Field` or `EventName/Part/Field`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { unknownFields } from "./known_fields.ts";
 *
 * assertEquals(unknownFields("SparkListenerUnpersistRDD", { Event: "", "RDD ID": 1, Extra: 2 }), [
 *   "SparkListenerUnpersistRDD/Extra",
 * ]);
 * ```
 */
export function unknownFields(eventName: string, json: JsonObject): string[] {
  const found = fieldsBeside(eventName, eventName, json);
  for (const part of PARTS) {
    const inner = json[part];
    if (isObject(inner)) found.push(...fieldsBeside(part, `${eventName}/${part}`, inner));
  }
  return found;
}

function fieldsBeside(name: string, path: string, json: JsonObject): string[] {
  const known = SETS.get(name);
  if (known === undefined) return [];
  const found: string[] = [];
  for (const field in json) if (!known.has(field)) found.push(`${path}/${field}`);
  return found;
}
