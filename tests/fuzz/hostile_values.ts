/**
 * Each number of the recorded event logs replaced by each hostile value, at its first place and at all places: every kind of event,
 * every path; and the numbers within texts (settings, ids of blocks and executors, plans) by hostile digits. What is made of the log
 * then is an answer or a clear error, in bounded memory.
 *
 * As a script: `deno run -A tests/fuzz/hostile_values.ts [--every N]` tries all combinations, or each Nth.
 *
 * @module
 */
import { answersOf, type LogAnswer, streamOfLines } from "../support/log_answers.ts";
import { assert } from "@std/assert";
import { parseArgs } from "node:util";
import { RECORDED_LOGS, recordedLines } from "../support/recorded_logs.ts";
import { recordNumbers } from "../support/numbers.ts";

const DEEP = 10_000;

/** What a number is replaced by, as JSON or what looks like it. */
export const HOSTILE_VALUES: readonly string[] = [
  "0",
  "-1",
  "0.5",
  "1000000000",
  "2147483647",
  "2147483648",
  "9007199254740992",
  "9223372036854775807",
  "-9223372036854775808",
  "1e308",
  "-1e308",
  "1e999",
  "NaN",
  '"NaN"',
  '"x"',
  "null",
  "true",
  "[]",
  "{}",
  "[".repeat(DEEP) + "]".repeat(DEEP),
  '{"a":'.repeat(DEEP) + "1" + "}".repeat(DEEP),
];

/** What the digits within a text are replaced by. */
const HOSTILE_DIGITS: readonly string[] = ["0", "-1", "1000000000", "2147483647", "99999999999999999999", "1.5", ""];

/** Lines of a log that are used: a long one has all kinds of events in its first. */
const MOST_LINES = 700;

/** Beyond what the log itself takes: the limits that are kept let so much through. */
const SPARE_ELEMENTS = 2_000_000;

/** Marks the paths of texts. */
const TEXT = " (text)";
/** Texts that are only shown. */
const TEXTS_WITHOUT_MEANING =
  /^(Details|Callsite|details|Stack Trace|Full Stack Trace|physicalPlanDescription|Classpath Entries|.*\.jar)$/;

interface Place {
  readonly line: number;
  readonly keys: readonly (string | number)[];
}

/** One path of one log, with all places where it is. */
interface Path {
  readonly lines: readonly string[];
  readonly path: string;
  readonly places: readonly Place[];
  readonly base: LogAnswer;
}

/** A change that is tried. */
export interface HostileChange {
  readonly log: string;
  /** `JobStart/Stage Infos/* /Number of Tasks`. */
  readonly path: string;
  readonly value: string;
  readonly everywhere: boolean;
}

/** What came of the changes. */
export interface HostileCounts {
  answers: number;
  errors: Record<string, number>;
}

function walk(
  value: unknown,
  keys: (string | number)[],
  found: (keys: (string | number)[], isText: boolean) => void,
): void {
  if (typeof value === "number") return found([...keys], false);
  if (typeof value === "string" && /\d/.test(value)) return found([...keys], true);
  if (typeof value !== "object" || value === null) return;
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    walk((value as Record<string | number, unknown>)[key], [...keys, key], found);
  }
}

/** The places of each number of a log, by path. */
function placesOf(lines: readonly string[]): Map<string, Place[]> {
  const found = new Map<string, Place[]>();
  for (const [line, text] of lines.entries()) {
    const json = JSON.parse(text);
    const event = json.Event.replace(/^.*\.|^SparkListener/, "");
    walk(json, [], (keys, isText) => {
      if (isText && TEXTS_WITHOUT_MEANING.test(String(keys.at(-1)))) return;
      // However deep a plan is, its nodes have the same fields.
      const path = [event, ...keys.map((key) => typeof key === "number" ? "*" : key)].join("/")
        .replace(/(\/children\/\*)+/, "/children/*") + (isText ? TEXT : "");
      const places = found.get(path);
      if (places === undefined) found.set(path, [{ line, keys }]);
      else places.push({ line, keys });
    });
  }
  return found;
}

const MARK = "\u0001hostile\u0001";
const QUOTED_MARK = JSON.stringify(MARK);

function withValue(lines: readonly string[], places: readonly Place[], value: string): string[] {
  const changed = [...lines];
  const parsed = new Map<number, Record<string | number, unknown>>();
  for (const { line, keys } of places) {
    let json = parsed.get(line);
    if (json === undefined) parsed.set(line, json = JSON.parse(lines[line]) as Record<string | number, unknown>);
    let holder = json;
    for (const key of keys.slice(0, -1)) holder = holder[key] as Record<string | number, unknown>;
    const before = holder[keys.at(-1)!];
    holder[keys.at(-1)!] = typeof before === "string" ? before.replace(/\d+/g, value) : MARK;
  }
  for (const [line, json] of parsed) changed[line] = JSON.stringify(json).replaceAll(QUOTED_MARK, value);
  return changed;
}

