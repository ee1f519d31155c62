/**
 * Events of an event log: from parsed JSON, as org.apache.spark.util.JsonProtocol and, for SQL, Jackson write them, to records.
 *
 * @module
 */
import type { ResourceProfileAdded, SparkEvent, SparkPlanInfo } from "../spark/events.ts";
import {
  countOf,
  idsOf,
  isLong,
  isObject,
  type JsonObject,
  listOf,
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
  textsOf,
} from "./json_fields.ts";
import { DeferredJson } from "./json_scan.ts";
import { stageInfoOf } from "./stage_json.ts";
import { blockStatusOf, taskEndOf, taskInfoOf } from "./task_json.ts";

/** Local properties of a job that the project uses; Spark writes the whole configuration beside them. */
export const JOB_PROPERTIES: ReadonlySet<string> = new Set([
  "spark.jobGroup.id",
  "spark.job.description",
  "spark.job.tags",
  "spark.job.interruptOnCancel",
  "spark.scheduler.pool",
  "spark.sql.execution.id",
  "spark.sql.execution.root.id",
  "spark.rdd.scope",
  "callSite.short",
  "sql.streaming.queryId",
  "streaming.sql.batchId",
]);

/** System properties that say something about the Java virtual machine; the others tell of the user's machine. */
const SYSTEM_PROPERTIES: ReadonlySet<string> = new Set([
  "java.version",
  "java.vm.name",
  "java.vm.version",
  "java.vendor",
  "os.name",
  "os.arch",
]);

/** Plans deeper than this are cut: Spark's own stack would not hold them. */
const MAX_PLAN_DEPTH = 500;

function jobProperties(json: JsonObject): Record<string, string> {
  return textsOf(
    objectOrNull(json, "Properties"),
    (key) => JOB_PROPERTIES.has(key),
  );
}

function jobFailure(json: JsonObject): string | null {
  const result = objectOf(json, "Job Result");
  switch (stringOf(result, "Result")) {
    case "JobSucceeded":
      return null;
    case "JobFailed": {
      const exception = objectOrNull(result, "Exception");
      return (exception && stringOr(exception, "Message", null)) ??
        "unknown reason";
    }
    default:
      throw new MalformedEvent("Result is neither JobSucceeded nor JobFailed");
  }
}

/** The object itself when it holds nothing but whole numbers, as it should. */
function integersIn(json: JsonObject): Record<string, number> {
  for (const name in json) {
    if (!isLong(json[name])) {
      return Object.fromEntries(Object.entries(json).filter((entry): entry is [string, number] => isLong(entry[1])));
    }
  }
  return json as Record<string, number>;
}

function amounts(json: JsonObject | null): Record<string, number> {
  const entries: [string, number][] = [];
  for (const [name, request] of Object.entries(json ?? {})) {
    if (!isObject(request)) continue;
    const amount = request["Amount"];
    if (typeof amount === "number") entries.push([name, amount]);
  }
  return Object.fromEntries(entries);
}

function resourceProfileOf(json: JsonObject): ResourceProfileAdded {
  return {
    kind: "resourceProfileAdded",
    id: numberOf(json, "Resource Profile Id"),
    executorResources: amounts(
      objectOrNull(json, "Executor Resource Requests"),
    ),
    taskResources: amounts(objectOrNull(json, "Task Resource Requests")),
  };
}

/** An event whose plan is decoded when it is read, if that was put off. */
function withPlan<T extends object>(event: T, json: JsonObject): T & { readonly plan: SparkPlanInfo | null } {
  const value = json["sparkPlanInfo"];
  if (!(value instanceof DeferredJson)) return { ...event, plan: planOf(objectOrNull(json, "sparkPlanInfo")) };
  let plan: SparkPlanInfo | null = null;
  return Object.defineProperty(event, "plan", {
    enumerable: true,
    configurable: true,
    get: () => plan ??= planOf(value.parse()),
  }) as T & { readonly plan: SparkPlanInfo | null };
}

function planOf(json: JsonObject | null, depth = 0): SparkPlanInfo | null {
  if (json === null) return null;
  return {
    nodeName: stringOr(json, "nodeName", ""),
    simpleString: stringOr(json, "simpleString", ""),
    children: depth >= MAX_PLAN_DEPTH ? [] : objectsOf(json, "children").map((child) => planOf(child, depth + 1)!),
    metrics: objectsOf(json, "metrics").map((metric) => ({
      name: stringOr(metric, "name", ""),
      accumulatorId: numberOf(metric, "accumulatorId"),
      metricType: stringOr(metric, "metricType", ""),
    })),
  };
}

