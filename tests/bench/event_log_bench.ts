/**
 * Reading an event log: ours against Spark's ReplayListenerBus, both with a listener that only adds up, on the same log, warm and as
 * whole processes; against JSON.parse of every line; and the memory that a log of a million tasks takes. CPU time counts, because the
 * machine has other work.
 *
 * @module
 */
import process from "node:process";
import { PYSPARK_VERSIONS, sparkJars } from "../history_server/spark.ts";
import { outputOf } from "../support/programs.ts";
import { recordedLines } from "../support/recorded_logs.ts";
import { enlarged } from "./enlarge.ts";
import type { ProcessFigures } from "./event_log_process.ts";
import { type Checksum, parseEveryLine, readWithSum, summarize } from "./event_log_readers.ts";

/** The logs that are enlarged: one that is mostly tasks and block updates, one of SQL queries under adaptive execution. */
const LOGS = [["tasks", "runs/spark_4_1_rolling"], ["SQL", "event_logs/sql_join.gz"]] as const;

/** One timing of a reader. */
export interface Timing extends Checksum {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** CPU time of this process, all threads, in ms. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function timed(read: () => Promise<Checksum>): Promise<Timing> {
  const cpu = cpuMs();
  const wall = performance.now();
  const { tasks, resultBytes } = await read();
  return { wallMs: performance.now() - wall, cpuMs: cpuMs() - cpu, tasks, resultBytes };
}

/** A task's end without executor metrics and accumulators, as Spark 2 wrote it for tasks that count nothing of their own. */
function slim(line: string): string {
  if (!line.startsWith('{"Event":"SparkListenerTaskEnd"')) return line;
  const event = JSON.parse(line);
  delete event["Task Executor Metrics"];
  event["Task Info"].Accumulables = [];
  return JSON.stringify(event);
}

/** Writes a log of at least so many bytes and tasks; gives its path and size. */
export async function largeLog(
  log: string,
  least: { readonly bytes: number; readonly tasks?: number; readonly slim?: boolean },
  folder: string,
): Promise<{ path: string; bytes: number }> {
  const path = `${folder}/${log.replaceAll("/", "_")}.log`;
  using file = await Deno.open(path, { write: true, create: true, truncate: true });
  const encoder = new TextEncoder();
  let bytes = 0;
  let pending: string[] = [];
  const flush = () => {
    const piece = encoder.encode(pending.join(""));
    for (let at = 0; at < piece.length;) at += file.writeSync(piece.subarray(at));
    bytes += piece.length;
    pending = [];
  };
  const lines = await recordedLines(log);
  for (const line of enlarged(least.slim ? lines.map(slim) : lines, least.bytes, least.tasks)) {
    pending.push(line);
    if (pending.length >= 1000) flush();
  }
  flush();
  return { path, bytes };
}

/** Spark's ReplayListenerBus, compiled into a folder. */
class SparkReader {
  readonly #folder: string;
  readonly #jars: string;

  private constructor(folder: string, jars: string) {
    this.#folder = folder;
    this.#jars = jars;
  }

  static async make(folder: string): Promise<SparkReader> {
    const jars = await sparkJars(PYSPARK_VERSIONS[0]);
    const source = new URL("java/ReplayLog.java", import.meta.url).pathname;
    await outputOf("javac", ["-cp", `${jars}/*`, "-d", folder, source]);
    return new SparkReader(folder, jars);
  }

  /** Reads a log so many times in one process; the first rounds are cold. */
  async read(path: string, rounds: number): Promise<(Timing & { readonly processCpuMs: number })[]> {
    const opens = ["java.lang", "java.nio", "java.util", "sun.nio.ch"]
      .map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);
    const text = await outputOf("java", [
      ...opens,
      "-Xmx4g",
      "-cp",
      `${this.#folder}:${this.#jars}/*`,
      "ReplayLog",
      path,
      `${rounds}`,
    ]);
    return text.trim().split("\n").map((line) => JSON.parse(line));
  }
}

/** Our reader in a process of its own. */
async function inProcess(what: "sum" | "summarize", path: string): Promise<ProcessFigures> {
  const script = new URL("event_log_process.ts", import.meta.url).pathname;
  const config = new URL("../../deno.json", import.meta.url).pathname;
  return JSON.parse(await outputOf("deno", ["run", "--quiet", "-A", "--config", config, script, what, path]));
}

