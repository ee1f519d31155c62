/**
 * A Summary and its verdict as text to read.
 *
 * @module
 */
import { bytesToString } from "../spark/sizes.ts";
import type { Recorded, StageSummary, Summary } from "./summary.ts";
import { duration, plural } from "./verdict/finding.ts";
import type { Finding } from "./verdict.ts";

const MARKS = { failure: "FAILED ", problem: "PROBLEM", notice: "note   ", good: "good   " } as const;
const WIDTH = 110;
/** So many stages and executors are listed; the largest first. */
const LISTED = 20;

/** Breaks a paragraph into lines of at most `WIDTH` characters. */
function wrapped(text: string, first: string, indent: string): string {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(/\s+/)) {
    if (line.length + word.length + 1 > WIDTH && line.trim() !== "") {
      lines.push(line);
      line = indent + word;
    } else line += line === first || line === indent ? word : ` ${word}`;
  }
  return [...lines, line].join("\n");
}

/** One finding: the sentence, why, what shows it, what to set. */
export function findingText(finding: Finding): string {
  const indent = "         ";
  const lines = [wrapped(finding.sentence, `${MARKS[finding.severity]}  `, indent)];
  if (finding.why !== null) lines.push(wrapped(`Why: ${finding.why}.`, indent, indent + "     "));
  for (const evidence of finding.evidence) lines.push(wrapped(evidence, `${indent}- `, `${indent}  `));
  for (const { key, value, isDefault, advice } of finding.settings) {
    const shown = value === null ? "" : ` (${value}${isDefault ? ", the default" : ""})`;
    lines.push(wrapped(`${key}${shown}: ${advice}`, `${indent}> `, `${indent}  `));
  }
  return lines.join("\n");
}

const bytes = (value: Recorded) => value === null ? "not recorded" : bytesToString(value);
const ms = (value: Recorded) => value === null ? "?" : duration(value);
const count = (value: Recorded) => value === null ? "not recorded" : value.toLocaleString("en-US");

/** Columns of equal width, the first to the left and the others to the right. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows];
  const widths = header.map((_, i) => Math.max(...all.map((row) => row[i].length)));
  return all.map((row) =>
    "  " + row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join("  ").trimEnd()
  ).join("\n");
}

function stageRow(stage: StageSummary): string[] {
  const { tasks } = stage;
  const attempt = stage.attempt === 0 ? "" : `.${stage.attempt}`;
  return [
    `${stage.stageId}${attempt} ${stage.name.slice(0, 40)}`,
    stage.status === "succeeded" ? "" : stage.status,
    `${tasks.succeeded}/${tasks.total}`,
    tasks.failed + tasks.killed === 0 ? "" : `${tasks.failed}+${tasks.killed}`,
    ms(stage.durationMs),
    bytes(stage.resultBytes),
    stage.memoryBytesSpilled ? bytes(stage.memoryBytesSpilled) : "",
    stage.peakExecutionMemory.max === null ? "" : bytes(stage.peakExecutionMemory.max),
  ];
}

function stagesText(stages: readonly StageSummary[]): string {
  const shown = stages.length <= LISTED ? stages : [...stages]
    .sort((a, b) => (b.executorRunMs ?? 0) - (a.executorRunMs ?? 0)).slice(0, LISTED)
    .sort((a, b) => a.stageId - b.stageId || a.attempt - b.attempt);
  const header = ["stage", "", "tasks", "failed+killed", "duration", "results", "spilled", "peak memory"];
  const more = stages.length > shown.length
    ? `\n  the ${shown.length} with the most work of ${stages.length} stages`
    : "";
  return table(header, shown.map(stageRow)) + more;
}

/** Jobs that have a name, those that took longest. */
function jobsText(jobs: Summary["jobs"]): string {
  const named = jobs.filter(({ description }) => description !== undefined);
  const shown = [...named].sort((a, b) => (b.durationMs ?? 0) - (a.durationMs ?? 0)).slice(0, LISTED)
    .sort((a, b) => a.jobId - b.jobId);
  const rows = shown.map(({ jobId, description, status, stageIds, durationMs }) => [
    `${jobId} ${description!.split("\n", 1)[0].slice(0, 60)}`,
    status === "succeeded" ? "" : status,
    `${stageIds.length}`,
    ms(durationMs),
  ]);
  const more = named.length > shown.length ? `\n  the ${shown.length} longest of ${named.length} jobs with a name` : "";
  return table(["job", "", "stages", "duration"], rows) + more;
}

