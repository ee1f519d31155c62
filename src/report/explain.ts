/**
 * What a Spark error or log line means: its numbers, the settings behind it, what to try.
 *
 * @module
 */
import { LimitError } from "../errors.ts";
import { SparkConf } from "../spark/conf.ts";
import { CONF_ENTRIES } from "../spark/conf_entries.ts";
import { BLOCK_MESSAGES } from "./explain/block_messages.ts";
import { CONTAINER_MESSAGES } from "./explain/container_messages.ts";
import { EXECUTION_MESSAGES } from "./explain/execution_messages.ts";
import type { MessageKind, MessageValues, Severity } from "./explain/message_kind.ts";
import { RESULT_MESSAGES } from "./explain/result_messages.ts";
import { STAGE_MESSAGES } from "./explain/stage_messages.ts";
import { STARTUP_MESSAGES } from "./explain/startup_messages.ts";
import { STORAGE_MESSAGES } from "./explain/storage_messages.ts";
import { TASK_MESSAGES } from "./explain/task_messages.ts";

export { type ExitCode, exitCode } from "./explain/container_messages.ts";
export type { MessageValues, Severity } from "./explain/message_kind.ts";

/** Every kind of message that is known; earlier ones are tried first. */
export const MESSAGE_KINDS: readonly MessageKind[] = Object.freeze([
  ...STARTUP_MESSAGES,
  ...STORAGE_MESSAGES,
  ...BLOCK_MESSAGES,
  ...EXECUTION_MESSAGES,
  ...RESULT_MESSAGES,
  ...TASK_MESSAGES,
  ...STAGE_MESSAGES,
  ...CONTAINER_MESSAGES,
]);

/** A property that governs a message, with its value under the settings that were given. */
export interface GoverningSetting {
  /** Name of the Spark property. */
  readonly key: string;
  /** null where it is not set and has no default. */
  readonly value: string | null;
  /** Whether the application set it. */
  readonly source: "set" | "default";
  /** What it does, in one sentence. */
  readonly doc: string;
}

/** One message of the pasted text. */
export interface Explanation {
  /** Stable identifier of the kind, `area.what`. */
  readonly code: string;
  /** What it is, in a few words. */
  readonly title: string;
  /** How bad it is. */
  readonly severity: Severity;
  /** The line (1-based) where it stands first, and that part of it which is the message. */
  readonly line: number;
  /** The message itself, cut out of its line. */
  readonly quoted: string;
  /** How many lines say it. */
  readonly count: number;
  /** What happened in Spark, and why. */
  readonly meaning: string;
  /** How its numbers come about, a step a line. */
  readonly arithmetic: readonly string[];
  /** The numbers and names in it, and those computed from them. */
  readonly values: MessageValues;
  /** The properties that decide it. */
  readonly settings: readonly GoverningSetting[];
  /** What to try, the most promising first. */
  readonly remedies: readonly string[];
  /** Class of Spark, or program, that prints it. */
  readonly printedBy: string;
  /** First and last version that print it like this; null for no limit. */
  readonly since: string | null;
  /** Last version that prints it like this; null for no limit. */
  readonly until: string | null;
}

/** What a pasted text means. */
export interface ExplainResult {
  /** The messages that are known: failures first, then what is slow, each in the order of the text. */
  readonly explanations: readonly Explanation[];
  /** No line of it is known. */
  readonly unknown: boolean;
  /** The nearest known kind when nothing is known. */
  readonly nearest: { readonly code: string; readonly title: string; readonly example: string } | null;
}

/** How to read a text. */
export interface ExplainOptions {
  /** Settings of the application, where they are known; its version's defaults else. */
  readonly conf?: SparkConf;
}

/** Characters of a pasted text that are read. */
export const EXPLAIN_LIMIT = 4_000_000;

/** Characters of one line that are looked at: a message never stands further behind. */
const LINE_LIMIT = 4000;

/** Different messages of one text that are explained. */
const FOUND_LIMIT = 200;

/** Version whose defaults hold when none is named: the texts of 3.x are the ones most are asked about. */
const DEFAULT_VERSION = "3.5.0";

const ORDER: readonly Severity[] = ["failure", "slow", "harmless", "information"];

/**
 * Explains every known message in a text: a log line, an exception, a pasted stack trace, a part of a log.
 *
 * @throws {LimitError} `explain.limit` when the text is longer than {@linkcode EXPLAIN_LIMIT} characters.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { explain } from "./explain.ts";
 *
 * const { explanations } = explain(
 *   "Total size of serialized results of 2572 tasks (1062.8 MB) is bigger than spark.driver.maxResultSize (1024.0 MB)",
 * );
 * assertEquals(explanations[0].code, "result.maxResultSize");
 * assertEquals(explanations[0].values.meanResultBytes, 433292);
 * ```
 */
