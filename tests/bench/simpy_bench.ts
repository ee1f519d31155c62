/**
 * The whole job's queue of events against SimPy, what a user would simulate queues with: the same executors, cores, stages and
 * tasks, as many timeouts as the simulation has events, and a page taken from a container at each step of a sort. Needs python3
 * and PyPI.
 *
 * @module
 */
import process from "node:process";
import { simulate } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { type BenchRow, compare } from "./bench.ts";
import { wholeJob } from "./simulation_bench.ts";

const SIMPY = "simpy==4.1.2";
/** Pages of a sort that memory holds: 100 MiB a task in pages of 4 MiB. */
const PAGES_IN_MEMORY = 25;
/** A task's messages and its end, where it does nothing else: launch, end of computing, status. */
const EVENTS_OF_PLAIN_TASK = 3;
/** By how much the numbers of events may differ. */
const TOLERANCE = 0.01;

/** What the Python script is told. */
export interface QueueShape {
  readonly executors: number;
  readonly cores: number;
  /** Tasks of each stage. */
  readonly tasks: number;
  readonly pagesInMemory: number;
  readonly stages: readonly { readonly pages: number }[];
}

/** The shape of the job: what its events are beyond three for each task are steps of its sorts. */
export function queueShape(job: ReturnType<typeof wholeJob>, events: number): QueueShape {
  const sorts = job.demands.map(({ consumers }) => consumers.length > 0);
  const tasks = job.rdds[0].numPartitions;
  const sorting = tasks * sorts.filter(Boolean).length;
  const pages = Math.round((events - EVENTS_OF_PLAIN_TASK * tasks * job.demands.length) / sorting);
  return {
    executors: job.cluster.executors.length,
    cores: job.cluster.executors[0].cores,
    tasks,
    pagesInMemory: PAGES_IN_MEMORY,
    stages: sorts.map((isSort) => ({ pages: isSort ? pages : 0 })),
  };
}

async function output(program: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(program, { args: [...args], stdin: "null" }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`${program}: ${decoder.decode(stderr).trim().split("\n").at(-1)}`);
  return decoder.decode(stdout);
}

/** A Python with SimPy in the folder. */
async function pythonWithSimpy(folder: string): Promise<string> {
  await output("python3", ["-m", "venv", folder]);
  const python = `${folder}/bin/python`;
  await output(python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", SIMPY]);
  return python;
}

/** Runs both in turns. Gives the row, or why there is none. */
export async function simpyRow(
  options: { readonly tasks: number; readonly rounds: number },
): Promise<{ row: BenchRow | null; note: string | null }> {
  const folder = await Deno.makeTempDir();
  try {
    const python = await pythonWithSimpy(folder).catch((error: Error) => error);
    if (python instanceof Error) return { row: null, note: `without SimPy: ${python.message}` };
    const job = wholeJob(options.tasks, Math.max(1, Math.min(1000, options.tasks / 100)));
    const conf = SparkConf.from({}, job.sparkVersion);
    const run = () => simulate(job, { conf, sink: { event() {} } });
    const events = run();
    const shape = JSON.stringify(queueShape(job, events));
    const script = new URL("simpy/whole_job.py", import.meta.url).pathname;
    const ours = () => {
      const before = process.cpuUsage();
      const handled = run();
      const { user, system } = process.cpuUsage(before);
      return Promise.resolve({ perSecond: handled / (user + system), checksum: null });
    };
    const theirs = async () => {
      const { timeouts, cpuSeconds } = JSON.parse(await output(python, [script, shape]));
      if (Math.abs(timeouts / events - 1) > TOLERANCE) {
        throw new Error(`SimPy had ${timeouts} timeouts for ${events} events`);
      }
      return { perSecond: timeouts / cpuSeconds / 1e6, checksum: null };
    };
    const labels = { work: `whole job, ${options.tasks} tasks`, peer: "SimPy", unit: "M events/s", aim: 50 };
    return { row: await compare(labels, ours, theirs, options.rounds), note: null };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