function accumUpdatesOf(json: JsonObject): [number, number][] {
  return listOf(json, "accumUpdates").map((pair) => {
    if (!Array.isArray(pair) || !isLong(pair[0]) || !isLong(pair[1])) {
      throw new MalformedEvent("accumUpdates is not a list of pairs");
    }
    return [pair[0], pair[1]];
  });
}

/** What an event's decoder may ask of the log read so far. */
export interface DecodeContext {
  /** TaskMetrics list changed blocks: before 2.3, later only with spark.taskMetrics.trackUpdatedBlockStatuses. */
  readonly tracksUpdatedBlocks: boolean;
}

type Decode = (json: JsonObject, context: DecodeContext) => SparkEvent;

/** Decoders by the event's name without its package. */
export const DECODERS: Readonly<Record<string, Decode>> = {
  SparkListenerLogStart: (json) => ({
    kind: "logStart",
    sparkVersion: stringOf(json, "Spark Version"),
  }),
  SparkListenerApplicationStart: (json) => ({
    kind: "applicationStart",
    appName: stringOr(json, "App Name", ""),
    appId: stringOr(json, "App ID", null),
    time: numberOf(json, "Timestamp"),
    user: stringOr(json, "User", ""),
    appAttemptId: stringOr(json, "App Attempt ID", null),
  }),
  SparkListenerApplicationEnd: (json) => ({
    kind: "applicationEnd",
    time: numberOf(json, "Timestamp"),
    exitCode: numberOr(json, "ExitCode", null),
  }),
  SparkListenerEnvironmentUpdate: (json) => ({
    kind: "environmentUpdate",
    sparkProperties: textsOf(objectOrNull(json, "Spark Properties")),
    jvmInformation: textsOf(objectOrNull(json, "JVM Information")),
    systemProperties: textsOf(
      objectOrNull(json, "System Properties"),
      (key) => SYSTEM_PROPERTIES.has(key),
    ),
  }),
  SparkListenerResourceProfileAdded: resourceProfileOf,
  SparkListenerExecutorAdded: (json) => {
    const info = objectOf(json, "Executor Info");
    return {
      kind: "executorAdded",
      time: numberOf(json, "Timestamp"),
      executorId: stringOf(json, "Executor ID"),
      host: stringOr(info, "Host", ""),
      totalCores: countOf(info, "Total Cores"),
    };
  },
  SparkListenerExecutorRemoved: (json) => ({
    kind: "executorRemoved",
    time: numberOf(json, "Timestamp"),
    executorId: stringOf(json, "Executor ID"),
    reason: stringOr(json, "Removed Reason", ""),
  }),
  SparkListenerBlockManagerAdded: (json) => {
    const id = objectOf(json, "Block Manager ID");
    return {
      kind: "blockManagerAdded",
      time: numberOr(json, "Timestamp", -1),
      executorId: stringOf(id, "Executor ID"),
      host: stringOr(id, "Host", ""),
      maximumMemory: sizeOf(json, "Maximum Memory"),
      maximumOnHeapMemory: numberOr(json, "Maximum Onheap Memory", null),
      maximumOffHeapMemory: numberOr(json, "Maximum Offheap Memory", null),
    };
  },
  SparkListenerBlockManagerRemoved: (json) => ({
    kind: "blockManagerRemoved",
    time: numberOr(json, "Timestamp", -1),
    executorId: stringOf(objectOf(json, "Block Manager ID"), "Executor ID"),
  }),
  SparkListenerJobStart: (json) => ({
    kind: "jobStart",
    jobId: countOf(json, "Job ID"),
    time: numberOr(json, "Submission Time", -1),
    stageInfos: objectsOf(json, "Stage Infos").map(stageInfoOf),
    stageIds: idsOf(json, "Stage IDs"),
    properties: jobProperties(json),
  }),
  SparkListenerJobEnd: (json) => ({
    kind: "jobEnd",
    jobId: countOf(json, "Job ID"),
    time: numberOr(json, "Completion Time", -1),
    failure: jobFailure(json),
  }),
  SparkListenerStageSubmitted: (json) => ({
    kind: "stageSubmitted",
    stageInfo: stageInfoOf(objectOf(json, "Stage Info")),
    properties: jobProperties(json),
  }),
  SparkListenerStageCompleted: (json) => ({
    kind: "stageCompleted",
    stageInfo: stageInfoOf(objectOf(json, "Stage Info")),
  }),
  SparkListenerTaskStart: (json) => ({
    kind: "taskStart",
    ...taskInfoOf(
      objectOf(json, "Task Info"),
      countOf(json, "Stage ID"),
      stageAttemptOf(json),
    ),
  }),
  SparkListenerTaskGettingResult: (json) => {
    const info = objectOf(json, "Task Info");
    return {
      kind: "taskGettingResult",
      ...taskInfoOf(info, -1, -1),
      gettingResultTime: numberOr(info, "Getting Result Time", 0),
    };
  },
  SparkListenerTaskEnd: (json, context) => taskEndOf(json, context.tracksUpdatedBlocks),
  SparkListenerBlockUpdated: (json) => {
    const info = objectOf(json, "Block Updated Info");
    return {
      kind: "blockUpdated",
      ...blockStatusOf(stringOf(info, "Block ID"), info),
      executorId: stringOf(objectOf(info, "Block Manager ID"), "Executor ID"),
      time: null,
    };
  },
  SparkListenerUnpersistRDD: (json) => ({
    kind: "unpersistRdd",
    rddId: countOf(json, "RDD ID"),
  }),
  SparkListenerStageExecutorMetrics: (json) => ({
    kind: "stageExecutorMetrics",
    executorId: stringOf(json, "Executor ID"),
    stageId: numberOf(json, "Stage ID"),
    stageAttemptId: numberOr(json, "Stage Attempt ID", 0),
    metrics: integersIn(objectOf(json, "Executor Metrics")),
  }),
  SparkListenerSpeculativeTaskSubmitted: (json) => ({
    kind: "speculativeTaskSubmitted",
    stageId: countOf(json, "stageId"),
    stageAttemptId: stageAttemptOf(json, "stageAttemptId"),
  }),
  SparkListenerSQLExecutionStart: (json) =>
    withPlan({
      kind: "sqlExecutionStart",
      executionId: numberOf(json, "executionId"),
      description: stringOr(json, "description", ""),
      time: numberOr(json, "time", -1),
    }, json),
  SparkListenerSQLAdaptiveExecutionUpdate: (json) =>
    withPlan({ kind: "sqlAdaptiveExecutionUpdate", executionId: numberOf(json, "executionId") }, json),
  SparkListenerSQLExecutionEnd: (json) => ({
    kind: "sqlExecutionEnd",
    executionId: numberOf(json, "executionId"),
    time: numberOr(json, "time", -1),
    // 3.4 and later write an empty text for "no error".
    errorMessage: stringOr(json, "errorMessage", null) || null,
  }),
  SparkListenerDriverAccumUpdates: (json) => ({
    kind: "driverAccumUpdates",
    executionId: numberOf(json, "executionId"),
    updates: accumUpdatesOf(json),
  }),
};

