/**
 * Traces of a million operations for the kernel's benches, made from a seed: `mixed` is a busy executor with all kinds
 * of operations in both modes, `churn` a cache that is too small, `zipf` requests to a cache as a web cache sees them.
 * The recorded traces of the real Spark can be read instead.
 *
 * @module
 */
import { type ExecutorMemoryOptions, Kernel, type KernelExecutorMemory, type MemoryMode } from "../../src/kernel.ts";
import { Prng } from "../../src/prng.ts";

/** The names of the operations, by code, as the recorded traces have them; 15 reads a block or puts it. */
export const CODES = {
  putBytes: 0,
  get: 1,
  remove: 2,
  lockRead: 3,
  unlockRead: 4,
  acqStorage: 5,
  relStorage: 6,
  reserveUnroll: 7,
  releaseUnrollTask: 8,
  acqExec: 9,
  relExec: 10,
  relAllExec: 11,
  getOrPut: 15,
} as const;

/** A trace in columns. */
export interface KernelTrace {
  readonly name: string;
  readonly options: ExecutorMemoryOptions;
  /** RDD of each block, -1 where it is of none; block ids are places in here. */
  readonly rdds: Int32Array<ArrayBuffer>;
  readonly codes: Uint8Array<ArrayBuffer>;
  readonly modes: Uint8Array<ArrayBuffer>;
  readonly subjects: Int32Array<ArrayBuffer>;
  readonly bytes: Float64Array<ArrayBuffer>;
}

const GIB = 2 ** 30;
const MIB = 2 ** 20;
/** "All that the task holds", Long.MaxValue as a number. */
const ALL = 2 ** 63;

function columns(count: number) {
  return {
    codes: new Uint8Array(count),
    modes: new Uint8Array(count),
    subjects: new Int32Array(count),
    bytes: new Float64Array(count),
  };
}

function optionsOf(heap: number, off: number): ExecutorMemoryOptions {
  return {
    maxHeapMemory: heap,
    onHeapStorageRegionSize: heap / 2,
    maxOffHeapMemory: off,
    offHeapStorageRegionSize: off / 2,
  };
}

/** Sizes from 64 KiB to 64 MiB, each power of two as likely as the others. */
function size(prng: Prng): number {
  return Math.trunc(65_536 * 2 ** prng.integer(10) * (1 + prng.float()));
}

/** `mixed` or `churn`: 4,000 blocks, three in four of 20 RDDs, 8 GiB on-heap (and 2 GiB off-heap for `mixed`). */
export function busyTrace(name: "mixed" | "churn", count: number, seed: number): KernelTrace {
  const prng = new Prng(seed);
  const options = optionsOf(8 * GIB, name === "mixed" ? 2 * GIB : 0);
  const rdds = Int32Array.from({ length: 4000 }, () => prng.integer(4) > 0 ? prng.integer(20) : -1);
  const trace = { name, options, rdds, ...columns(count) };
  const source = new BusySource(trace, prng);
  for (let i = 0; i < count; i++) source.write(i);
  return trace;
}

/** Draws operations that fit the state of an executor on which all before have been run. */
class BusySource {
  readonly #trace: KernelTrace;
  readonly #prng: Prng;
  readonly #executor: KernelExecutorMemory;
  readonly #sizes: number[];
  readonly #offHeap: boolean[];
  readonly #raw = [0, 0];
  readonly #locked: number[] = [];

