/**
 * Task events and block updates as lines of an event log, field by field in the order of org.apache.spark.util.JsonProtocol.
 * They are most of a log, so their text is put together directly.
 *
 * @module
 */
import type {
  BlockStatus,
  BlockUpdated,
  TaskEnd,
  TaskEndReason,
  TaskGettingResult,
  TaskInfo,
  TaskMetrics,
  TaskStart,
} from "../spark/events.ts";
import type { StorageLevel } from "../spark/storage_level.ts";

/** The formats that are written: the fields of Spark 2.4, 3.5 and 4.0. */
export type LogFormat = "2.4" | "3.5" | "4.0";

/** What the writer keeps between events. */
export interface WriteContext {
  readonly format: LogFormat;
  /** Accumulators that are SQL metrics, by id. */
  readonly sqlMetrics: ReadonlySet<number>;
  /** Sums of accumulators so far, by id. */
  readonly sums: Map<number, number>;
  /** A port for each block manager: Spark refuses 0, and events carry none. */
  portOf(executorId: string): number;
}

/** ExecutorMetricType's names in Spark's order (3.5; 4.0 has two more). */
export const EXECUTOR_METRICS: readonly string[] = [
  "JVMHeapMemory",
  "JVMOffHeapMemory",
  "OnHeapExecutionMemory",
  "OffHeapExecutionMemory",
  "OnHeapStorageMemory",
  "OffHeapStorageMemory",
  "OnHeapUnifiedMemory",
  "OffHeapUnifiedMemory",
  "DirectPoolMemory",
  "MappedPoolMemory",
  "ProcessTreeJVMVMemory",
  "ProcessTreeJVMRSSMemory",
  "ProcessTreePythonVMemory",
  "ProcessTreePythonRSSMemory",
  "ProcessTreeOtherVMemory",
  "ProcessTreeOtherRSSMemory",
  "MinorGCCount",
  "MinorGCTime",
  "MajorGCCount",
  "MajorGCTime",
  "TotalGCTime",
];
const EXECUTOR_METRICS_4_0 = [...EXECUTOR_METRICS, "ConcurrentGCCount", "ConcurrentGCTime"];

/** "Executor Metrics" with 0 for what is not known. */
export function executorMetricsText(format: LogFormat, metrics: Readonly<Record<string, number>>): string {
  const names = format === "4.0" ? EXECUTOR_METRICS_4_0 : EXECUTOR_METRICS;
  return `{${names.map((name) => `"${name}":${metrics[name] ?? 0}`).join(",")}}`;
}

const NO_METRICS: Readonly<Record<LogFormat, string>> = {
  "2.4": "",
  "3.5": executorMetricsText("3.5", {}),
  "4.0": executorMetricsText("4.0", {}),
};

const quoted = new Map<string, string>();

/** A text in JSON; short ones that come again and again (hosts, executors, block ids' parts) are kept. */
function quote(text: string): string {
  let known = quoted.get(text);
  if (known !== undefined) return known;
  known = JSON.stringify(text);
  if (text.length <= 64 && quoted.size < 4096) quoted.set(text, known);
  return known;
}

/** A storage level; "Use Off Heap" is written since 3.4. */
export function storageLevelText(format: LogFormat, level: StorageLevel): string {
  const offHeap = format === "2.4" ? "" : `"Use Off Heap":${level.useOffHeap},`;
  return `{"Use Disk":${level.useDisk},"Use Memory":${level.useMemory},${offHeap}"Deserialized":${level.deserialized},` +
    `"Replication":${level.replication}}`;
}

function infoText(
  format: LogFormat,
  info: TaskInfo,
  end: { gettingResultTime: number; finishTime: number; failed: boolean; killed: boolean; accumulables: string },
): string {
  const partition = format === "2.4" ? "" : `"Partition ID":${info.partitionId},`;
  return `{"Task ID":${info.taskId},"Index":${info.index},"Attempt":${info.attempt},${partition}` +
    `"Launch Time":${info.launchTime},"Executor ID":${quote(info.executorId)},"Host":${quote(info.host)},` +
    `"Locality":"${info.locality}","Speculative":${info.speculative},"Getting Result Time":${end.gettingResultTime},` +
    `"Finish Time":${end.finishTime},"Failed":${end.failed},"Killed":${end.killed},"Accumulables":[${end.accumulables}]}`;
}

const RUNNING = { gettingResultTime: 0, finishTime: 0, failed: false, killed: false, accumulables: "" };

