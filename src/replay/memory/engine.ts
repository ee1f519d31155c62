/**
 * The operations of a memory trace, run on the kernel.
 *
 * @module
 */
import { InputError } from "../../errors.ts";
import {
  type ExecutorMemory,
  type ExecutorMemoryOptions,
  Kernel,
  MemoryError,
  type MemoryEventVisitor,
  type MemoryMode,
  type MemoryStatus,
  OFF_HEAP,
  ON_HEAP,
  PutFlags,
  WAITING,
  WaitSet,
} from "../../kernel.ts";
import type { TraceLine } from "../trace.ts";
import { TraceBlocks } from "./blocks.ts";
import { exceptionText } from "./exceptions.ts";
import type { MemoryTraceSettings } from "./trace_header.ts";
import { UnmanagedConsumers } from "./unmanaged_consumers.ts";

/** What an operation gave, in the fields of the traces; lists that are empty are left out there. */
export interface OperationOutcome {
  /** Result, unless it threw. */
  r?: unknown;
  /** What it threw. */
  x?: string;
  /** Blocks that it evicted. */
  ev: string[];
  /** Waiting acquires that completed: index of the acquire, task, grant or exception. */
  done: object[];
  /** Evaluations of waiting acquires: index, grant or -1 waits on or -2 threw. */
  wk: [number, number][];
  /** Blocks that waiting acquires evicted: index, block. */
  wev: [number, string][];
  /** Warnings of the pools. */
  w: string[];
  /** The 13 numbers afterwards. */
  s: number[];
  /** The counters of unmanaged memory afterwards. */
  u?: [number, number];
}

interface Waiter {
  readonly at: number;
  readonly task: number;
}

type Operation = (op: TraceLine) => unknown;

/** Makes the executor's memory that the operations run on. */
export type CreateExecutor = (options: ExecutorMemoryOptions) => ExecutorMemory;

const inKernel: CreateExecutor = (options) => Kernel.create().createExecutor(options);

/** Replays the operations of one trace; the executor's memory and what the recording harness kept beside it. */
export class MemoryEngine {
  readonly executor: ExecutorMemory;
  readonly blocks: TraceBlocks;
  readonly #settings: MemoryTraceSettings;
  readonly #consumers = new UnmanagedConsumers();
  readonly #waiters = new Map<number, Waiter>();
  readonly #waitSet = new WaitSet();
  readonly #tasks = new Set<number>();
  readonly #operations: ReadonlyMap<string, Operation>;
  /** Operations that only concern the consumers of unmanaged memory and their counters. */
  readonly #consumerOperations: ReadonlyMap<string, Operation>;
  #nowMs = 0;
  /** The line of the operation that runs. */
  #line: number | undefined;
  /** The bytes that the operation names, as they are written. */
  #asked: number | bigint = 0;
  #outcome: OperationOutcome = emptyOutcome();
  /** The waiting acquire that is being woken; null during the operation itself. */
  #woken: Waiter | null = null;
  readonly #visitor: MemoryEventVisitor = {
    evicted: (block) => this.#evicted(this.blocks.name(block)),
    granted: (ticket, granted) => this.#completed(ticket, { g: granted }, granted),
    waitsOn: (ticket) => {
      this.#waitSet.waitsAgain(ticket);
      this.#outcome.wk.push([this.#waiters.get(ticket)!.at, -1]);
    },
    failed: (ticket, status, task) =>
      this.#completed(ticket, { x: exceptionText(status, { task }, this.#settings.rules) }, -2),
    overRelease: (released, held, mode, pool) => {
      const exact = Number(this.#asked) === released ? this.#asked : released;
      this.#outcome.w.push(overReleaseWarning(exact, held, mode, pool));
    },
  };

  /**
   * @param settings of a layout that the version does not refuse
   * @param createExecutor makes the executor's memory, in the kernel unless a test runs another implementation
   */
  constructor(settings: MemoryTraceSettings, createExecutor: CreateExecutor = inKernel) {
    this.#settings = settings;
    this.executor = createExecutor(settings.executor);
    this.blocks = new TraceBlocks(this.executor);
    this.#operations = new Map(Object.entries({ ...this.#storeOperations(), ...this.#memoryOperations() }));
    this.#consumerOperations = new Map(Object.entries(this.#unmanagedOperations()));
  }

