/**
 * The kernel at its memory limit: every export that may need more memory is called until it gets none. It answers OUT_OF_MEMORY then,
 * and all executors are as they were: the 13 numbers, the access order, sizes, readers, what each task holds and who waits.
 *
 * @module
 */
import { assert, assertEquals } from "@std/assert";
import { Prng } from "../../src/prng.ts";
import { bareKernel } from "./memory_abi_fuzz.ts";

type Call = (...values: number[]) => number;

const PAGE = 65_536;

/** What a run did: refusals by export. */
export interface LimitFuzzCounts {
  operations: number;
  refused: Record<string, number>;
}

/** Exports that may need memory (assembly/README.md), and those that give some back. */
const GROWING = [
  "createExecutor",
  "declareBlock",
  "putBytes",
  "putIterator",
  "finishUnroll",
  "acquireStorageMemory",
  "reserveUnrollMemory",
  "acquireExecutionMemory",
  "batchBuffer",
  "runBatch",
] as const;
type Growing = typeof GROWING[number];

/** Tasks that are looked at one by one: the last ones. */
const TASKS_LOOKED_AT = 24;

class LimitFuzzer {
  readonly #prng: Prng;
  readonly #exports = bareKernel();
  readonly #limit: number;
  readonly #handles: number[] = [];
  readonly #blocks = new Map<number, number[]>();
  /** Exports that were refused last: the next call of one of these is looked at before it is made. */
  readonly #tight = new Set<string>();
  #tasks = 0;
  #rdds = 0;
  readonly #outOfMemory: number;

