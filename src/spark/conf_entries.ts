/**
 * Every Spark property that the project knows, by name.
 *
 * @module
 */
import type { ConfEntry } from "./conf_entry.ts";
import { EXECUTOR_ENTRIES } from "./conf_entries/executors.ts";
import { MEMORY_ENTRIES } from "./conf_entries/memory.ts";
import { RESULT_ENTRIES } from "./conf_entries/results.ts";
import { SCHEDULING_ENTRIES } from "./conf_entries/scheduling.ts";
import { SHUFFLE_AND_LOG_ENTRIES } from "./conf_entries/shuffle_and_logs.ts";

/**
 * The known properties, in the order of the tables.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { CONF_ENTRIES } from "./conf_entries.ts";
 *
 * assertEquals(CONF_ENTRIES.get("spark.memory.fraction")?.type, { kind: "double" });
 * ```
 */
export const CONF_ENTRIES: ReadonlyMap<string, ConfEntry> = new Map(
  [
    ...MEMORY_ENTRIES,
    ...RESULT_ENTRIES,
    ...SCHEDULING_ENTRIES,
    ...EXECUTOR_ENTRIES,
    ...SHUFFLE_AND_LOG_ENTRIES,
  ].map((entry) => [entry.key, entry]),
);

/**
 * Older names that Spark translates, to the entry that they stand for.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { CONF_ALTERNATIVES } from "./conf_entries.ts";
 *
 * assertEquals(
 *   CONF_ALTERNATIVES.get("spark.yarn.executor.memoryOverhead")?.key,
 *   "spark.executor.memoryOverhead",
 * );
 * ```
 */
export const CONF_ALTERNATIVES: ReadonlyMap<string, ConfEntry> = new Map(
  [...CONF_ENTRIES.values()].flatMap((entry) => entry.alternatives.map(({ key }) => [key, entry] as const)),
);
