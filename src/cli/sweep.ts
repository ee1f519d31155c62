/**
 * `sweep`: one job under many settings.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { duration, size } from "../report/verdict/finding.ts";
import { gridScenarios, gridSize, paretoOf, refusedResult } from "../what_if/sweep.ts";
import type { Scenario, SweepResult, Vary } from "../what_if/sweep.ts";
import type { Command, Io } from "./command.ts";
import { linesOf } from "./ndjson.ts";
import { readUserFile } from "./io.ts";
import { parseOptions, SETTING_OPTIONS, settingChanges, wholeNumber } from "./options.ts";
import { Interrupted, sweepResults, type SweepTask } from "./sweep_pool.ts";
import { readWorkload } from "./workload_input.ts";

const HELP = `
usage: deno task sweep [INPUT...] --vary key=v1,v2 [--vary ...] [--jobs N] [--format text|json|ndjson|csv]
       deno task sweep [INPUT...] --stdin [--jobs N]

Runs a job (an event log, a job spec ending in .json, template:NAME, - for standard input; a bundled log without INPUT)
under every combination of the given values, on all processors, and prints one line for each.

  --vary key=v1,v2     a Spark property, storageLevel, executors or sparkVersion; repeats
  --conf key=value     a setting of all combinations; repeats
  --stdin              a filter: reads scenarios as NDJSON lines { "id", "input"?, "conf", "storageLevel"?, "executors"?,
                       "sparkVersion"? } and
                       writes one NDJSON result each, in the same order; "input" is an event log, a job spec or a template
  --resume FILE        NDJSON results of a sweep that was cut off: scenarios with an id and settings in it are not run again
                       (append the output to FILE; with --format text, json or csv the results are taken over)
                       What nothing can end so that results are lost: deno task sweep ... --format ndjson | tee -a FILE
  --jobs N             workers; all processors unless said
  --format text|json|ndjson|csv

The results that no other beats in both memory and time are marked (text: *, JSON: "pareto").

A combination that needs more memory than a worker may use is refused (limit.memory), and the sweep goes on. On Ctrl-C or
SIGTERM what is finished is printed, the rest as missing (JSON: "partial"), with exit status 130 or 143.
`;

const OPTIONS = {
  ...SETTING_OPTIONS,
  vary: { type: "string", multiple: true },
  stdin: { type: "boolean" },
  resume: { type: "string" },
  jobs: { type: "string" },
  format: { type: "string", choices: ["text", "json", "ndjson", "csv"] },
} as const;

/** Combinations of one sweep; larger ones go through --stdin. */
const MAX_SCENARIOS = 100_000;

async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions("sweep", args, OPTIONS);
  const jobs = values.jobs === undefined
    ? navigator.hardwareConcurrency
    : wholeNumber("sweep", "jobs", values.jobs, 1, 256);
  const fixed = fixedSettings(settingChanges("sweep", values));
  const known = values.resume === undefined ? new Map<string, SweepResult>() : await readResults(values.resume, io);
  if (values.stdin) {
    const workload = positionals.length === 0 ? null : (await readWorkload(positionals, io)).workload;
    const tasks = missing(scenarioLines(io, fixed), known, () => {});
    for await (const result of sweepResults(tasks, { workload, jobs, io })) io.stdout(JSON.stringify(result) + "\n");
    return 0;
  }
  return await sweepGrid(varyOf(values.vary), { fixed, known, jobs, positionals, format: values.format ?? "text" }, io);
}

type Format = "text" | "json" | "ndjson" | "csv";

