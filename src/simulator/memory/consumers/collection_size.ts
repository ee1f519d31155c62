/**
 * How large Spark estimates an in-memory collection of objects to be, by what has been put in (SizeTracker on
 * AppendOnlyMap and PartitionedPairBuffer).
 *
 * @module
 */
import { KeyArrivals } from "./key_arrivals.ts";

/** Slots that a collection begins with. */
export const INITIAL_CAPACITY = 64;
/** Header of an array, and what two references (key and value) take with compressed pointers. */
export const ARRAY_HEADER_BYTES = 16;
export const SLOT_BYTES = 8;
/** Share of the slots that AppendOnlyMap fills before it doubles. */
const LOAD_FACTOR = 0.7;

/** Estimated size of a collection. */
export interface CollectionSize {
  /**
   * Bytes with so many records since it was empty.
   *
   * @param before records that had come before it was empty
   */
  bytesAfter(records: number, before: number): number;
  /** The first number of records from `from` to `until` with at least so many bytes; Infinity when there is none. */
  recordsUntil(bytes: number, from: number, until: number, before: number): number;
}

/** A size that never falls: the records are found by halving. */
abstract class RisingSize implements CollectionSize {
  abstract bytesAfter(records: number, before: number): number;

  recordsUntil(bytes: number, from: number, until: number, before: number): number {
    if (this.bytesAfter(until, before) < bytes) return Infinity;
    let low = from;
    let high = until;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.bytesAfter(middle, before) >= bytes) high = middle;
      else low = middle + 1;
    }
    return high;
  }
}

/** What a map of objects is made of. */
export interface MapShape {
  /** All that is put in, when nothing is spilled. */
  readonly records: number;
  /** Estimated size of the map that holds all of it. */
  readonly bytes: number;
  readonly keys: number;
  /** Share of the objects' bytes that each new key brings; the rest comes with each record. */
  readonly keyShare: number;
}

/**
 * A map as slots and objects: an array of references that doubles (which shows as a jump, because the map is sampled anew
 * after it), and objects that come with each record or each new key.
 *
 * Spark samples 200 slots, of which it is chance how many are filled: its estimates scatter by some 2 to 8 % around this.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { MapSize } from "./collection_size.ts";
 *
 * // byte[100] values under Long keys: 120 + 24 bytes each.
 * const records = 45888;
 * const bytes = records * 144 + 131072 * 8 + 16;
 * const size = new MapSize({ records, bytes, keys: records, keyShare: 1 });
 * assertEquals(Math.round(size.bytesAfter(45875)), 45875 * 144 + 65536 * 8 + 16);
 * assertEquals(Math.round(size.bytesAfter(45876)), 45876 * 144 + 131072 * 8 + 16);
 * ```
 */
export class MapSize extends RisingSize {
  readonly #arrivals: KeyArrivals;
  readonly #bytesPerKey: number;
  readonly #bytesPerRecord: number;

  constructor({ records, bytes, keys, keyShare }: MapShape) {
    super();
    this.#arrivals = new KeyArrivals(records, keys);
    const objects = Math.max(0, bytes - arrayBytes(keys));
    this.#bytesPerKey = keys > 0 ? objects * keyShare / keys : 0;
    this.#bytesPerRecord = records > 0 ? objects * (1 - keyShare) / records : 0;
  }

  override bytesAfter(records: number): number {
    const keys = this.#arrivals.seenAfter(records);
    return arrayBytes(keys) + keys * this.#bytesPerKey + records * this.#bytesPerRecord;
  }
}

/** The slots of a map with so many keys. */
function arrayBytes(keys: number): number {
  let capacity = INITIAL_CAPACITY;
  while (Math.trunc(capacity * LOAD_FACTOR) < keys) capacity *= 2;
  return ARRAY_HEADER_BYTES + capacity * SLOT_BYTES;
}

/**
 * Size that grows evenly with the records: where only the total is known.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EvenSize } from "./collection_size.ts";
 *
 * const size = new EvenSize(100, 5000);
 * assertEquals([size.bytesAfter(50), size.recordsUntil(2501, 0, 100, 0)], [2500, 51]);
 * ```
 */
export class EvenSize extends RisingSize {
  readonly #bytesPerRecord: number;

  constructor(records: number, bytes: number) {
    super();
    this.#bytesPerRecord = records > 0 ? bytes / records : 0;
  }

  override bytesAfter(records: number): number {
    return records * this.#bytesPerRecord;
  }
}
