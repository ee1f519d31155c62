/**
 * Rules that differ by version: the units in messages, and the words of refusals.
 *
 * @module
 */
import { from, rule, type VersionRule } from "../version_rule.ts";

/** Of the units in messages, and the words of refusals. */
export const TEXTS_RULES: {
  readonly appendsSqlState: VersionRule<boolean>;
  readonly unitStyle: VersionRule<"MB" | "MiB">;
  readonly heartbeatRefusal: VersionRule<"none" | "seconds" | "milliseconds" | "errorClass">;
  readonly kryoBufferRefusal: VersionRule<"mb" | "MiB" | "errorClass">;
  readonly coresRefusal: VersionRule<"none" | "master" | "plain">;
  readonly allocationRefusal: VersionRule<"plain" | "keys">;
  readonly allocationNeedsShuffleService: VersionRule<string>;
} = Object.freeze({
  appendsSqlState: from(
    "read",
    "4.0.0",
    null,
    "messages with an error class end with its SQLSTATE",
    "when Spark refuses something with an error class",
  ),
  unitStyle: rule<"MB" | "MiB">(
    "run",
    "SPARK-25696",
    "sizes in messages read KB, MB, GB, or KiB, MiB, GiB (1024-based in both)",
    "when sizes are printed in messages",
    [["1.0", "MB"], ["3.0.0", "MiB"]],
  ),
  heartbeatRefusal: rule<"none" | "seconds" | "milliseconds" | "errorClass">(
    "read",
    "SPARK-22754",
    "how a heartbeat interval that is not below spark.network.timeout is refused",
    "when the heartbeat interval is refused",
    [["1.0", "none"], ["2.3.0", "seconds"], ["3.0.0", "milliseconds"], ["4.0.0", "errorClass"]],
  ),
  kryoBufferRefusal: rule<"mb" | "MiB" | "errorClass">(
    "read",
    null,
    "how a spark.kryoserializer.buffer.max from 2 GiB on is refused",
    "when spark.kryoserializer.buffer.max is refused",
    [["1.0", "mb"], ["3.0.0", "MiB"], ["4.0.0", "errorClass"]],
  ),
  coresRefusal: rule<"none" | "master" | "plain">(
    "read",
    null,
    "how more cpus per task than cores per executor are refused; before 3.0 no task ever starts",
    "when a task needs more cores than an executor has",
    [["1.0", "none"], ["3.0.0", "master"], ["3.1.0", "plain"]],
  ),
  allocationRefusal: rule<"plain" | "keys">(
    "read",
    null,
    "whether refusals of dynamic allocation name the properties in full",
    "when settings of dynamic allocation are refused",
    [["1.0", "plain"], ["3.0.0", "keys"]],
  ),
  allocationNeedsShuffleService: rule<string>(
    "read",
    null,
    "how dynamic allocation without anything that keeps shuffle files is refused",
    "when dynamic allocation is refused",
    [
      [
        "1.0",
        "Dynamic allocation of executors requires the external shuffle service. You may enable this through " +
        "spark.shuffle.service.enabled.",
      ],
      [
        "3.5.0",
        "Dynamic allocation of executors requires one of the following conditions: 1) enabling external shuffle " +
        "service through spark.shuffle.service.enabled. 2) enabling shuffle tracking through " +
        "spark.dynamicAllocation.shuffleTracking.enabled. 3) enabling shuffle blocks decommission through " +
        "spark.decommission.enabled and spark.storage.decommission.shuffleBlocks.enabled. 4) (Experimental) " +
        "configuring spark.shuffle.sort.io.plugin.class to use a custom ShuffleDataIO who's " +
        "ShuffleDriverComponents supports reliable storage.",
      ],
    ],
  ),
});
