/**
 * How fast whole jobs are simulated: events a second, how the time a task grows with the number of tasks, and a what-if
 * of 5,000 tasks. Every figure comes with a checksum, so that a faster run that does something else is seen.
 *
 * @module
 */
import process from "node:process";
import { simulate } from "../../src/simulator/simulate.ts";
import type { Shuffle, Workload } from "../../src/simulator/workload.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { EventSink } from "../../src/spark/events.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { runWorkload } from "../../src/what_if/run_workload.ts";
import {
  cachedRdd,
  clusterOf,
  column,
  consumerOf,
  demandOf,
  jobOf,
  MIB,
  rddOf,
  workloadOf,
} from "../support/workloads.ts";

/** One measurement. */
export interface SimulationFigure {
  readonly name: string;
  readonly tasks: number;
  /** Median of the rounds, CPU seconds of the process. */
  readonly cpuSeconds: number;
  readonly low: number;
  readonly high: number;
  /** Events of the simulation's queue a CPU second, at the median. */
  readonly eventsPerSecond: number;
  readonly checksum: string;
}

/** A job of 20 stages on executors of 4 cores; every fifth stage caches its RDD, every fifth sorts. */
export function wholeJob(tasks: number, executors: number): Workload {
  const stages = 20;
  const per = Math.max(1, Math.round(tasks / stages));
  const rdds = [];
  const shuffles: Shuffle[] = [];
  const demands = [];
  for (let i = 0; i < stages; i++) {
    const dependencies = i === 0 ? [] : [{ kind: "shuffle" as const, shuffleId: i - 1 }];
    const base = i % 5 === 2 ? cachedRdd(i, per, 10 * MIB) : rddOf(i, per);
    rdds.push({ ...base, dependencies });
    if (i < stages - 1) shuffles.push({ id: i, rddId: i, numReducers: per, demand: i, reducerShares: null });
    demands.push(demandOf(per, {
      computeMs: Float64Array.from({ length: per }, (_, k) => 500 + (k * 7919) % 1000),
      shuffleWriteBytes: column(per, MIB),
      shuffleReadBytes: column(per, i === 0 ? 0 : MIB),
      consumers: i % 5 === 3 ? [consumerOf(per, { bytes: column(per, 150 * MIB) })] : [],
    }));
  }
  const cluster = clusterOf(executors, { cores: 4, memory: 400 * MIB });
  return workloadOf({ cluster, rdds, shuffles, demands, jobs: [jobOf(0, stages - 1, stages - 1)] });
}

/** Sums that a run of a whole job must come to. */
class Checksum implements EventSink {
  ended = 0;
  spilled = 0;
  evicted = 0;

  event(event: Parameters<EventSink["event"]>[0]): void {
    if (event.kind === "taskEnd") this.ended++;
    else if (event.kind === "spill") this.spilled += event.memoryBytes;
    else if (event.kind === "blockEvicted") this.evicted++;
  }

  toString(): string {
    return `${this.ended} tasks, ${this.spilled} bytes spilled, ${this.evicted} evicted`;
  }
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function measured(
  name: string,
  tasks: number,
  rounds: number,
  run: () => { events: number; checksum: string },
): SimulationFigure {
  const times: number[] = [];
  let last = run();
  for (let i = 0; i < rounds; i++) {
    const start = cpuSeconds();
    const result = run();
    times.push(cpuSeconds() - start);
    if (result.checksum !== last.checksum) throw new Error(`${name}: ${result.checksum} after ${last.checksum}`);
    last = result;
  }
  times.sort((a, b) => a - b);
  const median = times[times.length >> 1];
  return {
    name,
    tasks,
    cpuSeconds: median,
    low: times[0],
    high: times[times.length - 1],
    eventsPerSecond: last.events / median,
    checksum: last.checksum,
  };
}

/** Runs the benches; `tasks` is the size of the largest job. */
export function simulationBench(options: { readonly tasks: number; readonly rounds: number }): SimulationFigure[] {
  const figures: SimulationFigure[] = [];
  for (let tasks = Math.min(1000, options.tasks); tasks <= options.tasks; tasks *= 10) {
    const workload = wholeJob(tasks, Math.max(1, Math.min(1000, tasks / 100)));
    const conf = SparkConf.from({}, workload.sparkVersion);
    figures.push(measured("whole job", tasks, options.rounds, () => {
      const sink = new Checksum();
      return { events: simulate(workload, { conf, sink }), checksum: String(sink) };
    }));
  }
  const small = Math.min(5000, options.tasks);
  const changed = applyChanges(wholeJob(small, 10), { conf: { "spark.memory.fraction": "0.8" } });
  figures.push(measured("what-if, one run with its Summary", small, options.rounds, () => {
    let events = 0;
    const counter = { event: () => void events++ };
    const { storage, execution } = runWorkload(changed, { sink: counter });
    return { events, checksum: `${storage.blocksEvicted} evicted, ${execution.memoryBytesSpilled} spilled` };
  }));
  return figures;
}
