/**
 * What Spark checks before the first job: settings that it refuses are bad input, in its own words.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { SparkConf } from "./conf.ts";
import { CONF_ENTRIES } from "./conf_entries.ts";
import { javaDoubleText, parseJavaDouble } from "./java_numbers.ts";
import { localMaster } from "./master.ts";
import { collectorOf, sizing, type SizingOptions } from "./sizing.ts";
import { BYTE_UNITS } from "./sizes.ts";
import { EXCEPTIONS, refusalError, type SparkRefusal } from "./spark_refusal.ts";

/** RpcUtils.MAX_MESSAGE_SIZE_IN_MB. */
const MAX_MESSAGE_SIZE_IN_MB = 2047;

/** One check: the refusal, or null. */
type Check = (conf: SparkConf) => SparkRefusal | null;

/**
 * Makes the checks that Spark makes when a SparkContext starts: the type and range of each known property that is set,
 * SparkConf.validateSettings, the limits of RpcUtils, KryoSerializer, TaskSchedulerImpl and ExecutorAllocationManager, and
 * the memory of driver and executors.
 *
 * @param options What {@linkcode sizing} needs to know of the executors' JVM beside the settings.
 * @throws {InputError} `conf.type`, `conf.value`, `conf.memory`, `conf.refused`, `conf.cores`, `sizing.static`.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { checkStartup } from "./startup.ts";
 *
 * checkStartup(SparkConf.from({ "spark.memory.fraction": "0.8" }, "3.5.1"));
 * assertThrows(
 *   () => checkStartup(SparkConf.from({ "spark.memory.fraction": "8" }, "3.5.1")),
 *   TypeError,
 *   "spark.memory.fraction should be between 0 and 1 (was '8.0').",
 * );
 * ```
 */
export function checkStartup(conf: SparkConf, options: Omit<SizingOptions, "conf"> = {}): void {
  for (const check of CHECKS) {
    const refusal = check(conf);
    if (refusal !== null) throw refusalError(refusal);
  }
  checkTypes(conf);
  checkCores(conf, options);
  checkDriverMemory(conf);
  sizing({ ...options, conf });
}

/** The driver has a memory manager too; the collector that leaves it most is assumed unless one is named. */
function checkDriverMemory(conf: SparkConf): void {
  if (localMaster(conf.get("spark.master")) !== null) return;
  sizing({ conf, role: "driver", collector: collectorOf(conf, "driver") ?? "g1" });
}

/** Reads every known property that is set and that this version reads. */
function checkTypes(conf: SparkConf): void {
  for (const [key, { type }] of CONF_ENTRIES) {
    if (!conf.contains(key) || !conf.reads(key)) continue;
    switch (type.kind) {
      case "bytes":
        conf.getSizeAsBytesOption(key);
        break;
      case "time":
        conf.getTimeAsMsOption(key);
        break;
      case "int":
      case "long":
        conf.getIntOption(key);
        break;
      case "double":
        conf.getDoubleOption(key);
        break;
      case "boolean":
        conf.getBoolean(key);
        break;
      case "string":
    }
  }
}

function illegal(message: string, parameters?: Record<string, unknown>): SparkRefusal {
  return {
    code: "conf.refused",
    exception: EXCEPTIONS.illegalArgument,
    message,
    ...(parameters === undefined ? {} : { parameters }),
  };
}

function sparkException(message: string): SparkRefusal {
  return { code: "conf.refused", exception: EXCEPTIONS.spark, message };
}

/** SparkConf.validateSettings: the fractions, which 2.4 to 4.2 refuse with the same words. */
function memoryFractions(conf: SparkConf): SparkRefusal | null {
  for (const key of ["spark.memory.fraction", "spark.memory.storageFraction"]) {
    if (!conf.contains(key)) continue;
    // The context reads them with getDouble; a text that is no double is refused in those words first.
    const text = conf.get(key)!;
    const value = parseJavaDouble(text);
    if (value === null) {
      return {
        code: "conf.type",
        exception: EXCEPTIONS.numberFormat,
        message: `Illegal value for config key ${key}: For input string: "${text}"`,
        parameters: { key, value: text },
      };
    }
    if (value > 1 || value < 0) {
      return illegal(`${key} should be between 0 and 1 (was '${javaDoubleText(value)}').`, { key, value });
    }
  }
  return null;
}

/** SparkConf.validateSettings: options of the executors' JVM that Spark sets itself. */
function javaOptions(conf: SparkConf): SparkRefusal | null {
  for (const key of ["spark.executor.extraJavaOptions", "spark.executor.defaultJavaOptions"]) {
    const options = conf.get(key);
    if (options === null || !conf.reads(key)) continue;
    const about = options.includes("-Dspark")
      ? ["INVALID_EXECUTOR_SPARK_OPTIONS", "is not allowed to set Spark options"]
      : options.includes("-Xmx")
      ? ["INVALID_EXECUTOR_MEMORY_OPTIONS", "is not allowed to specify max heap memory settings"]
      : null;
    if (about === null) continue;
    const advice = about[0] === "INVALID_EXECUTOR_SPARK_OPTIONS"
      ? "Set them directly on a SparkConf or in a properties file when using ./bin/spark-submit."
      : "Use spark.executor.memory instead.";
    const message = `${key} ${about[1]} (was '${options}'). ${advice}`;
    return conf.rules.texts.appendsSqlState ? invalidSparkConfig(about[0], message, EXCEPTIONS.spark) : {
      code: "conf.refused",
      exception: EXCEPTIONS.plain,
      message,
    };
  }
  return null;
}

