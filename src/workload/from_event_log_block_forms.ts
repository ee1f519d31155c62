/**
 * The size of a cached partition in the form that a log did not show: objects or serialized bytes.
 *
 * @module
 */

/** SizeEstimator.estimate samples arrays of at least so many elements (ARRAY_SIZE_FOR_SAMPLING, Spark 1.x to 4.x). */
const ARRAY_SIZE_FOR_SAMPLING = 400;
/** Elements of one of its two samples (ARRAY_SAMPLE_SIZE). */
const ARRAY_SAMPLE_SIZE = 100;

/** What an element costs as objects beyond its serialized bytes, at most: headers, references, padding, array slots. */
const OBJECT_OVERHEAD_BYTES = 64;
/** Small objects serialize to about this share of their size (Java serialization and Kryo alike within a third). */
const SMALL_OBJECT_SHARE = 0.5;

/**
 * Elements that SizeEstimator counts of an array of n: from 400 on it samples two times 100 and extrapolates with an
 * integer division, (n - 100) / 100, so what is beyond a full hundred is lost (SizeEstimator.visitArray).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { estimatedElements } from "./from_event_log_block_forms.ts";
 *
 * assertEquals([estimatedElements(399), estimatedElements(640)], [399, 600]);
 * ```
 */
export function estimatedElements(elements: number): number {
  return elements < ARRAY_SIZE_FOR_SAMPLING ? elements : Math.floor(elements / ARRAY_SAMPLE_SIZE) * ARRAY_SAMPLE_SIZE;
}

/**
 * Bytes of a block as serialized data, from its size as objects. An assumption about ordinary data: an element costs
 * some tens of bytes more as objects, but no more than half of its size.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { serializedFromObjects } from "./from_event_log_block_forms.ts";
 *
 * // 256 arrays of 64 KiB, Spark 2.4.0: 16,782,352 bytes as objects, 16,779,821 serialized
 * assertEquals(Math.abs(serializedFromObjects(16_782_352, 256) / 16_779_821 - 1) < 0.002, true);
 * ```
 */
export function serializedFromObjects(bytes: number, elements: number | null): number {
  if (elements === null || elements <= 0) return Math.round(bytes * SMALL_OBJECT_SHARE);
  const actual = bytes * (elements / estimatedElements(elements));
  return Math.round(Math.max(actual * SMALL_OBJECT_SHARE, actual - OBJECT_OVERHEAD_BYTES * elements));
}

/**
 * The inverse: bytes of a block as SizeEstimator sees its objects, from its serialized size.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { objectsFromSerialized, serializedFromObjects } from "./from_event_log_block_forms.ts";
 *
 * assertEquals(objectsFromSerialized(serializedFromObjects(1_000_000, 5000), 5000), 1_000_000);
 * ```
 */
export function objectsFromSerialized(bytes: number, elements: number | null): number {
  if (elements === null || elements <= 0) return Math.round(bytes / SMALL_OBJECT_SHARE);
  const actual = Math.min(bytes / SMALL_OBJECT_SHARE, bytes + OBJECT_OVERHEAD_BYTES * elements);
  return Math.round(actual * (estimatedElements(elements) / elements));
}