/** SparkListenerTaskStart. */
export function taskStartText({ format }: WriteContext, event: TaskStart): string {
  return `{"Event":"SparkListenerTaskStart","Stage ID":${event.stageId},"Stage Attempt ID":${event.stageAttemptId},` +
    `"Task Info":${infoText(format, event, RUNNING)}}`;
}

/** SparkListenerTaskGettingResult. */
export function taskGettingResultText({ format }: WriteContext, event: TaskGettingResult): string {
  const { gettingResultTime } = event;
  return `{"Event":"SparkListenerTaskGettingResult","Task Info":${
    infoText(format, event, { ...RUNNING, gettingResultTime })
  }}`;
}

function blockManagerText(context: WriteContext, executorId: string, host: string): string {
  return `{"Executor ID":${quote(executorId)},"Host":${quote(host)},"Port":${context.portOf(executorId)}}`;
}

function reasonText(context: WriteContext, reason: TaskEndReason): string {
  const head = `{"Reason":"${reason.reason}"`;
  switch (reason.reason) {
    case "TaskKilled":
      return `${head},"Kill Reason":${quote(reason.killReason)},"Accumulator Updates":[]}`;
    case "ExceptionFailure":
      return `${head},"Class Name":${quote(reason.className)},"Description":${quote(reason.description)},` +
        `"Stack Trace":[],"Full Stack Trace":${quote(reason.fullStackTrace)},"Accumulator Updates":[]}`;
    case "FetchFailed": {
      const address = reason.executorId === null || reason.host === null
        ? ""
        : `"Block Manager Address":${blockManagerText(context, reason.executorId, reason.host)},`;
      const mapIndex = context.format === "2.4" ? "" : `"Map Index":${reason.mapIndex},`;
      return `${head},${address}"Shuffle ID":${reason.shuffleId},"Map ID":${reason.mapId},${mapIndex}` +
        `"Reduce ID":${reason.reduceId},"Message":${quote(reason.message)}}`;
    }
    case "TaskCommitDenied":
      return `${head},"Job ID":${reason.jobId},"Partition ID":${reason.partitionId},"Attempt Number":${reason.attemptNumber}}`;
    case "ExecutorLostFailure": {
      const loss = reason.lossReason === null ? "" : `,"Loss Reason":${quote(reason.lossReason)}`;
      return `${head},"Executor ID":${quote(reason.executorId)},"Exit Caused By App":${reason.exitCausedByApp}${loss}}`;
    }
    default:
      return `${head}}`;
  }
}

function blockStatusText(format: LogFormat, block: BlockStatus): string {
  return `"Storage Level":${storageLevelText(format, block.storageLevel)},"Memory Size":${block.memorySize},` +
    `"Disk Size":${block.diskSize}`;
}

const PUSH_BASED_SHUFFLE = ',"Remote Requests Duration":0,"Push Based Shuffle":{"Corrupt Merged Block Chunks":0,' +
  '"Merged Fetch Fallback Count":0,"Merged Remote Blocks Fetched":0,"Merged Local Blocks Fetched":0,' +
  '"Merged Remote Chunks Fetched":0,"Merged Local Chunks Fetched":0,"Merged Remote Bytes Read":0,' +
  '"Merged Local Bytes Read":0,"Merged Remote Requests Duration":0}';

