import { assertEquals, assertNotEquals } from "@std/assert";
import { gzipSync } from "fflate";
import type { LogPart } from "../../src/event_log/parts.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { part } from "../support/runs.ts";
import { recordedLines } from "../support/recorded_logs.ts";

/** Logs that Spark wrote, as they come from other places than a folder of event logs. */
const LINES = await recordedLines("event_logs/take_first.gz");

async function summaryOf(parts: LogPart[]) {
  const summarizer = new Summarizer({ source: "observed" });
  const report = await readEventLog(parts, summarizer);
  return { report, summary: summarizer.summary(), codes: report.warnings.map(({ code }) => code) };
}

const text = (lines: readonly string[]) => lines.map((line) => line + "\n").join("");

Deno.test("what the History Server gives of a compacted rolling log: the compacted file first, then what came after", async () => {
  const url = new URL("../testdata/zip/history_server_compacted.zip", import.meta.url);
  const { report, summary, codes } = await summaryOf([part("eventLogs-app.zip", Deno.readFileSync(url))]);
  assertEquals(report.parts.map(({ name }) => name.split("/")[1]), [
    "events_2_app-20261130175739-0000.compact",
    "events_3_app-20261130175739-0000",
  ]);
  assertEquals(codes, ["log.compacted"]);
  // Counted in the lines of both files, unpacked by unzip.
  assertEquals([report.events.SparkListenerTaskEnd, report.events.SparkListenerJobStart, report.lines], [32, 3, 167]);
  assertEquals([summary.jobs.length, summary.outcome.status, summary.app.name], [3, "succeeded", "e7-takefirst-base"]);
});

Deno.test("a log that is being written: .inprogress, its last line cut", async () => {
  const whole = await summaryOf([part("app-1", text(LINES))]);
  const some = text(LINES.slice(0, 200));
  const { report, summary, codes } = await summaryOf([part("app-1.inprogress", some.slice(0, -50))]);
  assertEquals(report.inProgress, true);
  assertEquals(codes.slice(0, 2), ["log.cut_line", "log.no_application_end"]);
  assertEquals(codes.includes("log.malformed_line"), false);
  assertEquals(summary.outcome.status, "unfinished");
  // What is there is read as from the whole log.
  assertEquals(summary.jobs.slice(0, 3), whole.summary.jobs.slice(0, 3));
  assertEquals(summary.stages.slice(0, 3), whole.summary.stages.slice(0, 3));
});

/** The lines as an attempt of an application on YARN in cluster mode. */
function attempt(lines: readonly string[], id: number): string[] {
  return lines.map((line) =>
    line.startsWith('{"Event":"SparkListenerApplicationStart"')
      ? line.replace(/"App ID":"[^"]*"/, '"App ID":"application_1700000000000_0001"').replace(
        /}$/,
        `,"App Attempt ID":"${id}"}`,
      )
      : line
  );
}

Deno.test("several attempts of an application: the last one is read, in any order of the files", async () => {
  const first = part("application_1700000000000_0001_1", text(attempt(LINES.slice(0, 150), 1)));
  const second = part("application_1700000000000_0001_2", text(attempt(LINES, 2)));
  const alone = await summaryOf([second]);
  for (const parts of [[first, second], [second, first]]) {
    const { report, summary, codes } = await summaryOf(parts);
    assertEquals(report.parts.map(({ name }) => name), ["application_1700000000000_0001_2"]);
    assertEquals(codes, ["log.several_attempts"]);
    assertEquals({ ...summary, warnings: [] }, { ...alone.summary, warnings: [] });
  }
});

Deno.test("a log of Databricks: hourly files, gzip'd but for the last, with properties and events of its own", async () => {
  const lines = LINES.map((line) =>
    line.startsWith('{"Event":"SparkListenerEnvironmentUpdate"')
      ? line.replace(
        '"Spark Properties":{',
        '"Spark Properties":{"spark.databricks.clusterUsageTags.clusterName":"c","spark.databricks.workerNodeTypeId":"m6gd.2xlarge",',
      )
      : line
  );
  lines.splice(100, 0, '{"Event":"com.databricks.backend.daemon.driver.DBCEventLoggingListener$DriverEvent","x":1}');
  const times = (at: number) => `eventlog-2026-11-30--1${at}-00.gz`;
  const parts = [
    part("eventlog", text(lines.slice(180))),
    part(times(8), gzipSync(new TextEncoder().encode(text(lines.slice(90, 180))))),
    part(times(7), gzipSync(new TextEncoder().encode(text(lines.slice(0, 90))))),
  ];
  const { report, summary, codes } = await summaryOf(parts);
  assertEquals(report.parts.map(({ name, codecs }) => [name, ...codecs]), [
    [times(7), "gzip"],
    [times(8), "gzip"],
    ["eventlog", "plain"],
  ]);
  assertEquals(codes, ["log.unknown_event"]);
  const whole = await summaryOf([part("app-1", text(LINES))]);
  assertEquals({ ...summary, warnings: [] }, { ...whole.summary, warnings: [] });
});

Deno.test("a log whose listener queue dropped events is usable, and the warnings say what is missing", async () => {
  const whole = await summaryOf([part("app-1", text(LINES))]);
  const isOf = (line: string, name: string) => line.startsWith(`{"Event":"SparkListener${name}"`);
  const cases: Record<string, { without: (line: string, i: number) => boolean; code: string }> = {
    "ends of tasks": { without: (line, i) => isOf(line, "TaskEnd") && i % 5 === 0, code: "log.tasks_unfinished" },
    "starts of tasks": { without: (line, i) => isOf(line, "TaskStart") && i % 5 === 0, code: "log.events_dropped" },
    "ends of jobs": { without: (line) => isOf(line, "JobEnd"), code: "log.jobs_unfinished" },
    "the beginning": { without: (_, i) => i < 6, code: "log.no_application_start" },
    "the end": { without: (line) => isOf(line, "ApplicationEnd"), code: "log.no_application_end" },
  };
  for (const [what, { without, code }] of Object.entries(cases)) {
    const { summary, codes } = await summaryOf([part("app-1", text(LINES.filter((line, i) => !without(line, i))))]);
    assertEquals(codes.includes(code), true, `${what}: ${codes}`);
    assertEquals(summary.warnings.some((warning) => warning.code === code), true, what);
    assertEquals(summary.stages.length, whole.summary.stages.length, what);
    assertNotEquals(summary.results.totalBytes, null, what);
  }
  // Ends of stages: their tasks tell most of it.
  const { summary, codes } = await summaryOf([
    part("app-1", text(LINES.filter((line) => !isOf(line, "StageCompleted")))),
  ]);
  assertEquals(codes, ["log.stages_unfinished"]);
  assertEquals(summary.stages.map(({ tasks }) => tasks), whole.summary.stages.map(({ tasks }) => tasks));
});
