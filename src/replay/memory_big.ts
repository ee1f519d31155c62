/**
 * The traces of a million operations: one executor, no waiting, operations as arrays of numbers.
 *
 * @module
 */
import { Kernel, type KernelExecutorMemory, type MemoryMode, NO_TASK } from "../kernel.ts";
import { TraceBlocks } from "./memory/blocks.ts";
import { Checksum } from "./memory/checksum.ts";
import { readTraceHeader } from "./memory/trace_header.ts";
import {
  type Difference,
  type ReplayOptions,
  type ReplayRecord,
  sameJson,
  type TraceFormat,
  type TraceLine,
} from "./trace.ts";

/** `[code, block | task, bytes, off-heap, result, [evicted]]`; the last two are outcomes. */
type BigOperation = readonly [
  code: number,
  subject: number,
  bytes: number,
  off: number,
  result?: number,
  ev?: number[],
];

/** The format of the big memory traces. */
export const BIG_MEMORY_TRACE: TraceFormat = {
  name: "big memory",
  detects: (header) =>
    header !== null && typeof header === "object" && "unrollThreshold" in header && "blocks" in header,
  replay,
};

type Run = (subject: number, bytes: number, mode: MemoryMode) => number;

function* replay(header: TraceLine, lines: Iterable<TraceLine>, options: ReplayOptions): Generator<ReplayRecord> {
  const engine = new BigEngine(header, options);
  let number = 1;
  for (const line of lines) {
    number++;
    if (Array.isArray(line)) yield engine.operation(number, line as unknown as BigOperation);
    else if ("cp" in line || "end" in line) yield engine.checkpoint(number, line);
  }
}

class BigEngine {
  readonly #executor: KernelExecutorMemory;
  readonly #blocks: number[] = [];
  readonly #indexes = new Map<number, number>();
  readonly #runs: Run[];
  /** Over result, number of evictions, each evicted block and the eight numbers of the pools; and over the first two. */
  readonly #all = new Checksum();
  readonly #results = new Checksum();

  constructor(header: TraceLine, options: ReplayOptions) {
    this.#executor = Kernel.create().createExecutor(readTraceHeader(header, options).executor);
    const ids = new TraceBlocks(this.#executor);
    for (const [index, name] of (header.blocks as string[]).entries()) {
      this.#blocks[index] = ids.id(name);
      this.#indexes.set(this.#blocks[index], index);
    }
    const runs = operations(this.#executor, this.#blocks);
    this.#runs = (header.codes as string[]).map((code) => runs[code]);
  }

  operation(number: number, line: BigOperation): ReplayRecord {
    const [code, subject, bytes, off] = line;
    const result = this.#runs[code](subject, bytes, off === 1 ? 1 : 0);
    const evicted: number[] = [];
    this.#executor.drain({ evicted: (block) => evicted.push(this.#indexes.get(block)!) });
    this.#mix(result, evicted);
    const output = [code, subject, bytes, off, result, ...(evicted.length > 0 ? [evicted] : [])];
    const compared = line.length > 4;
    const differences: Difference[] = [];
    if (compared && line[4] !== result) differences.push({ what: "result", recorded: line[4], computed: result });
    if (compared && !sameJson(line[5] ?? [], evicted)) {
      differences.push({ what: "evicted", recorded: line[5] ?? [], computed: evicted });
    }
    return { line: number, output, compared, differences };
  }

  checkpoint(number: number, line: TraceLine): ReplayRecord {
    const computed: Record<string, unknown> = {
      h: this.#all.hex,
      h2: this.#results.hex,
      s: Array.from(this.#executor.stateNumbers()),
    };
    const differences = Object.keys(computed)
      .filter((what) => !sameJson(line[what], computed[what]))
      .map((what) => ({ what, recorded: line[what], computed: computed[what] }));
    return { line: number, output: null, compared: false, differences };
  }

  #mix(result: number, evicted: readonly number[]): void {
    for (const checksum of [this.#all, this.#results]) {
      checksum.mix(result);
      checksum.mix(evicted.length);
    }
    for (const index of evicted) this.#all.mix(index);
    const state = this.#executor.stateNumbers();
    for (let i = 0; i < 8; i++) this.#all.mix(state[i]);
  }
}

/** The operations by their names in the header; booleans as 0 and 1, nothing as 0, a locked block's removal as 2. */
function operations(executor: KernelExecutorMemory, blocks: readonly number[]): Record<string, Run> {
  const done = (_: void) => 0;
  const flag = (value: boolean) => value ? 1 : 0;
  return {
    putBytes: (b, n, mode) => flag(executor.putBytes(blocks[b], n, mode)),
    get: (b) => flag(executor.get(blocks[b])),
    remove: (b) => ({ removed: 1, absent: 0, locked: 2 })[executor.remove(blocks[b])],
    lockRead: (b) => flag(executor.lockForReading(blocks[b])),
    unlockRead: (b) => done(executor.unlock(blocks[b])),
    acqStorage: (b, n, mode) => flag(executor.acquireStorageMemory(blocks[b], n, mode)),
    relStorage: (_b, n, mode) => done(executor.releaseStorageMemory(n, mode)),
    reserveUnroll: (b, n, mode) => flag(executor.reserveUnrollMemoryForTask(blocks[b], n, NO_TASK, mode)),
    releaseUnrollTask: (_b, n, mode) => done(executor.releaseUnrollMemoryForTask(NO_TASK, mode, n)),
    acqExec: (t, n, mode) => executor.acquireExecutionMemory(n, t, mode),
    relExec: (t, n, mode) => done(executor.releaseExecutionMemory(n, t, mode)),
    relAllExec: (t) => executor.releaseAllExecutionMemoryForTask(t),
  };
}
