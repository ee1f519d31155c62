/**
 * Execution memory that a job spec asks for without naming what takes it.
 *
 * @module
 */
import { FAILED, type MemoryMode } from "../execution_memory.ts";
import type { MemoryBlock, MemoryConsumer } from "../memory_consumer.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import { GeneratedSteps, type Steps } from "./generated_steps.ts";
import type { ConsumerHost, ConsumerInput } from "./stepped_consumer.ts";

/**
 * A consumer that holds its bytes in pages and nothing else.
 *
 * Input: `bytes`, which come evenly. Parameter `spills`: 1 (the default) where it writes its pages to disk when memory is
 * short, its own request's or another consumer's; 0 where it keeps them, so that the task fails when it gets no page.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { TaskMemoryManager } from "../task_memory_manager.ts";
 * import { Raw } from "./raw.ts";
 *
 * let free = 2500;
 * const memory = {
 *   acquireExecutionMemory: (numBytes: number) => {
 *     const granted = Math.min(numBytes, free);
 *     free -= granted;
 *     return granted;
 *   },
 *   releaseExecutionMemory: (numBytes: number) => void (free += numBytes),
 *   releaseAllExecutionMemoryForTask: () => 0,
 *   executionMemoryUsageForTask: () => 0,
 *   executionMemoryUsed: () => 0,
 *   storageMemoryUsed: () => 0,
 * };
 * const task = new TaskMemoryManager(memory, 0, { tungstenMemoryMode: ON_HEAP, pageSizeBytes: 1000 });
 * const raw = new Raw(task, { name: "buffer", records: 1, bytes: 4000 });
 * while (raw.step() === "progress");
 * // The third page is there only after the first two were spilled.
 * assertEquals([raw.memoryBytesSpilled, raw.peakExecutionMemory, free], [2000, 2000, 2500]);
 * ```
 */
export class Raw extends GeneratedSteps {
  readonly #spills: boolean;
  readonly #pages: MemoryBlock[] = [];
  #pageBytes = 0;
  #peak = 0;

  constructor(
    taskMemoryManager: TaskMemoryManager,
    input: ConsumerInput,
    options: { host?: ConsumerHost; mode?: MemoryMode } = {},
  ) {
    super(taskMemoryManager, options.mode ?? taskMemoryManager.tungstenMemoryMode, input, options);
    this.#spills = input.parameters?.spills !== 0;
  }

  override get peakExecutionMemory(): number {
    return this.#peak;
  }

  protected override *run(): Steps {
    const { bytes } = this.input;
    for (let filled = 0; filled < bytes;) {
      yield this.before(filled / bytes);
      const got = yield* this.ended(this.allocatePage(1));
      if (got === FAILED) return false;
      this.#pages.push(this.page!);
      this.#pageBytes += got;
      this.#peak = Math.max(this.#peak, this.#pageBytes);
      filled += got;
    }
    yield this.before(1);
    this.phase = "read";
    yield this.before(1);
    this.#freePages();
    return true;
  }

  override spill(_size: number, trigger: MemoryConsumer): number {
    if (!this.#spills || this.#pageBytes === 0) return 0;
    const freed = this.#freePages();
    this.countSpill(trigger, freed, Math.round(freed * (this.input.diskBytesPerByte ?? 1)));
    return freed;
  }

  #freePages(): number {
    const freed = this.#pageBytes;
    for (const page of this.#pages) this.freePage(page);
    this.#pages.length = 0;
    this.#pageBytes = 0;
    return freed;
  }
}
