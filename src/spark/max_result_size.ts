/**
 * spark.driver.maxResultSize as the driver compares with it.
 *
 * @module
 */
import type { SparkConf } from "./conf.ts";

const MIB = 2 ** 20;

/**
 * The limit of a task set's results in bytes, 0 for none: before 2.4.0 in whole MiB, so that less than one is no limit
 * (Utils.getMaxResultSize), and before 1.2 there was none (SPARK-3466).
 *
 * @throws {InputError} as SparkConf.getSizeAsBytes does.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "./conf.ts";
 * import { maxResultSizeOf } from "./max_result_size.ts";
 *
 * const limit = (version: string) => maxResultSizeOf(SparkConf.from({ "spark.driver.maxResultSize": "1500k" }, version));
 * assertEquals([limit("2.3.4"), limit("2.4.0")], [1048576, 1536000]);
 * ```
 */
export function maxResultSizeOf(conf: SparkConf): number {
  const { hasMaxResultSize, maxResultSizeInMib } = conf.rules.results;
  if (!hasMaxResultSize) return 0;
  const bytes = conf.getSizeAsBytes("spark.driver.maxResultSize");
  return maxResultSizeInMib ? Math.floor(bytes / MIB) * MIB : bytes;
}
