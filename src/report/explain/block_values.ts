/**
 * What messages about blocks have in common.
 *
 * @module
 */
import type { MessageValues } from "./message_kind.ts";

/** Properties that decide how much can be cached. */
export const CACHE_SETTINGS: readonly string[] = [
  "spark.executor.memory",
  "spark.memory.fraction",
  "spark.memory.storageFraction",
  "spark.memory.offHeap.size",
];

/**
 * What a block's name says: rdd_7_3 is partition 3 of RDD 7.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { blockValues } from "./block_values.ts";
 *
 * assertEquals(blockValues("rdd_7_3"), { block: "rdd_7_3", rddId: 7, partition: 3 });
 * ```
 */
export function blockValues(block: string): MessageValues {
  const rdd = /^rdd_(\d+)_(\d+)$/.exec(block);
  return rdd === null ? { block } : { block, rddId: Number(rdd[1]), partition: Number(rdd[2]) };
}
