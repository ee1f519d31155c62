/**
 * Sorting of rows: org.apache.spark.util.collection.unsafe.sort.UnsafeExternalSorter, as SortExec, window functions and
 * sort-based aggregation use it.
 *
 * @module
 */
import { INT_MAX } from "../../../spark/conf_entry.ts";
import { FAILED, WAITING } from "../execution_memory.ts";
import type { MemoryBlock, MemoryConsumer } from "../memory_consumer.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import { PointerArray } from "./pointer_array.ts";
import { type ConsumerHost, type ConsumerInput, SteppedConsumer, type StepResult } from "./stepped_consumer.ts";

/** Bytes that hold a record's length in a page (UnsafeAlignedOffset, where unaligned access is possible). */
const LENGTH_BYTES = 4;

/** Where a sorter stands. */
const enum State {
  Begin,
  /** The first array has been asked for. */
  FirstArray,
  /** A record lacks room. */
  MakeRoom,
  /** A forced spill has asked for its array. */
  SpillArray,
  /** A spill forced by the number of records is over. */
  Spilled,
  /** A doubled array has been asked for. */
  ArrayDoubled,
  /** A spill forced because no array is that large is over. */
  Survived,
  /** A first array has been asked for again. */
  ArrayTaken,
  /** A page has been asked for. */
  PageTaken,
  /** All records are in. */
  Inserted,
  /** The sorted records are being read. */
  Read,
  Done,
  Failed,
}

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
  /** Pages of rows; of the array only so many count, since it is filled anew after each spill. */
  readonly #pages: MemoryBlock[] = [];
  #numPages = 0;
  #pageBytes = 0;
  /** Records that still fit into the last page. */
  #roomInPage = 0;
  #peak = 0;
  /** The page under the row that is being read, after the others were spilled. */
  #lastPage: MemoryBlock | null = null;
  /** Pages freed by the spill that waits for its pointer array. */
  #spilledBytes = 0;
  #state: State = State.Begin;
  /** Where to go on behind a spill that the sorter forces and that waits. */
  #afterSpill: State = State.Spilled;
  /** Records inserted so far. */
  #inserted = 0;
  /** A request waits; its result is in `got` when it has ended. */
  #waits = false;
  #got = 0;
  /** The page that the insertion lacks has been asked for. */
  #pageAsked = false;

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
    // A sorter without records does not spill: 0 and less spill before every record but the first, as 1 does.
    this.#threshold = Math.max(1, settings?.numElementsForSpillThreshold ?? INT_MAX);
    this.#array = new PointerArray(2, input.parameters?.radixSort === 1);
  }

  override get peakExecutionMemory(): number {
    return Math.max(this.#peak, this.#memoryUsage);
  }

  override step(): StepResult {
    if (this.#waits) {
      this.#waits = false;
      this.#got = this.completed;
    }
    for (;;) {
      const result = this.#goOn();
      if (result !== null) return result;
      if (this.#waits) return "waiting";
    }
  }

  /** From one request, or its end, to the next. */
  #goOn(): StepResult | null {
    switch (this.#state) {
      case State.Begin:
        return this.#ask(this.allocateArray(this.#initialLongs), State.FirstArray);
      case State.FirstArray:
        if (this.#got === FAILED) return this.#end(State.Failed);
        this.#replaceArray(this.page!);
        return this.#insert();
      case State.MakeRoom:
        this.#pageAsked = false;
        return this.#array.records >= this.#threshold ? this.#forceSpill(State.Spilled) : this.#growArray();
      case State.SpillArray:
        this.#got = this.#arrayTaken(this.#got);
        this.#state = this.#afterSpill;
        return null;
      case State.Spilled:
        return this.#got === FAILED ? this.#end(State.Failed) : this.#growArray();
      case State.ArrayDoubled:
        return this.#arrayDoubled();
      case State.Survived:
        return this.#got === FAILED ? this.#end(State.Failed) : this.#takeSmallArray(null);
      case State.ArrayTaken:
        if (this.#got === FAILED) return this.#end(State.Failed);
        this.#replaceArray(this.page!);
        return this.#arrayHasRoom();
      case State.PageTaken:
        if (this.#got === FAILED) return this.#end(State.Failed);
        this.#pageTaken(this.#got);
        return this.#growArray();
      case State.Inserted:
        this.#updatePeak();
        this.phase = "read";
        return this.#before(1, State.Read);
      case State.Read:
        return this.#read();
      case State.Done:
        return "done";
      case State.Failed:
        return "failed";
    }
  }

  /** Stops before what comes at this place of the phase. */
  #before(fraction: number, state: State): StepResult {
    this.nextAt = fraction;
    this.#state = state;
    return "progress";
  }

  /** Notes the result of a request, or that it waits, and where to go on with it. */
  #ask(result: number, state: State): null {
    this.#state = state;
    if (result === WAITING) this.#waits = true;
    else this.#got = result;
    return null;
  }

  #end(state: State.Done | State.Failed): StepResult {
    this.#state = state;
    return state === State.Done ? "done" : "failed";
  }

  /** Inserts what there is room for. */
  #insert(): StepResult {
    const { records } = this.input;
    while (this.#inserted < records) {
      const room = this.#room();
      if (room === 0) return this.#before(this.#inserted / records, State.MakeRoom);
      const count = Math.min(room, records - this.#inserted);
      this.#inserted += count;
      this.#array.records += count;
      this.#roomInPage -= count;
    }
    return this.#before(1, State.Inserted);
  }

  #read(): StepResult {
    if (this.#lastPage !== null) {
      this.freePage(this.#lastPage);
      this.#lastPage = null;
      return this.#before(1, State.Read);
    }
    this.#freePages();
    this.#freeArray();
    return this.#end(State.Done);
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

  #forceSpill(after: State): null {
    const freed = this.#spillInserted();
    if (freed !== WAITING) return this.#ask(freed, after);
    this.#afterSpill = after;
    return this.#ask(WAITING, State.SpillArray);
  }

  #pageTaken(got: number): void {
    this.#pages[this.#numPages++] = this.page!;
    this.#pageBytes += got;
    this.#roomInPage = Math.max(1, Math.floor(got / this.#recordBytesInPage));
  }

  /** growPointerArrayIfNecessary, before a page is asked for and again behind that: a spill may have taken the array. */
  #growArray(): StepResult | null {
    if (this.#array.room > 0) return this.#arrayHasRoom();
    if (this.#array.block === null) return this.#ask(this.allocateArray(this.#initialLongs), State.ArrayTaken);
    return this.#ask(this.allocateArray(this.#array.longs * 2), State.ArrayDoubled);
  }

  /** What insertRecord does next: a page where that is missing. */
  #arrayHasRoom(): StepResult | null {
    if (this.#pageAsked || this.#roomInPage >= 1) return this.#insert();
    this.#pageAsked = true;
    return this.#ask(this.allocatePage(this.#pageRequest), State.PageTaken);
  }

  /**
   * The doubled array is there, or not to be had: the sorter goes on if it has spilled, or does so because no page is
   * that large.
   */
  #arrayDoubled(): StepResult | null {
    const doubled = this.#got === FAILED ? null : this.page;
    if (doubled === null) {
      const { failure } = this.taskMemoryManager;
      if (failure?.className.endsWith("TooLargePageException")) return this.#forceSpill(State.Survived);
      if (failure?.outOfMemory === null || this.#array.records > 0) return this.#end(State.Failed);
    } else if (this.#array.records > 0) {
      this.#replaceArray(doubled);
      return this.#arrayHasRoom();
    }
    return this.#takeSmallArray(doubled);
  }

  /** The request for the doubled array made this sorter spill: a small one will do. */
  #takeSmallArray(doubled: MemoryBlock | null): StepResult | null {
    if (doubled !== null) this.freeArray(doubled);
    if (this.#array.block !== null) return this.#arrayHasRoom();
    return this.#ask(this.allocateArray(this.#initialLongs), State.ArrayTaken);
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
    this.#lastPage = this.#numPages > 0 ? this.#pages[--this.#numPages] : null;
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
    for (let i = 0; i < this.#numPages; i++) this.freePage(this.#pages[i]);
    this.#numPages = 0;
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
