/**
 * Writes events as Spark's own event log: what org.apache.spark.util.JsonProtocol of Spark 2.4, 3.5 or 4.0 writes, so that the
 * History Server of these versions opens a simulated run.
 *
 * @module
 */
import type {
  AccumulableInfo,
  EventSink,
  RddInfo,
  ResourceProfileAdded,
  SparkEvent,
  SparkPlanInfo,
  StageInfo,
} from "../spark/events.ts";
import { METRICS_PREFIX } from "./task_json.ts";
import {
  blockUpdatedText,
  executorMetricsText,
  type LogFormat,
  storageLevelText,
  taskEndText,
  taskGettingResultText,
  taskStartText,
  type WriteContext,
} from "./write_task.ts";

const SQL = "org.apache.spark.sql.execution.ui.";
/** The first port that is given to a block manager. */
const FIRST_PORT = 40_000;

/** The format for a version: the nearest whose readers know all of its fields. */
function formatOf(sparkVersion: string): LogFormat {
  const major = Number.parseInt(sparkVersion, 10);
  return major >= 4 ? "4.0" : major === 3 ? "3.5" : "2.4";
}

/** A value that is put in as it is. */
class Raw {
  constructor(readonly text: string) {}
}

/** An object's fields in order; undefined ones are left out. */
function objectText(fields: readonly (readonly [name: string, value: unknown])[]): string {
  return `{${
    fields.filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => `${JSON.stringify(name)}:${value instanceof Raw ? value.text : JSON.stringify(value)}`)
      .join(",")
  }}`;
}

function listText<T>(values: readonly T[], text: (value: T) => string): Raw {
  return new Raw(`[${values.map(text).join(",")}]`);
}

/**
 * A sink that hands each event on as a line of an event log, with its line end. Events that only simulated runs have are left
 * out, as are warnings.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventLogWriter } from "./write.ts";
 *
 * let log = "";
 * const writer = new EventLogWriter((line) => log += line);
 * writer.event({ kind: "logStart", sparkVersion: "3.5.9" });
 * writer.event({ kind: "unpersistRdd", rddId: 7 });
 * assertEquals(log, '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n{"Event":"SparkListenerUnpersistRDD","RDD ID":7}\n');
 * ```
 */
export class EventLogWriter implements EventSink {
  readonly #write: (line: string) => void;
  readonly #hosts = new Map<string, string>();
  readonly #ports = new Map<string, number>();
  readonly #sqlMetrics = new Set<number>();
  #context: WriteContext;

  /**
   * A writer of one log.
   *
   * @param write Takes each line, its end included.
   * @param options The version whose format is written; a logStart event sets it too.
   */
  constructor(write: (line: string) => void, options: { readonly sparkVersion?: string } = {}) {
    this.#write = write;
    this.#context = this.#contextOf(formatOf(options.sparkVersion ?? "3.5"));
  }

  /** Writes one event; those that Spark does not log (evictions, spills, pools) are left out. */
  event(event: SparkEvent): void {
    const text = this.#text(event);
    if (text !== null) this.#write(text + "\n");
  }