  constructor(seed: number) {
    this.#prng = new Prng(seed);
    this.#limit = 50_000 + this.#prng.integer(200_000);
    this.#outOfMemory = (this.#exports.OUT_OF_MEMORY as WebAssembly.Global).value;
    this.#call("setMemoryLimit", this.#limit);
    for (let i = 0; i <= this.#prng.integer(3); i++) this.#create();
  }

  step(counts: LimitFuzzCounts): void {
    counts.operations++;
    const name = GROWING[this.#prng.integer(GROWING.length)];
    // Executors and buffers take much at once: were they made as often, nothing else would meet the limit.
    if ((name === "createExecutor" || name === "batchBuffer") && this.#prng.integer(50) > 0) return;
    if (this.#handles.length === 0) this.#create();
    const handle = this.#handles[this.#prng.integer(this.#handles.length)];
    const tasks = this.#tasks;
    const before = this.#tight.has(name) ? this.#look(tasks) : null;
    const bytes = this.#memoryBytes();
    if (this.#attempt(name, handle) !== this.#outOfMemory) {
      this.#tight.delete(name);
      if (this.#prng.integer(400) === 0) this.#giveBack(handle);
      return;
    }
    this.#tight.add(name);
    counts.refused[name] = (counts.refused[name] ?? 0) + 1;
    // The memory grows by whole pages, and not for a call that is refused.
    assertEquals(this.#memoryBytes(), bytes, `${name} is refused and has grown the memory`);
    assert(bytes <= Math.max(this.#limit + PAGE, 2 * PAGE), `${bytes} bytes where ${this.#limit} are the limit`);
    if (before === null) return;
    assertEquals(this.#look(tasks), before, `${name} was refused`);
    // These begin no operation: the log is that of the one before.
    if (name !== "createExecutor" && name !== "batchBuffer") this.#nothingIsTold(name);
  }

  #attempt(name: Growing, handle: number): number {
    const block = this.#block(handle);
    const mode = this.#prng.integer(2);
    // Mostly a task that is new to the executor: it needs a record.
    const task = this.#prng.integer(4) > 0 ? this.#tasks++ : this.#prng.integer(this.#tasks + 1);
    switch (name) {
      case "createExecutor":
        return this.#create();
      case "declareBlock": {
        const answer = this.#call(name, handle, this.#prng.integer(3) > 0 ? this.#rdds++ : -1);
        if (answer >= 0) this.#blocks.get(handle)!.push(answer);
        return answer;
      }
      case "putBytes":
        return this.#call(name, handle, block, 1 + this.#prng.integer(3), mode, this.#prng.integer(4));
      case "putIterator":
        return this.#call(name, handle, block, task, mode, 1, 16, 1.5, 1 + this.#prng.integer(40), 1, -1, 1);
      case "finishUnroll":
        return this.#call(name, handle, block, task, mode, 0, 1, 1);
      case "acquireStorageMemory":
        return this.#call(name, handle, block, 1, mode);
      case "reserveUnrollMemory":
        return this.#call(name, handle, block, 1, task, mode);
      case "acquireExecutionMemory":
        // Now and then so much that it waits.
        return this.#call(name, handle, this.#prng.integer(3) === 0 ? 1e9 : 1, task, mode);
      case "batchBuffer":
        return this.#call(name, 1 + this.#prng.integer(4000));
      case "runBatch":
        return this.#batch(handle, block, task);
    }
  }

  /** One operation by the batch, which says in its place what it would answer alone. */
  #batch(handle: number, block: number, task: number): number {
    if (this.#call("batchCapacity") < 1 && this.#call("batchBuffer", 1) < 0) return this.#outOfMemory;
    const address = this.#call("batchBuffer", 1);
    const { buffer } = this.#exports.memory as { buffer: ArrayBuffer };
    const view = new DataView(buffer, address, 16);
    const puts = this.#prng.integer(2) === 0;
    const code = (this.#exports[puts ? "OP_PUT_BYTES" : "OP_ACQUIRE_EXECUTION_MEMORY"] as WebAssembly.Global).value;
    view.setUint8(0, code);
    view.setUint8(1, this.#prng.integer(2));
    view.setUint16(2, 1, true);
    view.setInt32(4, puts ? block : task, true);
    view.setBigInt64(8, 1n, true);
    const ran = this.#call("runBatch", handle, 1);
    if (ran < 1) return ran;
    // The memory may have grown.
    return new DataView((this.#exports.memory as { buffer: ArrayBuffer }).buffer, address, 16).getFloat64(8, true);
  }

  /** What makes room again: an executor goes, blocks or tasks do. */
  #giveBack(handle: number): void {
    switch (this.#prng.integer(3)) {
      case 0:
        this.#call("destroyExecutor", handle);
        this.#handles.splice(this.#handles.indexOf(handle), 1);
        this.#blocks.delete(handle);
        break;
      case 1:
        this.#call("clear", handle);
        break;
      case 2:
        for (let task = 0; task < this.#tasks; task++) this.#call("releaseAllExecutionMemoryForTask", handle, task);
    }
  }

  #create(): number {
    const heap = this.#prng.integer(2) === 0 ? 1e6 : 300;
    const handle = this.#call("createExecutor", heap, Math.trunc(heap / 2), heap, Math.trunc(heap / 2), 0);
    if (handle < 0) return handle;
    this.#handles.push(handle);
    this.#blocks.set(handle, []);
    return handle;
  }

  #block(handle: number): number {
    const blocks = this.#blocks.get(handle)!;
    return blocks.length === 0 ? 0 : blocks[this.#prng.integer(blocks.length)];
  }

  #memoryBytes(): number {
    return (this.#exports.memory as { buffer: ArrayBuffer }).buffer.byteLength;
  }

  #call(name: string, ...values: number[]): number {
    return (this.#exports[name] as Call)(...values);
  }

  #nothingIsTold(name: string): void {
    const log = (this.#exports.EVENT_LOG as WebAssembly.Global).value;
    const view = new DataView((this.#exports.memory as { buffer: ArrayBuffer }).buffer, log, 8);
    assertEquals(view.getUint32(4, true), view.getUint32(0, true), `${name} was refused and tells of events`);
  }

  /** Everything that can be asked of the executors. */
  #look(lastTask: number): unknown[] {
    return this.#handles.map((handle) => {
      const state = Array.from({ length: 13 }, (_, i) => this.#call("stateNumber", handle, i));
      const order = [0, 1].map((mode) => {
        const blocks: number[] = [];
        for (let block = -1; (block = this.#call("nextBlock", handle, mode, block)) >= 0;) {
          blocks.push(block, this.#call("sizeOf", handle, block), this.#call("readersOf", handle, block));
        }
        return blocks;
      });
      const tasks: number[] = [];
      for (let task = Math.max(0, lastTask - TASKS_LOOKED_AT); task <= lastTask; task++) {
        tasks.push(this.#call("taskFlags", handle, task));
        for (const mode of [0, 1]) {
          tasks.push(
            this.#call("executionMemoryUsageForTask", handle, task, mode),
            this.#call("unrollMemoryForTask", handle, task, mode),
          );
        }
      }
      const waiting: number[] = [];
      for (let i = 0, ticket = 0; (ticket = this.#call("waitingTicket", handle, i)) >= 0; i++) waiting.push(ticket);
      return { state, order, tasks, waiting };
    });
  }
}

/** Calls the kernel at its limit `ops` times, a fresh instance every thousand; throws with the seed when a refusal leaves a trace. */
export function fuzzLimit(options: { readonly seed: number; readonly ops: number }): LimitFuzzCounts {
  const counts: LimitFuzzCounts = { operations: 0, refused: {} };
  for (let seed = options.seed; counts.operations < options.ops; seed++) {
    const fuzzer = new LimitFuzzer(seed);
    try {
      for (let i = 0; i < 5000 && counts.operations < options.ops; i++) fuzzer.step(counts);
    } catch (error) {
      throw new Error(`kernel limit fuzz, seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
  return counts;
}
