/**
 * The sizes at which a task's result changes its way to the driver.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { SparkConf } from "../spark/conf.ts";
import { AKKA_RESERVED_BYTES } from "../spark/rpc_message.ts";
import { BYTE_UNITS } from "../spark/sizes.ts";
import type { Summary } from "./summary.ts";

/** A setting's value; the version's default when the text is none that Spark would take. */
function valueOf(conf: SparkConf, read: (conf: SparkConf) => number): number {
  try {
    return read(conf);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return read(SparkConf.from({}, conf.sparkVersion));
  }
}

function sizeOf(conf: SparkConf, key: string): number {
  return valueOf(conf, (settings) => settings.getSizeAsBytes(key));
}

/** Sizes of messages are whole MiB. */
function mebibytesOf(conf: SparkConf, key: string): number {
  return valueOf(conf, (settings) => settings.getInt(key)) * BYTE_UNITS.MiB;
}

/**
 * Thresholds of a run, in bytes. A result above `effectiveDirectLimit` goes by way of the block manager
 * (org.apache.spark.executor.Executor; before 2.0 the message size alone decided), one above `maxResultSize` (0: none)
 * is dropped at the executor.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { thresholdsOf } from "./thresholds.ts";
 *
 * assertEquals(thresholdsOf(SparkConf.from({ "spark.task.maxDirectResultSize": "100k" }, "3.5.9")), {
 *   maxDirectResultSize: 102400,
 *   rpcMessageMaxSize: 134217728,
 *   effectiveDirectLimit: 102400,
 *   maxResultSize: 1073741824,
 *   defaults: ["spark.rpc.message.maxSize", "spark.driver.maxResultSize"],
 * });
 * ```
 */
export function thresholdsOf(conf: SparkConf): Summary["thresholds"] {
  const maxResultSize = conf.rules.results.hasMaxResultSize ? sizeOf(conf, "spark.driver.maxResultSize") : 0;
  if (conf.rules.results.indirectFrom === "akkaFrame") {
    const rpcMessageMaxSize = mebibytesOf(conf, "spark.akka.frameSize");
    const direct = Math.max(0, rpcMessageMaxSize - AKKA_RESERVED_BYTES - 1);
    return {
      maxDirectResultSize: direct,
      rpcMessageMaxSize,
      effectiveDirectLimit: direct,
      maxResultSize,
      defaults: notSet(conf, ["spark.akka.frameSize", "spark.driver.maxResultSize"]),
    };
  }
  const maxDirectResultSize = sizeOf(conf, "spark.task.maxDirectResultSize");
  const rpcMessageMaxSize = mebibytesOf(conf, "spark.rpc.message.maxSize");
  return {
    maxDirectResultSize,
    rpcMessageMaxSize,
    effectiveDirectLimit: Math.min(maxDirectResultSize, rpcMessageMaxSize),
    maxResultSize,
    defaults: notSet(conf, [
      "spark.task.maxDirectResultSize",
      "spark.rpc.message.maxSize",
      "spark.driver.maxResultSize",
    ]),
  };
}

/** The properties that this version reads and nobody set. */
function notSet(conf: SparkConf, keys: readonly string[]): string[] {
  return keys.filter((key) => conf.reads(key) && conf.source(key) === "default");
}