/** Events that Spark writes and nothing here uses. */
const UNUSED: ReadonlySet<string> = new Set([
  "SparkListenerExecutorMetricsUpdate",
  "SparkListenerExecutorExcluded",
  "SparkListenerExecutorExcludedForStage",
  "SparkListenerExecutorUnexcluded",
  "SparkListenerExecutorBlacklisted",
  "SparkListenerExecutorBlacklistedForStage",
  "SparkListenerExecutorUnblacklisted",
  "SparkListenerNodeExcluded",
  "SparkListenerNodeExcludedForStage",
  "SparkListenerNodeUnexcluded",
  "SparkListenerNodeBlacklisted",
  "SparkListenerNodeBlacklistedForStage",
  "SparkListenerNodeUnblacklisted",
  "SparkListenerUnschedulableTaskSetAdded",
  "SparkListenerUnschedulableTaskSetRemoved",
  "SparkListenerMiscellaneousProcessAdded",
  "SparkListenerSQLAdaptiveSQLMetricUpdates",
  "StreamingQueryListener$QueryStartedEvent",
  "StreamingQueryListener$QueryProgressEvent",
  "StreamingQueryListener$QueryIdleEvent",
  "StreamingQueryListener$QueryTerminatedEvent",
]);

/** An event's name without its package. */
export function eventName(json: JsonObject): string {
  return withoutPackage(stringOf(json, "Event"));
}

/** A class's name without its package. */
export function withoutPackage(className: string): string {
  return className.slice(className.lastIndexOf(".") + 1);
}

/** Whether Spark has such an event and the project has no use for it. */
export function isUnused(name: string): boolean {
  return UNUSED.has(name) || name.startsWith("SparkListenerConnect") ||
    name.startsWith("SparkListenerThriftServer");
}
