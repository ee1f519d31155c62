/**
 * The sizes of a map task's output as the driver keeps them (org.apache.spark.scheduler.MapStatus): one byte each, and
 * above 2,000 partitions the average and the huge ones alone. Reducers plan their fetches by these, not by the true sizes.
 *
 * @module
 */

/** Sizes of one map output by reducer, as the driver tells them. */
export interface MapOutputSizes {
  /** MapStatus.getSizeForBlock: bytes of the block for a reducer. */
  getSizeForBlock(reduceId: number): number;
}

/** MapStatus.LOG_BASE, 1.1, exactly as the double is: its significand over 2^52. */
const BASE_SIGNIFICAND = 4953959590107546n;
const BASE_EXPONENT = 52n;

/** Bytes that a code stands for: floor(1.1^code), 0 for 0. */
const DECOMPRESSED: Float64Array = (() => {
  const sizes = new Float64Array(256);
  let power = 1n;
  for (let code = 1; code < 256; code++) {
    power *= BASE_SIGNIFICAND;
    sizes[code] = Number(power >> (BASE_EXPONENT * BigInt(code)));
  }
  return sizes;
})();

/**
 * MapStatus.compressSize: a size as the exponent of the next power of 1.1, at most 255 (35 GB).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { compressSize, decompressSize } from "./map_status.ts";
 *
 * // Real MapStatus 2.4.0: sizes are kept to within 10 %.
 * assertEquals([0, 1, 2, 100, 1000000].map(compressSize), [0, 1, 8, 49, 145]);
 * assertEquals(decompressSize(145), 1004475);
 * ```
 */
export function compressSize(size: number): number {
  if (size === 0) return 0;
  if (size <= 1) return 1;
  let low = 2;
  let high = 255;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (DECOMPRESSED[middle] >= size) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** MapStatus.decompressSize. */
export function decompressSize(code: number): number {
  return DECOMPRESSED[code];
}

/** One byte for each reducer (CompressedMapStatus). */
export class CompressedMapStatus implements MapOutputSizes {
  readonly #codes: Uint8Array;

  constructor(sizes: ArrayLike<number>) {
    this.#codes = new Uint8Array(sizes.length);
    for (let i = 0; i < sizes.length; i++) {
      this.#codes[i] = compressSize(sizes[i]);
    }
  }

  getSizeForBlock(reduceId: number): number {
    return DECOMPRESSED[this.#codes[reduceId]];
  }
}

/** The average of what is below the threshold, one byte for each huge block, nothing for empty ones (HighlyCompressedMapStatus). */
export class HighlyCompressedMapStatus implements MapOutputSizes {
  readonly #averageSize: number;
  readonly #empty: Uint8Array;
  readonly #huge = new Map<number, number>();

  constructor(sizes: ArrayLike<number>, accurateBlockThreshold: number) {
    this.#empty = new Uint8Array((sizes.length + 7) >> 3);
    let small = 0;
    let smallBytes = 0;
    for (let i = 0; i < sizes.length; i++) {
      const size = sizes[i];
      if (size <= 0) {
        this.#empty[i >> 3] |= 1 << (i & 7);
      } else if (size < accurateBlockThreshold) {
        small++;
        smallBytes += size;
      } else {
        this.#huge.set(i, compressSize(size));
      }
    }
    this.#averageSize = small > 0 ? Math.floor(smallBytes / small) : 0;
  }

  getSizeForBlock(reduceId: number): number {
    if ((this.#empty[reduceId >> 3] & (1 << (reduceId & 7))) !== 0) return 0;
    const code = this.#huge.get(reduceId);
    return code === undefined ? this.#averageSize : DECOMPRESSED[code];
  }
}

/** The settings that decide how sizes are kept. */
export interface MapStatusSettings {
  /** spark.shuffle.minNumPartitionsToHighlyCompress */
  readonly minPartitionsToHighlyCompress: number;
  /** spark.shuffle.accurateBlockThreshold, bytes. */
  readonly accurateBlockThreshold: number;
}

/** Spark's defaults (the first is fixed before 2.4, the second came in 2.2). */
export const MAP_STATUS_DEFAULTS: MapStatusSettings = {
  minPartitionsToHighlyCompress: 2000,
  accurateBlockThreshold: 100 * 1024 * 1024,
};

/**
 * MapStatus.apply: sizes in bytes by reducer as the driver will know them.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { mapStatus } from "./map_status.ts";
 *
 * assertEquals(mapStatus([0, 1000]).getSizeForBlock(1), 1051); // 1.1^73
 * const many = new Float64Array(2001).fill(1000);
 * many[7] = 4000;
 * assertEquals(mapStatus(many).getSizeForBlock(7), 1001); // the average: 2,004,000 / 2001
 * ```
 */
export function mapStatus(
  sizes: ArrayLike<number>,
  settings: MapStatusSettings = MAP_STATUS_DEFAULTS,
): MapOutputSizes {
  return sizes.length > settings.minPartitionsToHighlyCompress
    ? new HighlyCompressedMapStatus(sizes, settings.accurateBlockThreshold)
    : new CompressedMapStatus(sizes);
}
