/**
 * One statement of a verdict: what happened, why, what shows it, what to set.
 *
 * @module
 */
import type { SparkConf } from "../../spark/conf.ts";
import type { RunFacts } from "../run_facts.ts";
import type { Summary } from "../summary.ts";

/** How bad it is: the run failed of it, it cost something, it is good to know, or all is well. */
export type Severity = "failure" | "problem" | "notice" | "good";

/** A setting that governs a finding. */
export interface Advice {
  /** Name of a Spark property, or of what else can be changed (for example "storage level"). */
  readonly key: string;
  /** Its value in the run, the version's default included; null when it has none. */
  readonly value: string | null;
  /** The value is the version's default: the log does not set it. */
  readonly isDefault?: true;
  /** What to do with it. */
  readonly advice: string;
}

/** One statement of a verdict. */
export interface Finding {
  /** Stable identifier, for example `memory.evictions`. */
  readonly code: string;
  /** How bad it is. */
  readonly severity: Severity;
  /** What happened, with its figures. */
  readonly sentence: string;
  /** The rule of Spark that explains it; null where the sentence says it all. */
  readonly why: string | null;
  /** Figures of the run. */
  readonly evidence: readonly string[];
  /** What to set, and to what. */
  readonly settings: readonly Advice[];
}

/** What a rule of the verdict looks at. */
export interface Evidence {
  readonly summary: Summary;
  readonly facts: RunFacts;
}

/** A rule: the findings that it has about a run. */
export type Rule = (run: Evidence) => Finding[];

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"] as const;

/** A size as people read it, in the largest unit of which there is at least one. */
export function size(bytes: number): string {
  let power = 0;
  let value = bytes;
  while (power < UNITS.length - 1 && Math.abs(value) >= 1024) {
    value /= 1024;
    power++;
  }
  return `${power === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[power]}`;
}

/** "1 task", "2 tasks". */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** Advice on a property with the value that it has in the run. */
export function advise(conf: SparkConf, key: string, advice: string): Advice {
  const value = conf.get(key);
  return { key, value, ...(value !== null && conf.source(key) === "default" ? { isDefault: true } : {}), advice };
}

/** The line of a failure's text that tells most: the first, or of a Python traceback the exception at its end. */
export function tellingLine(text: string): string {
  const first = text.split("\n", 1)[0].trim();
  if (!/Traceback \(most recent call last\)/.test(first)) return first;
  const raised = [...text.matchAll(/^[A-Za-z_]?[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b.*$/gm)].at(-1);
  return raised === undefined ? first : raised[0].trim();
}

/** Milliseconds as people read them. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${(ms / 60_000).toFixed(1)} min`;
}

/** The memory of executors, which in local mode is the driver's. */
export function memoryKey(facts: RunFacts): "spark.driver.memory" | "spark.executor.memory" {
  return facts.local ? "spark.driver.memory" : "spark.executor.memory";
}

/** Tasks that run at once in an executor. */
export function concurrentTasks({ summary, facts }: Evidence): number | null {
  const cores = Math.max(0, ...summary.executors.map((executor) => executor.cores ?? 0));
  if (cores === 0) return null;
  const cpus = Number(facts.conf.get("spark.task.cpus") ?? 1);
  return Math.max(1, Math.floor(cores / (cpus > 0 ? cpus : 1)));
}
