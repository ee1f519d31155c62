/**
 * Sizes of task results that the driver refused: the log has no metrics of their tasks, only the sum in the message that
 * ended the stage.
 *
 * @module
 */
import { DIRECT_RESULT_OVERHEAD } from "../simulator/task_runner.ts";
import type { Column } from "../simulator/workload.ts";
import { printedSize } from "../spark/sizes.ts";

const TOO_LARGE = /Total size of serialized results of (\d+) tasks \(([^)]+)\) is bigger than /;

/** What {@linkcode withRefusedResults} looks at. */
export interface RefusedResults {
  /** Result sizes by partition, filled in where no task succeeded. */
  readonly resultBytes: Column;
  /** Partitions of which no task succeeded. */
  readonly unknown: ReadonlySet<number>;
  /** Why attempts of the stage failed. */
  readonly failureReasons: readonly (string | null)[];
  /** A direct result counts its value only (results.countsValueBytesOnly). */
  readonly countsValueBytesOnly: boolean;
  /** Results above this go by way of the block manager and count whole, bytes. */
  readonly effectiveDirectLimit: number;
}

/**
 * The result sizes with those of refused results in place of a guess: what the message's sum leaves, shared by the
 * results that it counts and no metrics tell. null when no message tells anything.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { withRefusedResults } from "./from_event_log_refused_results.ts";
 *
 * const message = "Job aborted due to stage failure: Total size of serialized results of 4 tasks (6.0 MiB) is bigger " +
 *   "than spark.driver.maxResultSize (5.0 MiB)";
 * const sizes = withRefusedResults({
 *   resultBytes: Float64Array.of(1048576, 1048576, 1048576, 1048576),
 *   unknown: new Set([1, 3]),
 *   failureReasons: [message],
 *   countsValueBytesOnly: false,
 *   effectiveDirectLimit: 1048576,
 * });
 * assertEquals(sizes, Float64Array.of(1048576, 2097152, 1048576, 2097152)); // 6 MiB less 2, by two
 * ```
 */
export function withRefusedResults(results: RefusedResults): Column | null {
  const { resultBytes, unknown, failureReasons, countsValueBytesOnly, effectiveDirectLimit } = results;
  const match = failureReasons.map((reason) => TOO_LARGE.exec(reason ?? "")).find((found) => found !== null);
  const total = match === undefined ? null : printedSize(match[2]);
  if (match === undefined || total === null || unknown.size === 0) return null;
  const valueOnly = (bytes: number) => countsValueBytesOnly && bytes <= effectiveDirectLimit;
  let left = (total.min + total.max) / 2;
  for (let partition = 0; partition < resultBytes.length; partition++) {
    if (unknown.has(partition)) continue;
    const bytes = resultBytes[partition];
    left -= valueOnly(bytes) ? Math.max(0, bytes - DIRECT_RESULT_OVERHEAD) : bytes;
  }
  const counted = Number(match[1]) - (resultBytes.length - unknown.size);
  if (counted <= 0 || left <= 0) return null;
  const each = Math.round(left / counted);
  const bytes = each + (valueOnly(each) ? DIRECT_RESULT_OVERHEAD : 0);
  return resultBytes.map((known, partition) => unknown.has(partition) ? bytes : known);
}