export function explain(text: string, options: ExplainOptions = {}): ExplainResult {
  if (text.length > EXPLAIN_LIMIT) {
    throw new LimitError(
      "explain.limit",
      `Cannot explain: must be at most ${EXPLAIN_LIMIT} characters: received ${text.length}`,
      {
        parameters: { limit: EXPLAIN_LIMIT, received: text.length },
      },
    );
  }
  const conf = options.conf ?? SparkConf.from({}, versionOf(text));
  const found = new Map<string, Found>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    for (const one of messagesIn(line.slice(0, LINE_LIMIT))) {
      const { code, distinct } = one.kind;
      const key = distinct === undefined ? code : `${code} ${one.groups[distinct]}`;
      const known = found.get(key);
      if (known !== undefined) known.count++;
      else if (found.size < FOUND_LIMIT) found.set(key, { ...one, line: index + 1, count: 1 });
    }
  }
  const explanations = explained([...found.values()], conf);
  return {
    explanations,
    unknown: explanations.length === 0,
    nearest: explanations.length === 0 ? nearestKind(text) : null,
  };
}

/** A message in a line. */
interface Match {
  readonly kind: MessageKind;
  readonly groups: readonly string[];
}

interface Found extends Match {
  readonly line: number;
  count: number;
}

/** The messages of a line: of two kinds that match the same words the one that stands first in the tables. */
function messagesIn(line: string): Match[] {
  const matches: Match[] = [];
  const taken: [start: number, end: number][] = [];
  for (const kind of MESSAGE_KINDS) {
    if (!line.includes(kind.anchor)) continue;
    const match = kind.pattern.exec(line);
    if (match === null) continue;
    const start = match.index;
    const end = start + match[0].length;
    const inside = taken.some(([from, to]) => start >= from && end <= to);
    if (inside && SPECIFIC.has(kind.code)) continue;
    taken.push([start, end]);
    matches.push({ kind, groups: match });
  }
  return matches;
}

/** Kinds that say nothing new inside the words of another message. */
const SPECIFIC: ReadonlySet<string> = new Set(["jvm.otherOutOfMemory", "execution.unableToAcquireOld"]);

function explained(found: readonly Found[], conf: SparkConf): Explanation[] {
  const values = new Map<string, MessageValues>();
  const inOrder = [...found].sort((a, b) => a.line - b.line);
  const explanations = inOrder.map((one) => {
    const reading = one.kind.read?.(one.groups, { conf, earlier: (code) => values.get(code) ?? null }) ?? {};
    values.set(one.kind.code, reading.values ?? {});
    const { kind } = one;
    return {
      code: kind.code,
      title: kind.title,
      severity: kind.severity,
      line: one.line,
      quoted: one.groups[0].trim(),
      count: one.count,
      meaning: [kind.meaning, reading.meaning ?? ""].filter((part) => part !== "").join(" "),
      arithmetic: reading.arithmetic ?? [],
      values: reading.values ?? {},
      settings: governing(kind, conf),
      remedies: [...reading.remedies ?? [], ...kind.remedies],
      printedBy: kind.printedBy,
      since: kind.since,
      until: kind.until,
    };
  });
  return explanations.sort((a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity) || a.line - b.line);
}

/** The properties of a kind that the version reads, with their values. */
function governing(kind: MessageKind, conf: SparkConf): GoverningSetting[] {
  return kind.settings.filter((key) => conf.reads(key) || conf.contains(key)).map((key) => ({
    key,
    value: conf.get(key),
    source: conf.source(key),
    doc: CONF_ENTRIES.get(key)?.doc ?? "",
  }));
}

/** The version that a text looks like: KB and MB are of 2.x, KiB and MiB of 3.x, SQLSTATE behind an error class of 4.x. */
function versionOf(text: string): string {
  if (/ SQLSTATE: [0-9A-Z]{5}/.test(text)) return "4.0.0";
  if (/\d (?:[KMGT])iB\b/.test(text)) return DEFAULT_VERSION;
  return /\d (?:[KMGT])B\b/.test(text) ? "2.4.0" : DEFAULT_VERSION;
}

/** Words that say nothing about the kind of a message. */
const COMMON_WORDS = new Set([
  "the",
  "and",
  "for",
  "with",
  "from",
  "that",
  "has",
  "was",
  "not",
  "error",
  "exception",
  "java",
]);

function words(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[a-z]{3,}/g)?.filter((word) => !COMMON_WORDS.has(word)));
}

/** The kind whose own words a text has most of, at least two and half of them; null when there is none. */
function nearestKind(text: string): ExplainResult["nearest"] {
  const given = words(text.slice(0, LINE_LIMIT));
  let best: MessageKind | null = null;
  let bestScore = 0.49;
  for (const kind of MESSAGE_KINDS) {
    const own = words(kind.anchor);
    let shared = 0;
    for (const word of own) if (given.has(word)) shared++;
    const score = shared / Math.max(2, own.size);
    if (shared >= 2 && score > bestScore) {
      best = kind;
      bestScore = score;
    }
  }
  return best === null ? null : { code: best.code, title: best.title, example: best.anchor };
}
