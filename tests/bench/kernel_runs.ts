/**
 * Running a trace on one implementation: the kernel in batches, the model, and what users would take for a cache. Each
 * gives the checksum of its outcomes, so that all are seen to do the same work.
 *
 * @module
 */
import process from "node:process";
import { LRUCache } from "npm:lru-cache@11.5.3";
import { type ExecutorMemory, Kernel, type KernelExecutorMemory, type MemoryMode } from "../../src/kernel.ts";
import { Checksum } from "../../src/replay/memory/checksum.ts";
import { MemoryModel } from "../model/memory_model.ts";
import { CODES, type KernelTrace } from "./kernel_traces.ts";

/** What a run gives: how long it took, and a checksum over results and numbers of evictions. */
export interface Run {
  readonly nanos: number;
  readonly checksum: string;
}

/** Nanoseconds of each chunk of a run, so that the median of many runs can be taken chunk by chunk. */
export interface ChunkedRun {
  readonly chunkNanos: readonly number[];
  readonly checksum: string;
}

/** A stopwatch for whole runs: nanoseconds by the clock or of the process, whichever is less, so that waiting for a core does not count. */
function stopwatch(): () => number {
  const [clock, cpu] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return Math.min((performance.now() - clock) * 1e6, (user + system) * 1e3);
  };
}

/** Runs a trace through the kernel's batches, timing what a host has to do besides: writing operations, reading answers. */
export function runKernelFromHost({ codes, modes, subjects, bytes, rdds, options }: KernelTrace, chunk: number): Run {
  const kernel = Kernel.create();
  const executor = kernel.createExecutor(options);
  for (const rdd of rdds) executor.declareBlock(rdd);
  const batch = kernel.createBatch(chunk);
  const outcomes = new Uint8Array(codes.length);
  const evictions = new Uint8Array(codes.length);
  const counts = new Uint32Array(chunk);
  const nanos = stopwatch();
  for (let start = 0; start < codes.length; start += chunk) {
    const count = Math.min(chunk, codes.length - start);
    for (let i = start; i < start + count; i++) batch.putCode(codes[i], subjects[i], bytes[i], modes[i]);
    if (batch.run(executor) !== count) throw new Error("the trace waits");
    counts.fill(0);
    batch.countEvictions(counts);
    for (let i = 0; i < count; i++) {
      outcomes[start + i] = batch.answer(i);
      evictions[start + i] = counts[i];
    }
  }
  return { nanos: nanos(), checksum: checksumOf(outcomes, evictions) };
}

/** Runs a trace through the kernel's batches. */
export function runKernel(trace: KernelTrace, chunk: number): ChunkedRun {
  const kernel = Kernel.create();
  const executor = kernel.createExecutor(trace.options);
  for (const rdd of trace.rdds) executor.declareBlock(rdd);
  const batch = kernel.createBatch(chunk);
  const { codes, modes, subjects, bytes } = trace;
  const chunkNanos: number[] = [];
  const checksum = new Checksum();
  const evictions = new Uint32Array(chunk);
  for (let start = 0; start < codes.length; start += chunk) {
    const count = Math.min(chunk, codes.length - start);
    for (let i = start; i < start + count; i++) batch.putCode(codes[i], subjects[i], bytes[i], modes[i]);
    const before = performance.now();
    const done = batch.run(executor);
    chunkNanos.push((performance.now() - before) * 1e6);
    if (done !== count) throw new Error("the trace waits");
    evictions.fill(0);
    batch.countEvictions(evictions);
    for (let i = 0; i < count; i++) {
      checksum.mix(batch.answer(i));
      checksum.mix(evictions[i]);
    }
  }
  return { chunkNanos, checksum: checksum.hex };
}

/** Runs a trace through single calls, of the kernel or of the model. */
export function runCalls(trace: KernelTrace, executor: ExecutorMemory): Run {
  for (const rdd of trace.rdds) executor.declareBlock(rdd);
  const outcomes = new Float64Array(trace.codes.length);
  const evictions = new Uint32Array(trace.codes.length);
  let evicted = 0;
  const visitor = { evicted: () => void evicted++ };
  const nanos = stopwatch();
  for (let i = 0; i < trace.codes.length; i++) {
    outcomes[i] = call(executor, trace, i);
    evicted = 0;
    if (executor.hasEvents) executor.drain(visitor);
    evictions[i] = evicted;
  }
  return { nanos: nanos(), checksum: checksumOf(outcomes, evictions) };
}

