/** The operations of the memory fuzzer: what they are, how they are made, how they are applied. */

import {
  type ExecutorMemory,
  type ExecutorMemoryOptions,
  MemoryError,
  type MemoryMode,
  OFF_HEAP,
  ON_HEAP,
} from "../../src/kernel.ts";
import type { Prng } from "../../src/prng.ts";

/** One operation, with everything that it needs. */
export type Op =
  | { readonly op: "putBytes"; block: number; bytes: number; mode: MemoryMode; flags: number }
  | {
    readonly op: "unroll";
    block: number;
    task: number;
    mode: MemoryMode;
    count: number;
    each: number;
    precise: number;
  }
  | {
    readonly op: "get" | "getBytes" | "getValues" | "getSize" | "contains" | "remove" | "lock" | "unlock";
    block: number;
  }
  | { readonly op: "forget"; block: number }
  | { readonly op: "declare"; rdd: number }
  | { readonly op: "acquireStorage"; block: number; bytes: number; mode: MemoryMode }
  | { readonly op: "releaseStorage"; bytes: number; mode: MemoryMode }
  | { readonly op: "reserveUnroll"; block: number; task: number; bytes: number; mode: MemoryMode }
  | { readonly op: "releaseUnroll"; task: number; bytes: number; mode: MemoryMode }
  | { readonly op: "acquireExecution" | "releaseExecution"; task: number; bytes: number; mode: MemoryMode }
  | { readonly op: "releaseAllExecution"; task: number }
  | { readonly op: "cancel" | "wake"; waiting: number }
  | { readonly op: "clear" | "releaseAllStorage" }
  | { readonly op: "unmanaged"; bytes: number; mode: MemoryMode }
  | { readonly op: "dropFailure"; after: number | null }
  | { readonly op: "keepsDropped"; keeps: boolean };

/** How one fuzz run looks: its executor, and what its operations draw from. */
export interface Scenario {
  readonly options: ExecutorMemoryOptions;
  readonly blocks: number;
  readonly tasks: number;
  readonly rdds: number;
  readonly unrollThreshold: number;
  /** Accounting is corrupted on purpose: more is released than held, or less than nothing. */
  readonly chaos: boolean;
  readonly weights: readonly (readonly [kind: string, weight: number])[];
}

const HEAPS = [0, 1, 1000, 1024, 10_007, 1 << 20, 455_081_984, 8_053_063_680, Number.MAX_SAFE_INTEGER];
const FRACTIONS = [0, 0.1, 0.25, 0.5, 0.5, 0.6, 0.9, 1];
/** Weights of the kinds of operations: a mixture, storage, execution, unrolling. */
const PROFILES: readonly Readonly<Record<string, number>>[] = [
  { put: 22, get: 15, lock: 5, unlock: 5, remove: 3, raw: 4, unroll: 8, acquire: 20, release: 14, rare: 4 },
  { put: 40, get: 25, lock: 8, unlock: 6, remove: 4, raw: 3, unroll: 5, acquire: 5, release: 3, rare: 3 },
  { put: 10, get: 5, lock: 2, unlock: 2, remove: 1, raw: 2, unroll: 3, acquire: 50, release: 24, rare: 3 },
  { put: 12, get: 8, lock: 4, unlock: 3, remove: 2, raw: 4, unroll: 45, acquire: 10, release: 8, rare: 3 },
];

function choose<T>(prng: Prng, items: readonly T[]): T {
  return items[prng.integer(items.length)];
}

/** Draws a scenario. */
export function drawScenario(prng: Prng): Scenario {
  const drawn = choose(prng, HEAPS);
  const part = prng.integer(2) === 0 ? null : 1 + prng.integer(4);
  const fraction = choose(prng, FRACTIONS);
  const chaos = prng.integer(8) === 0;
  // corrupted accounting adds up to many times the memory: the model's numbers must hold that too
  const heap = chaos ? Math.min(drawn, 2 ** 43) : drawn;
  const off = part === null ? 0 : Math.trunc(heap / part);
  return {
    options: {
      maxHeapMemory: heap,
      onHeapStorageRegionSize: Math.trunc(heap * fraction),
      maxOffHeapMemory: off,
      offHeapStorageRegionSize: Math.trunc(off * fraction),
      rules: {
        borrowsOnlyWhatIsMissing: prng.integer(6) > 0,
        evictionReachesExecutionAtOnce: prng.integer(6) > 0,
        offHeapStorage: prng.integer(6) > 0,
        unmanagedConsumers: prng.integer(3) === 0,
      },
      wakeOrder: prng.integer(4) === 0 ? "host" : "firstCome",
    },
    blocks: 1 + prng.integer(choose(prng, [4, 20, 200])),
    tasks: 1 + prng.integer(choose(prng, [3, 12, 64])),
    rdds: 1 + prng.integer(choose(prng, [2, 30])),
    unrollThreshold: Math.max(1, Math.trunc(heap / (10 + prng.integer(200)))),
    chaos,
    weights: Object.entries(choose(prng, PROFILES)),
  };
}

