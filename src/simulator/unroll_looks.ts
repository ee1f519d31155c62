/**
 * When unrolling looks at the size of what it has (MemoryStore.putIterator).
 *
 * @module
 */

/** A partition whose size is taken to grow evenly. */
export interface Looks {
  readonly elements: number;
  readonly elementBytes: number;
  /** spark.storage.unrollMemoryCheckPeriod */
  readonly checkPeriod: number;
}

/**
 * The first look at or after an element that finds the size at what is reserved or above; `elements` or more when none does.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { nextLook } from "./unroll_looks.ts";
 *
 * // 1 MiB is reached with the 1,049th element of 1,000 bytes; every 16th is looked at.
 * assertEquals(nextLook(0, 1048576, { elements: 5000, elementBytes: 1000, checkPeriod: 16 }), 1056);
 * ```
 */
export function nextLook(element: number, reservedBytes: number, { elementBytes, checkPeriod }: Looks): number {
  const needed = Math.ceil(reservedBytes / elementBytes) - 1;
  return needed <= element ? element : element + Math.ceil((needed - element) / checkPeriod) * checkPeriod;
}
