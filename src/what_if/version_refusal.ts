/**
 * Settings with which one version starts and another does not: which rule it is that refuses them.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { SparkConf } from "../spark/conf.ts";
import { checkStartup } from "../spark/startup.ts";
import { changedRules, mixedRules, type RuleChange } from "../spark/versions.ts";

/** What {@linkcode checkStartup} needs to know beside the settings. */
export type StartupOptions = Parameters<typeof checkStartup>[1];

/** Rules that decide what Spark refuses at start, and in which words: a job that runs has met none of them. */
export const STARTUP_RULES: ReadonlySet<string> = new Set([
  "memory.manager",
  "memory.checksExecutorMemory",
  "memory.minMemoryError",
  "memory.confValueError",
  "texts.appendsSqlState",
  "texts.heartbeatRefusal",
  "texts.kryoBufferRefusal",
  "texts.coresRefusal",
  "texts.allocationRefusal",
  "texts.allocationNeedsShuffleService",
]);

/**
 * The checks of {@linkcode checkStartup} for settings under another version. Where the version before starts with them, the
 * error says so, and names the rules of which each alone makes the difference (`parameters.startsUnder`, `parameters.rules`).
 *
 * @throws {InputError} as checkStartup does.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { checkUpgradedStartup } from "./version_refusal.ts";
 *
 * const conf = SparkConf.from({ "spark.executor.heartbeatInterval": "200s" }, "2.4.0");
 * assertThrows(() => checkUpgradedStartup(conf, "2.2.3"), TypeError, "texts.heartbeatRefusal, SPARK-22754");
 * ```
 */
export function checkUpgradedStartup(conf: SparkConf, sparkVersion: string, options: StartupOptions = {}): void {
  const refusal = refusalOf(conf, options);
  if (refusal === null) return;
  const before = conf.withVersion(sparkVersion);
  if (refusalOf(before, options) !== null) throw refusal;
  const rules = changedRules(sparkVersion, conf.sparkVersion).filter(({ rule }) =>
    refusalOf(conf.withRules(mixedRules(conf.rules, before.rules, [rule])), options) === null
  );
  throw new InputError(refusal.code, `${refusal.message} ${explained(sparkVersion, conf, rules)}`, {
    parameters: {
      ...refusal.parameters,
      startsUnder: sparkVersion,
      rules: rules.map(({ rule, issue, summary }) => ({ rule, issue, summary })),
    },
    cause: refusal,
  });
}

function refusalOf(conf: SparkConf, options: StartupOptions): InputError | null {
  try {
    checkStartup(conf, options);
    return null;
  } catch (error) {
    if (error instanceof InputError) return error;
    throw error;
  }
}

function explained(sparkVersion: string, conf: SparkConf, rules: readonly RuleChange[]): string {
  const starts = `(Spark ${sparkVersion} starts with these settings, Spark ${conf.sparkVersion} does not`;
  if (rules.length === 0) return `${starts}: the property is checked by then)`;
  const named = rules.map(({ rule, issue, summary }) => `${rule}${issue === null ? "" : `, ${issue}`}: ${summary}`);
  return `${starts}: ${named.join("; ")})`;
}