/** A message of the error class INVALID_SPARK_CONFIG (4.0). */
function invalidSparkConfig(subclass: string, message: string, exception: string): SparkRefusal {
  return {
    code: "conf.refused",
    exception,
    message: `[INVALID_SPARK_CONFIG.${subclass}] Invalid Spark config: ${message} SQLSTATE: 42616`,
  };
}

function deployMode(conf: SparkConf): SparkRefusal | null {
  const mode = conf.get("spark.submit.deployMode");
  if (mode === null || mode === "client" || mode === "cluster") return null;
  const message = 'spark.submit.deployMode can only be "cluster" or "client".';
  return conf.rules.texts.appendsSqlState
    ? invalidSparkConfig("INVALID_SPARK_SUBMIT_DEPLOY_MODE_KEY", message, EXCEPTIONS.spark)
    : sparkException(message);
}

/** SparkConf.validateSettings since 2.3 (SPARK-22754): heartbeats must come before the timeout. */
function heartbeat(conf: SparkConf): SparkRefusal | null {
  const style = conf.rules.texts.heartbeatRefusal;
  if (style === "none") return null;
  const timeout = conf.getTimeAsMs("spark.network.timeout");
  const interval = conf.getTimeAsMs("spark.executor.heartbeatInterval");
  if (style === "seconds") {
    const toSeconds = (ms: number) => Math.trunc(ms / 1000);
    return toSeconds(timeout) > toSeconds(interval) ? null : illegal(
      `requirement failed: The value of spark.network.timeout=${toSeconds(timeout)}s must be no less than the ` +
        `value of spark.executor.heartbeatInterval=${toSeconds(interval)}s.`,
    );
  }
  if (timeout > interval) return null;
  const message = `The value of spark.network.timeout=${timeout}ms must be greater than the value of ` +
    `spark.executor.heartbeatInterval=${interval}ms.`;
  return style === "errorClass"
    ? invalidSparkConfig("INVALID_EXECUTOR_HEARTBEAT_INTERVAL", message, EXCEPTIONS.sparkIllegalArgument)
    : illegal(`requirement failed: ${message}`);
}

/** RpcUtils.maxMessageSizeBytes. */
function rpcMessageSize(conf: SparkConf): SparkRefusal | null {
  if (!conf.reads("spark.rpc.message.maxSize")) return null;
  return conf.getInt("spark.rpc.message.maxSize") <= MAX_MESSAGE_SIZE_IN_MB
    ? null
    : illegal(`spark.rpc.message.maxSize should not be greater than ${MAX_MESSAGE_SIZE_IN_MB} MB`);
}

/** KryoSerializer, when it is the serializer. */
function kryoBuffer(conf: SparkConf): SparkRefusal | null {
  if (!(conf.get("spark.serializer") ?? "").endsWith("KryoSerializer")) return null;
  const key = "spark.kryoserializer.buffer.max";
  const mib = conf.getSizeAsBytes(key) / BYTE_UNITS.MiB;
  if (mib < 2048) return null;
  switch (conf.rules.texts.kryoBufferRefusal) {
    case "mb":
      return illegal(`${key} must be less than 2048 mb, got: + ${mib} mb.`);
    case "MiB":
      return illegal(`${key} must be less than 2048 MiB, got: ${mib} MiB.`);
    case "errorClass":
      return {
        code: "conf.refused",
        exception: EXCEPTIONS.sparkIllegalArgument,
        message: `[INVALID_KRYO_SERIALIZER_BUFFER_SIZE] The value of the config "${key}" must be less than 2048 MiB, ` +
          `but got ${mib} MiB. SQLSTATE: F0000`,
      };
  }
}

/** TaskSchedulerImpl; an enumeration of ConfigBuilder since 4.1. */
function schedulerMode(conf: SparkConf): SparkRefusal | null {
  const mode = conf.get("spark.scheduler.mode")!;
  if (["FIFO", "FAIR", "NONE"].includes(mode.trim().toUpperCase())) return null;
  return conf.rules.memory.confValueError === "errorClass"
    ? {
      code: "conf.value",
      exception: EXCEPTIONS.sparkIllegalArgument,
      message:
        `[INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS] The value '${mode}' in the config "spark.scheduler.mode" is ` +
        `invalid. It should be one of 'FAIR, FIFO, NONE'. SQLSTATE: 22022`,
    }
    : sparkException(`Unrecognized spark.scheduler.mode: ${mode}`);
}