/** All combinations: ndjson line by line, the other formats at the end, also when that comes early. */
async function sweepGrid(
  vary: Vary,
  { fixed, known, jobs, positionals, format }: {
    readonly fixed: Record<string, string>;
    readonly known: ReadonlyMap<string, SweepResult>;
    readonly jobs: number;
    readonly positionals: readonly string[];
    readonly format: Format;
  },
  io: Io,
): Promise<number> {
  const count = gridSize(vary, MAX_SCENARIOS);
  const { workload } = await readWorkload(positionals, io);
  const results: SweepResult[] = [];
  const tasks = missing(gridTasks(vary, fixed), known, (result) => results.push(result));
  let printed = 0;
  let failure: unknown = null;
  try {
    const options = { workload, jobs: Math.min(jobs, count), io, onStop: io.onStop };
    for await (const result of sweepResults(tasks, options)) {
      if (format !== "ndjson") {
        results.push(result);
        continue;
      }
      io.stdout(JSON.stringify(result) + "\n");
      printed++;
    }
  } catch (error) {
    failure = error;
  }
  if (format !== "ndjson") io.stdout(rendered(results, { vary, fixed, format, failure }));
  if (failure === null) return 0;
  if (!(failure instanceof Interrupted)) throw failure;
  const finished = `${results.length + printed} of ${count}`;
  io.stderr(`error[sweep.interrupted]: Cannot go on with the sweep: ${failure.message} after ${finished}\n`);
  return SIGNAL_STATUS[failure.signal];
}

/** 128 and the signal's number, as shells have it. */
const SIGNAL_STATUS = { SIGINT: 130, SIGTERM: 143 } as const;

/** What a result is known by. */
function keyOf({ id, settings }: { readonly id: string; readonly settings: Readonly<Record<string, string>> }): string {
  return JSON.stringify([id, Object.entries(settings).sort(([a], [b]) => a < b ? -1 : 1)]);
}

/** Results that are there already. A line that was cut off counts as missing. */
async function readResults(path: string, io: Io): Promise<Map<string, SweepResult>> {
  const results = new Map<string, SweepResult>();
  const bytes = await readUserFile(path, io);
  for (const line of new TextDecoder().decode(bytes).split("\n")) {
    try {
      const result = JSON.parse(line) as SweepResult;
      results.set(keyOf(result), result);
    } catch {
      continue;
    }
  }
  return results;
}

/** The tasks whose results are not known; `take` gets those of the others. */
async function* missing(
  tasks: AsyncIterable<SweepTask>,
  known: ReadonlyMap<string, SweepResult>,
  take: (result: SweepResult) => void,
): AsyncGenerator<SweepTask> {
  for await (const task of tasks) {
    const result = known.get(keyOf("result" in task ? task.result : task.scenario));
    if (result === undefined) yield task;
    else take(result);
  }
}

function fixedSettings(changes: ReturnType<typeof settingChanges>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [key, value] of Object.entries(changes.conf)) settings[key] = value ?? "";
  if (changes.storageLevelName !== null) settings.storageLevel = changes.storageLevelName;
  if (changes.executors !== null) settings.executors = String(changes.executors);
  if (changes.sparkVersion !== null) settings.sparkVersion = changes.sparkVersion;
  return settings;
}

/** `--vary key=v1,v2`; of several for one key the values add up. */
function varyOf(options: readonly string[]): Vary {
  const vary = new Map<string, string[]>();
  for (const option of options) {
    const equals = option.indexOf("=");
    const values = option.slice(equals + 1).split(",").map((value) => value.trim()).filter((value) => value !== "");
    if (equals <= 0 || values.length === 0) {
      throw new InputError("cli.vary", `Cannot run sweep: --vary must be key=v1,v2: received ${option}`, {
        parameters: { vary: option },
      });
    }
    const key = option.slice(0, equals).trim();
    vary.set(key, [...vary.get(key) ?? [], ...values]);
  }
  return Object.fromEntries(vary);
}

function* scenariosOf(vary: Vary, fixed: Record<string, string>): Generator<Scenario> {
  for (const { id, settings } of gridScenarios(vary)) yield { id, settings: { ...fixed, ...settings } };
}

async function* gridTasks(vary: Vary, fixed: Record<string, string>): AsyncGenerator<SweepTask> {
  for (const scenario of scenariosOf(vary, fixed)) yield await Promise.resolve({ scenario, input: null });
}

async function* scenarioLines(io: Io, fixed: Record<string, string>): AsyncGenerator<SweepTask> {
  for await (const { text, number } of linesOf(io.stdin())) yield scenarioOf(text, number, fixed);
}

