/**
 * The array of record pointers in Spark's sorters: how many records fit before it has to grow.
 *
 * @module
 */
import type { MemoryBlock } from "../memory_consumer.ts";

/**
 * A pointer array (UnsafeInMemorySorter, ShuffleInMemorySorter). Radix sort leaves half of it free as its buffer,
 * TimSort a third.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { PointerArray } from "./pointer_array.ts";
 *
 * const array = new PointerArray(2, false);
 * array.block = { size: 65536, pageNumber: 0 };
 * assertEquals(array.room, 2730); // 8192 words, 5461 of them usable
 * array.records = 2730;
 * assertEquals(array.room, 0);
 * ```
 */
export class PointerArray {
  block: MemoryBlock | null = null;
  records = 0;
  readonly #longsPerRecord: number;
  readonly #divisor: number;

  constructor(longsPerRecord: 1 | 2, radixSort: boolean) {
    this.#longsPerRecord = longsPerRecord;
    this.#divisor = radixSort ? 2 : 1.5;
  }

  /** 64-bit words. */
  get longs(): number {
    return this.bytes / 8;
  }

  get bytes(): number {
    return this.block === null ? 0 : this.block.size;
  }

  /** Records that can be added. */
  get room(): number {
    const usable = Math.trunc(this.longs / this.#divisor);
    return Math.max(0, Math.floor(usable / this.#longsPerRecord) - this.records);
  }
}
