/**
 * Writing serialized shuffle records: org.apache.spark.shuffle.sort.ShuffleExternalSorter, which UnsafeShuffleWriter
 * uses where there are more reducers than spark.shuffle.sort.bypassMergeThreshold and the serializer allows it (always
 * for SQL).
 *
 * @module
 */
import { INT_MAX } from "../../../spark/conf_entry.ts";
import { FAILED, WAITING } from "../execution_memory.ts";
import type { MemoryBlock, MemoryConsumer } from "../memory_consumer.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import { PointerArray } from "./pointer_array.ts";
import { GeneratedSteps, type Steps } from "./generated_steps.ts";
import type { ConsumerHost, ConsumerInput } from "./stepped_consumer.ts";

/** Bytes that hold a record's length in a page. */
const LENGTH_BYTES = 4;
/** PackedRecordPointer.MAXIMUM_PAGE_SIZE_BYTES: an offset in a page has 27 bits. */
const MAXIMUM_PAGE_SIZE_BYTES = 1 << 27;

/** Settings of the sorter. */
export interface ShuffleSorterSettings {
  /** spark.shuffle.sort.initialBufferSize: words of the first pointer array; 4096 by default. */
  readonly initialSize?: number;
  /** spark.shuffle.sort.useRadixSort; true by default. */
  readonly useRadixSort?: boolean;
  /** spark.shuffle.spill.numElementsForceSpillThreshold: records after which it spills anyway. */
  readonly numElementsForSpillThreshold?: number;
}

/**
 * A shuffle sorter: pages of serialized records and a pointer array with a word a record, doubled when half full (radix
 * sort) or two thirds full. It spills only for itself; what it counts as spilled are its pages. At the end it writes the
 * rest and gives everything back, so it is never read.
 *
 * Input: `records` serialized records of `bytes` in all.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { TaskMemoryManager } from "../task_memory_manager.ts";
 * import { ShuffleExternalSorter } from "./shuffle_external_sorter.ts";
 *
 * const asked: number[] = [];
 * const memory = {
 *   acquireExecutionMemory: (numBytes: number) => {
 *     asked.push(numBytes);
 *     return numBytes;
 *   },
 *   releaseExecutionMemory: () => {},
 *   releaseAllExecutionMemoryForTask: () => 0,
 *   executionMemoryUsageForTask: () => 0,
 *   executionMemoryUsed: () => 0,
 *   storageMemoryUsed: () => 0,
 * };
 * const task = new TaskMemoryManager(memory, 0, { tungstenMemoryMode: ON_HEAP, pageSizeBytes: 1048576 });
 * const sorter = new ShuffleExternalSorter(task, { name: "shuffle", records: 3000, bytes: 300000 });
 * while (sorter.step() === "progress");
 * // An array of 4096 words of which half can be used, a page, and a second array.
 * assertEquals(asked, [32768, 1048576, 65536]);
 * ```
 */
export class ShuffleExternalSorter extends GeneratedSteps {
  readonly #recordBytes: number;
  readonly #initialLongs: number;
  readonly #threshold: number;
  readonly #array: PointerArray;
  readonly #pages: MemoryBlock[] = [];
  #pageBytes = 0;
  #roomInPage = 0;
  #peak = 0;
  #spilledBytes = 0;

  constructor(
    taskMemoryManager: TaskMemoryManager,
    input: ConsumerInput,
    options: { host?: ConsumerHost; settings?: ShuffleSorterSettings } = {},
  ) {
    super(taskMemoryManager, taskMemoryManager.tungstenMemoryMode, input, {
      host: options.host,
      pageSize: Math.min(MAXIMUM_PAGE_SIZE_BYTES, taskMemoryManager.pageSizeBytes),
    });
    const { settings } = options;
    this.#recordBytes = input.records > 0 ? input.bytes / input.records : 0;
    this.#initialLongs = settings?.initialSize ?? 4096;
    // A sorter without records does not spill: 0 and less spill before every record but the first, as 1 does.
    this.#threshold = Math.max(1, settings?.numElementsForSpillThreshold ?? INT_MAX);
    this.#array = new PointerArray(1, settings?.useRadixSort ?? true);
  }

