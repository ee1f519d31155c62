/**
 * Reading an event log.
 *
 * @module
 */
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import { type Finding, verdictOf } from "../../src/report/verdict.ts";
import type { Evidence } from "../../src/simulator/workload.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import { jobSpecFromWorkload } from "../../src/workload/job_spec.ts";
import type { JobSpec } from "../../src/workload/job_spec_types.ts";
import type { Budget } from "../budget.ts";

/** What `POST /v1/event-logs` answers. */
export interface EventLogAnswer {
  readonly summary: Summary;
  /** What went wrong or well, why, what to do. */
  readonly verdict: readonly Finding[];
  /** Goes to the other routes as `workload`. */
  readonly workload: JobSpec;
  /** Where the workload's figures come from. */
  readonly evidence: readonly Evidence[];
  /** What was read. */
  readonly read: { readonly lines: number; readonly malformedLines: number; readonly inProgress: boolean };
}

/**
 * Reads a log as it arrives.
 *
 * @throws {InputError} `event_log.*`
 * @throws {LimitError} `limit.bytes`, `limit.decompressed_bytes`, `limit.line_bytes`, `limit.tasks`, `limit.deadline`.
 */
export async function readLog(body: ReadableStream<Uint8Array> | null, budget: Budget): Promise<EventLogAnswer> {
  const { logBytes, decompressedBytes, lineBytes, tasks } = budget.limits;
  const summarizer = new Summarizer({ source: "observed" });
  const builder = new WorkloadBuilder();
  const sink = {
    event(event: SparkEvent) {
      summarizer.event(event);
      builder.event(event);
    },
  };
  const report = await readEventLog(body ?? new Blob([]).stream(), sink, {
    limits: { bytes: logBytes, decompressedBytes, lineBytes, tasks },
    signal: budget.signal,
    onProgress: () => budget.check(),
  });
  const summary = summarizer.summary();
  const workload = builder.workload();
  return {
    summary,
    verdict: verdictOf(summary, summarizer.facts()),
    workload: jobSpecFromWorkload(workload),
    evidence: workload.evidence,
    read: { lines: report.lines, malformedLines: report.malformed.count, inProgress: report.inProgress },
  };
}