  constructor(trace: KernelTrace, prng: Prng) {
    this.#trace = trace;
    this.#prng = prng;
    this.#executor = Kernel.create().createExecutor(trace.options);
    for (const rdd of trace.rdds) this.#executor.declareBlock(rdd);
    const hasOffHeap = trace.options.maxOffHeapMemory! > 0;
    this.#offHeap = Array.from(trace.rdds, () => hasOffHeap && prng.integer(4) === 0);
    // a few giants, of which most do not fit
    this.#sizes = Array.from(
      trace.rdds,
      (_, i) => hasOffHeap && i % 499 === 498 ? Math.trunc((6.5 + 2.5 * prng.float()) * 1e9) : size(prng),
    );
  }

  write(i: number): void {
    const kind = this.#trace.name === "churn" ? 0 : this.#prng.integer(1000);
    if (kind < 560) return this.#readOrPut(i);
    if (kind < 575) return this.#remove(i);
    if (kind < 600) return this.#lockOrUnlock(i);
    if (kind < 610) return this.#acquireRaw(i);
    if (kind < 650) return this.#unroll(i);
    if (kind < 840) return this.#acquire(i);
    if (kind < 985) return this.#release(i);
    this.#put(i, CODES.relAllExec, 0, this.#prng.integer(32), 0);
    this.#executor.releaseAllExecutionMemoryForTask(this.#trace.subjects[i]);
  }

  #put(i: number, code: number, mode: number, subject: number, bytes: number): void {
    const { codes, modes, subjects, bytes: amounts } = this.#trace;
    codes[i] = code;
    modes[i] = mode;
    subjects[i] = subject;
    amounts[i] = bytes;
  }

  /** A block, low numbers more often. */
  #block(): number {
    const { length } = this.#trace.rdds;
    if (this.#prng.integer(4) === 0) return this.#prng.integer(length);
    const x = this.#prng.float();
    return Math.trunc(length * x * x * Math.sqrt(x));
  }

  #modeOf(block: number): MemoryMode {
    return this.#offHeap[block] ? 1 : 0;
  }

  #anyMode(): MemoryMode {
    return this.#trace.options.maxOffHeapMemory! > 0 && this.#prng.integer(4) === 0 ? 1 : 0;
  }

  #readOrPut(i: number): void {
    const block = this.#block();
    const mode = this.#modeOf(block);
    if (this.#executor.get(block)) return this.#put(i, CODES.get, mode, block, 0);
    this.#put(i, CODES.putBytes, mode, block, this.#sizes[block]);
    this.#executor.putBytes(block, this.#sizes[block], mode);
  }

  #remove(i: number): void {
    const block = this.#block();
    this.#put(i, CODES.remove, this.#modeOf(block), block, 0);
    this.#executor.remove(block);
  }

  #lockOrUnlock(i: number): void {
    const { length } = this.#locked;
    if (length >= 40) {
      const [block] = this.#locked.splice(this.#prng.integer(length), 1);
      this.#put(i, CODES.unlockRead, this.#modeOf(block), block, 0);
      return this.#executor.unlock(block);
    }
    const block = this.#block();
    this.#put(i, CODES.lockRead, this.#modeOf(block), block, 0);
    if (this.#executor.lockForReading(block)) this.#locked.push(block);
  }

  #acquireRaw(i: number): void {
    const mode = this.#anyMode();
    if (this.#raw[mode] > 256 * MIB) {
      this.#put(i, CODES.relStorage, mode, 0, this.#raw[mode]);
      this.#executor.releaseStorageMemory(this.#raw[mode], mode);
      this.#raw[mode] = 0;
      return;
    }
    const [block, bytes] = [this.#block(), 1 + this.#prng.integer(8 * MIB)];
    this.#put(i, CODES.acqStorage, mode, block, bytes);
    if (this.#executor.acquireStorageMemory(block, bytes, mode)) this.#raw[mode] += bytes;
  }

  #unroll(i: number): void {
    const mode = this.#anyMode();
    const bytes = 1 + this.#prng.integer(4 * MIB);
    if (this.#prng.integer(5) < 3) {
      const block = this.#block();
      this.#put(i, CODES.reserveUnroll, mode, block, bytes);
      this.#executor.reserveUnrollMemoryForTask(block, bytes, -1, mode);
    } else {
      this.#put(i, CODES.releaseUnrollTask, mode, 0, this.#prng.integer(4) === 0 ? ALL : 2 * bytes);
      this.#executor.releaseUnrollMemoryForTask(-1, mode, this.#trace.bytes[i]);
    }
  }

  /** An acquire; one that would have to wait becomes a release of all. */
  #acquire(i: number): void {
    const mode = this.#anyMode();
    const task = this.#prng.integer(32);
    const bytes = size(this.#prng);
    if (this.#mayWait(task, bytes, mode)) {
      this.#put(i, CODES.relAllExec, 0, task, 0);
      this.#executor.releaseAllExecutionMemoryForTask(task);
      return;
    }
    this.#put(i, CODES.acqExec, mode, task, bytes);
    if (this.#executor.acquireExecutionMemory(bytes, task, mode) === -1) throw new Error("the bench's trace waits");
  }

  /** Whether an acquire could wait: what is free and what storage must give back is less than the task is owed. */
  #mayWait(task: number, bytes: number, mode: MemoryMode): boolean {
    const executor = this.#executor;
    const [max, region] = mode === 0
      ? [this.#trace.options.maxHeapMemory, this.#trace.options.onHeapStorageRegionSize]
      : [this.#trace.options.maxOffHeapMemory!, this.#trace.options.offHeapStorageRegionSize!];
    const free = executor.executionPoolSize(mode) - executor.executionMemoryUsed(mode);
    const storageFree = executor.storagePoolSize(mode) - executor.storageMemoryUsed(mode);
    const reclaimable = Math.max(storageFree, executor.storagePoolSize(mode) - region, 0);
    const wanted = Math.min(Math.max(0, bytes - free), reclaimable);
    const reclaimed = wanted - storageFree <= this.#evictable(mode) ? wanted : Math.min(wanted, storageFree);
    if (free + reclaimed >= bytes) return false;
    const tasks = executor.activeTasks(mode) + (executor.taskFlags(task).active[mode] ? 0 : 1);
    return executor.executionMemoryUsageForTask(task, mode) + free + reclaimed < max / (2 * tasks);
  }

  /** Bytes of the blocks in memory that are not locked. */
  #evictable(mode: MemoryMode): number {
    let bytes = this.#executor.storageMemoryUsed(mode) - this.#raw[mode] - this.#executor.unrollMemoryForTask(-1, mode);
    for (const block of new Set(this.#locked)) {
      if (this.#modeOf(block) === mode && this.#executor.contains(block)) bytes -= this.#sizes[block];
    }
    return bytes;
  }

  #release(i: number): void {
    const mode = this.#anyMode();
    const task = this.#prng.integer(32);
    const held = this.#executor.executionMemoryUsageForTask(task, mode);
    const bytes = this.#prng.integer(6) === 0 ? held : Math.trunc(held * this.#prng.float());
    this.#put(i, CODES.relExec, mode, task, bytes);
    this.#executor.releaseExecutionMemory(bytes, task, mode);
  }
}

/** Requests to a cache of a tenth of what there is: object of rank r with a probability in proportion to r^-0.9. */
export function zipfTrace(count: number, objects: number, seed: number): KernelTrace {
  const prng = new Prng(seed);
  const cumulated = new Float64Array(objects);
  let sum = 0;
  for (let rank = 0; rank < objects; rank++) cumulated[rank] = sum += (rank + 1) ** -0.9;
  // object numbers say nothing of popularity: they are given in the order of the first request
  const numbers = new Int32Array(objects).fill(-1);
  let known = 0;
  const sizes = Int32Array.from({ length: objects }, () => 1024 * (1 + prng.integer(63)));
  const trace = columns(count);
  for (let i = 0; i < count; i++) {
    const rank = firstAtLeast(cumulated, prng.float() * sum);
    if (numbers[rank] < 0) numbers[rank] = known++;
    trace.codes[i] = CODES.getOrPut;
    trace.subjects[i] = numbers[rank];
    trace.bytes[i] = sizes[numbers[rank]];
  }
  const total = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const options = optionsOf(2 * Math.trunc(total / 20), 0);
  return { name: "zipf", options, rdds: new Int32Array(objects).fill(-1), ...trace };
}

/** The first place of an ascending array with a value of at least `x`; the last one when there is none. */
function firstAtLeast(ascending: Float64Array, x: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A trace recorded from the real Spark: conformance/memory/big, gzip'd. */
export async function recordedTrace(name: string, path: string): Promise<KernelTrace> {
  const file = await Deno.open(path);
  const text = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
  const [header, ...lines] = text.trimEnd().split("\n");
  const { heap, off, blocks } = JSON.parse(header);
  const operations = lines.filter((line) => line.startsWith("[")).map((line) => JSON.parse(line));
  const rddOf = (block: string) => block.startsWith("rdd_") ? Number(block.split("_")[1]) : -1;
  const trace = columns(operations.length);
  for (const [i, [code, subject, bytes, mode]] of operations.entries()) {
    trace.codes[i] = code;
    trace.subjects[i] = subject;
    trace.bytes[i] = bytes;
    trace.modes[i] = mode;
  }
  return { name, options: optionsOf(heap, off), rdds: Int32Array.from(blocks as string[], rddOf), ...trace };
}

/** The operations as the kernel's records, for the workers of the bench. */
export function operationRecords(trace: KernelTrace): Uint8Array<ArrayBuffer> {
  const records = new DataView(new ArrayBuffer(trace.codes.length * 16));
  for (let i = 0; i < trace.codes.length; i++) {
    records.setUint8(16 * i, trace.codes[i]);
    records.setUint8(16 * i + 1, trace.modes[i]);
    records.setInt32(16 * i + 4, trace.subjects[i], true);
    const bytes = trace.bytes[i];
    records.setUint32(16 * i + 8, bytes >= ALL ? 0xffffffff : bytes % 2 ** 32, true);
    records.setUint32(16 * i + 12, bytes >= ALL ? 0x7fffffff : Math.floor(bytes / 2 ** 32), true);
  }
  return new Uint8Array(records.buffer);
}

/** Writes a trace where the workers of the bench, and the native twin, read it: NAME.ops, NAME.rdds, NAME.json. */
export function writeTrace(folder: string, trace: KernelTrace): void {
  Deno.writeFileSync(`${folder}/${trace.name}.ops`, operationRecords(trace));
  Deno.writeFileSync(`${folder}/${trace.name}.rdds`, new Uint8Array(trace.rdds.buffer));
  Deno.writeTextFileSync(`${folder}/${trace.name}.json`, JSON.stringify(trace.options));
}

/** Reads a trace that `writeTrace` wrote. */
export function readTrace(folder: string, name: string): KernelTrace {
  const records = new DataView(Deno.readFileSync(`${folder}/${name}.ops`).buffer);
  const count = records.byteLength / 16;
  const trace = columns(count);
  for (let i = 0; i < count; i++) {
    trace.codes[i] = records.getUint8(16 * i);
    trace.modes[i] = records.getUint8(16 * i + 1);
    trace.subjects[i] = records.getInt32(16 * i + 4, true);
    const [low, high] = [records.getUint32(16 * i + 8, true), records.getInt32(16 * i + 12, true)];
    trace.bytes[i] = high === 0x7fffffff ? ALL : high * 2 ** 32 + low;
  }
  const rdds = new Int32Array(Deno.readFileSync(`${folder}/${name}.rdds`).buffer);
  return { name, options: JSON.parse(Deno.readTextFileSync(`${folder}/${name}.json`)), rdds, ...trace };
}
