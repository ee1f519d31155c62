/**
 * An event log's bytes to a Summary, in one call.
 *
 * @module
 */
import { type LogPart, readEventLog, type ReadOptions } from "../event_log/read.ts";
import { Summarizer } from "./summarize.ts";
import type { Summary } from "./summary.ts";
import { type Finding, verdictOf } from "./verdict.ts";

/** A Summary, and what went wrong or well, why, and what to do about it. */
export interface SummaryWithVerdict extends Summary {
  /** Most important first. */
  readonly verdict: readonly Finding[];
}

/**
 * What an event log says; nothing is simulated, and what the log does not record is null.
 *
 * @param source A stream of bytes, or the files of one application's log; plain or compressed.
 * @throws {InputError} `event_log.no_events` and the other codes of {@linkcode readEventLog}.
 * @throws {LimitError} where a limit of the options is crossed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { summarize } from "./summarize_event_log.ts";
 *
 * const log = '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n';
 * const { app, outcome } = await summarize(new Blob([log]).stream());
 * assertEquals([app.sparkVersion, outcome.status], ["3.5.9", "unfinished"]);
 * ```
 */
export async function summarize(
  source: ReadableStream<Uint8Array> | readonly LogPart[],
  options: ReadOptions = {},
): Promise<SummaryWithVerdict> {
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(source, summarizer, options);
  const summary = summarizer.summary();
  return { ...summary, verdict: verdictOf(summary, summarizer.facts()) };
}
