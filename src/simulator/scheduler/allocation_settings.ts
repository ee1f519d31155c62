/**
 * The settings of dynamic allocation, resolved from a SparkConf.
 *
 * @module
 */
import { InputError } from "../../errors.ts";
import type { SparkConf } from "../../spark/conf.ts";
import type { SparkRules } from "../../spark/versions.ts";

/** spark.dynamicAllocation.* by what it does. Times are ms. */
export interface AllocationSettings {
  readonly rules: SparkRules;
  /** .minExecutors */
  readonly minExecutors: number;
  /** .maxExecutors */
  readonly maxExecutors: number;
  /** The largest of .initialExecutors, .minExecutors and spark.executor.instances. */
  readonly initialExecutors: number;
  /** .executorAllocationRatio (1 before 2.4) */
  readonly allocationRatio: number;
  /** Tasks that an executor runs at a time: cores / spark.task.cpus. */
  readonly tasksPerExecutor: number;
  /** .schedulerBacklogTimeout */
  readonly backlogTimeoutMs: number;
  /** .sustainedSchedulerBacklogTimeout */
  readonly sustainedBacklogTimeoutMs: number;
  /** .executorIdleTimeout */
  readonly idleTimeoutMs: number;
  /** .cachedExecutorIdleTimeout */
  readonly cachedIdleTimeoutMs: number;
  /** .shuffleTracking.enabled without a shuffle service: .shuffleTracking.timeout; null: shuffles are not tracked. */
  readonly shuffleTimeoutMs: number | null;
}

/**
 * The settings of dynamic allocation; null when it is off. What Spark refuses at start (src/spark/startup.ts) is taken to
 * have been refused.
 *
 * @throws {InputError} `conf.cores` where an executor has fewer cores than a task needs (ExecutorAllocationManager's own check).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../../spark/conf.ts";
 * import { allocationSettings } from "./allocation_settings.ts";
 *
 * assertEquals(allocationSettings(SparkConf.from(), 4), null);
 * const conf = SparkConf.from({ "spark.dynamicAllocation.enabled": "true", "spark.executor.instances": "3" }, "3.5.1");
 * assertEquals(allocationSettings(conf, 4)?.initialExecutors, 3);
 * ```
 */
export function allocationSettings(
  conf: SparkConf,
  coresPerExecutor: number,
): AllocationSettings | null {
  const key = (name: string) => `spark.dynamicAllocation.${name}`;
  if (!conf.getBoolean(key("enabled"))) return null;
  const cpusPerTask = conf.getInt("spark.task.cpus");
  const tasksPerExecutor = Math.floor(coresPerExecutor / cpusPerTask);
  if (!(tasksPerExecutor >= 1)) {
    throw new InputError(
      "conf.cores",
      "Cannot allocate executors: spark.task.cpus must be from 1 to an executor's cores: " +
        `received ${cpusPerTask} with ${coresPerExecutor} cores`,
      { parameters: { cores: coresPerExecutor, taskCpus: cpusPerTask } },
    );
  }
  const minExecutors = conf.getInt(key("minExecutors"));
  const tracksShuffles = conf.reads(key("shuffleTracking.enabled")) &&
    conf.getBoolean(key("shuffleTracking.enabled")) &&
    !conf.getBoolean("spark.shuffle.service.enabled");
  return {
    rules: conf.rules,
    minExecutors,
    maxExecutors: conf.getInt(key("maxExecutors")),
    initialExecutors: Math.max(
      minExecutors,
      conf.getIntOption(key("initialExecutors")) ?? 0,
      conf.getIntOption("spark.executor.instances") ?? 0,
    ),
    allocationRatio: conf.getDoubleOption(key("executorAllocationRatio")) ?? 1,
    tasksPerExecutor,
    backlogTimeoutMs: conf.getTimeAsMs(key("schedulerBacklogTimeout")),
    sustainedBacklogTimeoutMs: conf.getTimeAsMs(key("sustainedSchedulerBacklogTimeout")),
    idleTimeoutMs: conf.getTimeAsMs(key("executorIdleTimeout")),
    cachedIdleTimeoutMs: conf.getTimeAsMs(key("cachedExecutorIdleTimeout")),
    shuffleTimeoutMs: tracksShuffles ? conf.getTimeAsMs(key("shuffleTracking.timeout")) : null,
  };
}