function executorsText(summary: Summary): string {
  const rows = summary.executors.slice(0, LISTED).map((executor) => [
    `${executor.executorId} ${executor.host}`,
    executor.cores === null ? "?" : `${executor.cores}`,
    bytes(executor.maxMemory),
    bytes(executor.peakStorageBytes),
    bytes(executor.peakExecutionBytes),
    count(executor.evictions),
    `${executor.tasks}`,
    executor.removedReason === null ? "" : executor.removedReason.split("\n", 1)[0].slice(0, 50),
  ]);
  const header = ["executor", "cores", "memory", "peak storage", "peak execution", "evictions", "tasks", ""];
  const more = summary.executors.length > LISTED ? `\n  and ${summary.executors.length - LISTED} more` : "";
  return table(header, rows) + more;
}

function totalsText(summary: Summary): string {
  const { results, storage, execution } = summary;
  const { cachedAtEnd } = storage;
  return [
    `results    ${count(results.direct)} direct, ${count(results.indirect)} indirect, dropped: ${
      count(results.dropped)
    }; ${bytes(results.totalBytes)}, the largest ${bytes(results.maxBytes)}`,
    storage.blocksStored === null
      ? "storage    not recorded"
      : `storage    ${count(storage.blocksStored)} blocks stored, ${count(storage.blocksEvicted)} evicted (${
        bytes(storage.bytesEvicted)
      }, ${count(storage.blocksDroppedToDisk)} of them to disk); at the end ${
        count(cachedAtEnd.memoryBlocks)
      } in memory (${bytes(cachedAtEnd.memoryBytes)}), ${count(cachedAtEnd.diskBlocks)} on disk`,
    `execution  ${count(execution.spilledTasks)} tasks spilled, ${bytes(execution.memoryBytesSpilled)} in memory to ${
      bytes(execution.diskBytesSpilled)
    } on disk; out of memory: ${plural(execution.oomTasks ?? 0, "task")}`,
  ].map((line) => `  ${line}`).join("\n");
}

/**
 * The text form of a Summary: the verdict first, then the figures.
 *
 * @example
 * ```ts
 * import { assertStringIncludes } from "@std/assert";
 * import { Summarizer } from "./summarize.ts";
 * import { textReport } from "./text.ts";
 * import { verdictOf } from "./verdict.ts";
 *
 * const run = new Summarizer({ source: "observed" });
 * run.event({ kind: "applicationStart", appName: "my job", appId: "app-1", time: 0, user: "", appAttemptId: null });
 * run.event({ kind: "applicationEnd", time: 1500, exitCode: null });
 * const summary = run.summary();
 * assertStringIncludes(textReport(summary, verdictOf(summary, run.facts())), "succeeded in 1.5 s");
 * ```
 */
export function textReport(summary: Summary, verdict: readonly Finding[]): string {
  const { app, outcome } = summary;
  const parts = [
    `${app.name || "application without a name"}${
      app.id === null ? "" : ` (${app.id})`
    }, Spark ${app.sparkVersion}: ${outcome.status}${
      summary.durationMs === null ? "" : ` in ${duration(summary.durationMs)}`
    }`,
    verdict.map(findingText).join("\n\n"),
    totalsText(summary),
  ];
  if (summary.jobs.some(({ description }) => description !== undefined)) parts.push(jobsText(summary.jobs));
  if (summary.stages.length > 0) parts.push(stagesText(summary.stages));
  if (summary.executors.length > 0) parts.push(executorsText(summary));
  if (summary.warnings.length > 0) {
    parts.push(
      summary.warnings.map(({ code, message, count }) =>
        wrapped(`${message}${count > 1 ? ` (${count})` : ""}`, `  [${code}] `, "    ")
      ).join("\n"),
    );
  }
  return parts.join("\n\n") + "\n";
}
