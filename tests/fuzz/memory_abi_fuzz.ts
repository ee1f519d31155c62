/**
 * The kernel's exports called with anything: numbers that are none, handles of executors that are gone, block ids and
 * batches that are garbage. Every call answers a number, none traps, an executor that nobody addressed is as it was, in what it
 * tells and byte by byte in the memory, and of the batch buffer only the answers of operations that ran are written.
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

/** Static data ends before here (assembly/README.md). */
const STATIC_BYTES = 1024;
const CANARY = 0xa5;

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
  /** Bytes of the linear memory that are the bystander's, with what they hold. */
  readonly #owned: { readonly address: number; readonly byte: number }[];
  #handles: number[] = [];

  constructor(seed: number) {
    this.#prng = new Prng(seed);
    this.#exports = bareKernel();
    // What all executors share is there before the bystander: the log of events, the table of executors. Each record has been at home.
    for (let i = 0; i < 2; i++) this.#create(1000, 0);
    for (const handle of [...this.#handles, ...this.#handles]) this.#call("putBytes", handle, 0, 10, 0, 0);
    const bare = this.#memory();
    this.#names = Object.keys(this.#exports).filter((name) =>
      typeof this.#exports[name] === "function" && !NEVER.has(name)
    );
    this.#bystander = this.#call("createExecutor", 1000, 500, 1000, 500, 0);
    for (let i = 0; i < 5; i++) {
      this.#call("putBytes", this.#bystander, this.#call("declareBlock", this.#bystander, i % 3), 100 + i, i % 2, 0);
      this.#call("acquireExecutionMemory", this.#bystander, 50, i, 0);
    }
    this.#before = this.#look();
    this.#owned = this.#bytesOfBystander(bare);
    if (this.#owned.length < 200) throw new Error(`only ${this.#owned.length} bytes are known to be the bystander's`);
  }

  /** The bytes that making the bystander has changed, and that others leave alone: its record at home, its tables. */
  #bytesOfBystander(bare: Uint8Array): { address: number; byte: number }[] {
    const resident = () => {
      for (const handle of this.#handles) this.#call("putBytes", handle, 0, 10, 0, 0);
    };
    resident();
    const made = this.#memory();
    for (let i = 0; i < 8; i++) {
      this.#create(1000, 0);
      resident();
    }
    const after = this.#memory();
    const owned: { address: number; byte: number }[] = [];
    for (let address = 0; address < made.length; address++) {
      if (made[address] !== (bare[address] ?? 0) && after[address] === made[address]) {
        owned.push({ address, byte: made[address] });
      }
    }
    // Of the static data, which is exchanged all the time, nothing is anybody's.
    return owned.filter(({ address }) => address >= STATIC_BYTES);
  }

  /** A copy of the linear memory. */
  #memory(): Uint8Array {
    return new Uint8Array((this.#exports.memory as { buffer: ArrayBuffer }).buffer).slice();
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
    // While another one is resident its record is at home.
    this.#call("getSize", this.#handles[0] ?? -1, 0);
    const memory = new Uint8Array((this.#exports.memory as { buffer: ArrayBuffer }).buffer);
    const written = this.#owned.filter(({ address, byte }) => memory[address] !== byte);
    assertEquals(written.slice(0, 10), [], "bytes of an executor that nobody addressed");
    assertEquals(this.#look(), this.#before, "an executor that nobody addressed");
  }

  #create(heap = this.#prng.integer(2) * 1000, rules = this.#prng.integer(64)): void {
    const handle = this.#call("createExecutor", heap, Math.trunc(heap / 2), heap, 0, rules);
    if (handle >= 0) this.#handles.push(handle);
    for (let i = 0; i < 10 && handle >= 0; i++) this.#call("declareBlock", handle, i % 3 - 1);
  }

  #garbageBatch(): void {
    const address = this.#call("batchBuffer", 1000);
    const { buffer } = this.#exports.memory as { buffer: ArrayBuffer };
    const bytes = new Uint8Array(buffer, address, 16_000);
    // The buffer's segment is larger than what was asked for.
    new Uint8Array(buffer, address + 16_000, 384).fill(CANARY);
    for (let i = 0; i < bytes.length; i++) bytes[i] = this.#prng.integer(256);
    // half of the operations have codes, modes and small subjects that exist
    for (let i = 0; i < 1000; i += 2) {
      bytes[16 * i] %= 18;
      bytes[16 * i + 1] %= 2;
      bytes.fill(0, 16 * i + 5, 16 * i + 8);
      bytes[16 * i + 4] %= 12;
    }
    // An earlier call may have asked for a larger buffer, so that more can run.
    const capacity = this.#call("batchCapacity");
    const length = capacity === 1000 ? 16_384 : 16 * Math.min(capacity, 1200);
    const before = new Uint8Array(buffer, address, length).slice();
    const ran = this.#call("runBatch", this.#handle(), this.#prng.integer(1100));
    this.#checkBuffer(address, before, ran);
  }

  /** Of an operation that ran its answer is written over its amount; all else is the host's, up to the end of the segment. */
  #checkBuffer(address: number, before: Uint8Array, ran: number): void {
    // The memory may have grown.
    const after = new Uint8Array((this.#exports.memory as { buffer: ArrayBuffer }).buffer, address, before.length);
    for (let at = 0; at < before.length; at++) {
      if (after[at] !== before[at] && (at >= 16 * ran || at % 16 < 8)) {
        throw new Error(`byte ${at % 16} of operation ${Math.trunc(at / 16)} is written, where ${ran} have run`);
      }
    }
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
