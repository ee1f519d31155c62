/**
 * Everything that is made of an event log: each is an answer or an InputError.
 *
 * @module
 */
import { takeElements } from "./counted_arrays.ts";
import { assert, assertEquals } from "@std/assert";
import { InputError, LimitError } from "../../src/errors.ts";
import { type LogPart, readEventLog } from "../../src/event_log/read.ts";
import { EventLogWriter } from "../../src/event_log/write.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import { textReport } from "../../src/report/text.ts";
import { verdictOf } from "../../src/report/verdict.ts";
import { Charts } from "../../src/report/charts.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import { jobSpecFromWorkload, parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { recommend } from "../../src/what_if/recommend.ts";
import { sweep } from "../../src/what_if/sweep.ts";
import { whatIf } from "../../src/what_if/what_if.ts";

/** What came of a log. */
export interface LogAnswer {
  /** Of the error; null for an answer. */
  readonly code: string | null;
  readonly summary: Summary | null;
  /** Events that the log gave, warnings not counted. */
  readonly events: number;
  /** Elements of the arrays that were made with a length. */
  readonly elements: number;
}

/** A run is given up beyond so many events; those of the logs' own need a few hundred. */
const LIMITS = { maxEvents: 20_000 };

/** A log as a stream. */
export function streamOfLines(lines: readonly string[]): ReadableStream<Uint8Array> {
  return new Blob([lines.map((line) => line + "\n").join("")]).stream();
}

/**
 * Reads a log and makes everything of it: Summary, verdict, text, charts, a written log, the workload, which goes to JSON and back,
 * its replay and a what-if. `all` has it swept and settings recommended too.
 *
 * @throws {Error} what is no InputError: a fault
 */
export async function answersOf(
  source: ReadableStream<Uint8Array> | readonly LogPart[],
  all = false,
): Promise<LogAnswer> {
  takeElements();
  const found = { code: null as string | null, summary: null as Summary | null, events: 0 };
  try {
    const workload = await report(source, found);
    replay(workload, found.summary!, all);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    assert(/^[a-z_A-Z]+(\.[a-z_A-Z]+)+$/.test(error.code), `a code that is none: ${error.code}`);
    assert(error.message.startsWith("Cannot "), error.message);
    found.code = error.code;
  }
  return { ...found, elements: takeElements() };
}

async function report(
  source: ReadableStream<Uint8Array> | readonly LogPart[],
  found: { summary: Summary | null; events: number },
): Promise<Workload> {
  const summarizer = new Summarizer({ source: "observed" });
  const builder = new WorkloadBuilder();
  const charts = new Charts();
  const writer = new EventLogWriter((line) => void JSON.parse(line));
  await readEventLog(source, {
    event(event: SparkEvent) {
      if (event.kind !== "warning") found.events++;
      summarizer.event(event);
      builder.event(event);
      charts.event(event);
      writer.event(event);
    },
  });
  const summary = summarizer.summary();
  const verdict = verdictOf(summary, summarizer.facts());
  assert(verdict.length > 0);
  assert(textReport(summary, verdict).length > 0);
  assertEquals(JSON.parse(JSON.stringify(summary)), summary, "a figure of the Summary is not a number");
  assert(JSON.stringify(charts.finish()).length > 0);
  found.summary = summary;
  return builder.workload();
}

function replay(workload: Workload, summary: Summary, all: boolean): void {
  const changes = { conf: { "spark.memory.fraction": "0.5" } };
  const answer = whatIf(workload, summary, changes, { limits: LIMITS });
  assertEquals(JSON.parse(JSON.stringify(answer)), answer, "a figure of the what-if is not a number");
  sendBack(workload);
  if (!all) return;
  const swept = [...sweep(workload, { "spark.executor.memory": ["1g", "100m"], executors: ["3"] }, { limits: LIMITS })];
  assertEquals(swept.length, 2);
  const { predicted } = recommend(workload, { observed: summary, limits: LIMITS });
  assertEquals(predicted.app.source, "simulated");
}

/** What is made of a log can be sent back as a job, as the page and the service do. */
function sendBack(workload: Workload): void {
  const spec = JSON.parse(JSON.stringify(jobSpecFromWorkload(workload)));
  try {
    assertEquals(workloadFromJobSpec(parseJobSpec(spec).spec).jobs.length, workload.jobs.length);
  } catch (error) {
    // Figures beyond what a job may have are an answer; that its parts do not fit together is a fault.
    const figures = error instanceof LimitError || error instanceof InputError && error.code === "input.range";
    if (error instanceof InputError && !figures) {
      throw new Error(`the workload of a log is refused as a job spec: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
