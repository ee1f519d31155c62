/**
 * `recommend`: which settings a job should have, and why.
 *
 * @module
 */
import { duration, size } from "../report/verdict/finding.ts";
import { type Budget, parseBudget } from "../what_if/budget.ts";
import {
  type Alternative,
  recommend as recommendFor,
  type Recommendation,
  type RecommendedSettings,
} from "../what_if/recommend.ts";
import type { Command, Io } from "./command.ts";
import { readUserFile } from "./io.ts";
import { parseOptions, SETTING_OPTIONS, settingChanges, wholeNumber } from "./options.ts";
import { readWorkload } from "./workload_input.ts";

const HELP = `
usage: deno task recommend [INPUT...] [--budget FILE] [--conf key=value ...] [--seed N] [--format text|json]

Reads a job (an event log, a job spec ending in .json, template:NAME, - for standard input; a bundled log without INPUT)
and searches the settings with which it needs the least memory without evictions and spills, or within a budget. Each
comes with its reason, the effect that the simulation predicts, and how well the figures behind it are known.

  --budget FILE   JSON with maxEvictedBlocks, maxSpilledBytes, maxSpilledTasks, maxDurationMs, maxClusterMemoryBytes, those
                  that matter; with it the exit status is 1 when the job's own settings exceed it, for use in CI
  --conf key=value, --storage-level LEVEL, --executors N, --spark-version V   settings that are given
  --seed N        of what Spark leaves to chance
  --format text|json
`;

const OPTIONS = {
  ...SETTING_OPTIONS,
  budget: { type: "string" },
  seed: { type: "string" },
  format: { type: "string", choices: ["text", "json"] },
} as const;

async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions("recommend", args, OPTIONS);
  const given = settingChanges("recommend", values);
  const budget = values.budget === undefined ? undefined : await readBudget(values.budget, io);
  const seed = values.seed === undefined ? undefined : wholeNumber("recommend", "seed", values.seed, 0, 2 ** 32 - 1);
  const { workload, observed, name } = await readWorkload(positionals, io);
  const answer = recommendFor(workload, {
    observed,
    changes: {
      conf: given.conf,
      ...(given.storageLevelName === null ? {} : { storageLevel: given.storageLevelName }),
      ...(given.executors === null ? {} : { executors: given.executors }),
      ...(given.sparkVersion === null ? {} : { sparkVersion: given.sparkVersion }),
    },
    ...(budget === undefined ? {} : { budget }),
    ...(seed === undefined ? {} : { seed }),
  });
  io.stdout(values.format === "json" ? JSON.stringify(answer, null, 2) + "\n" : text(name, answer));
  return budget !== undefined && answer.violations.length > 0 ? 1 : 0;
}

async function readBudget(path: string, io: Io): Promise<Budget> {
  return parseBudget(new TextDecoder().decode(await readUserFile(path, io)));
}

function text(name: string, answer: Recommendation): string {
  const lines = [`Recommendation for ${name}`, ""];
  for (const violation of answer.violations) lines.push(`Now: ${violation}.`);
  if (answer.gain) {
    lines.push("Set", ...settingLines(answer.recommended), "");
    for (const { setting, from, to, why, effect, grade } of answer.reasons) {
      lines.push(
        `${setting}: ${from ?? "not set"} -> ${to}`,
        `  why:    ${why}`,
        `  effect: ${effect}`,
        `  figures behind it: ${grade}`,
      );
    }
  } else {
    lines.push(
      answer.violations.length === 0
        ? "Nothing to gain: the job keeps to the budget, and no setting that was tried needs noticeably less memory."
        : "Nothing that was tried keeps to the budget.",
    );
  }
  if (answer.warnings.length > 0) lines.push("", "Warnings", ...answer.warnings.map(({ message }) => `  ${message}`));
  if (answer.alternatives.length > 0) lines.push("", "Also tried", ...answer.alternatives.map(alternativeLine));
  return lines.join("\n") + "\n";
}

function settingLines({ conf, storageLevel }: RecommendedSettings): string[] {
  const lines = Object.entries(conf).map(([key, value]) => `  --conf ${key}=${value}`);
  return storageLevel === null ? lines : [...lines, `  storage level ${storageLevel}`];
}

function alternativeLine({ settings, note, clusterMemoryBytes, durationMs }: Alternative): string {
  const parts = Object.entries(settings.conf).map(([key, value]) => `${key}=${value}`);
  if (settings.storageLevel !== null) parts.push(`storage level ${settings.storageLevel}`);
  const time = durationMs === null ? "" : `, ${duration(durationMs)}`;
  return `  ${parts.join(" ")}: ${note} (${size(clusterMemoryBytes)}${time})`;
}

/** The `recommend` command. */
export const recommend: Command = {
  name: "recommend",
  summary: "settings that a job should have, with reasons and predicted effects",
  help: HELP,
  run,
};
