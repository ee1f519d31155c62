/**
 * The inputs of scheduler traces: settings and lineage from the header, reasons from the events.
 *
 * @module
 */
import { InputError } from "../../errors.ts";
import type { Dependency, Rdd, ShuffleDependency } from "../../simulator/scheduler/rdd.ts";
import { type SchedulerSettings, schedulerSettings } from "../../simulator/scheduler/settings.ts";
import { SparkConf } from "../../spark/conf.ts";
import { REFERENCE_SPARK_VERSION } from "../../spark/spark_version.ts";
import type { ExecutorLossReason, TaskFailedReason } from "../../simulator/scheduler/task_end_reason.ts";
import { NO_EXECUTOR, TaskLocations } from "../../simulator/scheduler/task_location.ts";
import type { NameTable } from "../../simulator/scheduler/names.ts";
import type { ReplayOptions, TraceLine } from "../trace.ts";

function bad(what: string, received: unknown): InputError {
  return new InputError(
    "replay.line",
    `Cannot replay the trace: ${what}: received ${JSON.stringify(received)}`,
    { parameters: { received } },
  );
}

/** Property of each setting of a trace's header, and its unit. */
const PROPERTIES: Readonly<Record<string, readonly [key: string, unit: string]>> = {
  maxFailures: ["spark.task.maxFailures", ""],
  maxResultSize: ["spark.driver.maxResultSize", ""],
  externalShuffleService: ["spark.shuffle.service.enabled", ""],
  unRegisterOutputOnHost: ["spark.files.fetchFailure.unRegisterOutputOnHost", ""],
  maxConsecutiveAttempts: ["spark.stage.maxConsecutiveAttempts", ""],
  maxAttempts: ["spark.stage.maxAttempts", ""],
  localityWaitMs: ["spark.locality.wait", "ms"],
  speculation: ["spark.speculation", ""],
  schedulingMode: ["spark.scheduler.mode", ""],
};

/** The settings that a trace was made under; what the harness did not set (as speculation's quantile) is the version's default. */
export function traceSettings(
  header: TraceLine,
  options: ReplayOptions,
): SchedulerSettings {
  const settings: Record<string, string> = {};
  for (const [name, value] of Object.entries(header.conf ?? {})) {
    if (!Object.hasOwn(PROPERTIES, name)) continue;
    const [key, unit] = PROPERTIES[name];
    settings[key] = `${value}${unit}`;
  }
  const version = options.sparkVersion ?? header.spark ?? REFERENCE_SPARK_VERSION;
  const conf = SparkConf.from(settings, version);
  const { withRules = (rules) => rules } = options;
  return schedulerSettings(conf.withRules(withRules(conf.rules)), 1, header.pools?.length > 0 ? header.pools : null);
}

/** The lineage of a trace: RDDs and shuffles by id. */
export interface Lineage {
  readonly rdds: ReadonlyMap<number, Rdd>;
  readonly shuffles: ReadonlyMap<number, ShuffleDependency>;
}

/** Builds the lineage. RDDs come in an order in which each depends on earlier ones. */
export function traceLineage(header: TraceLine): Lineage {
  const rdds = new Map<number, Rdd>();
  const shuffles = new Map<number, ShuffleDependency>();
  const specs = new Map<number, TraceLine>(
    (header.shuffles ?? []).map((spec: TraceLine) => [spec.id, spec]),
  );
  const shuffle = (id: number): ShuffleDependency => {
    let dependency = shuffles.get(id);
    if (dependency === undefined) {
      const spec = specs.get(id);
      const rdd = rdds.get(spec?.rdd);
      if (rdd === undefined) throw bad("a shuffle must have an RDD", id);
      dependency = {
        kind: "shuffle",
        shuffleId: id,
        rdd,
        numReducers: spec.reducers,
        checksumMismatchFullRetryEnabled: spec.fullRetry === true,
      };
      shuffles.set(id, dependency);
    }
    return dependency;
  };
  for (const spec of header.rdds ?? []) {
    const dependencies: Dependency[] = spec.deps.map((dep: TraceLine) =>
      dep.shuffle !== undefined ? shuffle(dep.shuffle) : {
        kind: "narrow",
        rdd: rdds.get(dep.narrow)!,
        getParents: (partition: number) => [partition],
      }
    );
    rdds.set(spec.id, {
      id: spec.id,
      numPartitions: spec.partitions,
      dependencies,
      creationSite: `rdd${spec.id}`,
      isPersisted: spec.persist === true,
      ...(spec.level === undefined ? {} : { outputDeterministicLevel: spec.level }),
    });
  }
  for (const id of specs.keys()) shuffle(id);
  return { rdds, shuffles };
}

