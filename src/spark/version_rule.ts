/**
 * What a rule that differs by version is.
 *
 * @module
 */
import type { ByVersion, Since } from "./spark_version.ts";

/** Collectors of the JVM that Spark or the sizing of the heap tell apart. */
export type Collector = "g1" | "parallel" | "serial" | "zgc" | "shenandoah";

/** One rule that differs by version. */
export interface VersionRule<T> {
  /** One sentence: what the value decides. */
  readonly summary: string;
  /** What must happen in a run for the rule to be met: "when ..." or "in every run". */
  readonly when: string;
  /** The issue that changed it, where one was found. */
  readonly issue: string | null;
  /** How it is known: seen on the real classes, or read in their source. */
  readonly known: "run" | "read";
  readonly values: ByVersion<T>;
}

/**
 * A rule and its values by version.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rule } from "./version_rule.ts";
 *
 * const unit = rule("read", null, "the unit of sizes", "when sizes are printed", [["1.0", "MB"], ["3.0.0", "MiB"]]);
 * assertEquals(unit.values.length, 2);
 * ```
 */
export function rule<T>(
  known: "run" | "read",
  issue: string | null,
  summary: string,
  when: string,
  values: readonly (readonly [since: Since, value: T])[],
): VersionRule<T> {
  return Object.freeze({ summary, when, issue, known, values });
}

/**
 * A rule that came in with a version and stayed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { from } from "./version_rule.ts";
 *
 * const noAbort = from("run", "3.1.0", "SPARK-32470", "map stages do not abort", "when a map stage's results are too large");
 * assertEquals(noAbort.values[1], ["3.1.0", true]);
 * ```
 */
export function from(
  known: "run" | "read",
  since: Since,
  issue: string | null,
  summary: string,
  when: string,
): VersionRule<boolean> {
  return rule(known, issue, summary, when, [["1.0", false], [since, true]]);
}
