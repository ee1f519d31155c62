/**
 * The test consumers of the recorded spilling traces: each frees memory by a declared rule.
 *
 * @module
 */
import { FAILED } from "../../simulator/memory/execution_memory.ts";
import type { MemoryMode } from "../../simulator/memory/execution_memory.ts";
import { type MemoryBlock, MemoryConsumer } from "../../simulator/memory/memory_consumer.ts";
import type { TaskMemoryManager } from "../../simulator/memory/task_memory_manager.ts";

/** How a consumer of a trace spills; the traces' README lists what each does. */
export const SPILL_RULES = [
  "all",
  "self",
  "none",
  "once",
  "exact",
  "part",
  "io",
  "intr",
] as const;
/** One of {@linkcode SPILL_RULES}. */
export type SpillRule = typeof SPILL_RULES[number];

/** What a spill call freed, or the exception it threw. */
export type Spilled = number | "IOException" | "ClosedByInterruptException";

/** Told of every spill call: consumer number, bytes asked for (exact), what came of it. */
export type SpillSink = (
  consumer: number,
  asked: number | bigint,
  freed: Spilled,
) => void;

const LONG_MAX = 2n ** 63n - 1n;

/**
 * A consumer of a trace. It frees pages oldest first, then arrays oldest first, then raw bytes; pages taken from the
 * task's memory manager directly (`tablePages`) are never spilled.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SPILL_RULES } from "./trace_consumer.ts";
 *
 * assertEquals(SPILL_RULES.length, 8);
 * ```
 */
export class TraceConsumer extends MemoryConsumer {
  readonly pages: MemoryBlock[] = [];
  readonly arrays: MemoryBlock[] = [];
  readonly tablePages: MemoryBlock[] = [];
  /** Bytes acquired without a page. */
  rawBytes = 0;
  readonly name: string;
  /** Number within the task: fixes the order among consumers of equal use. */
  readonly number: number;
  readonly #rule: SpillRule;
  readonly #sink: SpillSink;
  #spent = false;

  constructor(
    taskMemoryManager: TaskMemoryManager,
    mode: MemoryMode,
    options: { number: number; rule: SpillRule; sink: SpillSink; pageSize?: number },
  ) {
    super(taskMemoryManager, mode, { pageSize: options.pageSize, order: options.number });
    this.number = options.number;
    this.#rule = options.rule;
    this.#sink = options.sink;
    this.name = `T${taskMemoryManager.taskAttemptId}.c${options.number}`;
  }

  spill(size: number, trigger: MemoryConsumer): number {
    // Only a request for Long.MAX is above 2^53; what is left of it is exact through the bytes got so far.
    const asked = size <= Number.MAX_SAFE_INTEGER ? size : LONG_MAX - BigInt(this.taskMemoryManager.gotSoFar);
    if (this.#rule === "io") {
      this.#sink(this.number, asked, "IOException");
      return this.taskMemoryManager.spillFailed(this, "disk full");
    }
    if (this.#rule === "intr") {
      this.#sink(this.number, asked, "ClosedByInterruptException");
      return this.taskMemoryManager.spillFailed(this, null);
    }
    const freed = this.#freed(size, trigger);
    this.#sink(this.number, asked, freed);
    return freed;
  }

  /** MemoryConsumer.spill() without arguments. Returns what it threw, as the JVM prints it, or null. */
  forceSpill(): string | null {
    if (this.spill(2 ** 63, this) !== FAILED) return null;
    return this.#rule === "io" ? "java.io.IOException: disk full" : "java.nio.channels.ClosedByInterruptException";
  }

  #freed(size: number, trigger: MemoryConsumer): number {
    switch (this.#rule) {
      case "all":
        return this.#everything();
      case "self":
        return trigger === this ? this.#everything() : 0;
      case "once":
        if (this.#spent || this.used <= 0) return 0;
        this.#spent = true;
        return this.#everything();
      case "exact":
        return this.#atLeast(size);
      case "part":
        return this.#part(size);
      default:
        return 0;
    }
  }

  #everything(): number {
    let freed = 0;
    while (this.pages.length > 0) freed += this.#oldest(this.pages);
    while (this.arrays.length > 0) freed += this.#oldest(this.arrays);
    return freed + this.#raw(this.rawBytes);
  }

  #atLeast(size: number): number {
    let freed = 0;
    while (freed < size && this.pages.length > 0) {
      freed += this.#oldest(this.pages);
    }
    while (freed < size && this.arrays.length > 0) {
      freed += this.#oldest(this.arrays);
    }
    if (freed >= size) return freed;
    return freed + this.#raw(Math.max(size - freed, this.#eighth()));
  }

  #part(size: number): number {
    if (this.pages.length > 0) return this.#oldest(this.pages);
    if (this.arrays.length > 0) return this.#oldest(this.arrays);
    return this.#raw(Math.max(Math.ceil(size / 2), this.#eighth()));
  }

  #eighth(): number {
    return Math.ceil(this.rawBytes / 8);
  }

  #oldest(blocks: MemoryBlock[]): number {
    const block = blocks.shift()!;
    this.freePage(block);
    return block.size;
  }

  #raw(numBytes: number): number {
    const freed = Math.min(numBytes, this.rawBytes);
    if (freed <= 0) return 0;
    this.rawBytes -= freed;
    this.freeMemory(freed);
    return freed;
  }
}
