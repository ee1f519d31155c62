/**
 * What a trace of the real Spark is, and what replaying one gives.
 *
 * A trace is lines of JSON: a header, then operations (or events) with their recorded outcomes. Only the inputs are
 * used; each outcome is computed and, where the line holds one, compared with it.
 *
 * @module
 */
import type { SparkRules } from "../spark/versions.ts";

/** One line of a trace after `JSON.parse`. */
// deno-lint-ignore no-explicit-any
export type TraceLine = any;

/** A recorded outcome that the engine does not reproduce. */
export interface Difference {
  /** Which outcome of the line, for example `r` or `observed.state`. */
  readonly what: string;
  readonly recorded: unknown;
  readonly computed: unknown;
}

/** What replaying one line gave. */
export interface ReplayRecord {
  /** Number of the line in the trace, 1-based. */
  readonly line: number;
  /** What `--format ndjson` prints: the inputs with the computed outcomes; null for lines that are no operation. */
  readonly output: object | null;
  /** Whether the line held outcomes to compare. */
  readonly compared: boolean;
  readonly differences: readonly Difference[];
}

/** Settings of a replay. */
export interface ReplayOptions {
  /** The Spark version whose rules are followed; without it, the one that the trace's header names. */
  readonly sparkVersion?: string;
  /** Other rules in place of those of the version (traces of the scheduler): what a rule decides shows in the differences. */
  readonly withRules?: (rules: SparkRules) => SparkRules;
}

/** One format of traces. */
export interface TraceFormat {
  /** What is replayed, for messages: `memory`, `scheduler`, `spilling`. */
  readonly name: string;
  /** Whole numbers beyond 2^53 - 1 come as BigInt, in the lines after the header; without it, as the nearest number. */
  readonly exactIntegers?: boolean;
  /** Whether a header is of this format. */
  detects(header: TraceLine): boolean;
  /**
   * Runs a trace, lazily: a record for each line after the header, in order.
   *
   * @throws {InputError} `replay.line` for a line that is no operation of the format.
   */
  replay(
    header: TraceLine,
    lines: Iterable<TraceLine>,
    options: ReplayOptions,
  ): Iterable<ReplayRecord>;
}

/**
 * Whether two JSON values are equal; the order of an object's keys does not matter.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { sameJson } from "./trace.ts";
 *
 * assertEquals(sameJson({ a: [1, null], b: "x" }, { b: "x", a: [1, null] }), true);
 * assertEquals(sameJson([1, 2], [2, 1]), false);
 * ```
 */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object") return false;
  if (a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length &&
      a.every((item, i) => sameJson(item, b[i]));
  }
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length &&
    keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]));
}
