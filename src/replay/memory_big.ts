/**
 * The traces of a million operations: one executor, no waiting, operations as arrays of numbers.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { Kernel, type KernelExecutorMemory, MemoryError, type MemoryMode, NO_TASK, WAITING } from "../kernel.ts";
import { headerRecord, refusedRecord } from "./memory.ts";
import { TraceBlocks } from "./memory/blocks.ts";
import { Checksum } from "./memory/checksum.ts";
import { exceptionText } from "./memory/exceptions.ts";
import { type MemoryTraceSettings, readTraceHeader } from "./memory/trace_header.ts";
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
  const settings = readTraceHeader(header, options);
  if (settings.refusal !== null) {
    yield refusedRecord(settings.refusal);
    return;
  }
  const engine = new BigEngine(header, settings);
  yield headerRecord(header, settings, engine.executor);
  let number = 1;
  for (const line of lines) {
    number++;
    if (Array.isArray(line)) yield engine.operation(number, line as unknown as BigOperation);
    else if ("cp" in line || "end" in line) yield engine.checkpoint(number, line);
  }
}

class BigEngine {
  readonly executor: KernelExecutorMemory;
  readonly #settings: MemoryTraceSettings;
  readonly #names: readonly string[];
  readonly #codes: readonly string[];
  readonly #blocks: number[] = [];
  readonly #indexes = new Map<number, number>();
  readonly #runs: Run[];
  /** Over result, number of evictions, each evicted block and the eight numbers of the pools; and over the first two. */
  readonly #all = new Checksum();
  readonly #results = new Checksum();

  constructor(header: TraceLine, settings: MemoryTraceSettings) {
    this.executor = Kernel.create().createExecutor(settings.executor);
    this.#settings = settings;
    this.#names = header.blocks;
    this.#codes = header.codes;
    const ids = new TraceBlocks(this.executor);
    for (const [index, name] of this.#names.entries()) {
      this.#blocks[index] = ids.id(name);
      this.#indexes.set(this.#blocks[index], index);
    }
    const runs = operations(this.executor, this.#blocks);
    this.#runs = this.#codes.map((code) => runs[code]);
  }

  operation(number: number, line: BigOperation): ReplayRecord {
    const result = this.#run(number, line);
    const [code, subject, bytes, off] = line;
    const evicted: number[] = [];
    this.executor.drain({ evicted: (block) => evicted.push(this.#indexes.get(block)!) });
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

  /** The result of an operation as the format's number; what has none ends the replay. */
  #run(number: number, line: BigOperation): number {
    const [code, subject, bytes, off] = line;
    const run = this.#runs[code];
    if (run === undefined) throw badLine(number, line, "its code must be one of the header's");
    let result: number;
    try {
      result = run(subject, bytes, off === 1 ? 1 : 0);
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      throw badLine(number, line, this.#reason(error, line));
    }
    if (result === WAITING) {
      throw badLine(number, line, this.#underRules("must not wait, which the format cannot tell"));
    }
    return result;
  }

  /** Why an operation has no result: Spark throws, or the line says what cannot be said. */
  #reason({ status }: MemoryError, [code, subject, bytes]: BigOperation): string {
    if (status === "BAD_BLOCK" || status === "BAD_ARGUMENT") {
      return `its arguments must be those of ${this.#codes[code]}`;
    }
    const details = { block: this.#names[subject], numBytes: bytes, task: subject };
    return this.#underRules(
      `must not throw, which the format cannot tell: ${exceptionText(status, details, this.#settings.rules)}`,
    );
  }

  #underRules(must: string): string {
    return `under the rules of Spark ${this.#settings.sparkVersion} it ${must}`;
  }

  checkpoint(number: number, line: TraceLine): ReplayRecord {
    const computed: Record<string, unknown> = {
      h: this.#all.hex,
      h2: this.#results.hex,
      s: Array.from(this.executor.stateNumbers()),
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
    const state = this.executor.stateNumbers();
    for (let i = 0; i < 8; i++) this.#all.mix(state[i]);
  }
}

function badLine(number: number, line: BigOperation, problem: string): InputError {
  return new InputError("replay.line", `Cannot replay line ${number}: ${problem}: received ${JSON.stringify(line)}`, {
    line: number,
  });
}

/** The operations by their names in the header; booleans as 0 and 1, nothing as 0, a locked block's removal as 2. */
function operations(executor: KernelExecutorMemory, blocks: readonly number[]): Record<string, Run> {
  const done = (_: void) => 0;
  const flag = (value: boolean) => value ? 1 : 0;
  // an id that the kernel refuses, for what is no block of the header
  const id = (b: number) => blocks[b] ?? -1;
  return {
    putBytes: (b, n, mode) => flag(executor.putBytes(id(b), n, mode)),
    get: (b) => flag(executor.get(id(b))),
    remove: (b) => ({ removed: 1, absent: 0, locked: 2 })[executor.remove(id(b))],
    lockRead: (b) => flag(executor.lockForReading(id(b))),
    unlockRead: (b) => done(executor.unlock(id(b))),
    acqStorage: (b, n, mode) => flag(executor.acquireStorageMemory(id(b), n, mode)),
    relStorage: (_b, n, mode) => done(executor.releaseStorageMemory(n, mode)),
    reserveUnroll: (b, n, mode) => flag(executor.reserveUnrollMemoryForTask(id(b), n, NO_TASK, mode)),
    releaseUnrollTask: (_b, n, mode) => done(executor.releaseUnrollMemoryForTask(NO_TASK, mode, n)),
    acqExec: (t, n, mode) => executor.acquireExecutionMemory(n, t, mode),
    relExec: (t, n, mode) => done(executor.releaseExecutionMemory(n, t, mode)),
    relAllExec: (t) => executor.releaseAllExecutionMemoryForTask(t),
  };
}
