/**
 * Reading an event log: ours against Spark's ReplayListenerBus, both with a listener that only adds up, on the same log of 200 MB
 * and more; and against JSON.parse of every line. Thread CPU time counts, because the machine has other work.
 *
 * As a script: `deno run -A tests/bench/event_log_bench.ts [--megabytes 220] [--rounds 5] [--json]`.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { EventSink, SparkEvent } from "../../src/spark/events.ts";
import { PYSPARK_VERSIONS, sparkJars, whyNoHistoryServer } from "../history_server/spark.ts";
import { runText } from "../support/runs.ts";
import { enlarged } from "./enlarge.ts";

/** What a reader found: the same for all of them. */
export interface Checksum {
  readonly tasks: number;
  readonly resultBytes: number;
}

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

class Sum implements EventSink {
  tasks = 0;
  resultBytes = 0;

  event(event: SparkEvent): void {
    if (event.kind !== "taskEnd") return;
    this.tasks++;
    this.resultBytes += event.metrics?.resultSize ?? 0;
  }
}

async function timed(read: () => Promise<Checksum>): Promise<Timing> {
  const cpu = cpuMs();
  const wall = performance.now();
  const { tasks, resultBytes } = await read();
  return { wallMs: performance.now() - wall, cpuMs: cpuMs() - cpu, tasks, resultBytes };
}

function fileStream(path: string): ReadableStream<Uint8Array> {
  let file: Deno.FsFile | null = null;
  const buffer = new Uint8Array(1 << 18);
  return new ReadableStream({
    pull(controller) {
      file ??= Deno.openSync(path);
      const length = file.readSync(buffer);
      if (length === null) {
        file.close();
        controller.close();
      } else controller.enqueue(buffer.subarray(0, length));
    },
  }, { highWaterMark: 0 });
}

/** Our reader with a sink that adds up. */
export async function readWithSum(path: string): Promise<Checksum> {
  const sum = new Sum();
  await readEventLog(fileStream(path), sum);
  return sum;
}

/** JSON.parse of every line, which is the least that a reader that parses has to do. */
export async function parseEveryLine(path: string): Promise<Checksum> {
  const sum = { tasks: 0, resultBytes: 0 };
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of fileStream(path)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const event = JSON.parse(line);
      if (event.Event !== "SparkListenerTaskEnd") continue;
      sum.tasks++;
      sum.resultBytes += event["Task Metrics"]?.["Result Size"] ?? 0;
    }
  }
  return sum;
}

/** The whole Summary. */
export async function summarize(path: string): Promise<Checksum> {
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(fileStream(path), summarizer);
  const { stages, results } = summarizer.summary();
  const tasks = stages.reduce((n, stage) => n + stage.tasks.succeeded + stage.tasks.failed + stage.tasks.killed, 0);
  return { tasks, resultBytes: results.totalBytes! };
}

/** Writes a log of at least so many bytes; gives its path and size. */
export async function largeLog(
  run: string,
  minBytes: number,
  folder: string,
): Promise<{ path: string; bytes: number }> {
  const path = `${folder}/${run}.log`;
  const lines = (await runText(run)).trimEnd().split("\n");
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
  for (const line of enlarged(lines, minBytes)) {
    pending.push(line);
    if (pending.length >= 1000) flush();
  }
  flush();
  return { path, bytes };
}