  override get peakExecutionMemory(): number {
    return Math.max(this.#peak, this.#memoryUsage);
  }

  protected override *run(): Steps {
    const { records } = this.input;
    const first = yield* this.ended(this.allocateArray(this.#initialLongs));
    if (first === FAILED) return false;
    this.#array.block = this.page;
    for (let inserted = 0; inserted < records;) {
      if (this.#room() === 0) {
        yield this.before(inserted / records);
        if (!(yield* this.#makeRoom())) return false;
      }
      const count = Math.min(this.#room(), records - inserted);
      inserted += count;
      this.#array.records += count;
      this.#roomInPage -= count;
    }
    yield this.before(1);
    this.#freePages();
    this.#freeArray();
    this.phase = "read";
    return true;
  }

  override spill(_size: number, trigger: MemoryConsumer): number {
    const { records } = this.#array;
    if (trigger !== this || records === 0) return 0;
    this.#spilledBytes = this.#freePages();
    this.#array.records = 0;
    this.#freeArray();
    const diskBytes = Math.round(records * this.#recordBytes * (this.input.diskBytesPerByte ?? 1));
    this.countSpill(this, this.#spilledBytes, diskBytes);
    const got = this.allocateArray(this.#initialLongs);
    return got === WAITING ? WAITING : this.#arrayTaken(got);
  }

  override resumeSpill(result: number): number {
    return this.#arrayTaken(result);
  }

  /** The array that a spill asked for is there, or not. Returns as `spill` does. */
  #arrayTaken(result: number): number {
    if (result === FAILED) return FAILED;
    this.#array.block = this.page;
    return this.#spilledBytes;
  }

  #room(): number {
    const untilThreshold = Math.max(0, this.#threshold - this.#array.records);
    return Math.min(this.#array.room, this.#roomInPage, untilThreshold);
  }

  *#makeRoom(): Steps {
    if (this.#array.records >= this.#threshold && !(yield* this.#forceSpill())) return false;
    if (this.#array.room === 0 && !(yield* this.#growArray())) return false;
    if (this.#roomInPage >= 1) return true;
    const recordBytes = this.#recordBytes + LENGTH_BYTES;
    const got = yield* this.ended(this.allocatePage(Math.ceil(recordBytes)));
    if (got === FAILED) return false;
    this.#pages.push(this.page!);
    this.#pageBytes += got;
    this.#roomInPage = Math.max(1, Math.floor(got / recordBytes));
    return true;
  }

  *#forceSpill(): Steps {
    const freed = this.spill(2 ** 63, this);
    if (freed !== WAITING) return freed !== FAILED;
    yield "waiting";
    return this.#arrayTaken(this.completed) !== FAILED;
  }

  /** growPointerArrayIfNecessary: the array is doubled, unless the request for it made the sorter spill. */
  *#growArray(): Steps {
    const got = yield* this.ended(this.allocateArray(this.#array.longs * 2));
    if (got === FAILED) {
      const { failure } = this.taskMemoryManager;
      if (failure?.className.endsWith("TooLargePageException")) return yield* this.#forceSpill();
      return this.#array.room > 0;
    }
    const doubled = this.page!;
    if (this.#array.room > 0) {
      this.freeArray(doubled);
    } else {
      this.#freeArray();
      this.#array.block = doubled;
    }
    return true;
  }

  #freePages(): number {
    this.#peak = this.peakExecutionMemory;
    const freed = this.#pageBytes;
    for (const page of this.#pages) this.freePage(page);
    this.#pages.length = 0;
    this.#pageBytes = 0;
    this.#roomInPage = 0;
    return freed;
  }

  #freeArray(): void {
    if (this.#array.block !== null) this.freeArray(this.#array.block);
    this.#array.block = null;
  }

  get #memoryUsage(): number {
    return this.#pageBytes + this.#array.bytes;
  }
}