/** ExecutorAllocationManager.validateSettings, when dynamic allocation is on. */
function dynamicAllocation(conf: SparkConf): SparkRefusal | null {
  const key = (name: string) => `spark.dynamicAllocation.${name}`;
  if (!conf.getBoolean(key("enabled")) || localMaster(conf.get("spark.master")) !== null) return null;
  const min = conf.getInt(key("minExecutors"));
  const max = conf.getInt(key("maxExecutors"));
  if (min < 0 || max < 0) {
    return sparkException(
      conf.rules.texts.allocationRefusal === "keys"
        ? `${key("minExecutors")} and ${key("maxExecutors")} must be positive!`
        : `${key("{min/max}Executors")} must be positive!`,
    );
  }
  if (max === 0) return sparkException(`${key("maxExecutors")} cannot be 0!`);
  if (min > max) {
    return sparkException(
      `${key("minExecutors")} (${min}) must be less than or equal to ${key("maxExecutors")} (${max})!`,
    );
  }
  if (conf.getTimeAsMs(key("schedulerBacklogTimeout")) <= 0) {
    return sparkException(`${key("schedulerBacklogTimeout")} must be > 0!`);
  }
  const tracking = conf.reads(key("shuffleTracking.enabled")) && conf.getBoolean(key("shuffleTracking.enabled"));
  if (
    !conf.getBoolean("spark.shuffle.service.enabled") && !tracking && !conf.getBoolean("spark.decommission.enabled")
  ) {
    return sparkException(conf.rules.texts.allocationNeedsShuffleService);
  }
  const ratio = conf.getDoubleOption(key("executorAllocationRatio")) ?? 1;
  return ratio > 1 || ratio <= 0 ? sparkException(`${key("executorAllocationRatio")} must be > 0 and <= 1.0`) : null;
}

/** SparkSubmitArguments.validateSubmitArguments: what must be above 0 when it is given. */
const POSITIVE: readonly (readonly [key: string, what: string])[] = [
  ["spark.executor.cores", "Executor cores"],
  ["spark.cores.max", "Total executor cores"],
  ["spark.executor.instances", "Number of executors"],
];

/** spark-submit refuses these before there is a context; a number of executors is free under dynamic allocation since 3.0. */
function positiveNumbers(conf: SparkConf): SparkRefusal | null {
  for (const [key, what] of POSITIVE) {
    const value = conf.contains(key) ? conf.getIntOption(key) : null;
    if (value === null || value > 0) continue;
    if (key === "spark.executor.instances" && value === 0 && conf.getBoolean("spark.dynamicAllocation.enabled")) {
      continue;
    }
    return { ...sparkException(`${what} must be a positive number`), parameters: { key, value } };
  }
  return null;
}

/**
 * Refuses numbers of cores and executors below 1, which spark-submit refuses.
 *
 * @throws {InputError} `conf.refused`.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { checkPositiveNumbers } from "./startup.ts";
 *
 * const conf = SparkConf.from({ "spark.executor.cores": "0" }, "3.5.1");
 * assertThrows(() => checkPositiveNumbers(conf), TypeError, "Executor cores must be a positive number");
 * ```
 */
export function checkPositiveNumbers(conf: SparkConf): void {
  const refusal = positiveNumbers(conf);
  if (refusal !== null) throw refusalError(refusal);
}

const CHECKS: readonly Check[] = [
  positiveNumbers,
  javaOptions,
  memoryFractions,
  deployMode,
  heartbeat,
  rpcMessageSize,
  kryoBuffer,
  schedulerMode,
  dynamicAllocation,
];

/** A task that needs more cores than an executor has: refused since 3.0; before, no task ever started. */
function checkCores(conf: SparkConf, { cores: given }: Omit<SizingOptions, "conf">): void {
  const local = localMaster(conf.get("spark.master"));
  const cores = given ?? (local !== null ? local.cores : conf.getInt("spark.executor.cores"));
  const cpus = conf.getInt("spark.task.cpus");
  if (cores === null || (given === undefined && local === null && !conf.contains("spark.executor.cores"))) return;
  if (cores >= cpus && cpus > 0) return;
  const parameters = { cores, taskCpus: cpus };
  switch (conf.rules.texts.coresRefusal) {
    case "none":
      throw new InputError(
        "conf.cores",
        `Cannot run tasks: spark.task.cpus must be from 1 to the executor's ${cores} cores, or no task ever starts: ` +
          `received ${cpus}`,
        { parameters },
      );
    case "master":
      throw refusalError({
        ...sparkException(
          `The number of cores per executor (=${cores}) has to be >= the task config: spark.task.cpus = ${cpus} ` +
            `when run on ${conf.get("spark.master") ?? "yarn"}.`,
        ),
        code: "conf.cores",
        parameters,
      });
    case "plain":
      throw refusalError({
        ...sparkException(
          `The number of cores per executor (=${cores}) has to be >= the number of cpus per task = ${cpus}.`,
        ),
        code: "conf.cores",
        parameters,
      });
  }
}
