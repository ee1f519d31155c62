/**
 * The settings that the driver's scheduler reads, resolved from a SparkConf.
 *
 * @module
 */
import { InputError } from "../../errors.ts";
import type { SparkConf } from "../../spark/conf.ts";
import { INT_MAX } from "../../spark/conf_entry.ts";
import { maxResultSizeOf } from "../../spark/max_result_size.ts";
import type { SparkRules } from "../../spark/versions.ts";
import { DEFAULT_POOL, newPool, type PoolSettings } from "./pool.ts";

/** Settings by what they do; the comment names the property. Sizes are bytes, times ms. */
export interface SchedulerSettings {
  readonly rules: SparkRules;
  /** spark.scheduler.mode FAIR: the pools there are at the start, in order. Null: FIFO. */
  readonly fairPools: readonly PoolSettings[] | null;
  /** spark.task.maxFailures */
  readonly maxTaskFailures: number;
  /** spark.task.cpus */
  readonly cpusPerTask: number;
  /** spark.driver.maxResultSize; 0: unlimited. */
  readonly maxResultSize: number;
  /** spark.shuffle.service.enabled */
  readonly externalShuffleService: boolean;
  /** spark.files.fetchFailure.unRegisterOutputOnHost */
  readonly unRegisterOutputOnHost: boolean;
  /** spark.shuffle.useOldFetchProtocol */
  readonly useOldFetchProtocol: boolean;
  /** spark.stage.maxConsecutiveAttempts */
  readonly maxConsecutiveStageAttempts: number;
  /** spark.stage.maxAttempts, not below maxConsecutiveStageAttempts. */
  readonly maxStageAttempts: number;
  /** spark.locality.wait.process, .node and .rack, each with spark.locality.wait as its default. */
  readonly localityWaitMs: {
    readonly process: number;
    readonly node: number;
    readonly rack: number;
  };
  /** spark.locality.wait.legacyResetOnTaskLaunch */
  readonly legacyLocalityReset: boolean;
  /** spark.speculation and what belongs to it; null: off. */
  readonly speculation: SpeculationSettings | null;
}

/** spark.speculation.* */
export interface SpeculationSettings {
  /** .interval: how often TaskSchedulerImpl.checkSpeculatableTasks is to be called. */
  readonly intervalMs: number;
  /** .quantile */
  readonly quantile: number;
  /** .multiplier */
  readonly multiplier: number;
  /** .minTaskRuntime (100 ms before 3.2) */
  readonly minTaskRuntimeMs: number;
  /** .task.duration.threshold; null: none. */
  readonly taskDurationThresholdMs: number | null;
  /** Task slots of one executor, for the rule of the threshold. */
  readonly slotsPerExecutor: number;
  /** .efficiency.*; null: off. */
  readonly efficiency: {
    readonly processRateMultiplier: number;
    readonly longRunTaskFactor: number;
  } | null;
}

/** Stage attempts in a row before spark.stage.maxConsecutiveAttempts came (2.2). */
const MAX_CONSECUTIVE_STAGE_ATTEMPTS = 4;
/** Least run time of a task that gets a copy before spark.speculation.minTaskRuntime came (3.2). */
const MIN_TIME_TO_SPECULATION_MS = 100;

/**
 * The scheduler's settings. `coresPerExecutor` is for the rule that speculates stages of few tasks, `pools` stand for what
 * the file of spark.scheduler.allocation.file describes (null: there is none); a pool that is not among them gets FIFO,
 * weight 1 and no minimum.
 *
 * @throws {InputError} `conf.unsupported` for another mode of scheduling; `pool.duplicate` for two pools of one name; and as
 * SparkConf's getters do.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../../spark/conf.ts";
 * import { schedulerSettings } from "./settings.ts";
 *
 * const settings = schedulerSettings(SparkConf.from({ "spark.locality.wait": "1s" }, "3.5.1"), 4);
 * assertEquals([settings.localityWaitMs.node, settings.maxTaskFailures], [1000, 4]);
 * ```
 */