/** TaskLocation.apply: "executor_HOST_ID" is an executor's block, anything else a host. */
export function traceLocations(
  prefs: readonly (readonly string[])[],
  names: { readonly executors: NameTable; readonly hosts: NameTable },
): TaskLocations {
  const locations = new TaskLocations(prefs.length);
  for (const ofTask of prefs) {
    for (const text of ofTask) {
      const match = /^executor_([^_]*)_(.*)$/.exec(text);
      if (match === null) locations.add(NO_EXECUTOR, names.hosts.idOf(text));
      else {
        locations.add(
          names.executors.idOf(match[2]),
          names.hosts.idOf(match[1]),
        );
      }
    }
    locations.nextTask();
  }
  return locations;
}

/** Why an executor of a trace is gone. */
export function traceLossReason(reason: string): ExecutorLossReason {
  switch (reason) {
    case "slaveLost":
    case "workerLost":
      return {
        kind: "processLost",
        message: "lost",
        workerLost: reason === "workerLost",
        causedByApp: true,
      };
    case "exitedApp":
      return {
        kind: "exited",
        exitCode: 1,
        exitCausedByApp: true,
        message: "exited",
      };
    case "exitedNotApp":
      return {
        kind: "exited",
        exitCode: 1,
        exitCausedByApp: false,
        message: "preempted",
      };
    case "killed":
    case "pending":
      return { kind: reason };
    default:
      throw bad("an executor must be lost for a known reason", reason);
  }
}

/** Why a task failed, as an executor reports it (parts B and D). */
export function traceFailure(
  event: TraceLine,
  hostOf: (executorId: string) => string,
): { state: "FAILED" | "KILLED"; reason: TaskFailedReason } {
  const failed = (reason: TaskFailedReason) => ({
    state: "FAILED" as const,
    reason,
  });
  switch (event.kind) {
    case "exception":
      return failed({
        reason: "ExceptionFailure",
        className: "java.lang.RuntimeException",
        description: "boom",
        fullStackTrace: "java.lang.RuntimeException: boom",
      });
    case "notSerializable":
      return failed({
        reason: "ExceptionFailure",
        className: "java.io.NotSerializableException",
        description: "Foo",
        fullStackTrace: "st",
      });
    case "fetchFailed":
      return failed(fetchFailure(event, hostOf));
    case "commitDenied":
      return failed({
        reason: "TaskCommitDenied",
        jobId: 0,
        partitionId: 0,
        attemptNumber: 0,
      });
    case "killed":
      return {
        state: "KILLED",
        reason: { reason: "TaskKilled", killReason: "test" },
      };
    case "unknown":
      return failed({ reason: "UnknownReason" });
    default:
      throw bad("a task must fail in a known way", event.kind);
  }
}

/** A fetch failure; without `fromExec` the map output was missing. */
export function fetchFailure(
  event: TraceLine,
  hostOf: (executorId: string) => string,
): TaskFailedReason {
  const executorId: string | null = event.fromExec ?? null;
  return {
    reason: "FetchFailed",
    executorId,
    host: executorId === null ? null : event.fromHost ?? hostOf(executorId),
    shuffleId: event.shuffle ?? 0,
    mapId: event.map ?? 0,
    mapIndex: event.map ?? 0,
    reduceId: event.partition ?? 0,
    message: event.message ?? "ff",
  };
}

/** An event that the format does not have. */
export function unknownEvent(event: TraceLine): InputError {
  return bad("the event must be of a known type", event?.type);
}
