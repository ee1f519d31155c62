/**
 * Kernel against model: seeded operations run on both, one at a time, and on a second executor of the kernel in
 * batches; after each, results, events and states must be the same, and the rules that always hold must hold.
 *
 * A failure names the seed, and the shortest list of operations found that still fails.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import {
  type ExecutorMemory,
  Kernel,
  type MemoryEventVisitor,
  type MemoryMode,
  OFF_HEAP,
  ON_HEAP,
} from "../../src/kernel.ts";
import { Prng } from "../../src/prng.ts";
import { sameJson } from "../../src/replay/trace.ts";
import { MemoryModel } from "../model/memory_model.ts";
import { divide } from "../model/mode_memory.ts";
import { applyOp, drawScenario, type Op, OpSource, type Scenario } from "./memory_operations.ts";

/** Operations of one scenario. */
const SCENARIO_OPS = 2000;
/** The access order and the tasks' memory are compared after so many operations. */
const DEEP_EVERY = 50;

/** What a run of the fuzzer did. */
export interface MemoryFuzzCounts {
  scenarios: number;
  operations: number;
  evictions: number;
  waits: number;
  /** Waiting acquires that a host has evaluated again, in an order of its own. */
  hostWakes: number;
  statuses: number;
}

/** How a run of the fuzzer is set. */
export interface MemoryFuzzOptions {
  readonly seed: number;
  readonly ops: number;
  /** The kernel under test; a new one unless a test breaks it. */
  readonly kernel?: Kernel;
}

/** Runs scenarios until `ops` operations are done; throws with seed and operations at the first difference. */
export function fuzzMemory(options: MemoryFuzzOptions): MemoryFuzzCounts {
  const counts: MemoryFuzzCounts = { scenarios: 0, operations: 0, evictions: 0, waits: 0, hostWakes: 0, statuses: 0 };
  const kernel = options.kernel ?? Kernel.create();
  for (let seed = options.seed; counts.operations < options.ops; seed++) {
    fuzzScenario(kernel, seed, counts);
    counts.scenarios++;
  }
  return counts;
}

function fuzzScenario(kernel: Kernel, seed: number, counts: MemoryFuzzCounts): void {
  const prng = new Prng(seed);
  const scenario = drawScenario(prng);
  const pair = new Pair(kernel, scenario, counts);
  const source = new OpSource(prng, scenario);
  const done: Op[] = [];
  try {
    for (let i = 0; i < SCENARIO_OPS; i++) {
      const op = pair.admissible(source.next(pair.model));
      done.push(op);
      const result = pair.apply(op);
      if (op.op === "declare") source.declared.push(result as number);
      if (op.op === "forget" && result === null) source.declared.splice(source.declared.indexOf(op.block), 1);
      if (i % DEEP_EVERY === 0) pair.compareDeeply();
    }
    pair.compareDeeply();
  } catch (error) {
    const ops = shortest(kernel, scenario, done);
    const text = ops.map((op) => JSON.stringify(op)).join("\n");
    throw new Error(
      `memory fuzz, seed ${seed}, operation ${done.length - 1}: ${(error as Error).message}\n${
        JSON.stringify(scenario)
      }\n${text}`,
      { cause: error },
    );
  } finally {
    pair.destroy();
  }
}

/** Leaves out operations as long as the rest still fails. */
function shortest(kernel: Kernel, scenario: Scenario, ops: readonly Op[]): readonly Op[] {
  let kept = ops;
  for (let size = ops.length >> 1; size >= 1; size >>= 1) {
    for (let start = 0; start + size <= kept.length;) {
      const fewer = [...kept.slice(0, start), ...kept.slice(start + size)];
      if (fails(kernel, scenario, fewer)) kept = fewer;
      else start += size;
    }
  }
  return kept;
}

function fails(kernel: Kernel, scenario: Scenario, ops: readonly Op[]): boolean {
  const pair = new Pair(kernel, scenario, {
    scenarios: 0,
    operations: 0,
    evictions: 0,
    waits: 0,
    hostWakes: 0,
    statuses: 0,
  });
  try {
    for (const op of ops) pair.apply(op);
    pair.compareDeeply();
    return false;
  } catch {
    return true;
  } finally {
    pair.destroy();
  }
}

/** assertEquals, without its cost when all is well. */
function assertSame(actual: unknown, expected: unknown, op: Op, what: string): void {
  if (!sameJson(actual, expected)) assertEquals(actual, expected, `${what} ${JSON.stringify(op)}`);
}

/** Kernel and model, fed with the same operations. */
class Pair {
  readonly model: MemoryModel;
  readonly #kernel: ExecutorMemory;
  readonly #scenario: Scenario;
  readonly #counts: MemoryFuzzCounts;
  /** Bytes acquired raw by mode, which only a raw release may give back. */
  readonly #raw: [number, number] = [0, 0];
  readonly #ids = new Set<number>();

  constructor(kernel: Kernel, scenario: Scenario, counts: MemoryFuzzCounts) {
    this.#scenario = scenario;
    this.#counts = counts;
    this.model = new MemoryModel(scenario.options);
    this.#kernel = kernel.createExecutor(scenario.options);
  }