export function schedulerSettings(
  conf: SparkConf,
  coresPerExecutor: number,
  pools: readonly PoolSettings[] | null = null,
): SchedulerSettings {
  const maxConsecutiveStageAttempts = conf.getIntOption("spark.stage.maxConsecutiveAttempts") ??
    MAX_CONSECUTIVE_STAGE_ATTEMPTS;
  const cpusPerTask = conf.getInt("spark.task.cpus");
  return {
    rules: conf.rules,
    fairPools: fairPools(conf, pools),
    maxTaskFailures: conf.getInt("spark.task.maxFailures"),
    cpusPerTask,
    maxResultSize: maxResultSizeOf(conf),
    externalShuffleService: conf.getBoolean("spark.shuffle.service.enabled"),
    unRegisterOutputOnHost: conf.getBoolean("spark.files.fetchFailure.unRegisterOutputOnHost"),
    useOldFetchProtocol: conf.getBoolean("spark.shuffle.useOldFetchProtocol"),
    maxConsecutiveStageAttempts,
    maxStageAttempts: Math.max(
      maxConsecutiveStageAttempts,
      conf.getIntOption("spark.stage.maxAttempts") ?? INT_MAX,
    ),
    localityWaitMs: {
      process: conf.getTimeAsMs("spark.locality.wait.process"),
      node: conf.getTimeAsMs("spark.locality.wait.node"),
      rack: conf.getTimeAsMs("spark.locality.wait.rack"),
    },
    legacyLocalityReset: conf.getBoolean("spark.locality.wait.legacyResetOnTaskLaunch"),
    speculation: conf.getBoolean("spark.speculation")
      ? speculationSettings(conf, Math.max(1, Math.floor(coresPerExecutor / cpusPerTask)))
      : null,
  };
}

function speculationSettings(
  conf: SparkConf,
  slotsPerExecutor: number,
): SpeculationSettings {
  const key = (name: string) => `spark.speculation.${name}`;
  return {
    intervalMs: conf.getTimeAsMs(key("interval")),
    quantile: conf.getDouble(key("quantile")),
    multiplier: conf.getDouble(key("multiplier")),
    minTaskRuntimeMs: conf.getTimeAsMsOption(key("minTaskRuntime")) ?? MIN_TIME_TO_SPECULATION_MS,
    taskDurationThresholdMs: conf.getTimeAsMsOption(key("task.duration.threshold")),
    slotsPerExecutor,
    efficiency: conf.rules.scheduler.checksEfficiency && conf.getBoolean(key("efficiency.enabled"))
      ? {
        processRateMultiplier: conf.getDouble(key("efficiency.processRateMultiplier")),
        longRunTaskFactor: conf.getDouble(key("efficiency.longRunTaskFactor")),
      }
      : null,
  };
}

/** The pools under FAIR, null under FIFO. */
function fairPools(conf: SparkConf, described: readonly PoolSettings[] | null): readonly PoolSettings[] | null {
  const mode = conf.get("spark.scheduler.mode") ?? "FIFO";
  switch (mode.trim().toUpperCase()) {
    case "FIFO":
      return null;
    case "FAIR":
      break;
    default:
      throw new InputError(
        "conf.unsupported",
        "Cannot simulate with spark.scheduler.mode: must be FIFO or FAIR, as jobs are scheduled by nothing else in the " +
          `simulation: received ${mode}`,
        { parameters: { key: "spark.scheduler.mode", value: mode } },
      );
  }
  const names = new Set<string>();
  for (const { name } of described ?? []) {
    if (names.has(name)) {
      throw new InputError(
        "pool.duplicate",
        `Cannot schedule by pools: names must be different: received ${JSON.stringify(name)} twice`,
        { parameters: { name } },
      );
    }
    names.add(name);
  }
  if (names.has(DEFAULT_POOL)) return described;
  const isFair = described === null && conf.rules.scheduler.defaultPoolIsFair;
  return [...described ?? [], { ...newPool(DEFAULT_POOL), schedulingMode: isFair ? "FAIR" : "FIFO" }];
}
