/**
 * `simulate`: runs a job under given settings.
 *
 * @module
 */
import { EventLogWriter } from "../event_log/write.ts";
import { Summarizer } from "../report/summarize.ts";
import type { Summary } from "../report/summary.ts";
import { textReport } from "../report/text.ts";
import { type Finding, verdictOf } from "../report/verdict.ts";
import type { EventSink } from "../spark/events.ts";
import { checkStartup } from "../spark/startup.ts";
import { applyChanges, type Changed } from "../what_if/apply_changes.ts";
import { simulate as simulateWorkload } from "../simulator/simulate.ts";
import type { Command, Io } from "./command.ts";
import { parseOptions, SETTING_OPTIONS, settingChanges, wholeNumber } from "./options.ts";
import { readWorkload } from "./workload_input.ts";

const HELP = `
usage: deno task simulate [INPUT...] [--conf key=value ...] [--storage-level LEVEL] [--executors N]
                          [--seed N] [--format text|json|ndjson|eventlog]

Runs a job on a simulated cluster and says what happened, or writes the run as a Spark event log that the History Server opens.

INPUT is a job spec (a file ending in .json; src/workload/README.md describes it), template:NAME (cached-iterative,
wide-aggregation, sort, skewed-join, large-collect, many-tiny-tasks, broadcast), an event log, or - for standard input. A log is
made a workload and run anew. Without INPUT a bundled log is read.

  --conf key=value       any Spark property; repeats; key= unsets it
  --spark-version V      another Spark version
  --storage-level LEVEL  for the RDDs that are cached: MEMORY_ONLY, MEMORY_AND_DISK_SER, OFF_HEAP, ...
  --executors N          that many executors
  --seed N               of what is drawn, and of what Spark leaves to chance
  --format text          readable (default)
  --format json          the Summary as one JSON object, with the verdict
  --format ndjson        the same on one line
  --format eventlog      the run as a Spark event log
`;

const OPTIONS = {
  ...SETTING_OPTIONS,
  seed: { type: "string" },
  format: { type: "string", choices: ["text", "json", "ndjson", "eventlog"] },
} as const;

/** What a run gave. */
interface Outcome {
  readonly summary: Summary;
  readonly verdict: Finding[];
}

async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions("simulate", args, OPTIONS);
  const { conf, storageLevelName, executors, sparkVersion } = settingChanges("simulate", values);
  const seed = values.seed === undefined ? undefined : wholeNumber("simulate", "seed", values.seed, 0, 2 ** 53 - 1);
  const { workload, observed } = await readWorkload(positionals, io, { seed });
  const job = applyChanges(workload, {
    conf,
    ...(storageLevelName === null ? {} : { storageLevel: storageLevelName }),
    ...(executors === null ? {} : { executors }),
    ...(sparkVersion === null ? {} : { sparkVersion }),
  });
  // A recorded run has started under its settings: only changed ones are checked.
  if (observed === null || job.changes.length > 0) {
    checkStartup(job.conf, { collector: job.workload.cluster.collector });
  }
  if (values.format === "eventlog") {
    writeLog(job, seed, io);
    return 0;
  }
  const { summary, verdict } = runJob(job, seed);
  switch (values.format) {
    case "json":
      io.stdout(JSON.stringify({ ...summary, verdict }, null, 2) + "\n");
      break;
    case "ndjson":
      io.stdout(JSON.stringify({ ...summary, verdict }) + "\n");
      break;
    default:
      io.stdout(textReport(summary, verdict));
  }
  return 0;
}

/** Characters of a log that are written at once. */
const CHUNK_CHARS = 1 << 16;

function writeLog(job: Changed, seed: number | undefined, io: Io): void {
  let text = "";
  const sink = new EventLogWriter((line) => {
    text += line;
    if (text.length < CHUNK_CHARS) return;
    io.stdout(text);
    text = "";
  });
  runEvents(job, sink, seed);
  io.stdout(text);
}

function runJob(job: Changed, seed: number | undefined): Outcome {
  const summarizer = new Summarizer({ source: "simulated" });
  runEvents(job, summarizer, seed);
  const summary = summarizer.summary();
  for (const { code, message, count } of [...job.workload.warnings, ...job.warnings]) {
    summary.warnings.push({ code, message, count });
  }
  for (const { code, message } of job.conf.warnings()) summary.warnings.push({ code, message, count: 1 });
  return { summary, verdict: verdictOf(summary, summarizer.facts()) };
}

function runEvents(job: Changed, sink: EventSink, seed: number | undefined): void {
  simulateWorkload(job.workload, {
    conf: job.conf,
    sink,
    ...(job.storageLevel === null ? {} : { storageLevel: job.storageLevel }),
    ...(seed === undefined ? {} : { seed }),
  });
}

/** The `simulate` command. */
export const simulate: Command = {
  name: "simulate",
  summary: "run a job under given settings: what happens, or a Spark event log",
  help: HELP,
  run,
};
