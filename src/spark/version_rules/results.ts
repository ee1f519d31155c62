/**
 * Rules that differ by version: the path of task results.
 *
 * @module
 */
import { from, rule, type VersionRule } from "../version_rule.ts";

/** Of the path of task results. */
export const RESULTS_RULES: {
  readonly indirectFrom: VersionRule<"akkaFrame" | "maxDirectResultSize">;
  readonly hasMaxResultSize: VersionRule<boolean>;
  readonly maxResultSizeInMib: VersionRule<boolean>;
  readonly mapStagesAbort: VersionRule<boolean>;
  readonly countsValueBytesOnly: VersionRule<boolean>;
  readonly refusedResultIsKilled: VersionRule<boolean>;
  readonly ignoresQueuedResultOfLostExecutor: VersionRule<boolean>;
} = Object.freeze({
  indirectFrom: rule<"akkaFrame" | "maxDirectResultSize">(
    "read",
    null,
    "a result goes by way of the block manager from spark.akka.frameSize less 200 KiB on, or above spark.task.maxDirectResultSize",
    "when a result is near the limit",
    [["1.0", "akkaFrame"], ["2.0", "maxDirectResultSize"]],
  ),
  hasMaxResultSize: from(
    "read",
    "1.2",
    "SPARK-3466",
    "spark.driver.maxResultSize exists",
    "when results add up to more than the limit",
  ),
  maxResultSizeInMib: rule<boolean>(
    "run",
    null,
    "spark.driver.maxResultSize counts in whole MiB, so that less than one is no limit",
    "when spark.driver.maxResultSize is no multiple of 1m",
    [["1.0", true], ["2.4.0", false]],
  ),
  mapStagesAbort: rule<boolean>(
    "run",
    "SPARK-32470",
    "results of shuffle map tasks above spark.driver.maxResultSize abort the stage",
    "when the results of a map stage add up to more than spark.driver.maxResultSize",
    [["1.0", true], ["3.1.0", false]],
  ),
  countsValueBytesOnly: from(
    "run",
    "3.4.0",
    "SPARK-40261",
    "a direct result counts its value towards spark.driver.maxResultSize, without its accumulator updates; one that " +
      "comes too late still takes its whole size off",
    "when direct results add up to about spark.driver.maxResultSize",
  ),
  refusedResultIsKilled: from(
    "run",
    ["2.4.5", "3.0.0"],
    "SPARK-29177",
    "a task whose result was refused ends as TaskKilled; before, its end was never reported",
    "when results add up to more than spark.driver.maxResultSize",
  ),
  ignoresQueuedResultOfLostExecutor: from(
    "run",
    "3.3.0",
    "SPARK-37300",
    "a success that still waits to be fetched when its executor is lost is ignored",
    "when an executor is lost while its results are fetched",
  ),
});
