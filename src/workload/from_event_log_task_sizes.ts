/**
 * How large a stage's serialized tasks may be, from the time that the driver took over them.
 *
 * @module
 */

/**
 * What the driver serializes a ms at the start of an application, before its code is compiled: tasks of 2 MiB took 6 to
 * 8 ms each (Spark 3.5.9). A busy driver takes longer, so this is a guess within a factor of several.
 */
const SERIALIZED_BYTES_PER_MS = 350_000;

/** Time between two launches of small tasks, ms. */
const SMALL_TASK_MS = 1;

/** Tasks that were launched one after another in one offer come so close, ms. */
const SAME_OFFER_MS = 200;

/** Below this nothing is said: spark.rpc.message.maxSize cannot be set lower. */
const MIN_BYTES = 1024 * 1024;

/** What {@linkcode serializedTaskBytes} looks at. */
export interface TaskSizeInput {
  /** Launch times of the stage's first tasks, in order, ms. */
  readonly launches: readonly number[];
  /** Tasks that the executors could take at once. */
  readonly slots: number;
  /** spark.rpc.message.maxSize in force, which no task that was launched exceeded, bytes. */
  readonly limit: number;
}

/**
 * A guess at the size of a serialized task of a stage whose partitions carry data from the driver (parallelize of a
 * collection), or null when nothing speaks for large ones. No event holds the size: TaskSetManager only warns of it in
 * the driver's log. But the driver serializes the tasks of an offer one after another, and each is stamped before that
 * (TaskSetManager.resourceOffer).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { serializedTaskBytes } from "./from_event_log_task_sizes.ts";
 *
 * const limit = 128 * 1024 * 1024;
 * assertEquals(serializedTaskBytes({ launches: [0, 18, 26, 32], slots: 4, limit }), 1_750_000);
 * assertEquals(serializedTaskBytes({ launches: [0, 24, 25, 26], slots: 4, limit }), null);
 * ```
 */
export function serializedTaskBytes({ launches, slots, limit }: TaskSizeInput): number | null {
  const gaps: number[] = [];
  // The first task also loads classes.
  for (let i = 2; i < Math.min(launches.length, slots); i++) {
    const gap = launches[i] - launches[i - 1];
    if (gap > SAME_OFFER_MS) break;
    gaps.push(gap);
  }
  if (gaps.length < 2) return null;
  const bytes = (Math.min(...gaps) - SMALL_TASK_MS) * SERIALIZED_BYTES_PER_MS;
  return bytes < MIN_BYTES ? null : Math.min(bytes, limit);
}
