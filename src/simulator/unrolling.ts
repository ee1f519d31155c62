/**
 * Unrolling the values of one cached partition while it is computed (MemoryStore.putIterator, Spark 2.4.0).
 *
 * @module
 */
import type { MemoryMode, Unrolling, UnrollSettings } from "../kernel/types.ts";
import type { BlockEntry, BlockManager } from "./block_manager.ts";
import type { Executor } from "./executor.ts";
import type { Activity, StepOutcome } from "./process.ts";
import type { Task } from "./task.ts";
import { nextLook } from "./unroll_looks.ts";

/** What is unrolled. */
export interface UnrolledValues {
  /** Elements of the partition; at least 1. */
  readonly elements: number;
  /** Estimated size of all, bytes. */
  readonly bytes: number;
}

/**
 * The looks at the size as steps of the computing: at the 1st element and every `checkPeriod` elements, of which only
 * those matter at which the size has reached what is reserved. The size is taken to grow evenly.
 */
export class UnrollActivity implements Activity {
  next = 0;
  /** Elements taken when the last step was done. */
  elementsUnrolled = 0;
  private readonly executor: Executor;
  private readonly blocks: BlockManager;
  private readonly values: UnrolledValues;
  readonly #unrolling: Unrolling;
  readonly #elementBytes: number;
  readonly #entry: BlockEntry;
  readonly #taskAttemptId: number;
  /** The reservation was given back before the block was put (1.6). */
  #released = false;

  constructor(
    executor: Executor,
    entry: BlockEntry,
    taskAttemptId: number,
    mode: MemoryMode,
    values: UnrolledValues,
  ) {
    this.executor = executor;
    this.#entry = entry;
    this.#taskAttemptId = taskAttemptId;
    this.values = values;
    this.#elementBytes = values.bytes / values.elements;
    this.blocks = executor.blocks;
    const { blocks } = this;
    this.#unrolling = blocks.memory.beginUnroll(entry.local, taskAttemptId, mode, blocks.unrollSettings);
    blocks.settle();
    if (!this.#unrolling.keepUnrolling) this.next = Infinity;
    else this.#plan(0);
  }

  /** Whether all went well so far. */
  get keepUnrolling(): boolean {
    return this.#unrolling.keepUnrolling;
  }

  /** Bytes reserved so far, held by the task. */
  get reservedBytes(): number {
    return this.#released ? 0 : this.#unrolling.reservedBytes;
  }

  step(): StepOutcome {
    const element = Math.round(this.next * this.values.elements);
    this.elementsUnrolled = element + 1;
    const kept = this.#unrolling.check(Math.trunc((element + 1) * this.#elementBytes));
    this.blocks.settle();
    this.executor.touch();
    if (kept) this.#plan(element + this.settings.checkPeriod);
    else this.next = Infinity;
    return null;
  }

  resume(): StepOutcome {
    throw new Error("unrolling never waits");
  }

  /** All elements are in: the reservation becomes the block; false when there is no room. */
  finish(preciseSize: number, putFlags: number): boolean {
    this.elementsUnrolled = this.values.elements;
    if (!this.blocks.rules.transfersUnrollMemory) {
      this.#released = true;
      return this.blocks.putPending(this.#entry, this.#taskAttemptId, this.#unrolling.reservedBytes, preciseSize);
    }
    const stored = this.#unrolling.finish(preciseSize, putFlags);
    this.blocks.settle();
    return stored;
  }

  private get settings(): UnrollSettings {
    return this.blocks.unrollSettings;
  }

  /** The first look at or after `element` that finds the size at what is reserved or above. */
  #plan(element: number): void {
    const at = nextLook(element, this.#unrolling.reservedBytes, {
      elements: this.values.elements,
      elementBytes: this.#elementBytes,
      checkPeriod: this.settings.checkPeriod,
    });
    this.next = at < this.values.elements ? at / this.values.elements : Infinity;
  }
}

/** Gives back what a failed put left unrolled when the task has consumed it (PartiallyUnrolledIterator). */
export class ReleaseUnroll implements Activity {
  /** How far the task must get: the unrolled share of the partition. */
  next = 0;
  readonly #task: Task;
  readonly #bytes: number;
  readonly #mode: MemoryMode;

  constructor(task: Task, next: number, bytes: number, mode: MemoryMode) {
    this.next = next;
    this.#task = task;
    this.#bytes = bytes;
    this.#mode = mode;
  }

  step(): StepOutcome {
    const { memory, blocks } = this.#task.executor;
    memory.releaseUnrollMemoryForTask(this.#task.id.tid, this.#mode, this.#bytes);
    blocks.settle();
    this.next = Infinity;
    return null;
  }

  resume(): StepOutcome {
    throw new Error("releasing never waits");
  }
}
