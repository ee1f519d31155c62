/**
 * How many distinct keys have come after so many records, when keys come in no order.
 *
 * @module
 */
import { exp, log } from "../../../prng.ts";

/** Halvings of the interval in which a root lies: enough for doubles. */
const HALVINGS = 60;

/** (1 - e^-x) / x, the share of records that bring a new key when x records come for each key there could be. */
function newShare(x: number): number {
  return x < 1e-6 ? 1 - x / 2 : (1 - exp(-x)) / x;
}

/**
 * Records whose keys are drawn at random and evenly from a set: after r of them 1 - e^(-r / set) of the set has been
 * seen. The set is such that `records` records show `keys` distinct ones.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { KeyArrivals } from "./key_arrivals.ts";
 *
 * const arrivals = new KeyArrivals(1000, 500);
 * assertEquals(Math.round(arrivals.seenAfter(1000)), 500);
 * assertEquals(Math.round(arrivals.seenAfter(500)), 345); // most new keys come early
 * assertEquals(Math.round(arrivals.recordsUntil(500)), 1000);
 * assertEquals(new KeyArrivals(10, 10).recordsUntil(7), 7); // every record has its own key
 * ```
 */
export class KeyArrivals {
  /** Keys there could be; Infinity when every record has its own. */
  readonly set: number;

  constructor(records: number, keys: number) {
    this.set = keys >= records ? Infinity : records / KeyArrivals.#recordsPerKey(keys / records);
  }

  /** Distinct keys among the first `records`. */
  seenAfter(records: number): number {
    if (this.set === Infinity) return records;
    return this.set * (1 - exp(-records / this.set));
  }

  /** Records until `keys` distinct ones have come. */
  recordsUntil(keys: number): number {
    if (this.set === Infinity) return keys;
    const left = 1 - keys / this.set;
    return left <= 0 ? Infinity : -this.set * log(left);
  }

  /** The x at which `newShare` is the given share. */
  static #recordsPerKey(share: number): number {
    let low = 0;
    let high = 1 / share;
    for (let i = 0; i < HALVINGS; i++) {
      const middle = (low + high) / 2;
      if (newShare(middle) > share) low = middle;
      else high = middle;
    }
    return (low + high) / 2;
  }
}