/** Makes operations that fit the state that the ones before have led to. */
export class OpSource {
  /** Declared blocks, by their place in this list. */
  readonly declared: number[] = [];
  readonly #prng: Prng;
  readonly #scenario: Scenario;
  readonly #total: number;

  constructor(prng: Prng, scenario: Scenario) {
    this.#prng = prng;
    this.#scenario = scenario;
    this.#total = scenario.weights.reduce((sum, [, weight]) => sum + weight, 0);
  }

  next(state: ExecutorMemory): Op {
    if (this.declared.length < this.#scenario.blocks) return this.#declare();
    if (this.#scenario.options.wakeOrder === "host" && this.#one(3)) {
      // any order, as a JVM might wake them; sometimes one that does not wait
      const waiting = state.waitingTickets().length;
      if (waiting > 0 || this.#one(20)) return { op: "wake", waiting: this.#prng.integer(waiting + 1) };
    }
    switch (this.#kind()) {
      case "put":
        return this.#put(state);
      case "get":
        return { op: choose(this.#prng, ["get", "get", "get", "getSize", "contains"] as const), block: this.#block() };
      case "lock":
        return { op: "lock", block: this.#block() };
      case "unlock":
        return { op: "unlock", block: this.#block() };
      case "remove":
        return { op: this.#one(4) ? "forget" : "remove", block: this.#block() };
      case "raw":
        return this.#raw(state);
      case "unroll":
        return this.#unrolling();
      case "acquire":
        return { op: "acquireExecution", task: this.#task(), bytes: this.#executionBytes(), mode: this.#mode() };
      case "release":
        return this.#release(state);
      default:
        return this.#rare(state);
    }
  }

  #kind(): string {
    let left = this.#prng.integer(this.#total);
    for (const [kind, weight] of this.#scenario.weights) {
      left -= weight;
      if (left < 0) return kind;
    }
    return "rare";
  }

  /** A put; of a block that is in memory mostly a get, as a cache is used. */
  #put(state: ExecutorMemory): Op {
    const mode = this.#mode();
    const block = this.#block();
    if (state.contains(block) && !this.#one(20)) return { op: "get", block };
    return { op: "putBytes", block, bytes: this.#bytes(mode), mode, flags: this.#prng.integer(4) };
  }

  #raw(state: ExecutorMemory): Op {
    const mode = this.#mode();
    if (this.#prng.integer(2) === 0) {
      return { op: "acquireStorage", block: this.#block(), bytes: Math.trunc(this.#bytes(mode) / 4), mode };
    }
    // without chaos only what is known to be raw may be released: the caller sees to that
    const bytes = this.#scenario.chaos
      ? this.#prng.integer(20) === 0 ? 2 ** 61 : this.#bytes(mode) - this.#prng.integer(4)
      : state.storageMemoryUsed(mode);
    return { op: "releaseStorage", bytes, mode };
  }

  #unrolling(): Op {
    const mode = this.#mode();
    const task = this.#prng.integer(5) - 1;
    const kind = this.#prng.integer(4);
    if (kind === 0) return { op: "releaseUnroll", task, bytes: this.#one(3) ? 2 ** 63 : this.#bytes(mode), mode };
    if (kind === 1) {
      return { op: "reserveUnroll", block: this.#block(), task, bytes: Math.trunc(this.#bytes(mode) / 4), mode };
    }
    const count = this.#prng.integer(this.#one(4) ? 4 : 120);
    const each = count === 0 ? 0 : Math.trunc(this.#bytes(mode) / count);
    const precise = this.#one(2) ? -1 : Math.trunc(count * each * (0.5 + this.#prng.float()));
    return { op: "unroll", block: this.#block(), task, mode, count, each, precise };
  }

  #release(state: ExecutorMemory): Op {
    const task = this.#task();
    if (this.#one(8)) return { op: "releaseAllExecution", task };
    const mode = this.#mode();
    const held = state.executionMemoryUsageForTask(task, mode);
    const over = this.#scenario.chaos && this.#one(10);
    const bytes = over ? this.#prng.integer(50) - 25 : this.#one(4) ? held : this.#upTo(held);
    return { op: "releaseExecution", task, bytes, mode };
  }

  #rare(state: ExecutorMemory): Op {
    const mode = this.#mode();
    switch (this.#prng.integer(10)) {
      case 0:
        return { op: "getBytes", block: this.#block() };
      case 1:
        return { op: "getValues", block: this.#block() };
      case 2:
        return this.#one(5) ? { op: "clear" } : { op: "get", block: this.#block() };
      case 3:
        return this.#scenario.chaos ? { op: "releaseAllStorage" } : { op: "contains", block: this.#block() };
      case 4:
        return { op: "unmanaged", bytes: this.#upTo(this.#max(mode)), mode };
      case 5:
        return { op: "dropFailure", after: this.#one(2) ? null : this.#prng.integer(5) };
      case 6:
        return { op: "keepsDropped", keeps: this.#one(2) };
      case 7:
        // with corrupted accounting Spark's Long overflows at the largest request, and the model's numbers do not
        return {
          op: "acquireExecution",
          task: this.#task(),
          bytes: choose(this.#prng, [0, -1, this.#scenario.chaos ? 2 ** 60 : 2 ** 63]),
          mode,
        };
      case 8:
        return {
          op: "putBytes",
          block: this.#block(),
          bytes: choose(this.#prng, [-1, 0, this.#max(mode)]),
          mode,
          flags: 0,
        };
      default: {
        const waiting = state.waitingTickets().length;
        return waiting === 0 ? this.#put(state) : { op: "cancel", waiting: this.#prng.integer(waiting) };
      }
    }
  }

  #declare(): Op {
    return { op: "declare", rdd: this.#one(3) ? -1 : this.#prng.integer(this.#scenario.rdds) };
  }

  /** True once in `n`. */
  #one(n: number): boolean {
    return this.#prng.integer(n) === 0;
  }

  #block(): number {
    const { declared } = this;
    const skewed = Math.trunc(declared.length * this.#prng.float() * this.#prng.float());
    return declared[this.#one(2) ? this.#prng.integer(declared.length) : skewed];
  }

  #task(): number {
    return this.#one(3)
      ? this.#prng.integer(Math.min(3, this.#scenario.tasks))
      : this.#prng.integer(this.#scenario.tasks);
  }

  #mode(): MemoryMode {
    return this.#one(3) ? OFF_HEAP : ON_HEAP;
  }

  #max(mode: MemoryMode): number {
    const { options } = this.#scenario;
    return mode === ON_HEAP ? options.maxHeapMemory : options.maxOffHeapMemory!;
  }

  /** A whole number from 0 to `limit`. */
  #upTo(limit: number): number {
    return Math.trunc(limit * this.#prng.float());
  }

  #bytes(mode: MemoryMode): number {
    const max = this.#max(mode);
    if (this.#one(40)) return max;
    if (this.#one(30)) return this.#prng.integer(3);
    return this.#upTo(max / choose(this.#prng, [1, 4, 8, 32, 100]));
  }

  #executionBytes(): number {
    const max = this.#scenario.options.maxHeapMemory;
    return Math.max(1, this.#upTo((2 * max) / choose(this.#prng, [1, this.#scenario.tasks, 64])));
  }
}

/** Applies an operation: its result, or the status that it throws. */
export function applyOp(executor: ExecutorMemory, op: Op, unrollThreshold: number): unknown {
  try {
    return run(executor, op, unrollThreshold) ?? null;
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return error.bytes === null ? error.status : `${error.status} ${error.bytes}`;
  }
}

function run(executor: ExecutorMemory, op: Op, unrollThreshold: number): unknown {
  switch (op.op) {
    case "declare":
      return executor.declareBlock(op.rdd);
    case "forget":
      return executor.forgetBlock(op.block);
    case "putBytes":
      return executor.putBytes(op.block, op.bytes, op.mode, op.flags);
    case "unroll": {
      const settings = { memoryThreshold: unrollThreshold, checkPeriod: 16, growthFactor: 1.5 };
      const preciseSize = op.precise < 0 ? undefined : op.precise;
      const values = { elementCount: op.count, elementBytes: op.each, preciseSize };
      return executor.putIterator(op.block, op.task, op.mode, settings, values, op.mode === ON_HEAP ? 1 : 0);
    }
    case "get":
      return executor.get(op.block);
    case "getBytes":
      return executor.getBytes(op.block);
    case "getValues":
      return executor.getValues(op.block);
    case "getSize":
      return executor.getSize(op.block);
    case "contains":
      return executor.contains(op.block);
    case "remove":
      return executor.remove(op.block);
    case "lock":
      return executor.lockForReading(op.block);
    case "unlock":
      return executor.unlock(op.block);
    case "acquireStorage":
      return executor.acquireStorageMemory(op.block, op.bytes, op.mode);
    case "releaseStorage":
      return executor.releaseStorageMemory(op.bytes, op.mode);
    case "reserveUnroll":
      return executor.reserveUnrollMemoryForTask(op.block, op.bytes, op.task, op.mode);
    case "releaseUnroll":
      return executor.releaseUnrollMemoryForTask(op.task, op.mode, op.bytes);
    case "acquireExecution":
      return executor.acquireExecutionMemory(op.bytes, op.task, op.mode);
    case "releaseExecution":
      return executor.releaseExecutionMemory(op.bytes, op.task, op.mode);
    case "releaseAllExecution":
      return executor.releaseAllExecutionMemoryForTask(op.task);
    case "cancel":
      return executor.cancel(executor.waitingTickets()[op.waiting] ?? -1);
    case "wake":
      return executor.wake(executor.waitingTickets()[op.waiting] ?? -1);
    case "clear":
      return executor.clear();
    case "releaseAllStorage":
      return executor.releaseAllStorageMemory();
    case "unmanaged":
      return executor.setUnmanagedMemory(op.mode, op.bytes);
    case "dropFailure":
      return executor.setDropFailure(op.after);
    case "keepsDropped":
      return executor.setKeepsDropped(op.keeps);
  }
}
