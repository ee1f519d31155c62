/**
 * The first-level map of a hash aggregation with generated code (RowBasedHashMapGenerator): which groups it keeps.
 *
 * @module
 */
import { exp } from "../../../prng.ts";

const HALVINGS = 60;

/**
 * A map of a fixed number of rows in twice as many buckets. A group looks at two neighbouring buckets; it stays out when
 * both are taken by others, and once the rows are used up. What stays out goes to the second-level map.
 *
 * For groups that hash evenly, a run of n buckets is still empty after g groups in b buckets with the probability
 * exp(-n t) exp(1 - t - exp(-t)), t = g / b: each of its buckets can be hit, and the first one also when the bucket
 * before it is taken and hit. With n = 1 that gives the buckets taken, which are the rows.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { FastHashMap } from "./fast_hash_map.ts";
 *
 * const map = new FastHashMap(65536, 65536);
 * assertEquals(Math.round(map.overflowOf(100)), 0);
 * assertEquals(Math.round(map.overflowOf(50000)), 2855);
 * assertEquals(map.overflowOf(200000), 200000 - 65536);
 * ```
 */
export class FastHashMap {
  /** Rows that it can hold: its capacity, or what fits into its page. */
  readonly maxRows: number;
  readonly #buckets: number;
  /** Groups that have come when its rows are used up. */
  readonly #groupsWhenFull: number;

  constructor(capacity: number, maxRows: number) {
    this.maxRows = maxRows;
    this.#buckets = capacity * 2;
    this.#groupsWhenFull = inverse((groups) => this.#rowsWithoutLimit(groups), maxRows, this.#buckets);
  }

  /** Groups kept, of the first `groups`. */
  rowsOf(groups: number): number {
    return groups >= this.#groupsWhenFull ? this.maxRows : this.#rowsWithoutLimit(groups);
  }

  /** Groups that went on to the second-level map, of the first `groups`. */
  overflowOf(groups: number): number {
    return groups - this.rowsOf(groups);
  }

  /** Groups that have come when the second-level map has got `overflow` of them. */
  groupsUntil(overflow: number): number {
    if (overflow >= this.#groupsWhenFull - this.maxRows) return overflow + this.maxRows;
    return inverse((groups) => groups - this.#rowsWithoutLimit(groups), overflow, this.#groupsWhenFull);
  }

  #rowsWithoutLimit(groups: number): number {
    if (this.#buckets === 0) return 0;
    const t = groups / this.#buckets;
    return this.#buckets * (1 - exp(1 - 2 * t - exp(-t)));
  }
}

/** The argument in [0, high] at which a rising function has the value. */
function inverse(f: (x: number) => number, value: number, high: number): number {
  let low = 0;
  for (let i = 0; i < HALVINGS && low < high; i++) {
    const middle = (low + high) / 2;
    if (f(middle) < value) low = middle;
    else high = middle;
  }
  return high;
}
