/**
 * What a Spark property is: its type, defaults by version, older names, and the checks Spark makes.
 *
 * @module
 */
import type { ByteUnit, TimeUnit } from "./sizes.ts";
import type { ByVersion, Since } from "./spark_version.ts";

/** How the text of a property is read. */
export type ConfType =
  | { readonly kind: "bytes"; readonly unit: ByteUnit }
  | { readonly kind: "time"; readonly unit: TimeUnit }
  | { readonly kind: "int" | "long" | "double" | "boolean" | "string" };

/** A check that Spark makes when it reads the property, and its words when the check fails. */
export interface ConfCheck {
  /** From which version on it is made. */
  readonly since: Since;
  /** From which version on it is no longer made. */
  readonly until?: Since;
  /** Whether a value passes: a number in the property's unit, or the text of a string property. */
  readonly passes: (value: number, text: string) => boolean;
  readonly text: string;
}

/** An older name of a property that Spark still reads. */
export interface ConfAlternative {
  readonly key: string;
  /** The version that deprecated the older name. */
  readonly deprecatedIn: string;
  /** Turns the old value into the new form. */
  readonly translate?: (value: string) => string;
}

/** One Spark property. */
export interface ConfEntry {
  readonly key: string;
  readonly type: ConfType;
  /** The first version that reads it. */
  readonly since: string;
  /** The first version that no longer reads it. */
  readonly until?: string;
  /** The first version that reads it by this name, where it was known by an older one before. */
  readonly namedSince?: string;
  /** The default by version; null where there is none. */
  readonly defaults: ByVersion<string | null>;
  /** A property whose value holds when this one is not set. */
  readonly fallback?: string;
  /**
   * From which version Spark declares it (ConfigBuilder) instead of reading it with getInt and its like: the words of
   * its refusals differ.
   */
  readonly declaredSince: string;
  readonly checks: readonly ConfCheck[];
  readonly alternatives: readonly ConfAlternative[];
  /** What it does, in one sentence. */
  readonly doc: string;
}

/** The parts of an entry that are not the same for most. */
export interface ConfEntryOptions {
  readonly until?: string;
  readonly namedSince?: string;
  readonly fallback?: string;
  readonly declaredSince?: string;
  readonly checks?: readonly ConfCheck[];
  readonly alternatives?: readonly ConfAlternative[];
}

/**
 * Makes an entry. A single default holds from the entry's first version on.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { confEntry } from "./conf_entry.ts";
 *
 * const entry = confEntry("spark.task.cpus", { kind: "int" }, "0.5", "1", "Cores of one task.");
 * assertEquals(entry.defaults, [["0.5", "1"]]);
 * ```
 */
export function confEntry(
  key: string,
  type: ConfType,
  since: string,
  defaults: string | null | ByVersion<string | null>,
  doc: string,
  options: ConfEntryOptions = {},
): ConfEntry {
  return Object.freeze({
    key,
    type,
    since,
    defaults: defaults === null || typeof defaults === "string" ? [[since, defaults] as const] : defaults,
    declaredSince: options.declaredSince ?? "3.0.0",
    checks: options.checks ?? [],
    alternatives: options.alternatives ?? [],
    doc,
    ...(options.until === undefined ? {} : { until: options.until }),
    ...(options.namedSince === undefined ? {} : { namedSince: options.namedSince }),
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
  });
}

/** A check of an entry; made by every version that has the entry unless `since` and `until` say otherwise. */
export function check(
  text: string,
  passes: (value: number, text: string) => boolean,
  since: Since = "1.0",
  until?: Since,
): ConfCheck {
  return Object.freeze({
    since,
    passes,
    text,
    ...(until === undefined ? {} : { until }),
  });
}

/** Types, by short names, for the tables of entries. */
export const TYPES = Object.freeze({
  bytes: Object.freeze({ kind: "bytes", unit: "BYTE" }),
  kib: Object.freeze({ kind: "bytes", unit: "KiB" }),
  mib: Object.freeze({ kind: "bytes", unit: "MiB" }),
  ms: Object.freeze({ kind: "time", unit: "MILLISECONDS" }),
  seconds: Object.freeze({ kind: "time", unit: "SECONDS" }),
  int: Object.freeze({ kind: "int" }),
  long: Object.freeze({ kind: "long" }),
  double: Object.freeze({ kind: "double" }),
  boolean: Object.freeze({ kind: "boolean" }),
  string: Object.freeze({ kind: "string" }),
}) satisfies Readonly<Record<string, ConfType>>;

/** For properties that Spark reads without ever declaring them. */
export const NEVER = "9999.0";

/** Java's Integer.MAX_VALUE. */
export const INT_MAX = 2147483647;

/** Spark's ByteArrayMethods.MAX_ROUNDED_ARRAY_LENGTH: the longest array that it allocates. */
export const MAX_ROUNDED_ARRAY_LENGTH = INT_MAX - 15;