/** The changes that there are, and how one of them is tried. */
export class HostileValues {
  readonly #paths = new Map<string, Path>();
  /** All changes: each path in the first log that has it, for each of the main versions. */
  readonly changes: readonly HostileChange[];

  private constructor(paths: ReadonlyMap<string, Path>) {
    this.#paths = new Map(paths);
    this.changes = [...paths.keys()].flatMap((key) => {
      const [log, path] = key.split("\n");
      const hostile = path.endsWith(TEXT) ? HOSTILE_DIGITS : HOSTILE_VALUES;
      return hostile.flatMap((value) => [true, false].map((everywhere) => ({ log, path, value, everywhere })));
    });
  }

  /** @param logs of tests/testdata; a path that an earlier one of the same version has is left out */
  static async of(logs: readonly string[] = RECORDED_LOGS): Promise<HostileValues> {
    const paths = new Map<string, Path>();
    const seen = new Set<string>();
    for (const log of logs) {
      const lines = (await recordedLines(log)).slice(0, MOST_LINES);
      const version = /"Spark Version":"(\d\.\d)/.exec(lines[0])![1];
      const base = await answersOf(streamOfLines(lines));
      for (const [path, places] of placesOf(lines)) {
        if (seen.has(`${version} ${path}`)) continue;
        seen.add(`${version} ${path}`);
        paths.set(`${log}\n${path}`, { lines, path, places, base });
      }
    }
    return new HostileValues(paths);
  }

  /** Tries a change; throws where it is not taken as it should be. */
  async try(change: HostileChange, counts: HostileCounts, all = false): Promise<LogAnswer> {
    const { lines, places, base } = this.#paths.get(`${change.log}\n${change.path}`)!;
    const changed = withValue(lines, change.everywhere ? places : places.slice(0, 1), change.value);
    try {
      const answer = await answersOf(streamOfLines(changed), all);
      assert(answer.events <= lines.length, `${answer.events} events of ${lines.length} lines`);
      const most = (all ? 200 : 4) * base.elements + SPARE_ELEMENTS;
      assert(answer.elements <= most, `arrays of ${answer.elements} elements, of the log itself ${base.elements}`);
      if (answer.code === null) counts.answers++;
      else counts.errors[answer.code] = (counts.errors[answer.code] ?? 0) + 1;
      return answer;
    } catch (cause) {
      const said = JSON.stringify({ ...change, value: change.value.slice(0, 40) });
      throw new Error(`a hostile value fails: ${said}: ${cause}`, { cause });
    }
  }
}

let kept: Promise<HostileValues> | null = null;

/** Tries `count` changes: those from seed 0 on, one after the other, are all of them, well mixed. */
export async function fuzzHostileValues(seed: number, count: number): Promise<HostileCounts> {
  const values = await (kept ??= HostileValues.of());
  const counts: HostileCounts = { answers: 0, errors: {} };
  // A step that shares no factor with the number of changes comes to each of them before it comes to one again.
  const step = stepOf(values.changes.length);
  for (let i = 0; i < count; i++) {
    const at = ((seed * count + i) * step) % values.changes.length;
    await values.try(values.changes[at], counts, i % 20 === 0);
  }
  return counts;
}

function stepOf(length: number): number {
  const gcd = (a: number, b: number): number => b === 0 ? a : gcd(b, a % b);
  for (let step = 7919;; step++) if (gcd(step, length) === 1) return step;
}

if (import.meta.main) {
  const { values: args } = parseArgs({
    args: Deno.args,
    options: { every: { type: "string", default: "1" }, record: { type: "boolean" } },
  });
  const values = await HostileValues.of();
  const counts: HostileCounts = { answers: 0, errors: {} };
  const tried = values.changes.filter((_, i) => i % Number(args.every) === 0);
  let faults = 0;
  for (const change of tried) {
    await values.try(change, counts).catch((error) => {
      faults++;
      console.error(error.message);
    });
  }
  console.log(JSON.stringify({ changes: tried.length, faults, ...counts }));
  if (args.record && faults === 0) {
    const { answers, errors } = counts;
    const numbers = { changes: tried.length, answers, errors: Object.values(errors).reduce((a, b) => a + b, 0) };
    recordNumbers(`deno run -A tests/fuzz/hostile_values.ts --every ${args.every}`, numbers);
  }
  if (faults > 0) Deno.exitCode = 1;
}
