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
  records = 0;
  readonly #longsPerRecord: number;
  readonly #divisor: number;
  #block: MemoryBlock | null = null;
  /** Records that fit into the block. */
  #capacity = 0;

  constructor(longsPerRecord: 1 | 2, radixSort: boolean) {
    this.#longsPerRecord = longsPerRecord;
    this.#divisor = radixSort ? 2 : 1.5;
  }

  get block(): MemoryBlock | null {
    return this.#block;
  }

  set block(block: MemoryBlock | null) {
    this.#block = block;
    this.#capacity = Math.floor(Math.trunc(this.longs / this.#divisor) / this.#longsPerRecord);
  }

  /** 64-bit words. */
  get longs(): number {
    return this.bytes / 8;
  }

  get bytes(): number {
    return this.#block === null ? 0 : this.#block.size;
  }

  /** Records that can be added. */
  get room(): number {
    return Math.max(0, this.#capacity - this.records);
  }
}
