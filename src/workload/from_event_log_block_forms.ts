/**
 * The size of a cached partition in the form that a log did not show: objects or serialized bytes.
 *
 * @module
 */

/** SizeEstimator.estimate samples arrays of at least so many elements (ARRAY_SIZE_FOR_SAMPLING, Spark 1.x to 4.x). */
const ARRAY_SIZE_FOR_SAMPLING = 400;
/** Elements of one of its two samples (ARRAY_SAMPLE_SIZE). */
const ARRAY_SAMPLE_SIZE = 100;

/**
 * Share of an element's size as objects that its serialized form has. Measured with Java serialization on 3.5.9, bytes
 * as objects and serialized: boxed Long 28, 15; (Long, Long) 44, 25; (Int, String) 108, 42; case class of five fields
 * 139, 73; Row of five 180, 77; String of 20 characters 68, 23; Seq of 20 Int 804, 214; but Array[Double](10) 100, 90.
 */
const OBJECT_SHARE = 0.5;
/** Larger elements are taken for arrays of primitives, which are the same in both forms but for their headers. */
const ARRAY_ELEMENT_BYTES = 4096;

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
 * Bytes of a block as serialized data, from its size as objects. An assumption about ordinary data: small elements are
 * objects of a few fields, of which half is headers, references and padding; large ones are arrays.
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
  if (elements === null || elements <= 0) return Math.round(bytes * OBJECT_SHARE);
  const actual = bytes * (elements / estimatedElements(elements));
  return Math.round(actual / elements < ARRAY_ELEMENT_BYTES ? actual * OBJECT_SHARE : actual);
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
  if (elements === null || elements <= 0) return Math.round(bytes / OBJECT_SHARE);
  const objects = bytes / OBJECT_SHARE;
  const actual = objects / elements < ARRAY_ELEMENT_BYTES ? objects : bytes;
  return Math.round(actual * (estimatedElements(elements) / elements));
}
