/**
 * `whatif`: a job under its own settings and under changed ones.
 *
 * @module
 */
import type { Workload } from "../simulator/workload.ts";
import { parseSubject, SubjectLog } from "../what_if/explain_subject.ts";
import { whatIfText } from "../what_if/text.ts";
import { whatIf } from "../what_if/what_if.ts";
import type { Command, Io } from "./command.ts";
import { parseOptions, SETTING_OPTIONS, settingChanges, wholeNumber } from "./options.ts";
import { readWorkload } from "./workload_input.ts";

const HELP = `
usage: deno task whatif [INPUT...] [--conf key=value ...] [--storage-level LEVEL] [--executors N]
                        [--explain "rdd_12_3" | "stage 4" | "task 17"] [--seed N] [--runs N] [--format text|json]

Reads a job (an event log, a job spec ending in .json, template:NAME, - for standard input; a bundled log without INPUT),
makes a workload of it, runs that under the recorded settings and under the changed ones, and says what changes and why.

  --conf key=value       any Spark property; repeats; key= unsets it
  --spark-version V      another Spark version
  --storage-level LEVEL  for the RDDs that are cached: MEMORY_ONLY, MEMORY_AND_DISK_SER, OFF_HEAP, ...
  --executors N          that many executors
  --explain SUBJECT      what the predicted run decided about one block, stage or task, step by step
  --seed N               of what Spark leaves to chance
  --runs N               how often the prediction is run, each time with the tasks' times and places dealt out anew: figures
                         that differ are told as ranges; 5 unless said, 1 for jobs of more than 5,000 tasks
  --format text|json     JSON: { observed, replayed, predicted, changes, ranges, verdict, evidence, warnings }

Settings that Spark refuses at start are an error, with its message, and under another version with the rule that refuses
them.
`;

const OPTIONS = {
  ...SETTING_OPTIONS,
  explain: { type: "string" },
  seed: { type: "string" },
  runs: { type: "string" },
  format: { type: "string", choices: ["text", "json"] },
} as const;

async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions("whatif", args, OPTIONS);
  const changes = settingChanges("whatif", values);
  const subject = values.explain === undefined ? null : parseSubject(values.explain);
  const seed = values.seed === undefined ? null : wholeNumber("whatif", "seed", values.seed, 0, 2 ** 32 - 1);
  const { workload, observed } = await readWorkload(positionals, io);
  const runs = values.runs === undefined ? defaultRuns(workload) : wholeNumber("whatif", "runs", values.runs, 1, 1000);
  const log = subject === null ? null : new SubjectLog(subject);
  const answer = whatIf(workload, observed, {
    conf: changes.conf,
    ...(changes.storageLevelName === null ? {} : { storageLevel: changes.storageLevelName }),
    ...(changes.executors === null ? {} : { executors: changes.executors }),
    ...(changes.sparkVersion === null ? {} : { sparkVersion: changes.sparkVersion }),
  }, { runs, ...(seed === null ? {} : { seed }), ...(log === null ? {} : { predictedSink: log }) });
  if (values.format === "json") {
    const explained = log === null ? {} : { explained: { subject: values.explain, lines: log.lines } };
    io.stdout(JSON.stringify({ ...answer, ...explained }, null, 2) + "\n");
    return 0;
  }
  io.stdout(log === null ? whatIfText(answer) : explanation(values.explain!, log));
  return 0;
}

const DEFAULT_RUNS = 5;
/** Of larger jobs the prediction is run once: it takes its time, and many tasks even out. */
const MANY_TASKS = 5000;

function defaultRuns({ jobs, demands }: Workload): number {
  const tasks = jobs.reduce((sum, { demand }) => sum + demands[demand].computeMs.length, 0);
  return tasks > MANY_TASKS ? 1 : DEFAULT_RUNS;
}

function explanation(subject: string, { lines, dropped }: SubjectLog): string {
  if (lines.length === 0) return `Nothing happened to ${subject} in the predicted run.\n`;
  const more = dropped > 0 ? `\n${dropped} more lines are left out` : "";
  return `${subject} in the predicted run\n${lines.join("\n")}${more}\n`;
}

/** The `whatif` command. */
export const whatif: Command = {
  name: "whatif",
  summary: "a job under its own and under changed settings: what changes and why",
  help: HELP,
  run,
};
