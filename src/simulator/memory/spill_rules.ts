/**
 * What TaskMemoryManager and its consumers do differently by Spark version, as flags.
 *
 * @module
 */

import type { SparkRules } from "../../spark/versions.ts";

/**
 * The rules of one Spark version. `selfSpill` in full:
 * - `once`: the consumer that asks is told to spill itself exactly once, after all others, whatever it frees, also when
 *   it holds nothing (until 3.1);
 * - `repeated`: again until the request is met or a call frees nothing, since another task may take what was freed
 *   (3.2, SPARK-35486);
 * - `asConsumer`: it stands among the others with key 0, so last, only if it is registered and holds memory, and is
 *   asked until satisfied or a call frees nothing (from 3.3).
 */
export type SpillRules = SparkRules["spilling"];

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
