/**
 * Reading and ordering Spark's version numbers. Rules and defaults that differ by version are data (versions.ts,
 * conf_entries.ts) and are looked up with {@linkcode valueIn}; nothing else compares versions.
 *
 * @module
 */

/** The version whose recorded behaviour is the reference, and the one assumed where none is named. */
export const REFERENCE_SPARK_VERSION = "2.4.0";

/** Release lines whose rules are known, oldest first; the last is the newest. */
export const KNOWN_LINES: readonly string[] = Object.freeze([
  "1.0",
  "1.1",
  "1.2",
  "1.3",
  "1.4",
  "1.5",
  "1.6",
  "2.0",
  "2.1",
  "2.2",
  "2.3",
  "2.4",
  "3.0",
  "3.1",
  "3.2",
  "3.3",
  "3.4",
  "3.5",
  "4.0",
  "4.1",
  "4.2",
]);

/** A version as numbers: major, minor, patch. */
export type VersionNumber = readonly [
  major: number,
  minor: number,
  patch: number,
];

/** The oldest line whose scheduler was compared decision by decision; rules of older ones were read in their source. */
const OLDEST_SCHEDULER = "2.3";

/** A version that was asked for, and the one whose rules are used for it. */
export interface ResolvedVersion {
  /** As it was given. */
  readonly asked: string;
  /** Whose rules apply. */
  readonly number: VersionNumber;
  /** Why these are not exactly the rules of the version that was asked for; null when they are. */
  readonly warning: string | null;
}

/**
 * The numbers at the start of a version; what distributors append ("3.3.0-amzn-1", "2.4.0.cloudera2",
 * "3.1.1.3.1.7270.0-253", "4.1.0-SNAPSHOT") is left out.
 *
 * @returns null when there is no version in the text.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseSparkVersion } from "./spark_version.ts";
 *
 * assertEquals(parseSparkVersion("3.3.0-amzn-1"), [3, 3, 0]);
 * assertEquals(parseSparkVersion("4.1"), [4, 1, 0]);
 * assertEquals(parseSparkVersion("latest"), null);
 * ```
 */
export function parseSparkVersion(text: string): VersionNumber | null {
  const match = /^\s*v?(\d{1,4})\.(\d{1,4})(?:\.(\d{1,6}))?(?![\d])/.exec(text);
  if (match === null) return null;
  return [Number(match[1]), Number(match[2]), Number(match[3] ?? 0)];
}

/** Negative when `a` is older than `b`, 0 when they are the same, positive when it is newer. */
function compareVersions(a: VersionNumber, b: VersionNumber): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function numberOf(version: string): VersionNumber {
  const parsed = parseSparkVersion(version);
  if (parsed === null) throw new Error(`not a version: ${version}`);
  return parsed;
}

/** The last patch of a line, for asking about "the newest of 4.2". */
function endOfLine(line: string): VersionNumber {
  const [major, minor] = numberOf(line);
  return [major, minor, 999_999];
}

/**
 * The version whose rules serve for a version that was asked for: itself when its line is known; the newest known
 * when it is newer than all or is no version at all; else the newest known line before it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { resolveVersion } from "./spark_version.ts";
 *
 * assertEquals(resolveVersion("3.5.1").warning, null);
 * assertEquals(resolveVersion("9.0.0").number.slice(0, 2), [4, 2]);
 * ```
 */
export function resolveVersion(asked: string): ResolvedVersion {
  const newest = KNOWN_LINES[KNOWN_LINES.length - 1];
  const number = parseSparkVersion(asked);
  if (number === null) {
    return {
      asked,
      number: endOfLine(newest),
      warning: `Spark version "${asked}" is not a version: the rules of the newest known line, ${newest}, are used`,
    };
  }
  if (KNOWN_LINES.includes(`${number[0]}.${number[1]}`)) {
    return { asked, number, warning: null };
  }
  const older = KNOWN_LINES.filter((line) => compareVersions(numberOf(line), number) <= 0);
  const used = older.at(-1) ?? KNOWN_LINES[0];
  return {
    asked,
    number: endOfLine(used),
    warning: `Spark ${asked} is not known: the rules of ${used} are used`,
  };
}

/**
 * What is to be said about the scheduling of a version: null from 2.3 on, where it is Spark's own, decision by decision.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { resolveVersion, schedulingWarning } from "./spark_version.ts";
 *
 * assertEquals(schedulingWarning(resolveVersion("2.3.4")), null);
 * assertEquals(
 *   schedulingWarning(resolveVersion("2.2.3")),
 *   "Spark 2.2.3: the rules by which tasks and stages are scheduled were read in its source, not compared with the real Spark",
 * );
 * ```
 */
export function schedulingWarning({ asked, number }: ResolvedVersion): string | null {
  if (compareVersions(number, numberOf(OLDEST_SCHEDULER)) >= 0) return null;
  return `Spark ${asked}: the rules by which tasks and stages are scheduled were read in its source, not compared with ` +
    "the real Spark";
}

/**
 * From which versions on something holds: one version, or several when it was brought to older lines as well
 * (`["2.4.7", "3.0.1"]`: in 2.4.7 and 2.4.8, not in 3.0.0, in 3.0.1 and everything later).
 */
export type Since = string | readonly string[];

/**
 * Whether a version has what came in with `since`: the entry of the newest line not newer than the version decides.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { holdsSince, resolveVersion } from "./spark_version.ts";
 *
 * const has = (version: string) => holdsSince(resolveVersion(version), ["2.4.7", "3.0.1"]);
 * assertEquals([has("2.4.0"), has("2.4.8"), has("3.0.0"), has("3.1.0")], [false, true, false, true]);
 * ```
 */
export function holdsSince(version: ResolvedVersion, since: Since): boolean {
  const [major, minor] = version.number;
  let decisive: VersionNumber | null = null;
  for (const text of typeof since === "string" ? [since] : since) {
    const candidate = numberOf(text);
    if (
      compareVersions([candidate[0], candidate[1], 0], [major, minor, 0]) > 0
    ) {
      continue;
    }
    if (decisive === null || compareVersions(candidate, decisive) > 0) {
      decisive = candidate;
    }
  }
  return decisive !== null && compareVersions(version.number, decisive) >= 0;
}

/** A value by version: each holds from its `since` until the next one takes over. Ordered, oldest first. */
export type ByVersion<T> = readonly (readonly [since: Since, value: T])[];

/**
 * The value that a version has, or undefined when it is older than all of them.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { resolveVersion, valueIn } from "./spark_version.ts";
 *
 * const fraction = [["1.6", "0.75"], ["2.0", "0.6"]] as const;
 * assertEquals(valueIn(resolveVersion("1.6.3"), fraction), "0.75");
 * assertEquals(valueIn(resolveVersion("3.5.1"), fraction), "0.6");
 * assertEquals(valueIn(resolveVersion("1.5.2"), fraction), undefined);
 * ```
 */
export function valueIn<T>(
  version: ResolvedVersion,
  values: ByVersion<T>,
): T | undefined {
  let found: T | undefined;
  for (const [since, value] of values) {
    if (holdsSince(version, since)) found = value;
  }
  return found;
}
