/**
 * What Spark's memory manager, result path and scheduler do differently by version: every such rule, as data.
 *
 * 2.4.0 is the reference. "run" rules were seen on the real classes of the versions named, "read" ones in their
 * source; a `since` with several versions means that older lines got the change in a later patch.
 * Defaults of settings that differ by version are in conf_entries.ts.
 *
 * @module
 */
import { type ByVersion, resolveVersion, schedulingWarning, valueIn } from "./spark_version.ts";
import type { VersionRule } from "./version_rule.ts";
import { EARLY_SCHEDULER_RULES } from "./version_rules/early_scheduler.ts";
import { EVENT_LOG_RULES } from "./version_rules/event_log.ts";
import { MEMORY_RULES } from "./version_rules/memory.ts";
import { RESULTS_RULES } from "./version_rules/results.ts";
import { SCHEDULER_RULES } from "./version_rules/scheduler.ts";
import { SPILLING_RULES } from "./version_rules/spilling.ts";
import { TEXTS_RULES } from "./version_rules/texts.ts";

export type { Collector, VersionRule } from "./version_rule.ts";

/** Every rule that differs by version, by area. */
export const VERSION_RULES = Object.freeze({
  memory: MEMORY_RULES,
  results: RESULTS_RULES,
  scheduler: Object.freeze({ ...SCHEDULER_RULES, ...EARLY_SCHEDULER_RULES }),
  spilling: SPILLING_RULES,
  texts: TEXTS_RULES,
  eventLog: EVENT_LOG_RULES,
});

type Rules = typeof VERSION_RULES;

/** The rules of one version, by area: the values of {@linkcode VERSION_RULES}. */
export type SparkRules =
  & {
    /** The version as it was asked for. */
    readonly sparkVersion: string;
    /** Why these are the rules of another version; null when they are not. */
    readonly warning: string | null;
    /** Why the scheduling is that of another version; null when it is not. */
    readonly schedulingWarning: string | null;
  }
  & {
    readonly [Area in keyof Rules]: {
      readonly [Name in keyof Rules[Area]]: Rules[Area][Name] extends VersionRule<infer T> ? T : never;
    };
  };

const cache = new Map<string, SparkRules>();
const CACHE_LIMIT = 256;

/**
 * The rules of a Spark version. A version that is not known gets the newest known rules and says so in `warning`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rulesFor } from "./versions.ts";
 *
 * assertEquals(rulesFor("2.4.0").texts.unitStyle, "MB");
 * assertEquals(rulesFor("3.5.1").results.countsValueBytesOnly, true);
 * assertEquals(rulesFor("3.3.0").memory.pageSizeLeavesHeaderUnder, ["g1"]);
 * assertEquals(rulesFor("7.0.0").warning, "Spark 7.0.0 is not known: the rules of 4.2 are used");
 * ```
 */
export function rulesFor(sparkVersion: string): SparkRules {
  const cached = cache.get(sparkVersion);
  if (cached !== undefined) return cached;
  const version = resolveVersion(sparkVersion);
  const rules: Record<string, unknown> = {
    sparkVersion,
    warning: version.warning,
    schedulingWarning: schedulingWarning(version),
  };
  for (const [area, byName] of Object.entries(VERSION_RULES)) {
    const values: Record<string, unknown> = {};
    for (const [name, { values: byVersion }] of Object.entries(byName)) {
      values[name] = valueIn(version, byVersion as ByVersion<unknown>);
    }
    rules[area] = Object.freeze(values);
  }
  const result = Object.freeze(rules) as unknown as SparkRules;
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(sparkVersion, result);
  return result;
}

/** A rule that two versions answer differently. */
export interface RuleChange {
  /** `area.name`, as in {@linkcode SparkRules}. */
  readonly rule: string;
  readonly summary: string;
  /** What must happen in a run for it to be met. */
  readonly when: string;
  readonly issue: string | null;
  readonly from: unknown;
  readonly to: unknown;
}

/**
 * The rules that change between two versions: what an upgrade can make a difference by.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { changedRules } from "./versions.ts";
 *
 * const rules = changedRules("3.5.1", "4.1.0").map(({ rule }) => rule);
 * assertEquals(rules.includes("memory.unmanagedConsumers"), true);
 * assertEquals(changedRules("3.5.6", "3.5.9"), []);
 * ```
 */
export function changedRules(
  fromVersion: string,
  toVersion: string,
): RuleChange[] {
  const before = rulesFor(fromVersion);
  const after = rulesFor(toVersion);
  const changes: RuleChange[] = [];
  for (const [area, byName] of Object.entries(VERSION_RULES)) {
    for (const [name, { summary, when, issue }] of Object.entries(byName)) {
      const from = valueOf(before, area, name);
      const to = valueOf(after, area, name);
      if (JSON.stringify(from) === JSON.stringify(to)) continue;
      changes.push({ rule: `${area}.${name}`, summary, when, issue, from, to });
    }
  }
  return changes;
}

/**
 * The rules of `rules`, but those of `names` (`area.name`) as they are in `others`: what one rule alone makes of a run.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { mixedRules, rulesFor } from "./versions.ts";
 *
 * const { texts, results } = mixedRules(rulesFor("4.1.0"), rulesFor("2.4.0"), ["texts.unitStyle"]);
 * assertEquals([texts.unitStyle, results.mapStagesAbort], ["MB", false]);
 * ```
 */
export function mixedRules(rules: SparkRules, others: SparkRules, names: Iterable<string>): SparkRules {
  const mixed: Record<string, unknown> = { ...rules };
  for (const rule of names) {
    const [area, name] = rule.split(".");
    mixed[area] = Object.freeze({ ...mixed[area] as Record<string, unknown>, [name]: valueOf(others, area, name) });
  }
  return Object.freeze(mixed) as unknown as SparkRules;
}

function valueOf(rules: SparkRules, area: string, name: string): unknown {
  return (rules as unknown as Record<string, Record<string, unknown>>)[area][
    name
  ];
}
