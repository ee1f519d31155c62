/**
 * What TaskMemoryManager and its consumers do differently by Spark version, as flags.
 *
 * @module
 */

/** The rules of one Spark version; the field names are those of `spilling` in src/spark/versions.ts. */
export interface SpillRules {
  /** The consumer to spill is the smallest that suffices, else the largest; before 2.2, they were asked in no order. */
  readonly largestFirst: boolean;
  /** A consumer that freed something may be asked again in the same request (since 2.4.0). */
  readonly asksAgain: boolean;
  /**
   * When the consumer that asks for memory is made to spill itself, after all others:
   * - `once`: exactly one call, whatever it frees, also for a consumer that holds nothing (until 3.1);
   * - `repeated`: again until the request is met or a call frees nothing, since another task may take what was freed
   *   (3.2, SPARK-35486);
   * - `asConsumer`: it stands among the others with key 0, so last, only if it is registered and holds memory, and is
   *   asked until satisfied or a call frees nothing (from 3.3).
   */
  readonly selfSpill: "once" | "repeated" | "asConsumer";
  /** How the out-of-memory message reads: plain, with its error class (3.4), and with a SQLSTATE (4.0). */
  readonly outOfMemoryText: "plain" | "errorClass" | "errorClassSqlState";
  /**
   * UnsafeExternalSorter takes its new pointer array inside the spill (until 2.4.7 and 3.0.1, SPARK-32901); later it
   * takes one when the next record comes.
   */
  readonly sorterTakesArrayInSpill: boolean;
  /** A sorter that was read to its end still frees its pages when told to spill (since 2.4.8 and 3.0.2, SPARK-32911). */
  readonly exhaustedSorterSpills: boolean;
  /** The map of a hash aggregation that falls back to sorting counts as memory spilled (since 3.0.2, SPARK-31952). */
  readonly aggregationMapCountsAsSpilled: boolean;
}

/** Spark 2.4.0, the reference. */
export const SPILL_RULES_2_4: SpillRules = {
  largestFirst: true,
  asksAgain: true,
  selfSpill: "once",
  outOfMemoryText: "plain",
  sorterTakesArrayInSpill: true,
  exhaustedSorterSpills: false,
  aggregationMapCountsAsSpilled: false,
};

/** Spark 3.5. */
export const SPILL_RULES_3_5: SpillRules = {
  largestFirst: true,
  asksAgain: true,
  selfSpill: "asConsumer",
  outOfMemoryText: "errorClass",
  sorterTakesArrayInSpill: false,
  exhaustedSorterSpills: true,
  aggregationMapCountsAsSpilled: true,
};

/**
 * Message of the SparkOutOfMemoryError of a consumer that needs `required` bytes and got fewer
 * (MemoryConsumer.throwOom; error class UNABLE_TO_ACQUIRE_MEMORY).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { outOfMemoryMessage } from "./spill_rules.ts";
 *
 * assertEquals(outOfMemoryMessage(65536, 0, "plain"), "Unable to acquire 65536 bytes of memory, got 0");
 * ```
 */
export function outOfMemoryMessage(
  required: number,
  got: number,
  text: SpillRules["outOfMemoryText"],
): string {
  const plain = `Unable to acquire ${required} bytes of memory, got ${got}`;
  if (text === "plain") return plain;
  const withClass = `[UNABLE_TO_ACQUIRE_MEMORY] ${plain}.`;
  return text === "errorClass" ? withClass : `${withClass} SQLSTATE: 53200`;
}
