/**
 * The kernel against the same algorithm in native code, Spark's own classes, the plain model, and what a user would
 * take for a cache in JavaScript.
 *
 * @module
 */
import { Kernel } from "../../src/kernel.ts";
import { outputOf } from "../support/programs.ts";
import { type Bench, type BenchOptions, type BenchRow, compare, type Side } from "./bench.ts";
import { busyTrace, type KernelTrace, recordedTrace, writeTrace, zipfTrace } from "./kernel_traces.ts";

/** Operations of a batch: large enough that the call costs nothing, small enough for the first-level cache. */
const CHUNK = 4096;
const HERE = import.meta.dirname!;

/** A side that prints a checksum and nanoseconds. */
function printed(command: string, args: readonly string[], operations: number): Side {
  return async () => {
    const [checksum, nanos] = (await outputOf(command, args)).trim().split(" ");
    return { checksum, perSecond: operations / Number(nanos) * 1e3 };
  };
}

/** Traces and programs of one run of the bench. */
interface Workshop {
  readonly folder: string;
  readonly options: BenchOptions;
  readonly notes: string[];
  /** The native twin, or null when there is no Rust compiler. */
  readonly twin: string | null;
}

async function workshop(folder: string, options: BenchOptions): Promise<Workshop> {
  const notes: string[] = [];
  const twin = `${folder}/kernel_twin`;
  const flags = ["--edition", "2024", "-C", "opt-level=3", "-C", "panic=abort", "-C", "codegen-units=1"];
  try {
    await outputOf("rustc", [...flags, "-o", twin, `${HERE}/native/kernel_twin.rs`]);
    return { folder, options, notes, twin };
  } catch (error) {
    notes.push(`without the native twin: ${(error as Error).message.split("\n")[0]}`);
    return { folder, options, notes, twin: null };
  }
}

function ours({ folder, options }: Workshop, trace: KernelTrace, implementation = "kernel"): Side {
  const runs = options.quick ? 2 : implementation === "kernel" ? (trace.name === "zipf" ? 3 : 20) : 1;
  const worker = ["run", "-A", `${HERE}/kernel_worker.ts`, implementation, folder, trace.name, `${CHUNK}`, `${runs}`];
  return printed(Deno.execPath(), worker, trace.codes.length);
}

function native({ folder, options, twin }: Workshop, trace: KernelTrace): Side {
  const runs = options.quick ? 2 : trace.name === "zipf" ? 3 : 20;
  const path = `${folder}/${trace.name}`;
  const { maxHeapMemory, maxOffHeapMemory } = trace.options;
  const args = [`${path}.ops`, `${path}.rdds`, `${maxHeapMemory}`, `${maxOffHeapMemory}`, `${CHUNK}`, `${runs}`];
  return printed(twin!, args, trace.codes.length);
}

/** `compare`, told as soon as it is known. */
async function measured(shop: Workshop, ...comparison: Parameters<typeof compare>): Promise<BenchRow> {
  const row = await compare(...comparison);
  shop.options.measured(row);
  return row;
}

const UNIT = "M operations/s";

async function busyRows(shop: Workshop, trace: KernelTrace): Promise<BenchRow[]> {
  writeTrace(shop.folder, trace);
  const { rounds } = shop.options;
  const rows: BenchRow[] = [];
  const labels = (peer: string, aim: number | null) => ({ work: `kernel, ${trace.name}`, peer, unit: UNIT, aim });
  const kernel = ours(shop, trace);
  if (shop.twin !== null) {
    rows.push(await measured(shop, labels("the same in Rust", 0.85), kernel, native(shop, trace), rounds));
  }
  rows.push(await measured(shop, labels("the plain model", null), kernel, ours(shop, trace, "model"), 1));
  return rows;
}

async function zipfRows(shop: Workshop): Promise<BenchRow[]> {
  const trace = shop.options.quick ? zipfTrace(100_000, 10_000, 5) : zipfTrace(10_000_000, 1_000_000, 5);
  writeTrace(shop.folder, trace);
  const kernel = ours(shop, trace);
  const labels = (peer: string, aim: number) => ({ work: "cache, Zipf 0.9", peer, unit: "M requests/s", aim });
  const rows: BenchRow[] = [];
  const rounds = Math.min(3, shop.options.rounds);
  if (shop.twin !== null) {
    rows.push(await measured(shop, labels("the same in Rust", 0.85), kernel, native(shop, trace), rounds));
  }
  for (const [peer, implementation] of [["npm lru-cache", "lru-cache"], ["a Map", "Map"]]) {
    const theirs = ours(shop, trace, implementation);
    const host = { ...labels(peer, 10), work: "the same, with writing operations and reading answers", aim: null };
    rows.push(await measured(shop, labels(peer, 10), kernel, theirs, rounds));
    rows.push(await measured(shop, host, ours(shop, trace, "kernel-host"), theirs, rounds));
  }
  return rows;
}

