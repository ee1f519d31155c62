/**
 * Rules that differ by version: a task's memory and spilling.
 *
 * @module
 */
import { from, rule, type VersionRule } from "../version_rule.ts";

/** Of a task's memory and spilling. */
export const SPILLING_RULES: {
  readonly largestFirst: VersionRule<boolean>;
  readonly asksAgain: VersionRule<boolean>;
  readonly selfSpill: VersionRule<"once" | "repeated" | "asConsumer">;
  readonly outOfMemoryText: VersionRule<"plain" | "errorClass" | "errorClassSqlState">;
  readonly sorterTakesArrayInSpill: VersionRule<boolean>;
  readonly exhaustedSorterSpills: VersionRule<boolean>;
  readonly aggregationMapCountsAsSpilled: VersionRule<boolean>;
  readonly recordsPeaksByMode: VersionRule<boolean>;
  readonly emptyRelationTakesNothing: VersionRule<boolean>;
} = Object.freeze({
  largestFirst: from(
    "read",
    "2.2",
    null,
    "the consumer to spill is the smallest that suffices, else the largest; before, they were asked in no order",
    "when several consumers of a task hold memory and one of them needs more",
  ),
  asksAgain: from(
    "read",
    "2.4.0",
    null,
    "a consumer that freed something may be asked again in the same request",
    "when a consumer that has spilled must spill again in the same request",
  ),
  selfSpill: rule<"once" | "repeated" | "asConsumer">(
    "run",
    "SPARK-35486",
    "a requester spills itself once; until nothing is released; or as the last of the consumers, if it holds memory",
    "when a task gets too little memory and what it spills goes to another task",
    [["1.0", "once"], ["3.2.0", "repeated"], ["3.3.0", "asConsumer"]],
  ),
  outOfMemoryText: rule<"plain" | "errorClass" | "errorClassSqlState">(
    "run",
    null,
    "'Unable to acquire N bytes of memory, got M', or '[UNABLE_TO_ACQUIRE_MEMORY] ... got M.', from 4.0 with SQLSTATE",
    "when a task cannot get the memory that it must have",
    [["1.0", "plain"], ["3.4.0", "errorClass"], ["4.0.0", "errorClassSqlState"]],
  ),
  sorterTakesArrayInSpill: rule<boolean>(
    "run",
    "SPARK-32901",
    "UnsafeExternalSorter takes its new pointer array inside of the spill, not when the next record comes",
    "when a sorter of rows spills",
    [["1.0", true], [["2.4.8", "3.0.2"], false]],
  ),
  exhaustedSorterSpills: from(
    "read",
    ["2.4.8", "3.0.2"],
    "SPARK-32911",
    "a sorter that was read to its end still frees its pages when it is told to spill",
    "when a sorter that was read to its end is asked to spill",
  ),
  aggregationMapCountsAsSpilled: from(
    "run",
    "3.0.2",
    "SPARK-31952",
    "the map of a hash aggregation that falls back to sorting counts as memory spilled",
    "when a hash aggregation falls back to sorting",
  ),
  recordsPeaksByMode: from(
    "run",
    "4.0.0",
    null,
    "a task's peak of on-heap and of off-heap execution memory is recorded",
    "in every run: peaks of tasks that take none are 0",
  ),
  emptyRelationTakesNothing: from(
    "read",
    "3.1.0",
    null,
    "a hash join whose build side has no row builds nothing (EmptyHashedRelation); before, it took its first array and page",
    "when the build side of a hash join has no row in some partition",
  ),
});
