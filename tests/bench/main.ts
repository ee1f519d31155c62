/**
 * `deno task bench [NAME...]`: the speed claims, measured in this run. Each compared pair is checked by a checksum.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import type { BenchRow } from "./bench.ts";
import { coldStartBench, type Spread } from "./cold_start_bench.ts";
import { eventLogBench } from "./event_log_bench.ts";
import { KERNEL_BENCH } from "./kernel_bench.ts";
import { simpyRow } from "./simpy_bench.ts";
import { simulationBench } from "./simulation_bench.ts";
import { whatIfBench } from "./what_if_bench.ts";

const HELP = `
usage: deno task bench [kernel] [simulation] [what-if] [event-log] [cold-start] [OPTION...]

  --json         figures as JSON
  --rounds N     turns of each comparison (5)
  --tasks N      tasks of the whole job (100000); SimPy runs one of 20000 at most (needs python3 and PyPI)
  --settings N   settings of the sweep (100)
  --megabytes N  size of the event log (200)
  --spark        run Spark's own reader beside ours (needs Java, Maven Central and PyPI)
  --quick        kernel, event-log: small inputs, to see that it works, not for figures
  --traces DIR   kernel: use the recorded traces mixed.jsonl.gz and churn.jsonl.gz of DIR instead of made ones; with the
                 folder of the harnesses around the real Spark in SPARKMEM_ORACLE, Spark's classes are run beside them`;

const NAMES = ["kernel", "simulation", "what-if", "event-log", "cold-start"] as const;
/** SimPy takes seconds for so many, and as long a task for more. */
const MOST_TASKS_OF_SIMPY = 20_000;

interface Options {
  readonly rounds: number;
  readonly tasks: number;
  readonly settings: number;
  readonly megabytes: number;
  readonly spark: boolean;
  readonly quick: boolean;
  readonly traces: string | null;
}

/** The figures of one part, and how they are printed. */
interface Part {
  readonly figures: unknown;
  readonly lines: readonly string[];
}

