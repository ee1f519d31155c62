/**
 * What a user asks of a log once it is read: one what-if, and a sweep over many settings with one and with two workers.
 *
 * @module
 */
import process from "node:process";
import type { Io } from "../../src/cli/command.ts";
import { sweepResults } from "../../src/cli/sweep_pool.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { gridScenarios, type Vary } from "../../src/what_if/sweep.ts";
import { whatIf } from "../../src/what_if/what_if.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import { median } from "./bench.ts";
import { runText } from "../support/runs.ts";

/** A timing by the clock and by the process's CPU time, seconds: medians of the rounds, with the lowest and the highest CPU time. */
export interface WhatIfFigure {
  readonly name: string;
  readonly clockSeconds: number;
  readonly cpuSeconds: number;
  readonly low: number;
  readonly high: number;
  readonly checksum: string;
}

/** A log that has been read. */
export interface ReadLog {
  readonly workload: Workload;
  readonly observed: Summary;
}

/** A recorded log of Spark 4.1: 6,040 tasks in 4 stages, SQL with shuffles and aggregations. */
const LOG = "spark_4_1_rolling";

/** Reads the log. */
export async function readLog(): Promise<ReadLog> {
  const builder = new WorkloadBuilder();
  const summarizer = new Summarizer({ source: "observed" });
  const both = {
    event(event: SparkEvent): void {
      builder.event(event);
      summarizer.event(event);
    },
  };
  await readEventLog(new Blob([await runText(LOG)]).stream(), both);
  return { workload: builder.workload(), observed: summarizer.summary() };
}

async function timed(name: string, rounds: number, run: () => Promise<string> | string): Promise<WhatIfFigure> {
  const clock: number[] = [];
  const cpu: number[] = [];
  let checksum = "";
  for (let round = 0; round < rounds; round++) {
    const [start, used] = [performance.now(), process.cpuUsage()];
    const found = await run();
    const { user, system } = process.cpuUsage(used);
    clock.push((performance.now() - start) / 1e3);
    cpu.push((user + system) / 1e6);
    if (round > 0 && found !== checksum) throw new Error(`${name}: ${found} after ${checksum}`);
    checksum = found;
  }
  return {
    name,
    clockSeconds: median(clock),
    cpuSeconds: median(cpu),
    low: Math.min(...cpu),
    high: Math.max(...cpu),
    checksum,
  };
}

/** A whole what-if: the replay, the prediction, the verdict. Warmed up, as in a service. */
async function whatIfFigure({ workload, observed }: ReadLog, rounds: number): Promise<WhatIfFigure> {
  const run = () => {
    const { replayed, predicted } = whatIf(workload, observed, { conf: { "spark.memory.fraction": "0.8" } });
    const tasks = predicted.stages.reduce((sum, stage) => sum + stage.tasks.succeeded, 0);
    return `${tasks} tasks, ${replayed.durationMs} ms, then ${predicted.durationMs} ms`;
  };
  for (let warm = 1; warm < Math.min(4, rounds); warm++) run();
  return await timed("what-if: replay, prediction and verdict", rounds, run);
}

/** So many settings (an even number). */
function grid(settings: number): Vary {
  const fractions = Array.from({ length: settings / 2 }, (_, i) => ((i + 1) / (settings / 2 + 1)).toFixed(4));
  return { "spark.memory.fraction": fractions, "spark.memory.storageFraction": ["0.2", "0.5"] };
}

async function sweepChecksum(workload: Workload, settings: number, jobs: number): Promise<string> {
  async function* tasks() {
    for (const scenario of gridScenarios(grid(settings))) yield { scenario, input: null };
  }
  const nothing = () => {};
  const io: Io = {
    stdout: nothing,
    stderr: nothing,
    stdin: () => new ReadableStream<Uint8Array>(),
    stderrIsTerminal: false,
    cwd: Deno.cwd(),
  };
  let [succeeded, durationMs] = [0, 0];
  for await (const { status, figures } of sweepResults(tasks(), { workload, jobs, io })) {
    if (status === "succeeded") succeeded++;
    durationMs += figures?.durationMs ?? 0;
  }
  return `${succeeded} of ${settings} succeeded, ${durationMs} ms in all`;
}

/** Runs the benches; throws when one and two workers find different things. */
export async function whatIfBench(
  options: { readonly settings: number; readonly rounds: number },
): Promise<WhatIfFigure[]> {
  const log = await readLog();
  const figures = [await whatIfFigure(log, options.rounds)];
  for (const jobs of [1, 2]) {
    const name = `sweep of ${options.settings} settings, ${jobs === 1 ? "one worker" : "two workers"}`;
    figures.push(await timed(name, 1, () => sweepChecksum(log.workload, options.settings, jobs)));
  }
  const [, one, two] = figures;
  if (one.checksum !== two.checksum) throw new Error(`one worker: ${one.checksum}, two: ${two.checksum}`);
  return figures;
}
