/**
 * A grid of equal time buckets whose width doubles when a run turns out longer than it covers, so that a fold needs
 * no knowledge of the run's length and holds a bounded number of points.
 *
 * @module
 */

/** Something that holds values by bucket and can put each two neighbours together. */
export interface GridHolder {
  /** Buckets 2k and 2k + 1 become bucket k; `widthMs` is the width before. */
  halve(widthMs: number): void;
}

/**
 * Time in buckets, for holders that register themselves.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TimeGrid } from "./charts_time_grid.ts";
 *
 * const grid = new TimeGrid(4);
 * grid.advance(1000);
 * assertEquals(grid.bucketOf(1003), 3);
 * assertEquals(grid.bucketOf(1009), 2);
 * assertEquals(grid.widthMs, 4);
 * ```
 */
export class TimeGrid {
  /** Time of bucket 0 in ms since the epoch; null before the first event with a time. */
  startMs: number | null = null;
  /** The latest time seen. */
  nowMs = 0;
  /** Width of a bucket in ms: a power of two. */
  widthMs = 1;
  readonly #maxBuckets: number;
  readonly #holders: GridHolder[] = [];

  /** @param maxBuckets how many buckets there are at most */
  constructor(maxBuckets: number) {
    this.#maxBuckets = maxBuckets;
  }

  /** From now on `holder` is told when buckets are put together. */
  add(holder: GridHolder): void {
    this.#holders.push(holder);
  }

  /** An event of this time was seen. Times that are no time (0 or less, in damaged logs) are left out. */
  advance(timeMs: number): void {
    if (!(timeMs > 0) || timeMs > Number.MAX_SAFE_INTEGER) return;
    this.startMs ??= timeMs;
    if (timeMs > this.nowMs) this.nowMs = timeMs;
  }

  /** The bucket of a time; what lies before the start is in bucket 0. Widens the buckets if need be. */
  bucketOf(timeMs: number): number {
    this.advance(timeMs);
    const offset = timeMs - (this.startMs ?? timeMs);
    if (!(offset > 0)) return 0;
    while (offset / this.widthMs >= this.#maxBuckets) this.widen();
    return Math.floor(offset / this.widthMs);
  }

  /** Doubles the width. */
  widen(): void {
    for (const holder of this.#holders) holder.halve(this.widthMs);
    this.widthMs *= 2;
  }

  /** Time at which a bucket begins. */
  timeOf(bucket: number): number {
    return (this.startMs ?? 0) + bucket * this.widthMs;
  }
}
