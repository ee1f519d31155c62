/**
 * Values of JSON found again by their bytes: texts that come again and again in a log (names of metrics, stack traces of stages),
 * lists that several lines repeat.
 *
 * @module
 */
import { isSameAt } from "./same_bytes.ts";

/** The bytes of all values of a table; the oldest make room for new ones. */
const KEPT_BYTES = 1 << 22;
/** Longer values are not kept. */
const MAX_BYTES = 1 << 14;

/**
 * A table of values by a hash of their bytes. Its size is fixed: a value takes the place of another with the same hash, and its bytes
 * the place of those that were kept first.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SameValues } from "./same_values.ts";
 *
 * const bytes = new TextEncoder().encode("[1][1]");
 * const view = new DataView(bytes.buffer);
 * const values = new SameValues<number[]>(16);
 * assertEquals(values.find(view, 0, 6, 5), -1);
 * values.keep(view, 0, 3, 5, [1]);
 * assertEquals(values.find(view, 3, 6, 5), 3);
 * assertEquals(values.found, [1]);
 * ```
 */
export class SameValues<T> {
  /** The value that was found last. */
  found: T | undefined = undefined;
  readonly #kept = new DataView(new ArrayBuffer(KEPT_BYTES));
  readonly #values: (T | undefined)[];
  /** Where a value's bytes are, counted over all bytes ever kept. */
  readonly #positions: Float64Array;
  readonly #lengths: Int32Array;
  readonly #mask: number;
  #end = 0;

  /** `places` is a power of two. */
  constructor(places: number) {
    this.#values = new Array(places);
    this.#positions = new Float64Array(places);
    this.#lengths = new Int32Array(places);
    this.#mask = places - 1;
  }

  /** The length of a known value's bytes that begin at `start` and do not go beyond `end`; -1 when none is known. */
  find(view: DataView, start: number, end: number, hash: number): number {
    const place = hash & this.#mask;
    const length = this.#lengths[place];
    const position = this.#positions[place];
    if (length === 0 || start + length > end || position < this.#end - KEPT_BYTES) return -1;
    if (!isSameAt(view, start, this.#kept, length, position % KEPT_BYTES)) return -1;
    this.found = this.#values[place];
    return length;
  }

  /** Keeps a value for the bytes from `start` to `end`, which are valid JSON. */
  keep(view: DataView, start: number, end: number, hash: number, value: T): void {
    const length = end - start;
    if (length > MAX_BYTES) return;
    // Bytes of one value are not split.
    const room = KEPT_BYTES - this.#end % KEPT_BYTES;
    if (room < length) this.#end += room;
    const place = hash & this.#mask;
    this.#values[place] = value;
    this.#positions[place] = this.#end;
    this.#lengths[place] = length;
    const to = this.#end % KEPT_BYTES;
    let i = 0;
    for (; i + 4 <= length; i += 4) this.#kept.setInt32(to + i, view.getInt32(start + i, true), true);
    for (; i < length; i++) this.#kept.setUint8(to + i, view.getUint8(start + i));
    this.#end += length;
  }
}
