/**
 * How large Spark estimates an in-memory collection of objects to be, by what has been put in (SizeTracker on
 * AppendOnlyMap and PartitionedPairBuffer).
 *
 * @module
 */
import { KeyArrivals } from "./key_arrivals.ts";

/** Slots that a collection begins with. */
const INITIAL_CAPACITY = 64;
/** Share of the slots that AppendOnlyMap fills before it doubles. */
const LOAD_FACTOR = 0.7;
/** Header of an array, and what two references (key and value) take with compressed pointers. */
const ARRAY_HEADER_BYTES = 16;
const SLOT_BYTES = 8;

/** Estimated size of a collection after so many records since it was empty. */
export interface CollectionSize {
  /** @param before records that had come before the collection was empty */
  bytesAfter(records: number, before: number): number;
}

/** What a collection is made of. */
export interface CollectionShape {
  /** All that is put in, when nothing is spilled. */
  readonly records: number;
  /** Estimated size of the collection that holds all of it. */
  readonly bytes: number;
  /** Distinct keys of a map; null for a buffer, in which every record has its slot. */
  readonly keys: number | null;
  /** Share of the objects' bytes that each new key brings; the rest comes with each record. */
  readonly keyShare: number;
}

/**
 * Size as slots and objects: an array of references that doubles (which shows as a jump, because the collection is
 * sampled anew after it), and objects that come with each record or each new key.
 *
 * Spark samples the objects and extrapolates in between; for records of even size that is what is computed here. Its
 * samples scatter by some 2 %.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SlotsAndObjects } from "./collection_size.ts";
 *
 * // byte[100] values under Long keys: 120 + 24 bytes each.
 * const records = 45888;
 * const bytes = records * 144 + 131072 * 8 + 16;
 * const size = new SlotsAndObjects({ records, bytes, keys: records, keyShare: 1 });
 * assertEquals(Math.round(size.bytesAfter(45875)), 45875 * 144 + 65536 * 8 + 16);
 * assertEquals(Math.round(size.bytesAfter(45876)), 45876 * 144 + 131072 * 8 + 16);
 * ```
 */
export class SlotsAndObjects implements CollectionSize {
  readonly #shape: CollectionShape;
  readonly #arrivals: KeyArrivals | null;
  readonly #bytesPerKey: number;
  readonly #bytesPerRecord: number;

  constructor(shape: CollectionShape) {
    const { records, bytes, keyShare } = shape;
    const keys = shape.keys ?? records;
    this.#shape = shape;
    this.#arrivals = shape.keys === null ? null : new KeyArrivals(records, keys);
    const objects = Math.max(0, bytes - this.#arrayBytes(keys));
    this.#bytesPerKey = keys > 0 ? objects * keyShare / keys : 0;
    this.#bytesPerRecord = records > 0 ? objects * (1 - keyShare) / records : 0;
  }

  bytesAfter(records: number): number {
    const keys = this.#arrivals?.seenAfter(records) ?? records;
    return this.#arrayBytes(keys) + keys * this.#bytesPerKey + records * this.#bytesPerRecord;
  }

  #arrayBytes(keys: number): number {
    let capacity = INITIAL_CAPACITY;
    if (this.#shape.keys === null) {
      while (capacity < keys) capacity *= 2;
    } else {
      while (Math.trunc(capacity * LOAD_FACTOR) < keys) capacity *= 2;
    }
    return ARRAY_HEADER_BYTES + capacity * SLOT_BYTES;
  }
}

/**
 * Size that grows evenly with the records: where only the total is known.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EvenSize } from "./collection_size.ts";
 *
 * assertEquals(new EvenSize(100, 5000).bytesAfter(50), 2500);
 * ```
 */
export class EvenSize implements CollectionSize {
  readonly #bytesPerRecord: number;

  constructor(records: number, bytes: number) {
    this.#bytesPerRecord = records > 0 ? bytes / records : 0;
  }

  bytesAfter(records: number): number {
    return records * this.#bytesPerRecord;
  }
}
