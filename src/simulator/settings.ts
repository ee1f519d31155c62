/**
 * What the simulation reads from a SparkConf.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { UnrollSettings } from "../kernel/types.ts";
import type { SparkConf } from "../spark/conf.ts";
import { INT_MAX } from "../spark/conf_entry.ts";
import { maxResultSizeOf } from "../spark/max_result_size.ts";
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
  /** Stages of queries that read a shuffle output run again in full when it changes (since 4.1). */
  readonly retriesOnChecksumMismatch: boolean;
  /** Tasks record the blocks that they change: before 2.3, later with spark.taskMetrics.trackUpdatedBlockStatuses. */
  readonly tracksUpdatedBlocks: boolean;
}

/**
 * The settings, with the defaults of the conf's version. `pools` are those of {@linkcode schedulerSettings}.
 *
 * @throws {InputError} `conf.unsupported`, `conf.value`, `pool.duplicate`, and as SparkConf's getters do.
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
  for (const key of POSITIVE) checkPositive(conf, key);
  return {
    scheduler: schedulerSettings(conf, coresPerExecutor, pools),
    results: resultLimits(conf),
    unroll: {
      memoryThreshold: conf.getInt("spark.storage.unrollMemoryThreshold"),
      // No partition has so many elements that a longer period would differ.
      checkPeriod: Math.min(conf.getIntOption("spark.storage.unrollMemoryCheckPeriod") ?? CHECK_PERIOD, INT_MAX),
      growthFactor: unrollGrowthFactor(conf),
    },
    broadcastBlockSize: conf.getSizeAsBytes("spark.broadcast.blockSize"),
    reviveIntervalMs: conf.getTimeAsMs("spark.scheduler.revive.interval"),
    exceptionOnMemoryLeak: conf.getBoolean("spark.unsafe.exceptionOnMemoryLeak"),
    retriesOnChecksumMismatch: conf.rules.scheduler.checksumRollback !== "never" &&
      conf.getBoolean("spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch"),
    tracksUpdatedBlocks: conf.rules.eventLog.recordsUpdatedBlocks === "always" ||
      conf.getBoolean("spark.taskMetrics.trackUpdatedBlockStatuses"),
  };
}

/** What both settings of unrolling were before they could be set (2.3). */
const CHECK_PERIOD = 16;
const GROWTH_FACTOR = 1.5;

/** Largest spark.storage.unrollMemoryGrowthFactor: what is asked for stays a whole number that is exact. */
const MAX_GROWTH_FACTOR = 1000;

/** Below 1 MemoryStore.putIterator would ask for a negative amount, which the memory manager's assertions refuse. */
function unrollGrowthFactor(conf: SparkConf): number {
  const key = "spark.storage.unrollMemoryGrowthFactor";
  const value = conf.getDoubleOption(key) ?? GROWTH_FACTOR;
  if (value >= 1 && value <= MAX_GROWTH_FACTOR) return value;
  throw new InputError(
    "conf.value",
    `Cannot simulate with ${key}: must be from 1 to ${MAX_GROWTH_FACTOR}: received ${value}`,
    {
      parameters: { key, value },
    },
  );
}

/** Sizes, periods and factors with which Spark does not get anywhere, or fails in the middle, unless they are above 0. */
const POSITIVE = [
  "spark.broadcast.blockSize",
  "spark.scheduler.revive.interval",
  "spark.speculation.interval",
  "spark.storage.unrollMemoryThreshold",
  "spark.storage.unrollMemoryCheckPeriod",
  "spark.task.cpus",
] as const;

function checkPositive(conf: SparkConf, key: string): void {
  const text = conf.reads(key) ? conf.get(key) : null;
  if (text === null || !(Number.parseFloat(text) <= 0)) return;
  throw new InputError("conf.value", `Cannot simulate with ${key}: must be above 0: received ${text}`, {
    parameters: { key, value: text },
  });
}

/** The thresholds of a task result, bytes. */
export function resultLimits(conf: SparkConf): ResultLimits {
  const rpc = conf.reads("spark.rpc.message.maxSize") ? "spark.rpc.message.maxSize" : "spark.akka.frameSize";
  return {
    maxResultSize: maxResultSizeOf(conf),
    maxDirectResultSize: conf.reads("spark.task.maxDirectResultSize")
      ? conf.getSizeAsBytes("spark.task.maxDirectResultSize")
      : Number.MAX_SAFE_INTEGER,
    rpcMessageMaxSize: conf.getInt(rpc) * 1024 * 1024,
  };
}
