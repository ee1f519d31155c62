/**
 * What the explainer knows of one message of Spark, of the JVM or of a cluster manager.
 *
 * @module
 */
import type { SparkConf } from "../../spark/conf.ts";
import { BYTE_UNITS, printedSize } from "../../spark/sizes.ts";

/** How bad it is that the message was printed. */
export type Severity =
  /** A task, a stage or the application fails of it. */
  | "failure"
  /** Nothing fails, but work is done again, on disk, or waits. */
  | "slow"
  /** It looks alarming and is not. */
  | "harmless"
  /** It says what goes on. */
  | "information";

/** Numbers and names of a message, and what was computed from them. Bytes and milliseconds where the name has no unit. */
export type MessageValues = Readonly<Record<string, number | string | boolean | readonly number[] | null>>;

/** What was read out of one message. */
export interface Reading {
  readonly values?: MessageValues;
  /** One step of arithmetic a line, with the numbers of the message. */
  readonly arithmetic?: readonly string[];
  /** What these numbers mean in particular; follows the general meaning. */
  readonly meaning?: string;
  /** What to try with these numbers; goes before the general advice. */
  readonly remedies?: readonly string[];
}

/** What a reading may look at beside its own message. */
export interface ReadingContext {
  /** Settings that the user named, with the version's defaults. */
  readonly conf: SparkConf;
  /** Values of an earlier message of the same paste, by its kind's code. */
  readonly earlier: (code: string) => MessageValues | null;
}

/** One kind of message. */
export interface MessageKind {
  /** Stable identifier, `area.what`. */
  readonly code: string;
  /** What it says, in a few words. */
  readonly title: string;
  readonly severity: Severity;
  /** The class that prints it, or the program. */
  readonly printedBy: string;
  /** First and last Spark version that print it like this; null for all, and for what Spark does not print. */
  readonly since: string | null;
  readonly until: string | null;
  /** A part of every such message, looked for first. */
  readonly anchor: string;
  readonly pattern: RegExp;
  readonly meaning: string;
  /** Properties that govern it. */
  readonly settings: readonly string[];
  readonly remedies: readonly string[];
  /** Group of the pattern by which messages of this kind are told apart; all are one otherwise. */
  readonly distinct?: number;
  readonly read?: (groups: readonly string[], context: ReadingContext) => Reading;
}

/** The parts of a kind that most messages leave out. */
type Optional = "since" | "until" | "settings" | "remedies";

/** A kind whose versions, settings and advice are only given where there are some. */
export type KindOptions = Omit<MessageKind, Optional> & Partial<Pick<MessageKind, Optional>>;

/**
 * Completes a kind.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { kind } from "./message_kind.ts";
 *
 * const cleared = kind({
 *   code: "store.cleared",
 *   title: "the block store was emptied",
 *   severity: "information",
 *   printedBy: "MemoryStore",
 *   anchor: "MemoryStore cleared",
 *   pattern: /MemoryStore cleared/,
 *   meaning: "The executor shuts down.",
 * });
 * assertEquals(cleared.settings, []);
 * ```
 */
export function kind(options: KindOptions): MessageKind {
  return Object.freeze({ since: null, until: null, settings: [], remedies: [], ...options });
}

/** Pieces of patterns: a printed size, a whole number, a block's name. Each captures. */
export const SIZE = String.raw`(\d{1,15}(?:\.\d)? (?:[KMGTPE]i?)?B)`;
export const BYTES = String.raw`(-?\d{1,19})`;
export const BLOCK = String.raw`([A-Za-z][\w.-]{0,200})`;

/**
 * A pattern from its text with {@linkcode SIZE}, {@linkcode BYTES} and {@linkcode BLOCK} put in.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { re, SIZE } from "./message_kind.ts";
 *
 * assertEquals(re`capacity ${SIZE}`.exec("MemoryStore started with capacity 366.3 MB")?.[1], "366.3 MB");
 * ```
 */
export function re(strings: TemplateStringsArray, ...parts: readonly string[]): RegExp {
  return new RegExp(String.raw(strings, ...parts));
}

/** A size as Spark printed it. */
export interface PrintedSize {
  /** The number times the unit: what was printed, not what was measured. */
  readonly bytes: number;
  /** The sizes that print alike. */
  readonly min: number;
  readonly max: number;
  readonly text: string;
}

/**
 * Reads a printed size that a pattern has found.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { printed } from "./message_kind.ts";
 *
 * assertEquals(printed("1062.8 MB").bytes, 1114426573);
 * ```
 */
export function printed(text: string): PrintedSize {
  const range = printedSize(text);
  if (range === null) throw new Error(`not a printed size: ${text}`);
  const [number, unit] = text.split(" ");
  return { ...range, bytes: Math.round(Number(number) * unitBytes(unit)) };
}

function unitBytes(unit: string): number {
  const first = unit[0];
  return first === "B" ? 1 : BYTE_UNITS[`${first}iB` as keyof typeof BYTE_UNITS] ?? 2 ** 60;
}

/**
 * Bytes in the unit of another printed size, with two digits: "17.35 MB".
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { inUnitOf } from "./message_kind.ts";
 *
 * assertEquals(inUnitOf(18192793, "34.5 MB"), "17.35 MB");
 * ```
 */
export function inUnitOf(bytes: number, text: string): string {
  const unit = text.split(" ")[1];
  const value = bytes / unitBytes(unit);
  return `${value.toFixed(unit === "B" ? 0 : 2)} ${unit}`;
}

/**
 * Whole mebibytes that hold `bytes`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { mebibytes } from "./message_kind.ts";
 *
 * assertEquals(mebibytes(250906987), "239.28 MiB");
 * ```
 */
export function mebibytes(bytes: number): string {
  return `${(bytes / BYTE_UNITS.MiB).toFixed(2)} MiB`;
}