/** Spark's ReplayListenerBus; the first rounds are cold. */
async function replayListenerBus(path: string, rounds: number, folder: string): Promise<Timing[]> {
  const jars = await sparkJars(PYSPARK_VERSIONS[0]);
  const source = new URL("java/ReplayLog.java", import.meta.url).pathname;
  const run = async (program: string, args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command(program, { args, stdin: "null" }).output();
    if (code !== 0) throw new Error(new TextDecoder().decode(stderr).slice(-2000));
    return new TextDecoder().decode(stdout);
  };
  await run("javac", ["-cp", `${jars}/*`, "-d", folder, source]);
  const opens = ["java.lang", "java.nio", "java.util"].map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`);
  const text = await run("java", [
    ...opens,
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "-Xmx4g",
    "-cp",
    `${folder}:${jars}/*`,
    "ReplayLog",
    path,
    `${rounds}`,
  ]);
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** A line of the bench's answer: MB per CPU second, median of the warm rounds, with the lowest and highest. */
export interface EventLogResult {
  readonly name: string;
  readonly megabytesPerCpuSecond: number;
  readonly low: number;
  readonly high: number;
  readonly rounds: number;
  readonly checksum: Checksum;
}

function resultOf(name: string, bytes: number, timings: readonly Timing[]): EventLogResult {
  const speeds = timings.map((timing) => bytes / 1e3 / Math.max(1, timing.cpuMs));
  const [{ tasks, resultBytes }] = timings;
  if (timings.some((timing) => timing.tasks !== tasks || timing.resultBytes !== resultBytes)) {
    throw new Error(`${name}: rounds differ`);
  }
  return {
    name,
    megabytesPerCpuSecond: median(speeds),
    low: Math.min(...speeds),
    high: Math.max(...speeds),
    rounds: timings.length,
    checksum: { tasks, resultBytes },
  };
}

/** Runs the bench; all readers must find the same. */
export async function eventLogBench(
  options: { readonly megabytes: number; readonly rounds: number; readonly spark: boolean },
): Promise<{ bytes: number; results: EventLogResult[]; peakRssBytes: number }> {
  const folder = await Deno.makeTempDir();
  try {
    const { path, bytes } = await largeLog("spark_4_1_rolling", options.megabytes * 1e6, folder);
    const readers = [["readEventLog", readWithSum], ["summarize", summarize], ["JSON.parse", parseEveryLine]] as const;
    const timings = new Map<string, Timing[]>();
    let peakRssBytes = 0;
    for (let round = -1; round < options.rounds; round++) {
      for (const [name, read] of readers) {
        const timing = await timed(() => read(path));
        peakRssBytes = Math.max(peakRssBytes, Deno.memoryUsage().rss);
        if (round >= 0) timings.set(name, [...timings.get(name) ?? [], timing]);
      }
    }
    if (options.spark) {
      const warm = (await replayListenerBus(path, options.rounds + 1, folder)).slice(1);
      timings.set("ReplayListenerBus", warm);
    }
    const results = [...timings].map(([name, all]) => resultOf(name, bytes, all));
    for (const { name, checksum } of results) {
      const first = results[0].checksum;
      if (checksum.tasks !== first.tasks || checksum.resultBytes !== first.resultBytes) {
        throw new Error(`${name} found ${JSON.stringify(checksum)}, ${results[0].name} ${JSON.stringify(first)}`);
      }
    }
    return { bytes, results, peakRssBytes };
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      megabytes: { type: "string", default: "220" },
      rounds: { type: "string", default: "5" },
      json: { type: "boolean", default: false },
    },
  });
  const why = await whyNoHistoryServer();
  if (why !== null) console.error(`without Spark: ${why}`);
  const answer = await eventLogBench({
    megabytes: Number(values.megabytes),
    rounds: Number(values.rounds),
    spark: why === null,
  });
  if (values.json) console.log(JSON.stringify(answer));
  else {
    console.log(`event log of ${(answer.bytes / 1e6).toFixed(0)} MB, ${answer.results[0].checksum.tasks} tasks`);
    for (const { name, megabytesPerCpuSecond, low, high } of answer.results) {
      console.log(
        `  ${name.padEnd(18)}${megabytesPerCpuSecond.toFixed(0).padStart(6)} MB per CPU second (${low.toFixed(0)} to ${
          high.toFixed(0)
        })`,
      );
    }
    console.log(`  peak memory of all rounds ${(answer.peakRssBytes / 1e6).toFixed(0)} MB`);
  }
}