  #contextOf(format: LogFormat): WriteContext {
    return {
      format,
      sqlMetrics: this.#sqlMetrics,
      sums: new Map(),
      portOf: (executorId) => this.#portOf(executorId),
    };
  }

  #portOf(executorId: string): number {
    let port = this.#ports.get(executorId);
    if (port === undefined) {
      // Ports are below 65,536; with more executors they are used again, on another host or not: nothing connects to them.
      port = FIRST_PORT + this.#ports.size % 25_000;
      this.#ports.set(executorId, port);
    }
    return port;
  }

  #blockManager(executorId: string, host: string): Raw {
    return new Raw(objectText([["Executor ID", executorId], ["Host", host], ["Port", this.#portOf(executorId)]]));
  }

  #text(event: SparkEvent): string | null {
    switch (event.kind) {
      case "taskStart":
        return taskStartText(this.#context, event);
      case "taskEnd":
        return taskEndText(this.#context, event);
      case "taskGettingResult":
        return taskGettingResultText(this.#context, event);
      case "blockUpdated":
        return blockUpdatedText(this.#context, event, this.#hosts.get(event.executorId) ?? "localhost");
      case "stageSubmitted":
        return this.#event("StageSubmitted", [
          ["Stage Info", this.#stageInfo(event.stageInfo, false)],
          ["Properties", event.properties],
        ]);
      case "stageCompleted":
        return this.#event("StageCompleted", [["Stage Info", this.#stageInfo(event.stageInfo, true)]]);
      case "jobStart":
        return this.#event("JobStart", [
          ["Job ID", event.jobId],
          ["Submission Time", event.time],
          ["Stage Infos", listText(event.stageInfos, (info) => this.#stageInfo(info, true).text)],
          ["Stage IDs", event.stageIds],
          ["Properties", event.properties],
        ]);
      case "jobEnd":
        return this.#event("JobEnd", [
          ["Job ID", event.jobId],
          ["Completion Time", event.time],
          [
            "Job Result",
            event.failure === null
              ? { Result: "JobSucceeded" }
              : { Result: "JobFailed", Exception: { Message: event.failure, "Stack Trace": [] } },
          ],
        ]);
      default:
        return this.#applicationText(event) ?? this.#executorText(event) ?? this.#sqlText(event);
    }
  }

  #event(name: string, fields: readonly (readonly [string, unknown])[]): string {
    return objectText([["Event", `SparkListener${name}`], ...fields]);
  }

  #applicationText(event: SparkEvent): string | null {
    switch (event.kind) {
      case "logStart":
        this.#context = this.#contextOf(formatOf(event.sparkVersion));
        return this.#event("LogStart", [["Spark Version", event.sparkVersion]]);
      case "applicationStart":
        return this.#event("ApplicationStart", [
          ["App Name", event.appName],
          ["App ID", event.appId],
          ["Timestamp", event.time],
          ["User", event.user],
          ["App Attempt ID", event.appAttemptId],
        ]);
      case "applicationEnd":
        return this.#event("ApplicationEnd", [
          ["Timestamp", event.time],
          ["ExitCode", this.#context.format === "4.0" ? event.exitCode : null],
        ]);
      case "environmentUpdate":
        return this.#event("EnvironmentUpdate", [
          ["JVM Information", event.jvmInformation],
          ["Spark Properties", event.sparkProperties],
          ...this.#context.format === "2.4" ? [] : [["Hadoop Properties", {}] as const],
          ["System Properties", event.systemProperties],
          ...this.#context.format === "2.4" ? [] : [["Metrics Properties", {}] as const],
          ["Classpath Entries", {}],
        ]);
      case "resourceProfileAdded":
        return this.#context.format === "2.4" ? null : this.#resourceProfile(event);
      case "unpersistRdd":
        return this.#event("UnpersistRDD", [["RDD ID", event.rddId]]);
      default:
        return null;
    }
  }

  #resourceProfile(event: ResourceProfileAdded): string {
    const executor = Object.entries(event.executorResources).map(([name, amount]) => [name, {
      "Resource Name": name,
      Amount: amount,
      "Discovery Script": "",
      Vendor: "",
    }]);
    // Jackson writes a Double with its point.
    const task = Object.entries(event.taskResources).map(([name, amount]) =>
      [name, new Raw(`{"Resource Name":${JSON.stringify(name)},"Amount":${doubleText(amount)}}`)] as const
    );
    return this.#event("ResourceProfileAdded", [
      ["Resource Profile Id", event.id],
      ["Executor Resource Requests", Object.fromEntries(executor)],
      ["Task Resource Requests", new Raw(objectText(task))],
    ]);
  }

  #executorText(event: SparkEvent): string | null {
    const { format } = this.#context;
    switch (event.kind) {
      case "executorAdded": {
        this.#hosts.set(event.executorId, event.host);
        const since3 = { Attributes: {}, Resources: {}, "Resource Profile Id": 0, "Registration Time": event.time };
        return this.#event("ExecutorAdded", [
          ["Timestamp", event.time],
          ["Executor ID", event.executorId],
          ["Executor Info", {
            Host: event.host,
            "Total Cores": event.totalCores,
            "Log Urls": {},
            ...format === "2.4" ? {} : since3,
          }],
        ]);
      }
      case "executorRemoved":
        return this.#event("ExecutorRemoved", [
          ["Timestamp", event.time],
          ["Executor ID", event.executorId],
          ["Removed Reason", event.reason],
        ]);
      case "blockManagerAdded":
        this.#hosts.set(event.executorId, event.host);
        return this.#event("BlockManagerAdded", [
          ["Block Manager ID", this.#blockManager(event.executorId, event.host)],
          ["Maximum Memory", event.maximumMemory],
          ["Timestamp", event.time],
          ["Maximum Onheap Memory", event.maximumOnHeapMemory],
          ["Maximum Offheap Memory", event.maximumOffHeapMemory],
        ]);
      case "blockManagerRemoved":
        return this.#event("BlockManagerRemoved", [
          ["Block Manager ID", this.#blockManager(event.executorId, this.#hosts.get(event.executorId) ?? "localhost")],
          ["Timestamp", event.time],
        ]);
      case "stageExecutorMetrics":
        if (format === "2.4") return null;
        return this.#event("StageExecutorMetrics", [
          ["Executor ID", event.executorId],
          ["Stage ID", event.stageId],
          ["Stage Attempt ID", event.stageAttemptId],
          ["Executor Metrics", new Raw(executorMetricsText(format, event.metrics))],
        ]);
      case "speculativeTaskSubmitted":
        // Jackson writes it by its own field names, under the class's full name.
        return objectText([
          ["Event", "org.apache.spark.scheduler.SparkListenerSpeculativeTaskSubmitted"],
          ["stageId", event.stageId],
          ["stageAttemptId", event.stageAttemptId],
        ]);
      default:
        return null;
    }
  }

  #sqlText(event: SparkEvent): string | null {
    const { format } = this.#context;
    switch (event.kind) {
      case "sqlExecutionStart":
        return objectText([
          ["Event", `${SQL}SparkListenerSQLExecutionStart`],
          ["executionId", event.executionId],
          ...format === "2.4" ? [] : [["rootExecutionId", event.executionId] as const],
          ["description", event.description],
          ["details", ""],
          ["physicalPlanDescription", ""],
          ["sparkPlanInfo", new Raw(this.#plan(event.plan))],
          ["time", event.time],
          ...format === "2.4" ? [] : [["modifiedConfigs", {}] as const, ["jobTags", []] as const],
        ]);
      case "sqlAdaptiveExecutionUpdate":
        if (format === "2.4") return null;
        return objectText([
          ["Event", `${SQL}SparkListenerSQLAdaptiveExecutionUpdate`],
          ["executionId", event.executionId],
          ["physicalPlanDescription", ""],
          ["sparkPlanInfo", new Raw(this.#plan(event.plan))],
        ]);
      case "sqlExecutionEnd":
        return objectText([
          ["Event", `${SQL}SparkListenerSQLExecutionEnd`],
          ["executionId", event.executionId],
          ["time", event.time],
          ["errorMessage", format === "2.4" ? undefined : event.errorMessage ?? ""],
        ]);
      case "driverAccumUpdates":
        return objectText([
          ["Event", `${SQL}SparkListenerDriverAccumUpdates`],
          ["executionId", event.executionId],
          ["accumUpdates", event.updates],
        ]);
      default:
        return null;
    }
  }

  #plan(plan: SparkPlanInfo | null): string {
    const { nodeName, simpleString, children, metrics } = plan ??
      { nodeName: "", simpleString: "", children: [], metrics: [] };
    for (const { accumulatorId } of metrics) this.#sqlMetrics.add(accumulatorId);
    return objectText([
      ["nodeName", nodeName],
      ["simpleString", simpleString],
      ["children", listText(children, (child) => this.#plan(child))],
      ["metadata", {}],
      ["metrics", metrics],
    ]);
  }

  #stageInfo(info: StageInfo, accumulables: boolean): Raw {
    const { format } = this.#context;
    return new Raw(objectText([
      ["Stage ID", info.stageId],
      ["Stage Attempt ID", info.attemptId],
      ["Stage Name", info.name],
      ["Number of Tasks", info.numTasks],
      ["RDD Info", listText(info.rddInfos, (rdd) => rddText(format, rdd))],
      ["Parent IDs", info.parentIds],
      ["Details", info.details],
      ["Submission Time", info.submissionTime],
      ["Completion Time", info.completionTime],
      ["Failure Reason", info.failureReason],
      ["Accumulables", listText(accumulables ? info.accumulables : [], (value) => this.#accumulable(value))],
      ...format === "2.4" ? [] : [
        ["Resource Profile Id", info.resourceProfileId] as const,
        ["Shuffle Push Enabled", info.isShufflePushEnabled ?? false] as const,
        ["Shuffle Push Mergers Count", 0] as const,
      ],
    ]));
  }

  #accumulable({ id, name, value }: AccumulableInfo): string {
    const metric = name?.startsWith(METRICS_PREFIX) ?? false;
    const sql = this.#sqlMetrics.has(id);
    return objectText([
      ["ID", id],
      ["Name", name],
      // Task metrics are numbers, everything else is written as text.
      ["Value", metric || value === null ? value : String(value)],
      ["Internal", metric || sql],
      ["Count Failed Values", metric || sql],
      ["Metadata", sql ? "sql" : undefined],
    ]);
  }
}

function doubleText(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : `${value}`;
}

function rddText(format: LogFormat, rdd: RddInfo): string {
  return objectText([
    ["RDD ID", rdd.rddId],
    ["Name", rdd.name],
    ["Scope", rdd.scope === null ? null : JSON.stringify({ id: `${rdd.rddId}`, name: rdd.scope })],
    ["Callsite", rdd.callSite],
    ["Parent IDs", rdd.parentIds],
    ["Storage Level", new Raw(storageLevelText(format, rdd.storageLevel))],
    ...format === "2.4" ? [] : [
      ["Barrier", rdd.isBarrier ?? false] as const,
      ["DeterministicLevel", rdd.outputDeterministicLevel ?? "DETERMINATE"] as const,
    ],
    ["Number of Partitions", rdd.numPartitions],
    ["Number of Cached Partitions", rdd.numCachedPartitions],
    ["Memory Size", rdd.memorySize],
    ["Disk Size", rdd.diskSize],
  ]);
}
