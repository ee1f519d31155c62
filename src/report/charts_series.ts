/**
 * Values over the buckets of a time grid: states, of which the fullest and the last of each bucket are kept, and
 * values that change by steps.
 *
 * @module
 */
import type { GridHolder } from "./charts_time_grid.ts";

/**
 * States over time. A state is `width` numbers, the first of which says how full it is. Only buckets in which
 * something changed are held, each with its fullest and its last state.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { StateSeries } from "./charts_series.ts";
 *
 * const series = new StateSeries(1);
 * series.add(0, Float64Array.of(5));
 * series.add(1, Float64Array.of(9));
 * series.add(1, Float64Array.of(2));
 * series.halve();
 * assertEquals(series.buckets, [0]);
 * assertEquals([...series.fullest(0), ...series.last(0)], [9, 2]);
 * ```
 */
export class StateSeries implements GridHolder {
  /** The buckets that are held, ascending. */
  readonly buckets: number[] = [];
  readonly #width: number;
  /** For the i-th bucket its fullest state at 2 i, its last at 2 i + 1. */
  #states: Float64Array;

  /** @param width numbers in a state */
  constructor(width: number) {
    this.#width = width;
    this.#states = new Float64Array(4 * 2 * width);
  }

  /** Takes a state; gives whether a bucket was added. Buckets come in ascending order; an earlier one counts as the last. */
  add(bucket: number, state: Float64Array): boolean {
    let index = this.buckets.length - 1;
    const isNew = index < 0 || this.buckets[index] < bucket;
    if (isNew) {
      index = this.buckets.push(bucket) - 1;
      this.#reserve(this.buckets.length);
    }
    const at = index * 2 * this.#width;
    if (isNew || state[0] >= this.#states[at]) this.#states.set(state, at);
    this.#states.set(state, at + this.#width);
    return isNew;
  }

  /** The fullest state of the i-th bucket held. */
  fullest(index: number): Float64Array {
    const at = index * 2 * this.#width;
    return this.#states.subarray(at, at + this.#width);
  }

  /** The last state of the i-th bucket held. */
  last(index: number): Float64Array {
    const at = (index * 2 + 1) * this.#width;
    return this.#states.subarray(at, at + this.#width);
  }

  halve(): void {
    const { buckets } = this;
    let kept = 0;
    for (let i = 0; i < buckets.length; i++) {
      const bucket = Math.floor(buckets[i] / 2);
      if (kept > 0 && buckets[kept - 1] === bucket) {
        if (this.fullest(i)[0] > this.fullest(kept - 1)[0]) {
          this.fullest(kept - 1).set(this.fullest(i));
        }
        this.last(kept - 1).set(this.last(i));
        continue;
      }
      buckets[kept] = bucket;
      this.fullest(kept).set(this.fullest(i));
      this.last(kept).set(this.last(i));
      kept++;
    }
    buckets.length = kept;
  }

  #reserve(count: number): void {
    const needed = count * 2 * this.#width;
    if (needed <= this.#states.length) return;
    const larger = new Float64Array(needed * 2);
    larger.set(this.#states);
    this.#states = larger;
  }
}

/**
 * A value that changes by steps: what is added at a bucket holds from there on.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { StepSeries } from "./charts_series.ts";
 *
 * const steps = new StepSeries();
 * steps.add(2, 100);
 * steps.add(5, -100);
 * steps.halve();
 * assertEquals([...steps.byBucket], [[1, 100], [2, -100]]);
 * ```
 */
export class StepSeries implements GridHolder {
  /** Change by bucket, in no order. */
  readonly byBucket = new Map<number, number>();

  /** The value changes by `delta` from this bucket on. */
  add(bucket: number, delta: number): void {
    this.byBucket.set(bucket, (this.byBucket.get(bucket) ?? 0) + delta);
  }

  halve(): void {
    const old = [...this.byBucket];
    this.byBucket.clear();
    for (const [bucket, delta] of old) this.add(Math.floor(bucket / 2), delta);
  }
}
