/**
 * An event log's bytes to a workload, in one call.
 *
 * @module
 */
import { type LogPart, readEventLog, type ReadOptions } from "../event_log/read.ts";
import type { Workload } from "../simulator/workload.ts";
import type { EventSink, SparkEvent } from "../spark/events.ts";
import { WorkloadBuilder } from "./from_event_log.ts";

/** Options of {@linkcode workloadFromEventLog}. */
export interface WorkloadFromEventLogOptions extends ReadOptions {
  /** Takes the events too, for example a Summarizer for what the log itself tells. */
  readonly sink?: EventSink;
}

/**
 * The workload of an application, from its event log: a {@linkcode WorkloadBuilder} that is fed the whole log.
 *
 * @param source A stream of bytes, or the files of one application's log; plain or compressed.
 * @throws {InputError} `event_log.no_events` and the other codes of {@linkcode readEventLog}.
 * @throws {LimitError} where a limit of the options is crossed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { workloadFromEventLog } from "./workload_from_event_log.ts";
 *
 * const log = '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n';
 * const workload = await workloadFromEventLog(new Blob([log]).stream());
 * assertEquals([workload.sparkVersion, workload.jobs.length], ["3.5.9", 0]);
 * ```
 */
export async function workloadFromEventLog(
  source: ReadableStream<Uint8Array> | readonly LogPart[],
  options: WorkloadFromEventLogOptions = {},
): Promise<Workload> {
  const { sink, ...reading } = options;
  const builder = new WorkloadBuilder();
  const both: EventSink = {
    event(event: SparkEvent): void {
      builder.event(event);
      sink?.event(event);
    },
  };
  await readEventLog(source, both, reading);
  return builder.workload();
}
