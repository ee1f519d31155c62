/**
 * Sorting of rows: org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter, as SortExec, window functions and
 * sort-based aggregation use it.
 *
 * @module
 */
import { FAILED, WAITING } from "../execution_memory.ts";
import type { MemoryBlock, MemoryConsumer } from "../memory_consumer.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import { PointerArray } from "./pointer_array.ts";
import { type ConsumerHost, type ConsumerInput, SteppedConsumer, type Steps } from "./stepped_consumer.ts";

/** Bytes that hold a record's length in a page (UnsafeAlignedOffset, where unaligned access is possible). */
const LENGTH_BYTES = 4;

/** Settings of a sorter. */
export interface SorterSettings {
  /** spark.shuffle.sort.initialBufferSize: records that the first pointer array is made for; 4096 by default. */
  readonly initialSize?: number;
  /** spark.shuffle.spill.numElementsForceSpillThreshold: records after which it spills anyway. */
  readonly numElementsForSpillThreshold?: number;
}

/**
 * A sorter of rows.
 *
 * It keeps the rows one after another in pages and a pointer array with two words a row, of which a half (radix sort)
 * or two thirds (TimSort) can be filled; a full array is doubled, and old and new are held while it is copied. It spills
 * for itself while rows go in, and for others only while its sorted rows are being read. What it counts as spilled is
 * pages only while rows go in, pages and array while being read.
 *
 * Input: `records` rows of `bytes` in all. Parameter `radixSort`: 1 where Spark sorts by radix (one sort column whose
 * prefix says all: integers, dates, floats), else 0, the default.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { TaskMemoryManager } from "../task_memory_manager.ts";
 * import { UnsafeExternalSorter } from "./unsafe_external_sorter.ts";
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
 * const sorter = new UnsafeExternalSorter(task, { name: "sort", records: 5000, bytes: 500000 });
 * while (sorter.step() === "progress");
 * // The first array, a page, and a second array when 2730 rows have filled the first.
 * assertEquals(asked, [65536, 1048576, 131072]);
 * assertEquals(sorter.peakExecutionMemory, 1048576 + 131072);
 * ```
 */
export class UnsafeExternalSorter extends SteppedConsumer {
  readonly #recordBytes: number;
  /** A record with its length. */
  readonly #recordBytesInPage: number;
  /** Least bytes of a page: one record. */
  readonly #pageRequest: number;
  readonly #initialLongs: number;
  readonly #threshold: number;
  readonly #array: PointerArray;
  readonly #pages: MemoryBlock[] = [];
  #pageBytes = 0;
  /** Records that still fit into the last page. */
  #roomInPage = 0;
  #peak = 0;
  /** The page under the row that is being read, after the others were spilled. */
  #lastPage: MemoryBlock | null = null;
  /** Pages freed by the spill that waits for its pointer array. */
  #spilledBytes = 0;

  constructor(
    taskMemoryManager: TaskMemoryManager,
    input: ConsumerInput,
    options: { host?: ConsumerHost; settings?: SorterSettings } = {},
  ) {
    super(taskMemoryManager, taskMemoryManager.tungstenMemoryMode, input, options);
    const { settings } = options;
    this.#recordBytes = input.records > 0 ? input.bytes / input.records : 0;
    this.#recordBytesInPage = this.#recordBytes + LENGTH_BYTES;
    this.#pageRequest = Math.ceil(this.#recordBytesInPage);
    this.#initialLongs = (settings?.initialSize ?? 4096) * 2;
    this.#threshold = settings?.numElementsForSpillThreshold ?? 2 ** 31 - 1;
    this.#array = new PointerArray(2, input.parameters?.radixSort === 1);
  }

