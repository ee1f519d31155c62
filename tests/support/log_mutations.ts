/**
 * Ways to damage an event log, or to change it and keep it valid.
 *
 * @module
 */
import type { Prng } from "../../src/prng.ts";

/** Makes another line of a line. */
export type LineChange = (line: string, random: Prng) => string;

function replaceAt(line: string, at: number, text: string): string {
  return line.slice(0, at) + text + line.slice(at + 1);
}

/** Changes one of a pattern's matches. */
function changeOne(line: string, pattern: RegExp, random: Prng, to: (match: string) => string): string {
  const matches = [...line.matchAll(pattern)];
  if (matches.length === 0) return line;
  const match = matches[random.integer(matches.length)];
  return line.slice(0, match.index) + to(match[0]) + line.slice(match.index + match[0].length);
}

function oneOf<T>(values: readonly T[], random: Prng): T {
  return values[random.integer(values.length)];
}

const NUMBERS = [
  "0",
  "00",
  "-1",
  "-0",
  "1.5",
  "1e3",
  "007",
  "999999999999999",
  "9007199254740993",
  "18446744073709551616",
  "1e400",
  "null",
  '"7"',
  "[]",
  "{}",
];
const TEXTS = ['""', '"\\u0041"', '"\\n"', '"\u00e9"', '"driver"', "5", '"\u{1f600}"', "null", '"__proto__"'];

/** What can happen to a line. */
export const LINE_CHANGES: Readonly<Record<string, LineChange>> = {
  corruptByte: (line, random) =>
    replaceAt(line, random.integer(line.length + 1), String.fromCharCode(random.integer(256))),
  structuralByte: (line, random) =>
    replaceAt(line, random.integer(line.length + 1), oneOf([...'"\\{}[],:0-eE.\n'], random)),
  cut: (line, random) => line.slice(0, random.integer(line.length + 1)),
  hole(line, random) {
    const at = random.integer(line.length + 1);
    return line.slice(0, at) + line.slice(at + 1 + random.integer(20));
  },
  repeat(line, random) {
    const at = random.integer(line.length + 1);
    return line.slice(0, at) + line.slice(at, at + 30) + line.slice(at);
  },
  number: (line, random) => changeOne(line, /(?<=:)-?\d+/g, random, () => oneOf(NUMBERS, random)),
  text: (line, random) => changeOne(line, /(?<=:)"[^"]*"/g, random, () => oneOf(TEXTS, random)),
  key: (line, random) => changeOne(line, /"[^"]*"(?=:)/g, random, () => oneOf(TEXTS, random)),
  word: (line, random) =>
    changeOne(line, /(true|false|null)/g, random, () => oneOf(["true", "false", "null", "0"], random)),
  fieldTwice: (line, random) =>
    changeOne(line, /"[A-Z][^"]*":[^,{}[\]]+,/g, random, (field) => field + field.replace(/:.*/, ":3,")),
  fieldMore: (line, random) => changeOne(line, /"[A-Z][^"]*":/g, random, (field) => `"Other":1,${field}`),
  fieldLess: (line, random) => changeOne(line, /"[A-Z][^"]*":[^,{}[\]]+,/g, random, () => ""),
  spaceAfter: (line) => line + " ",
  returnAfter: (line) => line + "\r",
  braceAfter: (line) => line + "}",
};

/** Makes other lines of a log's lines. */
export type LogChange = (lines: readonly string[], random: Prng, other: readonly string[]) => string[];

function changeLine(change: LineChange): LogChange {
  return (lines, random) => {
    const at = random.integer(lines.length);
    return [...lines.slice(0, at), change(lines[at], random), ...lines.slice(at + 1)];
  };
}

/** What can happen to a log: to one of its lines, or to their order and number; `other` is another application's log. */
export const LOG_CHANGES: Readonly<Record<string, LogChange>> = {
  ...Object.fromEntries(Object.entries(LINE_CHANGES).map(([name, change]) => [name, changeLine(change)])),
  swapLines(lines, random) {
    const changed = [...lines];
    const [a, b] = [random.integer(lines.length), random.integer(lines.length)];
    [changed[a], changed[b]] = [changed[b], changed[a]];
    return changed;
  },
  duplicateLine(lines, random) {
    const at = random.integer(lines.length);
    return [...lines.slice(0, at), lines[at], ...lines.slice(at)];
  },
  dropLines(lines, random) {
    const at = random.integer(lines.length);
    return [...lines.slice(0, at), ...lines.slice(at + 1 + random.integer(10))];
  },
  cutLog: (lines, random) => lines.slice(0, 1 + random.integer(lines.length)),
  cutBeginning: (lines, random) => lines.slice(random.integer(lines.length)),
  shuffle(lines, random) {
    const changed = [...lines];
    for (let i = changed.length - 1; i > 0; i--) {
      const k = random.integer(i + 1);
      [changed[i], changed[k]] = [changed[k], changed[i]];
    }
    return changed;
  },
  reverse: (lines) => [...lines].reverse(),
  twice: (lines) => [...lines, ...lines],
  interleave(lines, random, other) {
    const changed: string[] = [];
    let [a, b] = [0, 0];
    while (a < lines.length || b < other.length) {
      if (b >= other.length || a < lines.length && random.integer(2) === 0) changed.push(lines[a++]);
      else changed.push(other[b++]);
    }
    return changed;
  },
  emptyLines: (lines, random) => lines.flatMap((line) => random.integer(10) === 0 ? ["", line] : [line]),
  nestedDeep(lines, random) {
    const at = random.integer(lines.length);
    return [...lines.slice(0, at), "[".repeat(50_000) + "]".repeat(50_000), ...lines.slice(at)];
  },
};