/** An empty function, called from JavaScript: (module (func (export "f") (param f64 f64) (result f64) local.get 0)). */
const EMPTY = [
  ...[0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 124, 124, 1, 124, 3, 2, 1, 0],
  ...[7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 32, 0, 11],
];

/** Calls per second of single calls from TypeScript, and of a WebAssembly function that does nothing. */
function callRates(calls: number): { single: number; empty: number } {
  const executor = Kernel.create().createExecutor({ maxHeapMemory: 1e6, onHeapStorageRegionSize: 5e5 });
  const blocks = Array.from({ length: 64 }, () => executor.declareBlock());
  for (const block of blocks) executor.putBytes(block, 1000, 0);
  const empty = new WebAssembly.Instance(new WebAssembly.Module(new Uint8Array(EMPTY)))
    .exports.f as (a: number, b: number) => number;
  const rate = (run: () => number) => {
    for (let warm = 0; warm < 3; warm++) run();
    const before = performance.now();
    if (run() < 0) throw new Error();
    return calls / (performance.now() - before) * 1e3;
  };
  const single = rate(() => {
    let found = 0;
    for (let i = 0; i < calls; i++) found += executor.get(blocks[i & 63]) ? 1 : 0;
    return found;
  });
  const nothing = rate(() => {
    let sum = 0;
    for (let i = 0; i < calls; i++) sum += empty(i, i);
    return sum;
  });
  return { single: single / 1e6, empty: nothing / 1e6 };
}

async function callRow(shop: Workshop): Promise<BenchRow> {
  const { options } = shop;
  const calls = options.quick ? 100_000 : 5_000_000;
  let rates = callRates(calls);
  const labels = { work: "single calls", peer: "an empty WebAssembly call", unit: "M calls/s", aim: 0.2 };
  const side = (speed: () => number): Side => () => Promise.resolve({ perSecond: speed(), checksum: null });
  return await measured(
    shop,
    labels,
    side(() => (rates = callRates(calls)).single),
    side(() => rates.empty),
    options.rounds,
  );
}

/** Spark's own classes on the recorded traces: `oracle.sh bench` makes the same ones and prints its speed. */
async function sparkRows(shop: Workshop, traces: readonly KernelTrace[]): Promise<BenchRow[]> {
  const { oracle } = shop.options;
  if (oracle === null) {
    shop.notes.push("without Spark's classes: SPARKMEM_ORACLE names no folder of the harnesses");
    return [];
  }
  const text = await outputOf("bash", [`${oracle}/memory/oracle.sh`, "bench", "1000000", "77", "4", "5"]);
  const rows: BenchRow[] = [];
  for (const trace of traces) {
    const match = new RegExp(`RESULT ${trace.name} .*thread-CPU: min \\d+ median (\\d+)`).exec(text);
    if (match === null) throw new Error(`no speed of ${trace.name} in ${text.slice(-500)}`);
    const labels = {
      work: `kernel, ${trace.name}`,
      peer: "Spark 2.4.0 on the JVM",
      unit: UNIT,
      aim: trace.name === "mixed" ? 40 : 25,
    };
    const spark: Side = () => Promise.resolve({ perSecond: Number(match[1]) / 1e6, checksum: null });
    rows.push(await measured(shop, labels, ours(shop, trace), spark, 3));
  }
  return rows;
}

async function busyTraces({ options }: Workshop): Promise<KernelTrace[]> {
  const names = ["mixed", "churn"] as const;
  if (options.traces === null) return names.map((name) => busyTrace(name, options.quick ? 20_000 : 1_000_000, 77));
  return await Promise.all(names.map((name) => recordedTrace(name, `${options.traces}/${name}.jsonl.gz`)));
}

/** The kernel's bench. */
export const KERNEL_BENCH: Bench = {
  name: "kernel",
  what: "the kernel against native code, Spark's classes, the model, npm lru-cache, a Map, an empty call",
  async run(options) {
    const folder = await Deno.makeTempDir();
    try {
      const shop = await workshop(folder, options);
      const rows: BenchRow[] = [];
      const traces = await busyTraces(shop);
      for (const trace of traces) rows.push(...await busyRows(shop, trace));
      if (options.traces !== null) rows.push(...await sparkRows(shop, traces));
      rows.push(...await zipfRows(shop), await callRow(shop));
      return { rows, notes: shop.notes };
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};
