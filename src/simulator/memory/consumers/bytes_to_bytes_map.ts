/**
 * The memory of an org.apache.spark.unsafe.map.BytesToBytesMap: an array with two words a slot, and pages of records.
 *
 * @module
 */
import type { MemoryBlock, MemoryConsumer } from "../memory_consumer.ts";

/** BytesToBytesMap.MAX_CAPACITY. */
const MAX_CAPACITY = 1 << 29;
/** Share of the capacity that is filled before the array grows. */
const LOAD_FACTOR = 0.5;
/** A page begins with its number of records. */
const PAGE_HEADER_BYTES = 4;
/** Before and after key and value: total length, key length, pointer to the next value of the key. */
const RECORD_OVERHEAD_BYTES = 4 + 4 + 8;

/**
 * What a map holds, and what it needs next. It belongs to a consumer, which makes the requests.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { BytesToBytesMap } from "./bytes_to_bytes_map.ts";
 *
 * assertEquals(BytesToBytesMap.capacityFor(10000), 16384);
 * assertEquals(BytesToBytesMap.capacityFor(1), 64);
 * ```
 */
export class BytesToBytesMap {
  array: MemoryBlock | null = null;
  readonly pages: MemoryBlock[] = [];
  numKeys = 0;
  numValues = 0;
  /** An attempt to grow the array has failed. */
  canGrow = true;
  #capacity = 0;
  #pageBytes = 0;
  #roomInPage = 0;
  #peak = 0;
  readonly #recordBytes: number;

  constructor(
    readonly owner: MemoryConsumer,
    /** Key and value together. */
    recordBytes: number,
  ) {
    this.#recordBytes = recordBytes + RECORD_OVERHEAD_BYTES;
  }

  /** The capacity that is allocated for so many keys: a power of 2, 64 at least. */
  static capacityFor(keys: number): number {
    let capacity = 64;
    while (capacity < keys && capacity < MAX_CAPACITY) capacity *= 2;
    return capacity;
  }

  /** Words of the array for a capacity. */
  static longsFor(capacity: number): number {
    return capacity * 2;
  }

  get capacity(): number {
    return this.#capacity;
  }

  /** Keys at which the array grows. */
  get growthThreshold(): number {
    return Math.trunc(this.#capacity * LOAD_FACTOR);
  }

  /** Whether a key more is refused: the map is full and cannot grow. */
  get full(): boolean {
    return this.numKeys === MAX_CAPACITY - 1 || (!this.canGrow && this.numKeys >= this.growthThreshold);
  }

  /** Whether the array has to grow before the next key. */
  get mustGrow(): boolean {
    return this.canGrow && this.numKeys >= this.growthThreshold;
  }

  /** The array cannot get any larger. */
  get atMaxCapacity(): boolean {
    return this.#capacity >= MAX_CAPACITY;
  }

  /** Records that fit into the current page. */
  get roomInPage(): number {
    return this.#roomInPage;
  }

  /** Bytes to ask for when the next record needs a page. */
  get requiredPageBytes(): number {
    return Math.ceil(this.#recordBytes) + PAGE_HEADER_BYTES;
  }

  /** Pages and array (getTotalMemoryConsumption). */
  get totalMemoryConsumption(): number {
    return this.#pageBytes + (this.array?.size ?? 0);
  }

  /** getPeakMemoryUsedBytes. */
  get peakMemoryUsedBytes(): number {
    return Math.max(this.#peak, this.totalMemoryConsumption);
  }

  /** A new array takes the place of the old one, which is given back. */
  replaceArray(array: MemoryBlock, capacity: number): void {
    this.freeArray();
    this.array = array;
    this.#capacity = capacity;
  }

  addPage(page: MemoryBlock): void {
    this.pages.push(page);
    this.#pageBytes += page.size;
    this.#roomInPage = this.recordsIn(page);
  }

  /** Records that a page holds when it is full. */
  recordsIn(page: MemoryBlock): number {
    return Math.max(1, Math.floor((page.size - PAGE_HEADER_BYTES) / this.#recordBytes));
  }

  /** Adds records to the current page, each with a key of its own unless `keys` says otherwise. */
  append(records: number, keys = records): void {
    this.numValues += records;
    this.numKeys += keys;
    this.#roomInPage -= records;
  }

  updatePeak(): void {
    this.#peak = this.peakMemoryUsedBytes;
  }

  freeArray(): void {
    if (this.array !== null) this.owner.freeArray(this.array);
    this.array = null;
  }

  /** Gives a page back: the first one (read), or the last one (spilled while being read). */
  freePage(which: "first" | "last"): number {
    const page = which === "first" ? this.pages.shift()! : this.pages.pop()!;
    this.#pageBytes -= page.size;
    this.owner.freePage(page);
    return page.size;
  }

  /** Gives everything back and forgets the keys (reset without its new array, free). */
  clear(): void {
    this.updatePeak();
    this.freeArray();
    while (this.pages.length > 0) this.freePage("last");
    this.numKeys = 0;
    this.numValues = 0;
    this.canGrow = true;
    this.#roomInPage = 0;
  }
}