function scenarioOf(line: string, number: number, fixed: Record<string, string>): SweepTask {
  let id = String(number);
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("it is no object");
    const { conf, input, storageLevel, executors, sparkVersion, ...rest } = value as Record<string, unknown>;
    if (typeof rest.id === "string" || typeof rest.id === "number") id = String(rest.id);
    if (input !== undefined && typeof input !== "string") throw new TypeError('"input" is no text');
    if (conf !== undefined && (typeof conf !== "object" || conf === null)) throw new TypeError('"conf" is no object');
    const settings: Record<string, string> = { ...fixed };
    for (const [key, setting] of Object.entries(conf ?? {})) settings[key] = setting === null ? "" : String(setting);
    if (storageLevel !== undefined) settings.storageLevel = String(storageLevel);
    if (executors !== undefined) settings.executors = String(executors);
    if (sparkVersion !== undefined) settings.sparkVersion = String(sparkVersion);
    return { scenario: { id, settings }, input: (input as string | undefined) ?? null };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    const error = new InputError("sweep.line", `Cannot read the scenario in line ${number}: ${why}`, {
      line: number,
      cause,
    });
    return { result: refusedResult({ id, settings: {} }, error) };
  }
}

/** The whole answer; combinations without a result are in it as such. */
function rendered(
  results: readonly SweepResult[],
  { vary, fixed, format, failure }: {
    readonly vary: Vary;
    readonly fixed: Record<string, string>;
    readonly format: Exclude<Format, "ndjson">;
    readonly failure: unknown;
  },
): string {
  const keys = Object.keys(vary);
  const byId = new Map(results.map((result) => [result.id, result]));
  const scenarios = [...scenariosOf(vary, fixed)];
  const pareto = paretoOf(results);
  if (format === "json") {
    const sorted = scenarios.flatMap(({ id }) => byId.get(id) ?? []);
    return JSON.stringify({ results: sorted, pareto, partial: partialOf(scenarios, byId, failure) }, null, 2) + "\n";
  }
  const header = [...keys, "status", "duration", "memory", "evicted", "spilled", "tasks spilled", "pareto"];
  const rows = scenarios.map(({ id, settings }) => {
    const result = byId.get(id);
    const rest = result === undefined ? ["missing", "", "", "", "", "", ""] : cells(result, pareto, format);
    return [...keys.map((key) => settings[key]), ...rest];
  });
  if (format === "csv") return [header, ...rows].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
  const partial = partialOf(scenarios, byId, failure);
  const lack = partial === null
    ? ""
    : `\npartial: ${partial.missing.length} of ${rows.length} are missing: ${partial.reason}\n`;
  return table(header, rows) + reasons(results) + lack;
}

/** Which combinations have no result, and why; null when none lacks. */
function partialOf(scenarios: readonly Scenario[], byId: ReadonlyMap<string, SweepResult>, failure: unknown) {
  if (failure === null) return null;
  const reason = failure instanceof Error ? failure.message : String(failure);
  return { reason, missing: scenarios.filter(({ id }) => !byId.has(id)) };
}

function cells(result: SweepResult, pareto: readonly string[], format: "text" | "csv"): string[] {
  const { figures, status, id } = result;
  if (figures === null) return [status, "", "", "", "", "", ""];
  const text = format === "text";
  const bytes = (value: number | null) => value === null ? "-" : text ? size(value) : String(value);
  const ms = figures.durationMs === null ? "-" : text ? duration(figures.durationMs) : String(figures.durationMs);
  return [
    status,
    ms,
    bytes(figures.clusterMemoryBytes),
    String(figures.blocksEvicted ?? "-"),
    bytes(figures.memoryBytesSpilled),
    String(figures.spilledTasks ?? "-"),
    pareto.includes(id) ? "*" : "",
  ];
}

function csvCell(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((name, i) => Math.max(name.length, ...rows.map((row) => row[i].length)));
  const line = (row: readonly string[]) => row.map((cell, i) => cell.padStart(widths[i])).join("  ").trimEnd();
  return [header, ...rows].map(line).join("\n") + "\n";
}

/** Why runs failed or were refused, each text once. */
function reasons(results: readonly SweepResult[]): string {
  const texts = new Set<string>();
  for (const { status, reason } of results) {
    if (status !== "succeeded" && reason !== null) texts.add(`${status}: ${reason}`);
  }
  return texts.size === 0 ? "" : "\n" + [...texts].join("\n") + "\n";
}

/** The `sweep` command. */
export const sweep: Command = {
  name: "sweep",
  summary: "a job under every combination of settings, one line each",
  help: HELP,
  run,
};