function table(rows: readonly BenchRow[]): string[] {
  const cells = rows.map((row) => [
    row.work,
    row.peer,
    `${row.ours.toPrecision(3)} ${row.unit}`,
    row.theirs.toPrecision(3),
    `${row.ratio.toPrecision(3)} (${row.low.toPrecision(3)} to ${row.high.toPrecision(3)})`,
    row.aim === null ? "" : `${row.aim}`,
  ]);
  const all = [["work", "against", "ours", "theirs", "ratio (lowest to highest)", "aim"], ...cells];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column])).join("  ")}`.trimEnd());
}

/** One comparison on stderr, while others are still to be made. */
function tell(row: BenchRow): void {
  console.error(`  ${row.work}, ${row.peer}: ${row.ours.toPrecision(3)} to ${row.theirs.toPrecision(3)} ${row.unit}`);
}

async function kernel({ rounds, quick, traces }: Options): Promise<Part> {
  const oracle = Deno.env.get("SPARKMEM_ORACLE") ?? null;
  const figures = await KERNEL_BENCH.run({ rounds: quick ? 1 : rounds, quick, traces, oracle, measured: tell });
  return {
    figures,
    lines: [
      "kernel (one core, waiting for it left out; medians of the rounds)",
      ...table(figures.rows),
      ...figures.notes,
    ],
  };
}

async function simulation({ tasks, rounds }: Options): Promise<Part> {
  const figures = simulationBench({ tasks, rounds });
  const simpy = await simpyRow({ tasks: Math.min(tasks, MOST_TASKS_OF_SIMPY), rounds });
  const lines = figures.map(({ name, tasks, cpuSeconds, low, high, eventsPerSecond, checksum }) => {
    const spread = `${cpuSeconds.toFixed(3)} s (${low.toFixed(3)} to ${high.toFixed(3)})`;
    return `  ${name}, ${tasks} tasks: ${spread}, ${Math.round(eventsPerSecond)} events/s; ${checksum}`;
  });
  const [smallest, largest] = [figures[0], figures.filter(({ name }) => name === "whole job").at(-1)!];
  const growth = largest.cpuSeconds / largest.tasks / (smallest.cpuSeconds / smallest.tasks);
  lines.push(`  peak memory of the process: ${(process.resourceUsage().maxRSS / 1e3).toFixed(0)} MB`);
  lines.push(`  time a task grows from ${smallest.tasks} to ${largest.tasks} tasks by ${growth.toFixed(2)}`);
  if (simpy.row !== null) lines.push(...table([simpy.row]));
  if (simpy.note !== null) lines.push(`  ${simpy.note}`);
  return {
    figures: { figures, simpy },
    lines: ["simulation (CPU seconds of the process: median, low to high)", ...lines],
  };
}

async function whatIf({ settings, rounds }: Options): Promise<Part> {
  const figures = await whatIfBench({ settings, rounds });
  const lines = figures.map(({ name, clockSeconds, cpuSeconds, low, high, checksum }) =>
    `  ${name}: ${cpuSeconds.toFixed(3)} s (${low.toFixed(3)} to ${high.toFixed(3)}), by the clock ${
      clockSeconds.toFixed(3)
    } s; ${checksum}`
  );
  const [, one, two] = figures;
  lines.push(
    `  two workers are ${(one.clockSeconds / two.clockSeconds).toFixed(2)} times as fast by the clock, for ${
      (two.cpuSeconds / one.cpuSeconds).toFixed(2)
    } times the CPU time`,
  );
  return {
    figures,
    lines: ["what-if on a log that is read (CPU seconds of the process: median, low to high)", ...lines],
  };
}

async function eventLog({ megabytes, rounds, spark, quick }: Options): Promise<Part> {
  const figures = await eventLogBench({
    megabytes,
    rounds,
    spark,
    ...quick ? { memory: { bytes: megabytes * 1e6, tasks: 0 } } : {},
  });
  const lines = figures.results.map(({ log, name, megabytesPerCpuSecond, low, high }) =>
    `  log of ${log}, ${name}: ${megabytesPerCpuSecond.toFixed(0)} (${low.toFixed(0)} to ${high.toFixed(0)})`
  );
  for (const { log, bytes, oursMs, sparkMs, wallRatio, cpuRatio } of figures.processes) {
    lines.push(
      `  log of ${log}, ${(bytes / 1e6).toFixed(0)} MB, whole processes: ${oursMs.toFixed(0)} ms, Spark's ${
        sparkMs.toFixed(0)
      } ms: ${wallRatio.toFixed(1)} times by the clock, ${cpuRatio.toFixed(1)} by CPU time (aim 10)`,
    );
  }
  const { bytes, tasks, peakRssBytes } = figures.memory;
  lines.push(
    `  Summary of a log of ${(bytes / 1e6).toFixed(0)} MB, ${tasks} tasks: ${
      (peakRssBytes / 1e6).toFixed(0)
    } MB of memory at most (aim 500)`,
  );
  return { figures, lines: ["event log (MB a CPU second: median, low to high)", ...lines] };
}

async function coldStart({ rounds }: Options): Promise<Part> {
  const figures = await coldStartBench({ rounds });
  const spread = ({ median, low, high }: Spread) => `${median.toFixed(1)} ms (${low.toFixed(1)} to ${high.toFixed(1)})`;
  const lines = figures.map(({ answer, clock, cpu }) =>
    `  first answer (${answer}): ${spread(clock)}${cpu === null ? "" : `, CPU time ${spread(cpu)}`}, aim 50`
  );
  return { figures, lines: ["cold start in workerd, beyond that of an empty worker (median, low to high)", ...lines] };
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: "boolean", default: false },
      tasks: { type: "string", default: "100000" },
      settings: { type: "string", default: "100" },
      megabytes: { type: "string", default: "200" },
      rounds: { type: "string", default: "5" },
      spark: { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      traces: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  const unknown = positionals.filter((name) => !NAMES.some((known) => known === name));
  if (values.help || unknown.length > 0) {
    console.log(HELP.trim());
    return values.help ? 0 : 2;
  }
  const options: Options = {
    rounds: Number(values.rounds),
    tasks: Number(values.tasks),
    settings: Number(values.settings),
    megabytes: Number(values.megabytes),
    spark: values.spark,
    quick: values.quick,
    traces: values.traces ?? null,
  };
  const parts = { kernel, simulation, "what-if": whatIf, "event-log": eventLog, "cold-start": coldStart };
  const figures: Record<string, unknown> = {};
  for (const name of NAMES.filter((name) => positionals.length === 0 || positionals.includes(name))) {
    const part = await parts[name](options);
    figures[name.replace(/-([a-z])/, (_, letter) => letter.toUpperCase())] = part.figures;
    if (!values.json) console.log(part.lines.join("\n"));
  }
  if (values.json) console.log(JSON.stringify(figures, null, 2));
  return 0;
}

if (import.meta.main) Deno.exitCode = await main(Deno.args);