  /**
   * Runs one operation.
   *
   * @param line number of the operation's line in the trace, for errors
   * @throws {InputError} `replay.line` for an unknown operation and for arguments that are none
   */
  apply(op: TraceLine, line?: number): OperationOutcome {
    const run = this.#operations.get(op.op) ?? this.#consumerOperations.get(op.op);
    if (run === undefined) throw badOperation(op, `${op.op} is not known`, line);
    this.#line = line;
    this.#outcome = emptyOutcome();
    if (this.#operations.has(op.op)) this.#runOnExecutor(run, op);
    else this.#outcome.r = run(op);
    const outcome = this.#outcome;
    outcome.done.sort((a, b) => (a as Waiter).at - (b as Waiter).at);
    outcome.s = Array.from(this.executor.stateNumbers());
    if (this.#settings.rules.memory.unmanagedConsumers) outcome.u = [...this.#consumers.used];
    return outcome;
  }

  /** Index of each acquire that waits, first come first. */
  get waiting(): number[] {
    return this.executor.waitingTickets().map((ticket) => this.#waiters.get(ticket)!.at);
  }

  /** Tasks that any operation named. */
  get tasks(): ReadonlySet<number> {
    return this.#tasks;
  }

  /** Runs an operation of the executor and whatever it wakes. */
  #runOnExecutor(run: Operation, op: TraceLine): void {
    const order = this.#waitSet.wakeOrder();
    if (typeof op.t === "number") this.#tasks.add(op.t);
    this.#asked = op.n ?? 0;
    try {
      this.#outcome.r = run(typeof op.n === "bigint" ? { ...op, n: Number(op.n) } : op);
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      const details = { block: op.b, numBytes: op.n, task: op.t };
      if (MISUSE.has(error.status)) throw badOperation(op, `its arguments must be those of ${op.op}`, this.#line);
      if (error.status === "NEGATIVE_ANSWER") this.#outcome.r = error.bytes;
      else this.#outcome.x = exceptionText(error.status, details, this.#settings.rules);
    }
    this.executor.drain(this.#visitor);
    if (order.length > 0 && this.executor.notified) this.#wake(order, op.wk);
  }

  /** Wakes the acquires that waited: in the recorded order where there is one, else in the JVM's. */
  #wake(order: number[], recorded: readonly (readonly [number, number])[] | undefined): void {
    if (recorded !== undefined) {
      const rank = new Map(recorded.map(([at], i) => [at, i]));
      const rankOf = (ticket: number) => rank.get(this.#waiters.get(ticket)!.at) ?? recorded.length;
      order.sort((a, b) => rankOf(a) - rankOf(b));
    }
    for (const ticket of order) {
      this.#woken = this.#waiters.get(ticket)!;
      this.executor.wake(ticket);
      this.executor.drain(this.#visitor);
    }
    this.#woken = null;
  }

  #evicted(name: string): void {
    if (this.#woken === null) this.#outcome.ev.push(name);
    else this.#outcome.wev.push([this.#woken.at, name]);
  }

  #completed(ticket: number, result: { g: number } | { x: string }, code: number): void {
    const { at, task } = this.#waiters.get(ticket)!;
    this.#waiters.delete(ticket);
    this.#waitSet.remove(ticket);
    this.#outcome.wk.push([at, code]);
    this.#outcome.done.push({ at, t: task, ...result });
  }

  /** Operations of the MemoryStore and the locks. */
  #storeOperations(): Record<string, Operation> {
    const { executor } = this;
    const id = (op: TraceLine) => this.blocks.id(op.b);
    return {
      putBytes: (op) => executor.putBytes(id(op), op.n, modeOf(op)),
      unrollPut: (op) => this.#unrollPut(op),
      get: (op) => executor.get(id(op)),
      getBytes: (op) => executor.getBytes(id(op)),
      getValues: (op) => executor.getValues(id(op)),
      getSize: (op) => executor.getSize(id(op)),
      contains: (op) => executor.contains(id(op)),
      remove: (op) => {
        const removed = executor.remove(id(op));
        return removed === "locked" ? "locked" : removed === "removed";
      },
      lockRead: (op) => executor.lockForReading(id(op)),
      unlockRead: (op) => none(executor.unlock(id(op))),
      clear: () => none(executor.clear()),
      setDrop: (op) => {
        executor.setDropFailure(op.mode === "throw" ? op.n : null);
        return none(executor.setKeepsDropped(op.mode === "disk"));
      },
    };
  }

  /** Operations of the memory manager, and unroll memory. */
  #memoryOperations(): Record<string, Operation> {
    const { executor } = this;
    const id = (op: TraceLine) => this.blocks.id(op.b);
    return {
      acqStorage: (op) => executor.acquireStorageMemory(id(op), op.n, modeOf(op)),
      acqUnroll: (op) => executor.acquireUnrollMemory(id(op), op.n, modeOf(op)),
      relStorage: (op) => none(executor.releaseStorageMemory(op.n, modeOf(op))),
      relUnroll: (op) => none(executor.releaseUnrollMemory(op.n, modeOf(op))),
      relAllStorage: () => none(executor.releaseAllStorageMemory()),
      reserveUnroll: (op) => executor.reserveUnrollMemoryForTask(id(op), op.n, op.t, modeOf(op)),
      releaseUnrollTask: (op) => none(executor.releaseUnrollMemoryForTask(op.t, modeOf(op), op.n)),
      acqExec: (op) => {
        const granted = executor.acquireExecutionMemory(op.n, op.t, modeOf(op));
        if (granted !== WAITING) return granted;
        this.#waiters.set(executor.waitingTicket, { at: op.i, task: op.t });
        this.#waitSet.add(executor.waitingTicket);
        return "blocked";
      },
      relExec: (op) => none(executor.releaseExecutionMemory(op.n, op.t, modeOf(op))),
      relAllExec: (op) => executor.releaseAllExecutionMemoryForTask(op.t),
      cancel: (op) => {
        const found = [...this.#waiters].find(([, { at }]) => at === op.at);
        return found !== undefined && executor.cancel(found[0]);
      },
    };
  }

  /** Unmanaged memory and the time at which it is polled. */
  #unmanagedOperations(): Record<string, Operation> {
    const consumers = this.#consumers;
    return {
      unmReg: (op) => none(consumers.register(op.b, op.n, modeOf(op))),
      unmSet: (op) => consumers.setBytesUsed(op.b, op.n),
      unmUnreg: (op) => consumers.unregister(op.b),
      unmClear: () => {
        consumers.clear();
        return this.#unmanagedChanged(null);
      },
      unmPoll: () => this.#unmanagedChanged(consumers.poll()),
      sleep: (op) => {
        const interval = this.#settings.unmanagedPollMs;
        const before = interval > 0 ? Math.floor(this.#nowMs / interval) : 0;
        this.#nowMs += op.n;
        if (interval > 0 && Math.floor(this.#nowMs / interval) > before) consumers.poll();
        return this.#unmanagedChanged(consumers.count);
      },
    };
  }

  /** Tells the executor the counters; with a polling interval of 0 it never looks at them. */
  #unmanagedChanged<T>(result: T): T {
    if (this.#settings.unmanagedPollMs > 0) {
      this.executor.setUnmanagedMemory(ON_HEAP, this.#consumers.used[ON_HEAP]);
      this.executor.setUnmanagedMemory(OFF_HEAP, this.#consumers.used[OFF_HEAP]);
    }
    return result;
  }

  #unrollPut(op: TraceLine): object {
    const mode = modeOf(op);
    // the recorded holder builds objects on-heap and bytes off-heap
    const flags = mode === ON_HEAP ? PutFlags.DESERIALIZED : 0;
    const values = {
      elementCount: op.cnt,
      elementBytes: op.el,
      preciseSize: op.p < 0 ? undefined : op.p,
    };
    const result = this.executor.putIterator(this.blocks.id(op.b), op.t, mode, this.#settings.unroll, values, flags);
    return result.stored
      ? { stored: result.bytes, used: result.elementsUnrolled }
      : { kept: result.bytes, used: result.elementsUnrolled };
  }
}

/** Statuses of the kernel that are no exception of Spark's: an operation said what cannot be said. */
const MISUSE: ReadonlySet<MemoryStatus> = new Set(["BAD_ARGUMENT", "BAD_BLOCK"]);

function badOperation(op: TraceLine, problem: string, line: number | undefined): InputError {
  const { op: name, i } = op;
  const received = JSON.stringify(op, (_, value) => typeof value === "bigint" ? Number(value) : value);
  return new InputError("replay.line", `Cannot replay operation ${i}: ${problem}: received ${received}`, {
    ...(line === undefined ? {} : { line }),
    parameters: { op: name, i },
  });
}

function emptyOutcome(): OperationOutcome {
  return { ev: [], done: [], wk: [], wev: [], w: [], s: [] };
}

function modeOf(op: TraceLine): MemoryMode {
  return op.m === "OFF" ? OFF_HEAP : ON_HEAP;
}

/** The result of a method that gives nothing. */
function none(_: void): null {
  return null;
}

function overReleaseWarning(
  released: number | bigint,
  held: number,
  mode: MemoryMode,
  pool: "storage" | "execution",
): string {
  return pool === "storage"
    ? `Attempted to release ${released} bytes of storage memory when we only have ${held} bytes`
    : `Internal error: release called on ${released} bytes but task only has ${held} bytes of memory from the ${
      mode === ON_HEAP ? "on" : "off"
    }-heap execution pool`;
}
