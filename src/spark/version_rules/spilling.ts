/**
 * Rules that differ by version: a task's memory and spilling.
 *
 * @module
 */
import { from, rule } from "../version_rule.ts";

/** Of a task's memory and spilling. */
export const SPILLING_RULES = Object.freeze({
  largestFirst: from(
    "read",
    "2.2",
    null,
    "the consumer to spill is the smallest that suffices, else the largest; before, they were asked in no order",
  ),
  selfSpill: rule<"once" | "repeated" | "asConsumer">(
    "run",
    "SPARK-35486",
    "a requester spills itself once; until nothing is released; or as the last of the consumers, if it holds memory",
    [["1.0", "once"], ["3.2.0", "repeated"], ["3.3.0", "asConsumer"]],
  ),
  outOfMemoryText: rule<"plain" | "errorClass">(
    "run",
    null,
    "'Unable to acquire N bytes of memory, got M', or '[UNABLE_TO_ACQUIRE_MEMORY] ... got M.'",
    [["1.0", "plain"], ["3.4.0", "errorClass"]],
  ),
  recordsPeaksByMode: from(
    "run",
    "4.0.0",
    null,
    "a task's peak of on-heap and of off-heap execution memory is recorded",
  ),
});
