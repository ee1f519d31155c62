/**
 * Event logs that are damaged in every way: each gives an answer or a clear error, and what was not touched is still right.
 *
 * As a script: `deno run -A tests/fuzz/event_logs.ts [--seed N] [--count N]`. A failure prints the seed that replays it.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { parseArgs } from "node:util";
import { InputError } from "../../src/errors.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { EventLogWriter } from "../../src/event_log/write.ts";
import { Prng } from "../../src/prng.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { textReport } from "../../src/report/text.ts";
import { verdictOf } from "../../src/report/verdict.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { LINE_CHANGES, LOG_CHANGES } from "../support/log_mutations.ts";
import { runText } from "../support/runs.ts";

/** Logs that are damaged: small ones of each version and kind. */
const RUNS = [
  "spark_2_4_max_result_size",
  "max_result_size",
  "fetch_failure",
  "cache_evictions",
  "spark_4_0_sort_spill",
];

/** A damaged log must be read within this time; undamaged ones take a few milliseconds. */
const MAX_MS = 5000;

/** What came of a damaged log. */
export interface FuzzCounts {
  answers: number;
  errors: Record<string, number>;
}

async function events(lines: readonly string[]): Promise<SparkEvent[]> {
  const kept: SparkEvent[] = [];
  const stream = new Blob([lines.map((line) => line + "\n").join("")]).stream();
  await readEventLog(stream, { event: (event) => void kept.push(structuredClone(event)) });
  return kept.filter(({ kind }) => kind !== "warning");
}

/** Summary, verdict, text and a written log of a damaged log: none may fail, and the figures are numbers or null. */
async function answer(lines: readonly string[]): Promise<void> {
  const summarizer = new Summarizer({ source: "observed" });
  let written = 0;
  const writer = new EventLogWriter((line) => {
    written++;
    JSON.parse(line);
  });
  await readEventLog(new Blob([lines.map((line) => line + "\n").join("")]).stream(), {
    event(event) {
      summarizer.event(event);
      writer.event(event);
    },
  });
  const summary = summarizer.summary();
  const verdict = verdictOf(summary, summarizer.facts());
  assertEquals(verdict.length > 0, true);
  assertEquals(textReport(summary, verdict).length > 0, true);
  assertEquals(JSON.parse(JSON.stringify(summary)), summary, "a figure of the Summary is not a number");
  assertEquals(written > 0 || summary.warnings.length > 0, true);
}

/** A change of one line leaves the events of the others as they were. */
async function othersAreRight(lines: readonly string[], change: string, random: Prng): Promise<void> {
  const at = random.integer(lines.length);
  const changed = LINE_CHANGES[change](lines[at], random);
  // These decide how later lines are read.
  if (/LogStart|EnvironmentUpdate|ApplicationStart/.test(lines[at])) return;
  const before = await events(lines.slice(0, at + 0));
  const after = (await events(lines)).slice((await events(lines.slice(0, at + 1))).length);
  const all = await events([...lines.slice(0, at), changed, ...lines.slice(at + 1)]);
  assertEquals(all.slice(0, before.length), before);
  assertEquals(after.length === 0 ? [] : all.slice(-after.length), after);
}

/** Damages one log; throws when it is not taken as it should be. */
export async function fuzzOnce(
  logs: ReadonlyMap<string, readonly string[]>,
  random: Prng,
  counts: FuzzCounts,
): Promise<void> {
  const names = [...logs.keys()];
  const lines = logs.get(names[random.integer(names.length)])!;
  const other = logs.get(names[random.integer(names.length)])!;
  const changes = Object.keys(LOG_CHANGES);
  let damaged = [...lines];
  for (let i = random.integer(3); i >= 0; i--) {
    if (damaged.length > 0) damaged = LOG_CHANGES[changes[random.integer(changes.length)]](damaged, random, other);
  }
  const start = performance.now();
  try {
    await answer(damaged);
    counts.answers++;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    counts.errors[error.code] = (counts.errors[error.code] ?? 0) + 1;
  }
  assertEquals(performance.now() - start < MAX_MS, true, "it took too long");
  if (random.integer(4) === 0) {
    const lineChanges = Object.keys(LINE_CHANGES);
    await othersAreRight(lines, lineChanges[random.integer(lineChanges.length)], random);
  }
}

/** The lines of the logs that are damaged. */
export async function fuzzLogs(): Promise<Map<string, readonly string[]>> {
  const logs = new Map<string, readonly string[]>();
  for (const run of RUNS) logs.set(run, (await runText(run)).trimEnd().split("\n"));
  return logs;
}

/** Damages so many logs, each from a seed of its own. */
export async function fuzzEventLogs(seed: number, count: number): Promise<FuzzCounts> {
  const logs = await fuzzLogs();
  const counts: FuzzCounts = { answers: 0, errors: {} };
  for (let i = 0; i < count; i++) {
    try {
      await fuzzOnce(logs, new Prng(seed + i), counts);
    } catch (cause) {
      throw new Error(`damaged event log: seed ${seed + i} fails: ${cause}`, { cause });
    }
  }
  return counts;
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: { seed: { type: "string", default: "1" }, count: { type: "string", default: "2000" } },
  });
  const counts = await fuzzEventLogs(Number(values.seed), Number(values.count));
  console.log(JSON.stringify(counts));
}