  override get peakExecutionMemory(): number {
    return Math.max(this.#peak, this.#memoryUsage);
  }

  protected override *run(): Steps {
    const { records } = this.input;
    if (!(yield* this.#takeArray(this.#initialLongs))) return false;
    for (let inserted = 0; inserted < records;) {
      let room = this.#room();
      if (room === 0) {
        this.nextAt = inserted / records;
        yield "progress";
        if (!this.#lacksOnlyPage) {
          if (!(yield* this.#makeRoom())) return false;
        } else {
          // Most steps, so without a generator of its own.
          let got = this.allocatePage(this.#pageRequest);
          if (got === WAITING) {
            yield "waiting";
            got = this.completed;
          }
          if (got === FAILED) return false;
          this.#pageTaken(got);
          if (this.#array.room === 0 && !(yield* this.#growArray())) return false;
        }
        room = this.#room();
      }
      const count = Math.min(room, records - inserted);
      inserted += count;
      this.#array.records += count;
      this.#roomInPage -= count;
    }
    yield* this.before(1);
    this.#updatePeak();
    this.phase = "read";
    yield* this.before(1);
    while (this.#lastPage !== null) {
      this.freePage(this.#lastPage);
      this.#lastPage = null;
      yield* this.before(1);
    }
    this.#freePages();
    this.#freeArray();
    return true;
  }

  override spill(_size: number, trigger: MemoryConsumer): number {
    if (trigger === this) return this.#spillInserted();
    return this.phase === "read" ? this.#spillReader(trigger) : 0;
  }

  override resumeSpill(result: number): number {
    return this.#arrayTaken(result);
  }

  /** Records that can be inserted without a request. */
  #room(): number {
    const untilThreshold = Math.max(0, this.#threshold - this.#array.records);
    return Math.min(this.#array.room, this.#roomInPage, untilThreshold);
  }

  get #lacksOnlyPage(): boolean {
    return this.#roomInPage < 1 && this.#array.room > 0 && this.#array.records < this.#threshold;
  }

  /** What insertRecord does before it writes a record that needs room. */
  *#makeRoom(): Steps {
    if (this.#array.records >= this.#threshold && !(yield* this.#forceSpill())) return false;
    if (!(yield* this.#growArray())) return false;
    if (this.#roomInPage < 1 && !(yield* this.#takePage())) return false;
    // The page may have come from a spill, which took the array with it.
    return yield* this.#growArray();
  }

  *#forceSpill(): Steps {
    const freed = this.#spillInserted();
    if (freed !== WAITING) return freed !== FAILED;
    yield "waiting";
    return this.#arrayTaken(this.completed) !== FAILED;
  }

  *#takePage(): Steps {
    const got = yield* this.ended(this.allocatePage(this.#pageRequest));
    if (got === FAILED) return false;
    this.#pageTaken(got);
    return true;
  }

  #pageTaken(got: number): void {
    this.#pages.push(this.page!);
    this.#pageBytes += got;
    this.#roomInPage = Math.max(1, Math.floor(got / this.#recordBytesInPage));
  }

  /** growPointerArrayIfNecessary. */
  *#growArray(): Steps {
    if (this.#array.room > 0) return true;
    if (this.#array.block === null) return yield* this.#takeArray(this.#initialLongs);
    const got = yield* this.ended(this.allocateArray(this.#array.longs * 2));
    const doubled = got === FAILED ? null : this.page;
    if (doubled === null && !(yield* this.#survives())) return false;
    if (this.#array.records > 0) {
      this.#replaceArray(doubled!);
      return true;
    }
    // The request made this sorter spill: a small array will do.
    if (doubled !== null) this.freeArray(doubled);
    if (this.#array.block !== null) return true;
    return yield* this.#takeArray(this.#initialLongs);
  }

  /** The doubled array is not to be had; the sorter goes on if it has spilled, or does so because no page is that large. */
  *#survives(): Steps {
    const { failure } = this.taskMemoryManager;
    if (failure?.className.endsWith("TooLargePageException")) return yield* this.#forceSpill();
    return failure?.outOfMemory !== null && this.#array.records === 0;
  }

  *#takeArray(longs: number): Steps {
    const got = yield* this.ended(this.allocateArray(longs));
    if (got === FAILED) return false;
    this.#replaceArray(this.page!);
    return true;
  }

  #replaceArray(array: MemoryBlock): void {
    this.#freeArray();
    this.#array.block = array;
  }

  #freeArray(): void {
    if (this.#array.block !== null) this.freeArray(this.#array.block);
    this.#array.block = null;
  }

  /** Writes what is in memory to disk and frees the pages. */
  #spillInserted(): number {
    const { records } = this.#array;
    if (records === 0 || this.phase === "read") return 0;
    this.#updatePeak();
    this.#spilledBytes = this.#freePages();
    this.#freeArray();
    this.#array.records = 0;
    this.countSpill(this, this.#spilledBytes, this.#diskBytes(records));
    if (!this.taskMemoryManager.rules.sorterTakesArrayInSpill) return this.#spilledBytes;
    const got = this.allocateArray(this.#initialLongs);
    return got === WAITING ? WAITING : this.#arrayTaken(got);
  }

  /** The array that a spill asked for inside is there, or not. Returns as `spill` does. */
  #arrayTaken(result: number): number {
    if (result === FAILED) return FAILED;
    this.#array.block = this.page;
    return this.#spilledBytes;
  }

  /**
   * SpillableIterator.spill: writes the rows not read yet. The page under the current row stays until the next one is
   * read; there is one from the start, since whoever reads looks at the first row before others ask for memory.
   */
  #spillReader(trigger: MemoryConsumer): number {
    if (this.#array.block === null) return 0;
    const position = this.position();
    const left = Math.round(this.#array.records * (1 - position));
    if (left === 0 && !this.taskMemoryManager.rules.exhaustedSorterSpills) return 0;
    this.#lastPage = this.#pages.pop() ?? null;
    this.#pageBytes -= this.#lastPage?.size ?? 0;
    const freed = this.#freePages() + this.#array.bytes;
    this.#freeArray();
    this.#array.records = 0;
    this.countSpill(trigger, freed, this.#diskBytes(left));
    if (this.#lastPage !== null) this.nextAt = position;
    return freed;
  }

  #diskBytes(records: number): number {
    return Math.round(records * this.#recordBytes * (this.input.diskBytesPerByte ?? 1));
  }

  #freePages(): number {
    const freed = this.#pageBytes;
    for (const page of this.#pages) this.freePage(page);
    this.#pages.length = 0;
    this.#pageBytes = 0;
    this.#roomInPage = 0;
    return freed;
  }

  #updatePeak(): void {
    this.#peak = this.peakExecutionMemory;
  }

  get #memoryUsage(): number {
    return this.#pageBytes + this.#array.bytes;
  }
}
