/**
 * A kernel whose executors are mirrored: each call that changes something is made on the plain model too, and answers,
 * exceptions, events and the 13 numbers must be the same. A simulation that is given one is a test of the kernel in
 * whole jobs, with all that several tasks, executors and their ends do in between.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import {
  type ExecutorMemoryOptions,
  Kernel,
  type KernelExecutorMemory,
  MemoryError,
  type MemoryEventVisitor,
  OFF_HEAP,
  ON_HEAP,
} from "../../src/kernel.ts";
import { sameJson } from "../../src/replay/trace.ts";
import { MemoryModel } from "../model/memory_model.ts";

/** Calls that change something, or may: they are made on both sides. */
const CHANGING: ReadonlySet<string> = new Set([
  "declareBlock",
  "forgetBlock",
  "acquireExecutionMemory",
  "releaseExecutionMemory",
  "releaseAllExecutionMemoryForTask",
  "cancel",
  "wake",
  "acquireStorageMemory",
  "acquireUnrollMemory",
  "releaseStorageMemory",
  "releaseUnrollMemory",
  "releaseAllStorageMemory",
  "reserveUnrollMemoryForTask",
  "releaseUnrollMemoryForTask",
  "putBytes",
  "putIterator",
  "finishUnroll",
  "get",
  "getBytes",
  "getValues",
  "getSize",
  "remove",
  "lockForReading",
  "unlock",
  "clear",
  "setUnmanagedMemory",
  "setDropFailure",
  "setKeepsDropped",
]);
/** The access order and what each task holds are compared after so many calls. */
const DEEP_EVERY = 100;

/** How much was compared. */
export interface MirrorCounts {
  /** Calls of the kernel that the model answered alike. */
  mirroredCalls: number;
  /** Evictions that both told. */
  mirroredEvictions: number;
}

type Method = (...args: unknown[]) => unknown;
type Event = readonly [kind: keyof MemoryEventVisitor, args: readonly unknown[]];

/** A kernel for `SimulationOptions.kernel`; a call that is not answered as the model answers it throws. */
export function mirroredKernel(counts: MirrorCounts, kernel = Kernel.create()): Kernel {
  const create = kernel.createExecutor.bind(kernel);
  kernel.createExecutor = (options) => new Mirror(create(options), options, counts).executor;
  return kernel;
}

/** One executor and its model. */
class Mirror {
  /** What the host calls. */
  readonly executor: KernelExecutorMemory;
  readonly #kernel: KernelExecutorMemory;
  readonly #model: MemoryModel;
  readonly #counts: MirrorCounts;
  readonly #tasks = new Set<number>();
  /** Events of the last call, which the host has not drained. */
  #events: readonly Event[] = [];
  #calls = 0;

  constructor(kernel: KernelExecutorMemory, options: ExecutorMemoryOptions, counts: MirrorCounts) {
    this.#kernel = kernel;
    this.#model = new MemoryModel(options);
    this.#counts = counts;
    this.executor = new Proxy(kernel, { get: (_, name) => this.#member(name as keyof KernelExecutorMemory) });
  }

  #member(name: keyof KernelExecutorMemory): unknown {
    if (CHANGING.has(name)) return (...args: unknown[]) => this.#both(name, args);
    if (name === "hasEvents") return this.#events.length > 0;
    if (name === "drain") return (visitor: MemoryEventVisitor) => this.#drain(visitor);
    if (name === "destroy") return () => this.#destroy();
    const member = this.#kernel[name];
    // unrolling in steps calls this executor, so that its steps are mirrored
    if (name === "beginUnroll") return (member as Method).bind(this.executor);
    return typeof member === "function" ? (member as Method).bind(this.#kernel) : member;
  }

  #both(name: string, args: unknown[]): unknown {
    const model = outcomeOf(this.#model, name, args);
    const kernel = outcomeOf(this.#kernel, name, args);
    const call = `${name}(${args.map((arg) => JSON.stringify(arg)).join(", ")})`;
    assertSame([kernel.answer, kernel.status], [model.answer, model.status], `answer of ${call}`);
    this.#events = eventsOf(this.#kernel);
    assertSame(this.#events, eventsOf(this.#model), `events of ${call}`);
    assertSame(Array.from(this.#kernel.stateNumbers()), this.#model.stateNumbers(), `state after ${call}`);
    assertSame(this.#kernel.notified, this.#model.notified, `whether ${call} notifies`);
    this.#counts.mirroredCalls++;
    this.#counts.mirroredEvictions += this.#events.filter(([kind]) => kind === "evicted").length;
    if (/Execution|Unroll|putIterator/.test(name)) this.#noteTask(name, args);
    if (++this.#calls % DEEP_EVERY === 0) this.#compareDeeply();
    if (kernel.error !== null) throw kernel.error;
    return kernel.answer;
  }

  /** The task of a call, by its place among the arguments. */
  #noteTask(name: string, args: unknown[]): void {
    const place = { releaseAllExecutionMemoryForTask: 0, releaseUnrollMemoryForTask: 0, reserveUnrollMemoryForTask: 2 };
    const task = args[(place as Record<string, number>)[name] ?? 1];
    if (typeof task === "number") this.#tasks.add(task);
  }

  /** Access order, sizes, read locks, waiting acquires, and what every task holds. */
  #compareDeeply(): void {
    assertEquals(this.#kernel.waitingTickets(), this.#model.waitingTickets(), "waiting acquires");
    for (const mode of [ON_HEAP, OFF_HEAP]) {
      const [ours, theirs] = [this.#kernel, this.#model].map((side) => {
        const blocks: unknown[] = [];
        side.blocks(mode, (...block) => blocks.push(block));
        const held = [...this.#tasks].map((task) => [
          side.executionMemoryUsageForTask(task, mode),
          side.unrollMemoryForTask(task, mode),
          side.taskFlags(task),
        ]);
        return { blocks, held };
      });
      assertEquals(ours, theirs, "access order and what each task holds");
    }
  }

  #drain(visitor: MemoryEventVisitor): void {
    const events = this.#events;
    this.#events = [];
    for (const [kind, args] of events) (visitor[kind] as Method | undefined)?.apply(visitor, [...args]);
  }

  #destroy(): void {
    this.#compareDeeply();
    this.#kernel.destroy();
  }
}

interface Outcome {
  readonly answer: unknown;
  /** Status of the MemoryError that the call threw. */
  readonly status: string | null;
  readonly error: MemoryError | null;
}

function outcomeOf(executor: object, name: string, args: unknown[]): Outcome {
  try {
    return { answer: (executor as Record<string, Method>)[name](...args), status: null, error: null };
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error;
    return { answer: error.bytes, status: error.status, error };
  }
}

function eventsOf(executor: { drain(visitor: MemoryEventVisitor): void }): Event[] {
  const events: Event[] = [];
  const note = (kind: keyof MemoryEventVisitor) => (...args: unknown[]) => void events.push([kind, args]);
  executor.drain({
    evicted: note("evicted"),
    granted: note("granted"),
    waitsOn: note("waitsOn"),
    failed: note("failed"),
    overRelease: note("overRelease"),
  });
  return events;
}

/** assertEquals, without its cost when all is well. */
function assertSame(kernel: unknown, model: unknown, what: string): void {
  if (!sameJson(kernel, model)) assertEquals(kernel, model, `kernel and model: ${what}`);
}
