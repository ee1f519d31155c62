/**
 * What went wrong or well in a run, why, and what to do: statements that a program can use and a person can read.
 *
 * @module
 */
import type { RunFacts } from "./run_facts.ts";
import type { Summary } from "./summary.ts";
import { failedTasks, fetchFailures, lostExecutors } from "./verdict/executors.ts";
import { duration, type Evidence, type Finding, plural, type Rule, type Severity, size } from "./verdict/finding.ts";
import { cancelledJobs, jobFailures, sqlErrors, unfinished } from "./verdict/job_failures.ts";
import { garbageCollection, spills } from "./verdict/memory.ts";
import { indirectResults, mapResultsNotCounted, nearMaxResultSize } from "./verdict/results.ts";
import { broadcasts, cacheHeld, cacheNotRecorded, evictions } from "./verdict/storage.ts";
import { localMode, partialJobs, skew, skippedStages, speculation, tinyTasks } from "./verdict/tasks.ts";

export type { Advice, Finding, Severity } from "./verdict/finding.ts";

/** In the order in which findings of one severity are given. */
const RULES: readonly Rule[] = [
  jobFailures,
  sqlErrors,
  unfinished,
  lostExecutors,
  fetchFailures,
  failedTasks,
  evictions,
  spills,
  garbageCollection,
  skew,
  cacheHeld,
  cacheNotRecorded,
  broadcasts,
  nearMaxResultSize,
  indirectResults,
  mapResultsNotCounted,
  cancelledJobs,
  speculation,
  tinyTasks,
  partialJobs,
  skippedStages,
  localMode,
];

const ORDER: readonly Severity[] = ["failure", "problem", "notice", "good"];

function nothingShort({ summary, facts }: Evidence): Finding {
  const tasks = facts.stages.reduce((n, stage) => n + stage.succeeded, 0);
  const known = summary.storage.blocksEvicted !== null;
  return {
    code: "application.good",
    severity: "good",
    sentence: `The application succeeded${summary.durationMs === null ? "" : ` in ${duration(summary.durationMs)}`}: ${
      plural(tasks, "task")
    }, nothing spilled${known ? ", nothing was evicted" : ""}, no task failed.`,
    why: null,
    evidence: [
      `${plural(summary.jobs.length, "job")}, ${plural(summary.stages.length, "stage")}, ${
        plural(summary.executors.length, "executor")
      }`,
      `results of ${size(summary.results.totalBytes ?? 0)}: ${summary.results.direct} sent directly (up to ${
        size(summary.thresholds.effectiveDirectLimit)
      })`,
    ],
    settings: [],
  };
}

/**
 * The verdict on a run: the worst first. There is always at least one finding.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Summarizer } from "./summarize.ts";
 * import { verdictOf } from "./verdict.ts";
 *
 * const run = new Summarizer({ source: "observed" });
 * run.event({ kind: "applicationStart", appName: "a", appId: "app-1", time: 0, user: "", appAttemptId: null });
 * run.event({ kind: "jobStart", jobId: 0, time: 1, stageInfos: [], stageIds: [], properties: {} });
 * run.event({ kind: "jobEnd", jobId: 0, time: 9, failure: "Serialized task 0:0 was 2106548 bytes, which exceeds max allowed: " +
 *   "spark.rpc.message.maxSize (1048576 bytes)." });
 * run.event({ kind: "applicationEnd", time: 10, exitCode: null });
 * const [finding] = verdictOf(run.summary(), run.facts());
 * assertEquals(finding.code, "results.task_too_large");
 * assertEquals(finding.settings[1].advice, "3 (MiB) is the smallest value that lets it pass");
 * ```
 */
export function verdictOf(summary: Summary, facts: RunFacts): Finding[] {
  const run: Evidence = { summary, facts };
  const findings: Finding[] = [];
  for (const finding of RULES.flatMap((rule) => rule(run))) {
    // A failure that ended the job is not told a second time as a failure of tasks.
    if (!findings.some(({ code }) => code === finding.code)) findings.push(finding);
  }
  const bad = findings.some(({ severity }) => severity === "failure" || severity === "problem");
  if (!bad) findings.push(nothingShort(run));
  return findings.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity));
}