async function wallOf<T>(work: () => Promise<T>): Promise<[value: T, wallMs: number]> {
  const start = performance.now();
  const value = await work();
  return [value, performance.now() - start];
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** A line of the bench's answer: MB per CPU second, median of the warm rounds, with the lowest and highest. */
export interface EventLogResult {
  readonly log: string;
  readonly name: string;
  readonly megabytesPerCpuSecond: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
  readonly checksum: Checksum;
}

/** Both readers as whole processes, from start to end: how many times longer Spark's takes. */
export interface ProcessResult {
  readonly log: string;
  readonly bytes: number;
  readonly rounds: number;
  /** Medians of the rounds, which alternate. */
  readonly oursMs: number;
  readonly sparkMs: number;
  readonly wallRatio: number;
  readonly cpuRatio: number;
}

/** What a process takes that makes the Summary of a large log. */
export interface MemoryResult extends Checksum {
  readonly bytes: number;
  readonly peakRssBytes: number;
}

/** Everything that was measured. */
export interface EventLogFigures {
  readonly results: readonly EventLogResult[];
  readonly processes: readonly ProcessResult[];
  readonly memory: MemoryResult;
}

/** What is measured. */
export interface EventLogOptions {
  readonly megabytes: number;
  readonly rounds: number;
  /** Spark's reader too. */
  readonly spark: boolean;
  /** Size of the log whose reading is measured for its memory; 1 GB and a million tasks when not given. */
  readonly memory?: { readonly bytes: number; readonly tasks: number };
}

function resultOf(log: string, name: string, bytes: number, timings: readonly Timing[]): EventLogResult {
  const speeds = timings.map((timing) => bytes / 1e3 / Math.max(1, timing.cpuMs));
  const [{ tasks, resultBytes }] = timings;
  if (timings.some((timing) => timing.tasks !== tasks || timing.resultBytes !== resultBytes)) {
    throw new Error(`${name}: rounds differ`);
  }
  return {
    log,
    name,
    megabytesPerCpuSecond: median(speeds),
    low: Math.min(...speeds),
    high: Math.max(...speeds),
    rounds: timings.length,
    checksum: { tasks, resultBytes },
  };
}

function mustAgree(name: string, found: Checksum, first: Checksum): void {
  if (found.tasks === first.tasks && found.resultBytes === first.resultBytes) return;
  throw new Error(`${name} found ${JSON.stringify(found)}, another reader ${JSON.stringify(first)}`);
}

const READERS = [["readEventLog", readWithSum], ["summarize", summarize], ["JSON.parse", parseEveryLine]] as const;

async function warm(
  log: string,
  file: { readonly path: string; readonly bytes: number },
  rounds: number,
  spark: SparkReader | null,
): Promise<EventLogResult[]> {
  const timings = new Map<string, Timing[]>();
  for (let round = -1; round < rounds; round++) {
    for (const [name, read] of READERS) {
      const timing = await timed(() => read(file.path));
      if (round >= 0) timings.set(name, [...timings.get(name) ?? [], timing]);
    }
  }
  if (spark !== null) timings.set("ReplayListenerBus", (await spark.read(file.path, rounds + 1)).slice(1));
  const results = [...timings].map(([name, all]) => resultOf(log, name, file.bytes, all));
  for (const { name, checksum } of results) mustAgree(name, checksum, results[0].checksum);
  return results;
}

async function wholeProcesses(
  log: string,
  { path, bytes }: { readonly path: string; readonly bytes: number },
  rounds: number,
  spark: SparkReader,
): Promise<ProcessResult> {
  const rows: { oursMs: number; sparkMs: number; cpuRatio: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    const [ours, oursMs] = await wallOf(() => inProcess("sum", path));
    const [[theirs], sparkMs] = await wallOf(() => spark.read(path, 1));
    mustAgree("ReplayListenerBus", theirs, ours);
    rows.push({ oursMs, sparkMs, cpuRatio: theirs.processCpuMs / ours.cpuMs });
  }
  return {
    log,
    bytes,
    rounds,
    oursMs: median(rows.map(({ oursMs }) => oursMs)),
    sparkMs: median(rows.map(({ sparkMs }) => sparkMs)),
    wallRatio: median(rows.map(({ oursMs, sparkMs }) => sparkMs / oursMs)),
    cpuRatio: median(rows.map(({ cpuRatio }) => cpuRatio)),
  };
}

/** Runs the bench; all readers must find the same. */
export async function eventLogBench(options: EventLogOptions): Promise<EventLogFigures> {
  const folder = await Deno.makeTempDir();
  try {
    const spark = options.spark ? await SparkReader.make(folder) : null;
    const results: EventLogResult[] = [];
    const processes: ProcessResult[] = [];
    for (const [name, log] of LOGS) {
      const file = await largeLog(log, { bytes: options.megabytes * 1e6 }, folder);
      results.push(...await warm(name, file, options.rounds, spark));
      if (spark !== null) processes.push(await wholeProcesses(name, file, options.rounds, spark));
      await Deno.remove(file.path);
    }
    const large = await largeLog(LOGS[0][1], {
      ...options.memory ?? { bytes: 1e9, tasks: 1e6 },
      slim: true,
    }, folder);
    const { tasks, resultBytes, peakRssBytes } = await inProcess("summarize", large.path);
    return { results, processes, memory: { tasks, resultBytes, bytes: large.bytes, peakRssBytes } };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
