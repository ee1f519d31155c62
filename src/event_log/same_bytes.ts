/**
 * Pieces of valid JSON that tend to come again, compared eight bytes at a time.
 *
 * @module
 */

/** Longer values are not kept for comparison with the next. */
const MAX_BYTES = 8192;
/** Shorter ones are read as fast as compared. */
const MIN_BYTES = 4;

/**
 * Whether the `length` bytes at `at` are those at `from` of `json`, which is valid JSON: then two equal doubles are equal bytes (only
 * zeros of different sign are not, and no valid JSON has such bytes), and unequal ones are unequal bytes or not ASCII, which is taken
 * for unequal.
 */
export function isSameAt(view: DataView, at: number, json: DataView, length: number, from = 0): boolean {
  if (length >= 8) {
    const last = length - 8;
    for (let i = 0; i < last; i += 8) {
      if (view.getFloat64(at + i, true) !== json.getFloat64(from + i, true)) return false;
    }
    return view.getFloat64(at + last, true) === json.getFloat64(from + last, true);
  }
  for (let i = 0; i < length; i++) if (view.getUint8(at + i) !== json.getUint8(from + i)) return false;
  return true;
}

/**
 * The value that stood at a place the last time, with its bytes: many fields have the same value in every line, which is then
 * compared instead of read.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ValueMemo } from "./same_bytes.ts";
 *
 * const bytes = new TextEncoder().encode('"2.4.0","2.4.0"');
 * const view = new DataView(bytes.buffer);
 * const memo = new ValueMemo();
 * memo.keep(bytes, 0, 7, "2.4.0");
 * assertEquals(memo.match(view, 8, 15), 7);
 * assertEquals(memo.value, "2.4.0");
 * ```
 */
export class ValueMemo {
  /** The value of the bytes that were kept last. */
  value: unknown = undefined;
  #bytes = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;
  #misses = 0;

  /** The length of the kept bytes if they stand at `at`, within `end`; else -1. */
  match(view: DataView, at: number, end: number): number {
    const length = this.#length;
    if (length === 0) return -1;
    if (at + length > end || !isSameAt(view, at, this.#view, length)) {
      this.#misses++;
      return -1;
    }
    // Values that take turns hit now and then: they are not worth keeping each time.
    this.#misses >>= 1;
    return length;
  }

  /** Keeps a value; the more often values differed in a row, the more seldom. */
  keep(bytes: Uint8Array, start: number, end: number, value: unknown): void {
    const length = end - start;
    const misses = this.#misses;
    if (length < MIN_BYTES || length > MAX_BYTES || (misses & (misses - 1)) !== 0) return;
    if (this.#bytes.length < length) {
      this.#bytes = new Uint8Array(length);
      this.#view = new DataView(this.#bytes.buffer);
    }
    for (let i = 0; i < length; i++) this.#bytes[i] = bytes[start + i];
    this.#length = length;
    this.value = value;
  }
}
