/**
 * Rules that differ by version: what event logs record.
 *
 * @module
 */
import { rule, type VersionRule } from "../version_rule.ts";

/** Of what event logs record. */
export const EVENT_LOG_RULES: {
  readonly recordsUpdatedBlocks: VersionRule<"always" | "whenAsked">;
} = Object.freeze({
  recordsUpdatedBlocks: rule<"always" | "whenAsked">(
    "read",
    "SPARK-20084",
    "tasks record the blocks they changed always, or with spark.taskMetrics.trackUpdatedBlockStatuses only",
    "when tasks put blocks or drive some out",
    [["1.0", "always"], ["2.3.0", "whenAsked"]],
  ),
});
