/**
 * Verdicts on a folder of recorded runs against what each run was made to show: `deno run --allow-read tests/report/run_verdicts.ts DIR`.
 *
 * DIR has an index.json (run, outcome, message, args, shows) and a folder for each run with its event log and summary.json, whose
 * figures come from the executors' logs and the log's JSON, not from this project.
 *
 * @module
 */
import { readEventLog } from "../../src/event_log/read.ts";
import { type LogPart, streamOf } from "../../src/event_log/parts.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { type Finding, verdictOf } from "../../src/report/verdict.ts";

/** An entry of index.json. */
export interface RunEntry {
  readonly run: string;
  readonly outcome: "OK" | "FAILED";
  readonly message: string | null;
  readonly shows: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** What is used of a run's summary.json. */
export interface RunFigures {
  readonly evictions_by_block_updates: number | null;
  readonly fetch_failures: readonly unknown[];
  readonly executors: readonly { readonly event: string }[];
  readonly stages: Readonly<Record<string, { readonly tasks_spilled: number }>>;
  readonly result_paths: { readonly indirect: number };
  readonly totals: { readonly tasks: number; readonly failed: number };
}

/** What failed jobs' messages stand for. */
const FAILURES: readonly (readonly [RegExp, string])[] = [
  [/Total size of serialized results/, "results.max_result_size"],
  [/exceeds max allowed: spark\.rpc\.message\.maxSize/, "results.task_too_large"],
  [/failed \d+ times/, "tasks.failed"],
];

/** What runs show beside what their figures tell. */
const SHOWN: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^first\/take|^take, unpersist/, ["jobs.partial"]],
  [/^5,000 tasks|6,000 tasks/, ["tasks.tiny"]],
  [/^skewed/, ["tasks.skew"]],
  [/^job group cancelled/, ["job.cancelled"]],
  [/^broadcast blocks/, ["memory.broadcasts"]],
  [/^speculation over/, ["tasks.speculation"]],
  [/local mode$/, ["settings.local_mode"]],
];

/** Codes of findings that a run's verdict must have, the first of them first of all. */
export function wantedCodes(entry: RunEntry, figures: RunFigures): string[] {
  const wanted: string[] = [];
  if (entry.outcome === "FAILED") {
    wanted.push(...FAILURES.filter(([text]) => text.test(entry.message ?? "")).map(([, code]) => code));
  }
  const { evictions_by_block_updates: evictions, fetch_failures: fetches, executors, stages, totals } = figures;
  if (executors.some(({ event }) => event === "Removed") && fetches.length > 0) {
    wanted.push("executor.", "tasks.fetch_failed");
  } else if (totals.failed > 0 && entry.outcome === "OK") wanted.push("tasks.failed");
  if ((evictions ?? 0) > 0) {
    wanted.push(/^execution evicts|log fields$/.test(entry.shows) ? "memory.evictions." : "memory.evictions.storage");
  }
  if (Object.values(stages).some(({ tasks_spilled }) => tasks_spilled > 0)) wanted.push("memory.spills");
  // Spark 2.4 writes no end of tasks whose results came too late.
  if (figures.result_paths.indirect > 0 && entry.outcome === "OK") wanted.push("results.indirect");
  for (const [shows, codes] of SHOWN) if (shows.test(entry.shows)) wanted.push(...codes);
  return wanted;
}

/** What is wrong with a verdict, or null. */
export function judged(entry: RunEntry, wanted: readonly string[], verdict: readonly Finding[]): string | null {
  const codes = verdict.map(({ code }) => code);
  const missing = wanted.filter((code) => !codes.some((found) => found.startsWith(code)));
  if (missing.length > 0) return `says nothing of ${missing.join(", ")}`;
  const [first] = verdict;
  if (first === undefined) return "is empty";
  const isFailure = first.severity === "failure";
  if (isFailure !== (entry.outcome === "FAILED")) {
    return `begins with ${first.code} (${first.severity}), the run ended ${entry.outcome}`;
  }
  // The cause of a failure, or else the first thing that went wrong, comes first.
  const isWrong = wanted.some((code) => /^(results\.max|results\.task|tasks\.f|executor|memory\.(ev|sp))/.test(code));
  if (isWrong && !first.code.startsWith(wanted[0])) return `begins with ${first.code}, not with ${wanted[0]}`;
  const problems = verdict.filter(({ severity, code }) =>
    severity === "problem" && !/^memory\.gc|^tasks\.skew/.test(code)
  );
  if (!isWrong && problems.length > 0) {
    return `calls ${problems[0].code} a problem, of which the run's figures say nothing`;
  }
  return null;
}

function logParts(folder: string): LogPart[] {
  const parts: LogPart[] = [];
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) parts.push(...logParts(path));
    else if (/^(app|local|events|appstatus)[-_]/.test(name)) {
      parts.push({ name: path, open: () => streamOf(once(path)) });
    }
  }
  return parts;
}

async function* once(path: string): AsyncGenerator<Uint8Array> {
  yield await Deno.readFile(path);
}

if (import.meta.main) {
  const [folder] = Deno.args;
  const index: RunEntry[] = JSON.parse(Deno.readTextFileSync(`${folder}/index.json`));
  let wrong = 0;
  for (const entry of index) {
    const figures: RunFigures = JSON.parse(Deno.readTextFileSync(`${folder}/${entry.run}/summary.json`));
    const summarizer = new Summarizer({ source: "observed" });
    await readEventLog(logParts(`${folder}/${entry.run}`), summarizer);
    const verdict = verdictOf(summarizer.summary(), summarizer.facts());
    const why = judged(entry, wantedCodes(entry, figures), verdict);
    if (why === null) continue;
    wrong++;
    console.log(`${entry.run} (${entry.shows}): the verdict ${why}: ${verdict.map(({ code }) => code).join(", ")}`);
  }
  console.log(`${index.length - wrong} of ${index.length} verdicts name what the run shows`);
  Deno.exitCode = wrong === 0 ? 0 : 1;
}