function metricsText(format: LogFormat, metrics: TaskMetrics): string {
  const peak = format === "2.4" || metrics.peakExecutionMemory === null
    ? ""
    : `"Peak Execution Memory":${metrics.peakExecutionMemory},`;
  const peaks = format !== "4.0" ? "" : `"Peak On Heap Execution Memory":${metrics.peakOnHeapExecutionMemory ?? 0},` +
    `"Peak Off Heap Execution Memory":${metrics.peakOffHeapExecutionMemory ?? 0},`;
  const blocks = (metrics.updatedBlocks ?? []).map((block) =>
    `{"Block ID":${quote(block.blockId)},"Status":{${blockStatusText(format, block)}}}`
  ).join(",");
  return `{"Executor Deserialize Time":${metrics.executorDeserializeTime},` +
    `"Executor Deserialize CPU Time":${metrics.executorDeserializeCpuTimeNs},` +
    `"Executor Run Time":${metrics.executorRunTime},"Executor CPU Time":${metrics.executorCpuTimeNs},${peak}${peaks}` +
    `"Result Size":${metrics.resultSize},"JVM GC Time":${metrics.jvmGcTime},` +
    `"Result Serialization Time":${metrics.resultSerializationTime},` +
    `"Memory Bytes Spilled":${metrics.memoryBytesSpilled},"Disk Bytes Spilled":${metrics.diskBytesSpilled},` +
    `"Shuffle Read Metrics":{"Remote Blocks Fetched":${metrics.shuffleRemoteBlocksFetched},` +
    `"Local Blocks Fetched":${metrics.shuffleLocalBlocksFetched},"Fetch Wait Time":${metrics.shuffleFetchWaitTime},` +
    `"Remote Bytes Read":${metrics.shuffleRemoteBytesRead},` +
    `"Remote Bytes Read To Disk":${metrics.shuffleRemoteBytesReadToDisk},` +
    `"Local Bytes Read":${metrics.shuffleLocalBytesRead},"Total Records Read":${metrics.shuffleRecordsRead}` +
    `${format === "2.4" ? "" : PUSH_BASED_SHUFFLE}},` +
    `"Shuffle Write Metrics":{"Shuffle Bytes Written":${metrics.shuffleBytesWritten},` +
    `"Shuffle Write Time":${metrics.shuffleWriteTimeNs},"Shuffle Records Written":${metrics.shuffleRecordsWritten}},` +
    `"Input Metrics":{"Bytes Read":${metrics.inputBytes},"Records Read":${metrics.inputRecords}},` +
    `"Output Metrics":{"Bytes Written":${metrics.outputBytes},"Records Written":${metrics.outputRecords}},` +
    `"Updated Blocks":[${blocks}]}`;
}

/** Ids of the accumulators that carry a stage's task metrics: far above those that events name. */
const METRIC_ACCUMULATORS = 1_000_000_000;

/**
 * A task's accumulators. Those of its metrics are left out, as with spark.eventLog.includeTaskMetricsAccumulators=false
 * (4.0), but for 2.4, which records the peak of execution memory nowhere else.
 */
function accumulablesText(context: WriteContext, event: TaskEnd): string {
  const texts: string[] = [];
  for (const { id, name, update } of event.accumulables) {
    const sum = (context.sums.get(id) ?? 0) + (update ?? 0);
    if (update !== null) context.sums.set(id, sum);
    const values = update === null ? "" : `"Update":"${update}","Value":"${sum}",`;
    const kind = context.sqlMetrics.has(id)
      ? '"Internal":true,"Count Failed Values":true,"Metadata":"sql"'
      : '"Internal":false,"Count Failed Values":false';
    texts.push(`{"ID":${id},"Name":${quote(name)},${values}${kind}}`);
  }
  const peak = event.metrics?.peakExecutionMemory ?? null;
  if (context.format === "2.4" && peak !== null) {
    const metric = (offset: number, name: string, value: number) =>
      `{"ID":${METRIC_ACCUMULATORS + event.stageId * 2 + offset},"Name":"internal.metrics.${name}","Update":${value},` +
      `"Value":${value},"Internal":true,"Count Failed Values":true}`;
    texts.push(metric(0, "resultSize", event.metrics!.resultSize));
    if (peak > 0) texts.push(metric(1, "peakExecutionMemory", peak));
  }
  return texts.join(",");
}

/** SparkListenerTaskEnd. */
export function taskEndText(context: WriteContext, event: TaskEnd): string {
  const { format } = context;
  const executorMetrics = format === "2.4"
    ? ""
    : `"Task Executor Metrics":${
      event.peakHeapMemory ? executorMetricsText(format, { JVMHeapMemory: event.peakHeapMemory }) : NO_METRICS[format]
    }`;
  const metrics = event.metrics === null ? "" : `"Task Metrics":${metricsText(format, event.metrics)}`;
  const rest = [executorMetrics, metrics].filter((text) => text !== "").map((text) => `,${text}`).join("");
  const { gettingResultTime, finishTime, failed, killed } = event;
  const accumulables = accumulablesText(context, event);
  return `{"Event":"SparkListenerTaskEnd","Stage ID":${event.stageId},"Stage Attempt ID":${event.stageAttemptId},` +
    `"Task Type":"${event.taskType}","Task End Reason":${reasonText(context, event.reason)},` +
    `"Task Info":${infoText(format, event, { gettingResultTime, finishTime, failed, killed, accumulables })}${rest}}`;
}

/** SparkListenerBlockUpdated; `host` is where the executor runs. */
export function blockUpdatedText(context: WriteContext, event: BlockUpdated, host: string): string {
  return `{"Event":"SparkListenerBlockUpdated","Block Updated Info":{"Block Manager ID":${
    blockManagerText(context, event.executorId, host)
  },"Block ID":${quote(event.blockId)},${blockStatusText(context.format, event)}}}`;
}
