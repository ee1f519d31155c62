/**
 * How an executor sends a task's result to the driver (org.apache.spark.executor.Executor.TaskRunner).
 *
 * @module
 */
import { AKKA_RESERVED_BYTES } from "../../spark/rpc_message.ts";
import type { SparkRules } from "../../spark/versions.ts";

/** The settings that decide, in bytes. */
export interface ResultLimits {
  /** spark.driver.maxResultSize; 0: unlimited. */
  readonly maxResultSize: number;
  /** spark.task.maxDirectResultSize (since 2.0). */
  readonly maxDirectResultSize: number;
  /** spark.rpc.message.maxSize, or spark.akka.frameSize in 1.x (AkkaUtils keeps 200 KiB of it for itself). */
  readonly rpcMessageMaxSize: number;
}

/** The largest result that goes directly: also what `spark.task.maxDirectResultSize` comes down to. */
export function effectiveDirectLimit(
  limits: ResultLimits,
  rules: SparkRules,
): number {
  return rules.results.indirectFrom === "akkaFrame"
    ? limits.rpcMessageMaxSize - AKKA_RESERVED_BYTES - 1
    : Math.min(limits.maxDirectResultSize, limits.rpcMessageMaxSize);
}

/**
 * The way of a result of `resultSize` serialized bytes: dropped when it is above maxResultSize (only its size travels),
 * else indirect (stored as a task-result block that the driver fetches) when it is above the direct limit.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { resultPath } from "./result_path.ts";
 * import { rulesFor } from "../../spark/versions.ts";
 *
 * // Real Executor 2.4.0: equal is not over.
 * const limits = { maxResultSize: 0, maxDirectResultSize: 4000, rpcMessageMaxSize: 128 << 20 };
 * assertEquals([4000, 4001].map((size) => resultPath(size, limits, rulesFor("2.4.0"))), ["direct", "indirect"]);
 * ```
 */
export function resultPath(
  resultSize: number,
  limits: ResultLimits,
  rules: SparkRules,
): "direct" | "indirect" | "dropped" {
  if (limits.maxResultSize > 0 && resultSize > limits.maxResultSize) {
    return "dropped";
  }
  return resultSize > effectiveDirectLimit(limits, rules) ? "indirect" : "direct";
}
