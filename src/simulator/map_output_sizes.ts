/**
 * Sizes of a map output by reducer, worked out when they are asked for: a map task of a shuffle with many reducers does
 * not keep one byte for each.
 *
 * @module
 */
import { compressSize, decompressSize, MAP_STATUS_DEFAULTS, type MapOutputSizes } from "./scheduler/map_status.ts";
import type { Column } from "./workload.ts";

/** The reducers' shares of one shuffle. */
export interface ReducerShares {
  readonly numReducers: number;
  /** Null: equal. */
  readonly shares: Column | null;
}

/**
 * What the driver knows of one map output (MapStatus, Spark 2.4.0): each size as a power of 1.1 up to 2,000 reducers,
 * above that the average of the blocks that are not empty and not huge.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SharedMapOutputSizes } from "./map_output_sizes.ts";
 *
 * const sizes = new SharedMapOutputSizes(4000, { numReducers: 4, shares: null });
 * assertEquals(sizes.getSizeForBlock(2), 1051); // 1,000 bytes: 1.1^73, the next power
 * ```
 */
export class SharedMapOutputSizes implements MapOutputSizes {
  /** Of the blocks that are not empty and not huge; -1: not asked for yet. */
  #averageSize = -1;

  constructor(private readonly totalBytes: number, private readonly reducers: ReducerShares) {}

  getSizeForBlock(reduceId: number): number {
    const { numReducers, shares } = this.reducers;
    const size = Math.trunc(this.totalBytes * (shares === null ? 1 / numReducers : shares[reduceId]));
    if (size <= 0) return 0;
    const { minPartitionsToHighlyCompress, accurateBlockThreshold } = MAP_STATUS_DEFAULTS;
    if (numReducers <= minPartitionsToHighlyCompress || size >= accurateBlockThreshold) {
      return decompressSize(compressSize(size));
    }
    if (this.#averageSize < 0) this.#averageSize = this.#average();
    return this.#averageSize;
  }

  #average(): number {
    const { numReducers, shares } = this.reducers;
    if (shares === null) return Math.trunc(this.totalBytes / numReducers);
    let count = 0;
    let bytes = 0;
    for (let i = 0; i < numReducers; i++) {
      const size = Math.trunc(this.totalBytes * shares[i]);
      if (size <= 0 || size >= MAP_STATUS_DEFAULTS.accurateBlockThreshold) continue;
      count++;
      bytes += size;
    }
    return count > 0 ? Math.trunc(bytes / count) : 0;
  }
}