export function newModel(trace: KernelTrace): MemoryModel {
  return new MemoryModel(trace.options);
}

export function newExecutor(trace: KernelTrace): KernelExecutorMemory {
  return Kernel.create().createExecutor(trace.options);
}

const NO_TASK = -1;

function call(executor: ExecutorMemory, trace: KernelTrace, i: number): number {
  const subject = trace.subjects[i];
  const bytes = trace.bytes[i];
  const mode = trace.modes[i] as MemoryMode;
  switch (trace.codes[i]) {
    case CODES.putBytes:
      return Number(executor.putBytes(subject, bytes, mode));
    case CODES.get:
      return Number(executor.get(subject));
    case CODES.remove:
      return ["absent", "removed", "locked"].indexOf(executor.remove(subject));
    case CODES.lockRead:
      return Number(executor.lockForReading(subject));
    case CODES.unlockRead:
      return Number(executor.unlock(subject) ?? 0);
    case CODES.acqStorage:
      return Number(executor.acquireStorageMemory(subject, bytes, mode));
    case CODES.relStorage:
      return Number(executor.releaseStorageMemory(bytes, mode) ?? 0);
    case CODES.reserveUnroll:
      return Number(executor.reserveUnrollMemoryForTask(subject, bytes, NO_TASK, mode));
    case CODES.releaseUnrollTask:
      return Number(executor.releaseUnrollMemoryForTask(NO_TASK, mode, bytes) ?? 0);
    case CODES.acqExec:
      return executor.acquireExecutionMemory(bytes, subject, mode);
    case CODES.relExec:
      return Number(executor.releaseExecutionMemory(bytes, subject, mode) ?? 0);
    case CODES.relAllExec:
      return executor.releaseAllExecutionMemoryForTask(subject);
    case CODES.getOrPut:
      return executor.get(subject) ? 2 : Number(executor.putBytes(subject, bytes, mode));
    default:
      throw new Error(`code ${trace.codes[i]}`);
  }
}

/** Runs the requests of a trace through npm's lru-cache. */
export function runLruCache({ codes, subjects, bytes, options }: KernelTrace): Run {
  let evicted = 0;
  const cache = new LRUCache<number, number>({
    maxSize: options.maxHeapMemory,
    sizeCalculation: (size) => size,
    dispose: () => void evicted++,
  });
  const outcomes = new Uint8Array(codes.length);
  const evictions = new Uint8Array(codes.length);
  const nanos = stopwatch();
  for (let i = 0; i < codes.length; i++) {
    if (cache.get(subjects[i]) !== undefined) {
      outcomes[i] = 2;
      continue;
    }
    evicted = 0;
    cache.set(subjects[i], bytes[i]);
    outcomes[i] = 1;
    evictions[i] = evicted;
  }
  return { nanos: nanos(), checksum: checksumOf(outcomes, evictions) };
}

/** Runs the requests through a Map, which keeps the order of insertion. */
export function runMap({ codes, subjects, bytes, options }: KernelTrace): Run {
  const cache = new Map<number, number>();
  let used = 0;
  const outcomes = new Uint8Array(codes.length);
  const evictions = new Uint8Array(codes.length);
  const nanos = stopwatch();
  // one iterator for all evictions: a new one for each would walk over what has been deleted every time
  let eldestFirst = cache.entries();
  for (let i = 0; i < codes.length; i++) {
    const object = subjects[i];
    const size = cache.get(object);
    if (size !== undefined) {
      cache.delete(object);
      cache.set(object, size);
      outcomes[i] = 2;
      continue;
    }
    used += bytes[i];
    while (used > options.maxHeapMemory) {
      let next = eldestFirst.next();
      if (next.done) next = (eldestFirst = cache.entries()).next();
      const [eldest, eldestSize] = next.value!;
      cache.delete(eldest);
      used -= eldestSize;
      evictions[i]++;
    }
    cache.set(object, bytes[i]);
    outcomes[i] = 1;
  }
  return { nanos: nanos(), checksum: checksumOf(outcomes, evictions) };
}

function checksumOf(outcomes: ArrayLike<number>, evictions: ArrayLike<number>): string {
  const checksum = new Checksum();
  for (let i = 0; i < outcomes.length; i++) {
    checksum.mix(outcomes[i]);
    checksum.mix(evictions[i]);
  }
  return checksum.hex;
}
