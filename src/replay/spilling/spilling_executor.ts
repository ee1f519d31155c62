/**
 * The executor under a spilling trace: the kernel's memory with what each call caused, under the names of the trace.
 *
 * The recording harness ran every operation under the memory manager's lock, so a waiting task is looked at once,
 * after the operation, if anything in it had notified.
 *
 * @module
 */
import {
  type KernelExecutorMemory,
  type MemoryEventVisitor,
  type MemoryMode,
  OFF_HEAP,
  ON_HEAP,
} from "../../kernel.ts";
import { TraceBlocks } from "../memory/blocks.ts";
import { type Difference, sameJson, type TraceLine } from "../trace.ts";
import type { ExecutionMemory } from "../../simulator/memory/execution_memory.ts";

/** What the calls of one thread caused: evicted blocks and warnings, in order. */
export interface CallSink {
  evicted(block: string): void;
  warning(message: string): void;
}

/** How a woken request came out. */
export type Woken =
  | { readonly kind: "waits" }
  | { readonly kind: "granted"; readonly granted: number }
  | { readonly kind: "notActive" };

/** The kernel's memory as a task memory manager and a block store see it. */
export class SpillingExecutor implements ExecutionMemory {
  /** Whom the events of the next calls belong to. */
  sink: CallSink;
  /** Some call since the last `wake` has notified waiting tasks. */
  notified = false;
  readonly #memory: KernelExecutorMemory;
  readonly #blocks: TraceBlocks;
  #woken: Woken = { kind: "waits" };
  readonly #visitor: MemoryEventVisitor = {
    evicted: (id) => this.sink.evicted(this.#blocks.name(id)),
    granted: (_ticket, granted) => this.#woken = { kind: "granted", granted },
    waitsOn: () => this.#woken = { kind: "waits" },
    failed: () => this.#woken = { kind: "notActive" },
    overRelease: (released, held, mode, pool) => this.sink.warning(overRelease(released, held, mode, pool)),
  };

  constructor(memory: KernelExecutorMemory, sink: CallSink) {
    this.#memory = memory;
    this.#blocks = new TraceBlocks(memory);
    this.sink = sink;
  }

  /** Ticket of the last acquire that waits. */
  get waitingTicket(): number {
    return this.#memory.waitingTicket;
  }

  acquireExecutionMemory(
    numBytes: number,
    taskAttemptId: number,
    mode: MemoryMode,
  ): number {
    // Long.MAX in a trace: no pool comes near either.
    const asked = Math.min(numBytes, Number.MAX_SAFE_INTEGER);
    return this.#after(
      this.#memory.acquireExecutionMemory(asked, taskAttemptId, mode),
    );
  }

  releaseExecutionMemory(
    numBytes: number,
    taskAttemptId: number,
    mode: MemoryMode,
  ): void {
    this.#memory.releaseExecutionMemory(numBytes, taskAttemptId, mode);
    this.#after(null);
  }

  releaseAllExecutionMemoryForTask(taskAttemptId: number): number {
    return this.#after(
      this.#memory.releaseAllExecutionMemoryForTask(taskAttemptId),
    );
  }

  executionMemoryUsageForTask(taskAttemptId: number, mode: MemoryMode): number {
    return this.#memory.executionMemoryUsageForTask(taskAttemptId, mode);
  }

  executionMemoryUsed(mode: MemoryMode): number {
    return this.#memory.executionMemoryUsed(mode);
  }

  storageMemoryUsed(mode: MemoryMode): number {
    return this.#memory.storageMemoryUsed(mode);
  }

  /** Evaluates a waiting request again. */
  wake(ticket: number): Woken {
    this.notified = false;
    this.#memory.wake(ticket);
    this.#after(null);
    return this.#woken;
  }

  /** Interrupts a waiting request. */
  cancel(ticket: number): boolean {
    return this.#after(this.#memory.cancel(ticket));
  }

  /** MemoryStore.putBytes; null when the block is there already, which Spark refuses. */
  putBytes(block: string, size: number, mode: MemoryMode): boolean | null {
    const id = this.#blocks.id(block);
    if (this.#memory.contains(id)) return null;
    return this.#after(this.#memory.putBytes(id, size, mode));
  }

  get(block: string): boolean {
    return this.#after(this.#memory.get(this.#blocks.id(block)));
  }

  remove(block: string): "removed" | "absent" | "locked" {
    return this.#after(this.#memory.remove(this.#blocks.id(block)));
  }

  lockForReading(block: string): boolean {
    return this.#after(this.#memory.lockForReading(this.#blocks.id(block)));
  }

  unlock(block: string): void {
    this.#memory.unlock(this.#blocks.id(block));
    this.#after(null);
  }

  /** The 13 numbers of a trace line. */
  state(): number[] {
    return Array.from(this.#memory.stateNumbers());
  }

  /**
   * What of a recorded dump does not hold: the store's access order in each mode, and what each task holds.
   *
   * @param tasks all tasks of the trace
   */
  compareDump(dump: TraceLine, tasks: Iterable<number>): Difference[] {
    const differences: Difference[] = [];
    const all = [...tasks];
    for (const [what, mode] of [["ON", ON_HEAP], ["OFF", OFF_HEAP]] as const) {
      const held = Object.fromEntries(
        all.filter((task) => this.#memory.taskFlags(task).active[mode])
          .map((task) => [task, this.#memory.executionMemoryUsageForTask(task, mode)]),
      );
      const recordedHeld = mode === ON_HEAP ? dump.execOn : dump.execOff;
      differences.push({ what: `exec ${what}`, recorded: recordedHeld, computed: held });
      const recorded = dump.lru.filter((entry: TraceLine) => entry[2] === what);
      differences.push({ what: `lru ${what}`, recorded, computed: this.#accessOrder(mode, what) });
    }
    return differences.filter(({ recorded, computed }) => !sameJson(recorded, computed));
  }

  #accessOrder(mode: MemoryMode, modeText: string): unknown[] {
    const entries: unknown[] = [];
    this.#memory.blocks(mode, (block, size, readers) => {
      const entry = [this.#blocks.name(block), size, modeText];
      entries.push(readers > 0 ? [...entry, readers] : entry);
    });
    return entries;
  }

  #after<T>(result: T): T {
    if (this.#memory.notified) this.notified = true;
    if (this.#memory.hasEvents) this.#memory.drain(this.#visitor);
    return result;
  }
}

/** Spark's warning when more is released than was held (ExecutionMemoryPool, StorageMemoryPool). */
function overRelease(
  released: number,
  held: number,
  mode: MemoryMode,
  pool: "storage" | "execution",
): string {
  if (pool === "storage") {
    return `Attempted to release ${released} bytes of storage memory when we only have ${held} bytes`;
  }
  const name = mode === ON_HEAP ? "on-heap" : "off-heap";
  return `Internal error: release called on ${released} bytes but task only has ${held} bytes of memory from the ${name} execution pool`;
}
