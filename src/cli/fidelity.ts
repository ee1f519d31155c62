/**
 * `fidelity`: predicted against measured over a folder of recorded runs.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { SparkConf } from "../spark/conf.ts";
import { collectorOf } from "../spark/sizing.ts";
import type { Changes } from "../what_if/apply_changes.ts";
import {
  compareFigures,
  fidelityText,
  figuresOf,
  type Prediction,
  type RunFigures,
  tallyOf,
} from "../what_if/fidelity.ts";
import { whatIf } from "../what_if/what_if.ts";
import type { Command, Io } from "./command.ts";
import { fileError, userPath } from "./io.ts";
import { parseOptions } from "./options.ts";
import { readWorkload } from "./workload_input.ts";

const HELP = `
usage: deno task fidelity DIR [--runs REGEX] [--pairs base|all] [--format text|json]

DIR holds recorded runs: index.json lists them (run, family, args, base); each has a folder with its event log, conf.json
({ conf: the settings }), summary.json (what was measured) and memory_events.jsonl.gz (from the executors' logs).

Every base run is replayed under its own settings, and every other run of its family is predicted from the base's log and
the other's settings. Figures that differ between the two are counted apart: an echo of the log gets none of them.

  --runs REGEX      only runs whose name matches
  --pairs all       every run of a family predicts every other one
  --format json     { predictions, tallies }
`;

const OPTIONS = {
  runs: { type: "string" },
  pairs: { type: "string", choices: ["base", "all"] },
  format: { type: "string", choices: ["text", "json"] },
} as const;

/** A run as index.json lists it. */
interface IndexedRun {
  readonly run: string;
  readonly family: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A run with its settings and what was measured. */
interface RecordedRun extends IndexedRun {
  readonly conf: Readonly<Record<string, string>>;
  readonly figures: RunFigures;
}

/** Settings that say only what is logged, and where things are. */
const NEUTRAL = /eventLog|app\.name|extraJava|local\.dir|log4j|metrics\.polling/;

async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions("fidelity", args, OPTIONS);
  if (positionals.length !== 1) {
    throw new InputError("cli.argument", "Cannot run fidelity: must have one folder of recorded runs", {
      parameters: { received: positionals },
    });
  }
  const folder = userPath(positionals[0], io);
  const only = pattern(values.runs);
  const runs = (await jsonFile<IndexedRun[]>(`${folder}/index.json`)).filter(({ run }) => only.test(run));
  const recorded: RecordedRun[] = [];
  for (const indexed of runs) recorded.push(await readRun(folder, indexed));
  const predictions: Prediction[] = [];
  for (const base of recorded) {
    if (!base.figures.succeeded || (values.pairs !== "all" && !base.run.endsWith("-base"))) continue;
    if (io.stderrIsTerminal) io.stderr(`\r\u001b[K${base.run}`);
    predictions.push(...await predictionsFrom(base, recorded, folder, io));
  }
  if (io.stderrIsTerminal) io.stderr("\r\u001b[K");
  io.stdout(
    values.format === "json"
      ? JSON.stringify({ predictions, tallies: tallyOf(predictions) }, null, 2) + "\n"
      : fidelityText(predictions),
  );
  return 0;
}

/** The replay of a run, and what its log predicts of the other runs of its family. */
async function predictionsFrom(
  base: RecordedRun,
  recorded: readonly RecordedRun[],
  folder: string,
  io: Io,
): Promise<Prediction[]> {
  const { workload, observed } = await readWorkload([await logPath(`${folder}/${base.run}`)], io);
  const replayed = figuresOf(whatIf(workload, observed, {}).replayed);
  const predictions: Prediction[] = [
    { from: base.run, of: base.run, results: compareFigures(replayed, base.figures, null) },
  ];
  for (const other of recorded) {
    const changes = other === base || other.family !== base.family ? null : changesBetween(base, other);
    if (changes === null) continue;
    const predicted = figuresOf(whatIf(workload, observed, changes).predicted);
    const results = compareFigures(predicted, other.figures, base.figures);
    predictions.push({ from: base.run, of: other.run, results });
  }
  return predictions;
}

