/**
 * The kernel's exports called with anything: numbers that are none, handles of executors that are gone, block ids and
 * batches that are garbage. Every call answers a number, none traps, and an executor that nobody addressed is as it was.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { KERNEL_WASM } from "../../assembly/build/kernel_wasm.ts";
import { Prng } from "../../src/prng.ts";

type Call = (...values: number[]) => number;

/** Exports that make executors or change what all of them share; they are called more rarely. */
const RARE = new Set(["createExecutor", "destroyExecutor", "batchBuffer", "runBatch"]);
const NEVER = new Set(["setMemoryLimit"]);
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  2,
  7,
  0.5,
  -0.5,
  1e-300,
  255,
  1000,
  65_536,
  2 ** 20,
  2 ** 26,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  2 ** 63,
  -(2 ** 63),
  2 ** 64,
  1e300,
  -1e300,
  Infinity,
  -Infinity,
  NaN,
];

/** What a run did. */
export interface AbiFuzzCounts {
  operations: number;
  statuses: number;
  batches: number;
}

/** A fresh instance of the kernel, for its bare exports. */
export function bareKernel(): Record<string, unknown> {
  const bytes = Uint8Array.from(atob(KERNEL_WASM), (char) => char.charCodeAt(0));
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), {}).exports;
}

/** Calls the exports `ops` times; throws with the seed when one traps, answers no number, or reaches the bystander. */
export function fuzzAbi(options: { readonly seed: number; readonly ops: number }): AbiFuzzCounts {
  const counts: AbiFuzzCounts = { operations: 0, statuses: 0, batches: 0 };
  const fuzzer = new AbiFuzzer(options.seed);
  try {
    while (counts.operations < options.ops) fuzzer.step(counts);
    fuzzer.checkBystander();
  } catch (error) {
    throw new Error(`kernel ABI fuzz, seed ${options.seed}, call ${counts.operations}: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return counts;
}

class AbiFuzzer {
  readonly #prng: Prng;
  readonly #exports: Record<string, unknown>;
  readonly #names: string[];
  readonly #bystander: number;
  readonly #before: unknown;
  #handles: number[] = [];

  constructor(seed: number) {
    this.#prng = new Prng(seed);
    this.#exports = bareKernel();
    this.#names = Object.keys(this.#exports).filter((name) =>
      typeof this.#exports[name] === "function" && !NEVER.has(name)
    );
    this.#bystander = this.#call("createExecutor", 1000, 500, 1000, 500, 0);
    for (let i = 0; i < 5; i++) {
      this.#call("putBytes", this.#bystander, this.#call("declareBlock", this.#bystander, i % 3), 100 + i, i % 2, 0);
      this.#call("acquireExecutionMemory", this.#bystander, 50, i, 0);
    }
    this.#before = this.#look();
  }

  step(counts: AbiFuzzCounts): void {
    counts.operations++;
    if (this.#handles.length === 0) this.#create();
    if (this.#prng.integer(2000) === 0) this.checkBystander();
    if (this.#prng.integer(300) === 0) {
      counts.batches++;
      return this.#garbageBatch();
    }
    const name = this.#names[this.#prng.integer(this.#names.length)];
    if (RARE.has(name) && this.#prng.integer(20) > 0) return;
    const { length } = this.#exports[name] as Call;
    const values = Array.from({ length }, () => this.#number());
    if (length > 0) values[0] = this.#handle();
    if (name === "createExecutor") values[0] = this.#number();
    // more executors than this only take long to look at
    if (name === "createExecutor" && this.#handles.length > 50) return;
    const answer = this.#call(name, ...values);
    if (answer < 0) counts.statuses++;
    if (name === "createExecutor" && answer >= 0) this.#handles.push(answer);
    if (name === "destroyExecutor" && answer === 0) this.#handles = this.#handles.filter((h) => h !== (values[0] | 0));
  }

  /** The bystander's numbers, access order and waiting acquires are what they were. */
  checkBystander(): void {
    assertEquals(this.#look(), this.#before, "an executor that nobody addressed");
  }

  #create(): void {
    const heap = this.#prng.integer(2) * 1000;
    const handle = this.#call("createExecutor", heap, Math.trunc(heap / 2), heap, 0, this.#prng.integer(64));
    if (handle >= 0) this.#handles.push(handle);
    for (let i = 0; i < 10 && handle >= 0; i++) this.#call("declareBlock", handle, i % 3 - 1);
  }

  #garbageBatch(): void {
    const address = this.#call("batchBuffer", 1000);
    const { buffer } = this.#exports.memory as { buffer: ArrayBuffer };
    const bytes = new Uint8Array(buffer, address, 16_000);
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.#prng.integer(256);
    // half of the operations have codes, modes and small subjects that exist
    for (let i = 0; i < 1000; i += 2) {
      bytes[16 * i] %= 18;
      bytes[16 * i + 1] %= 2;
      bytes.fill(0, 16 * i + 5, 16 * i + 8);
      bytes[16 * i + 4] %= 12;
    }
    this.#call("runBatch", this.#handle(), this.#prng.integer(1100));
  }

  #call(name: string, ...values: number[]): number {
    const answer = (this.#exports[name] as Call)(...values);
    if (typeof answer !== "number") throw new Error(`${name}(${values}) answers ${answer}`);
    return answer;
  }

  /** A handle: of a living executor, of one that is gone, or none at all; never the bystander's. */
  #handle(): number {
    const kind = this.#prng.integer(8);
    const handle = kind < 6
      ? this.#handles[this.#prng.integer(this.#handles.length)]
      : kind === 6
      ? this.#prng.integer(100) + (this.#prng.integer(3) << 20)
      : this.#number();
    return (handle | 0) === this.#bystander ? -1 : handle;
  }

  #number(): number {
    return this.#prng.integer(2) === 0 ? NUMBERS[this.#prng.integer(NUMBERS.length)] : this.#prng.integer(30);
  }

  #look(): unknown {
    const state = Array.from({ length: 13 }, (_, i) => this.#call("stateNumber", this.#bystander, i));
    const blocks: number[] = [];
    for (const mode of [0, 1]) {
      for (let block = -1; (block = this.#call("nextBlock", this.#bystander, mode, block)) >= 0;) {
        blocks.push(block, this.#call("sizeOf", this.#bystander, block));
      }
    }
    return { state, blocks, waiting: this.#call("waitingTicket", this.#bystander, 0) };
  }
}
