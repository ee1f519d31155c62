/**
 * What the simulation reads from a SparkConf.
 *
 * @module
 */
import type { UnrollSettings } from "../kernel/types.ts";
import type { SparkConf } from "../spark/conf.ts";
import type { PoolSettings } from "./scheduler/pool.ts";
import type { ResultLimits } from "./scheduler/result_path.ts";
import { type SchedulerSettings, schedulerSettings } from "./scheduler/settings.ts";

/** All settings of a simulation but those of the executors' memory. */
export interface SimulationSettings {
  readonly scheduler: SchedulerSettings;
  readonly results: ResultLimits;
  readonly unroll: UnrollSettings;
  /** spark.broadcast.blockSize, bytes. */
  readonly broadcastBlockSize: number;
  /** spark.scheduler.revive.interval, ms. */
  readonly reviveIntervalMs: number;
  /** spark.unsafe.exceptionOnMemoryLeak. */
  readonly exceptionOnMemoryLeak: boolean;
}

/**
 * The settings, with the defaults of the conf's version. `pools` are those of {@linkcode schedulerSettings}.
 *
 * @throws {InputError} `conf.unsupported`, `pool.duplicate`, and as SparkConf's getters do.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { simulationSettings } from "./settings.ts";
 *
 * const { results, scheduler } = simulationSettings(SparkConf.from({ "spark.driver.maxResultSize": "2g" }, "3.5.1"), 4);
 * assertEquals([results.maxResultSize, results.maxDirectResultSize], [2147483648, 1048576]);
 * assertEquals(scheduler.maxTaskFailures, 4);
 * ```
 */
export function simulationSettings(
  conf: SparkConf,
  coresPerExecutor: number,
  pools: readonly PoolSettings[] | null = null,
): SimulationSettings {
  return {
    scheduler: schedulerSettings(conf, coresPerExecutor, pools),
    results: resultLimits(conf),
    unroll: {
      memoryThreshold: conf.getInt("spark.storage.unrollMemoryThreshold"),
      checkPeriod: optionalNumber(conf, "spark.storage.unrollMemoryCheckPeriod", 16),
      growthFactor: optionalNumber(conf, "spark.storage.unrollMemoryGrowthFactor", 1.5),
    },
    broadcastBlockSize: conf.getSizeAsBytes("spark.broadcast.blockSize"),
    reviveIntervalMs: conf.getTimeAsMs("spark.scheduler.revive.interval"),
    exceptionOnMemoryLeak: conf.getBoolean("spark.unsafe.exceptionOnMemoryLeak"),
  };
}

/** The thresholds of a task result, bytes. */
export function resultLimits(conf: SparkConf): ResultLimits {
  const rpc = conf.reads("spark.rpc.message.maxSize") ? "spark.rpc.message.maxSize" : "spark.akka.frameSize";
  return {
    maxResultSize: conf.getSizeAsBytes("spark.driver.maxResultSize"),
    maxDirectResultSize: conf.reads("spark.task.maxDirectResultSize")
      ? conf.getSizeAsBytes("spark.task.maxDirectResultSize")
      : Number.MAX_SAFE_INTEGER,
    rpcMessageMaxSize: conf.getInt(rpc) * 1024 * 1024,
  };
}

function optionalNumber(conf: SparkConf, key: string, otherwise: number): number {
  const text = conf.reads(key) ? conf.get(key) : null;
  return text === null ? otherwise : Number(text);
}