/** What turns one run's settings into another's; null when they are the same or the program is another one. */
function changesBetween(base: RecordedRun, other: RecordedRun): Changes | null {
  const program = ({ args }: IndexedRun) => JSON.stringify({ ...args, level: undefined, wait: undefined });
  if (program(base) !== program(other)) return null;
  const conf: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(other.conf)) {
    if (!NEUTRAL.test(key) && base.conf[key] !== value) conf[key] = value;
  }
  for (const key of Object.keys(base.conf)) {
    if (!NEUTRAL.test(key) && !(key in other.conf)) conf[key] = null;
  }
  const options = "spark.executor.extraJavaOptions";
  if (collectorOf(SparkConf.from(base.conf), "executor") !== collectorOf(SparkConf.from(other.conf), "executor")) {
    conf[options] = other.conf[options] ?? null;
  }
  const level = other.args.level;
  const storageLevel = typeof level === "string" && level !== base.args.level ? level : undefined;
  if (Object.keys(conf).length === 0 && storageLevel === undefined) return null;
  return storageLevel === undefined ? { conf } : { conf, storageLevel };
}

/** summary.json, as far as it is used. */
interface MeasuredJson {
  readonly outcome: string;
  readonly message: string | null;
  readonly wall_ms: number | null;
  readonly result_paths: { readonly direct: number; readonly indirect: number; readonly dropped: number };
  readonly totals: { readonly mem_spilled: number; readonly disk_spilled: number };
  readonly stages: Readonly<Record<string, { readonly tasks_spilled: number; readonly mem_spilled: number }>>;
  readonly executors: readonly { readonly event: string }[];
  readonly events: Readonly<Record<string, number>>;
}

async function readRun(folder: string, indexed: IndexedRun): Promise<RecordedRun> {
  const path = `${folder}/${indexed.run}`;
  const { conf } = await jsonFile<{ conf: Record<string, string> }>(`${path}/conf.json`);
  const measured = await jsonFile<MeasuredJson>(`${path}/summary.json`);
  const blocks = await blockFigures(`${path}/memory_events.jsonl.gz`);
  // Blocks that go with their executor or by unpersist leave no line of their own.
  const otherwiseGone = measured.executors.some(({ event }) => event === "Removed") ||
    (measured.events.SparkListenerUnpersistRDD ?? 0) > 0;
  const stages = Object.values(measured.stages);
  const figures: RunFigures = {
    succeeded: measured.outcome === "OK",
    message: measured.message ?? "",
    ...measured.result_paths,
    evicted: blocks?.evicted ?? null,
    cachedInMemory: otherwiseGone ? null : blocks?.cachedInMemory ?? null,
    memorySpilled: measured.totals.mem_spilled,
    diskSpilled: measured.totals.disk_spilled,
    spilledTasks: stages.reduce((sum, { tasks_spilled }) => sum + tasks_spilled, 0),
    spilledStages: stages.filter(({ mem_spilled }) => mem_spilled > 0).length,
    stageAttempts: stages.length,
    durationMs: measured.wall_ms,
  };
  return { ...indexed, conf, figures };
}

/** RDD blocks evicted and in memory at the end, by the executors' own logs; null without them. */
async function blockFigures(path: string): Promise<Pick<RunFigures, "evicted" | "cachedInMemory"> | null> {
  let text: string;
  try {
    const file = await Deno.open(path);
    text = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw fileError(path, error);
  }
  const held = new Set<string>();
  let evicted = 0;
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [, executor, , kind, block] = JSON.parse(line) as [string, string, number | null, string, unknown];
    if (typeof block !== "string" || !block.startsWith("rdd_")) continue;
    const key = `${executor} ${block}`;
    if (kind === "stored") held.add(key);
    if (kind === "drop") {
      evicted++;
      held.delete(key);
    }
  }
  return { evicted, cachedInMemory: held.size };
}

/** The event log in a run's folder: a rolling folder, or the file named after the application. */
async function logPath(folder: string): Promise<string> {
  for await (const { name } of Deno.readDir(folder)) {
    if (/^(eventlog_v2_|app-|local-)/.test(name)) return `${folder}/${name}`;
  }
  throw new InputError("input.folder", `Cannot read ${folder}: it has no event log`, { parameters: { folder } });
}

async function jsonFile<T>(path: string): Promise<T> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    throw fileError(path, error);
  }
  try {
    return JSON.parse(text) as T;
  } catch {
    throw new InputError("input.json", `Cannot read ${path}: must be JSON`, { parameters: { path } });
  }
}

function pattern(text: string | undefined): RegExp {
  try {
    return new RegExp(text ?? "");
  } catch {
    throw new InputError("cli.option", `Cannot run fidelity: --runs must be a regular expression: received ${text}`, {
      parameters: { option: "runs", value: text },
    });
  }
}

/** The `fidelity` command. */
export const fidelity: Command = {
  name: "fidelity",
  summary: "predicted against measured, over a folder of recorded runs",
  help: HELP,
  run,
};
