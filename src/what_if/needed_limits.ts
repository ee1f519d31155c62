/**
 * Limits that a job dies of, whatever its memory: spark.driver.maxResultSize and spark.rpc.message.maxSize.
 *
 * @module
 */
import type { Summary } from "../report/summary.ts";
import { size } from "../report/verdict/finding.ts";
import type { Workload } from "../simulator/workload.ts";
import { SparkConf } from "../spark/conf.ts";
import type { Changed, Changes } from "./apply_changes.ts";
import { memoryText } from "./memory_candidates.ts";

const MIB = 1024 * 1024;
/** Room above what was seen: results of other days are larger. */
const HEADROOM = 1.25;
/** Results beyond this share of the driver's heap are not to be collected. */
const DRIVER_SHARE = 0.5;

/** Limits to set, and why. */
export interface NeededLimits {
  readonly conf: Readonly<Record<string, string>>;
  readonly why: Readonly<Record<string, string>>;
}

/** What the limits are found with. */
export interface LimitSearch {
  readonly workload: Workload;
  /** Most of the driver's heap that was seen in use, bytes; null when the log has none. */
  readonly driverPeak: number | null;
  /** Runs the job under changes. */
  readonly run: (changes: Changes) => Generator<Changed, { readonly summary: Summary }, Summary>;
}

/** The limits that a run failed of; empty when it failed of none. */
export function* neededLimits(summary: Summary, search: LimitSearch): Generator<Changed, NeededLimits, Summary> {
  const reason = summary.outcome.reason ?? "";
  if (reason.includes("spark.driver.maxResultSize")) {
    const unlimited = yield* search.run({ conf: { "spark.driver.maxResultSize": "0" } });
    return maxResultSize(unlimited.summary, search);
  }
  const task = /was (\d+) bytes, which exceeds max allowed: spark\.rpc\.message\.maxSize/.exec(reason);
  if (task === null) return { conf: {}, why: {} };
  const key = "spark.rpc.message.maxSize";
  const mib = Math.floor(Number(task[1]) / MIB) + 1;
  const why =
    `a serialized task of ${size(Number(task[1]))} must be smaller than a message; a broadcast variable or a file ` +
    "in place of data in the closure is the better answer";
  return { conf: { [key]: String(mib) }, why: { [key]: why } };
}

function maxResultSize(unlimited: Summary, { workload, driverPeak }: LimitSearch): NeededLimits {
  const key = "spark.driver.maxResultSize";
  const largest = Math.max(...unlimited.stages.map(({ resultBytes }) => resultBytes ?? 0));
  const mib = Math.ceil((largest * HEADROOM) / MIB);
  const heap = SparkConf.from(workload.conf, workload.sparkVersion || undefined).getSizeAsBytes("spark.driver.memory");
  const beside = driverPeak === null ? "" : ` beside the ${size(driverPeak)} that were seen in use`;
  const tooMuch = largest > heap * DRIVER_SHARE || largest + (driverPeak ?? 0) > heap;
  const why = `the results of one stage add up to ${size(largest)}` +
    (tooMuch
      ? `: too much for the driver's heap of ${
        size(heap)
      }${beside}, so raising the limit alone is not the right answer; ` +
        "write the result to storage, collect less of it, or raise spark.driver.memory as well"
      : `, which the driver's heap of ${size(heap)} can hold${beside}`);
  return { conf: { [key]: memoryText(mib) }, why: { [key]: why } };
}