  /** Without chaos nothing is released that is not raw. */
  admissible(op: Op): Op {
    if (op.op !== "releaseStorage" || this.#scenario.chaos) return op;
    return { ...op, bytes: this.#raw[op.mode] };
  }

  apply(op: Op): unknown {
    this.#counts.operations++;
    const before = this.#before(op);
    const expected = applyOp(this.model, op, this.#scenario.unrollThreshold);
    const result = applyOp(this.#kernel, op, this.#scenario.unrollThreshold);
    assertSame(result, expected, op, "result of");
    assertSame(this.#eventsOf(this.#kernel), this.#eventsOf(this.model), op, "events of");
    assertSame(Array.from(this.#kernel.stateNumbers()), this.model.stateNumbers(), op, "state after");
    if (this.#scenario.options.wakeOrder === "host") {
      assertSame(this.#kernel.notified, this.model.notified, op, "whether waiting tasks are woken by");
      if (op.op === "wake" && result === null) this.#counts.hostWakes++;
    }
    if (op.op === "declare") this.#ids.add(result as number);
    if (typeof result === "string" && result.toUpperCase() === result) this.#counts.statuses++;
    if (op.op === "acquireExecution" && result === -1) this.#counts.waits++;
    this.#followRaw(op, result);
    if (!this.#scenario.chaos) this.#checkRules(op, result, before);
    return result;
  }

  /** Access order, sizes, readers, and what every task holds. */
  compareDeeply(): void {
    for (const mode of [ON_HEAP, OFF_HEAP]) {
      assertEquals(this.#order(this.#kernel, mode), this.#order(this.model, mode), "access order");
      for (let task = -1; task < this.#scenario.tasks; task++) {
        const held = (executor: ExecutorMemory) => [
          task < 0 ? 0 : executor.executionMemoryUsageForTask(task, mode),
          executor.unrollMemoryForTask(task, mode),
          executor.taskFlags(task),
        ];
        assertEquals(held(this.#kernel), held(this.model), `memory of task ${task}`);
      }
    }
    assertEquals(this.#kernel.waitingTickets(), this.model.waitingTickets(), "waiting acquires");
  }

  destroy(): void {
    this.#kernel.destroy();
  }

  #before(op: Op): number {
    return op.op === "acquireExecution" ? this.model.executionMemoryUsageForTask(op.task, op.mode) : 0;
  }

  #eventsOf(executor: ExecutorMemory): unknown[] {
    const events: unknown[] = [];
    const note = (kind: string) => (...values: unknown[]) => void events.push([kind, ...values]);
    const visitor: MemoryEventVisitor = {
      evicted: note("evicted"),
      granted: note("granted"),
      waitsOn: note("waitsOn"),
      failed: note("failed"),
      // a batch of evictions after an over-release may have no room for all warnings
      overRelease: this.#scenario.chaos ? undefined : note("overRelease"),
    };
    executor.drain(visitor);
    this.#counts.evictions += events.filter((event) => (event as unknown[])[0] === "evicted").length;
    return events;
  }

  #order(executor: ExecutorMemory, mode: MemoryMode): unknown[] {
    const blocks: unknown[] = [];
    executor.blocks(mode, (...block) => blocks.push(block));
    return blocks;
  }

  #followRaw(op: Op, result: unknown): void {
    if (op.op === "acquireStorage" && result === true) this.#raw[op.mode] += op.bytes;
    if (op.op === "releaseStorage") this.#raw[op.mode] = 0;
    if (op.op === "clear" || op.op === "releaseAllStorage") this.#raw.fill(0);
  }

  /** What holds after every operation as long as the accounting is not corrupted. */
  #checkRules(op: Op, result: unknown, heldBefore: number): void {
    const state = this.#kernel.stateNumbers();
    for (const mode of [ON_HEAP, OFF_HEAP]) {
      const [storagePool, storageUsed, executionPool, executionUsed] = Array.from(state).slice(4 * mode, 4 * mode + 4);
      const max = mode === ON_HEAP ? this.#scenario.options.maxHeapMemory : this.#scenario.options.maxOffHeapMemory!;
      assertEquals(storagePool + executionPool, max, "the pools add up to the maximum");
      assertEquals(storageUsed >= 0 && storageUsed <= storagePool, true, "storage used is within its pool");
      assertEquals(executionUsed >= 0 && executionUsed <= executionPool, true, "execution used is within its pool");
      let blocks = 0;
      this.#kernel.blocks(mode, (_, size) => blocks += size);
      const others = state[11 + mode] + this.#raw[mode];
      assertEquals(storageUsed, blocks + others, "storage is used by blocks, unroll memory and raw acquires");
      if (op.op === "acquireExecution" && op.mode === mode && typeof result === "number" && result > 0) {
        const region = mode === ON_HEAP
          ? this.#scenario.options.onHeapStorageRegionSize
          : this.#scenario.options.offHeapStorageRegionSize!;
        const share = divide(max - Math.min(storageUsed, region), state[9 + mode]);
        assertEquals(heldBefore + result <= share, true, "a task gets at most 1/N");
      }
    }
  }
}
