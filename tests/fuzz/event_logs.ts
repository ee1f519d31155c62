/**
 * Event logs that are damaged in every way: each gives an answer or a clear error, and what was not touched is still right.
 *
 * As a script: `deno run -A tests/fuzz/event_logs.ts [--seed N] [--count N]`. A failure prints the seed that replays it.
 *
 * @module
 */
import { answersOf, streamOfLines } from "../support/log_answers.ts";
import { assert, assertEquals } from "@std/assert";
import { parseArgs } from "node:util";
import { readEventLog } from "../../src/event_log/read.ts";
import { Prng } from "../../src/prng.ts";
import type { Summary } from "../../src/report/summary.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { LINE_CHANGES, LOG_CHANGES } from "../support/log_mutations.ts";
import { RECORDED_LOGS, recordedLines } from "../support/recorded_logs.ts";
import { checkInterleaved, checkUntouched, summaryOfLines, UNTOUCHED_KINDS } from "./untouched.ts";

/** A damaged log may take arrays of so many times the elements that whole ones take, and so many more. */
const ELEMENT_FACTOR = 4;
const SPARE_ELEMENTS = 2_000_000;
/** Recommending makes many runs. */
const RUNS_OF_ALL = 50;
/** Longer logs only take longer. */
const MOST_LINES = 700;

/** What came of a damaged log. */
export interface FuzzCounts {
  answers: number;
  errors: Record<string, number>;
  /** Checks that what was not touched is as it was, by the kind of change. */
  untouched: Record<string, number>;
  /** Mixtures of two applications that were refused. */
  interleaved: number;
}

/** A log that is damaged. */
export interface WholeLog {
  readonly lines: readonly string[];
  readonly before: Summary;
  readonly elements: number;
}

async function events(lines: readonly string[]): Promise<SparkEvent[]> {
  const kept: SparkEvent[] = [];
  await readEventLog(streamOfLines(lines), { event: (event) => void kept.push(structuredClone(event)) });
  return kept.filter(({ kind }) => kind !== "warning");
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
  logs: ReadonlyMap<string, WholeLog>,
  random: Prng,
  counts: FuzzCounts,
): Promise<void> {
  const all = [...logs.values()];
  const whole = all[random.integer(all.length)];
  const other = all[random.integer(all.length)];
  const changes = Object.keys(LOG_CHANGES);
  let damaged = [...whole.lines];
  for (let i = random.integer(3); i >= 0; i--) {
    if (damaged.length > 0) {
      damaged = LOG_CHANGES[changes[random.integer(changes.length)]](damaged, random, other.lines);
    }
  }
  const every = random.integer(20) === 0;
  const answer = await answersOf(streamOfLines(damaged), every);
  if (answer.code === null) counts.answers++;
  else counts.errors[answer.code] = (counts.errors[answer.code] ?? 0) + 1;
  assert(answer.events <= damaged.length, `${answer.events} events of ${damaged.length} lines`);
  const most = ELEMENT_FACTOR * Math.max(whole.elements, other.elements) * (every ? RUNS_OF_ALL : 1) + SPARE_ELEMENTS;
  assert(answer.elements <= most, `arrays of ${answer.elements} elements; at most ${most}`);
  if (random.integer(4) === 0) {
    const lineChanges = Object.keys(LINE_CHANGES);
    await othersAreRight(whole.lines, lineChanges[random.integer(lineChanges.length)], random);
  }
  const kind = UNTOUCHED_KINDS[random.integer(UNTOUCHED_KINDS.length)];
  if (await checkUntouched(kind, whole, random)) counts.untouched[kind] = (counts.untouched[kind] ?? 0) + 1;
  if (other !== whole && random.integer(4) === 0) {
    await checkInterleaved(whole.lines, other.lines, random);
    counts.interleaved++;
  }
}

/** The logs that are damaged: those recorded from 2.4, 3.5, 4.0 and 4.1, of a long one the first part. */
export async function fuzzLogs(): Promise<Map<string, WholeLog>> {
  const logs = new Map<string, WholeLog>();
  for (const name of RECORDED_LOGS) {
    const lines = (await recordedLines(name)).slice(0, MOST_LINES);
    const { elements } = await answersOf(streamOfLines(lines));
    logs.set(name, { lines, before: await summaryOfLines(lines), elements });
  }
  return logs;
}

let kept: Promise<Map<string, WholeLog>> | null = null;

/** Damages so many logs, each from a seed of its own. */
export async function fuzzEventLogs(seed: number, count: number): Promise<FuzzCounts> {
  const logs = await (kept ??= fuzzLogs());
  const counts: FuzzCounts = { answers: 0, errors: {}, untouched: {}, interleaved: 0 };
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
