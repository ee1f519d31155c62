/**
 * When the groups of an aggregation reach its second-level map.
 *
 * @module
 */
import { exp, log } from "../../../prng.ts";
import type { FastHashMap } from "./fast_hash_map.ts";
import { KeyArrivals } from "./key_arrivals.ts";

/**
 * Rows that fill a map, which may be emptied in between: the n-th group since it was empty comes with which row?
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { FastHashMap } from "./fast_hash_map.ts";
 * import { GroupArrivals } from "./group_arrivals.ts";
 *
 * const arrivals = new GroupArrivals(1000, 1000, new FastHashMap(0, 0));
 * assertEquals([arrivals.rowOf(10), arrivals.groupsAtEnd], [10, 1000]);
 * arrivals.emptied(400);
 * assertEquals([arrivals.rowOf(10), arrivals.groupsAtEnd], [410, 600]);
 * ```
 */
export class GroupArrivals {
  /** Groups in the map after the last row. */
  groupsAtEnd: number;
  readonly #rows: number;
  readonly #arrivals: KeyArrivals;
  readonly #fast: FastHashMap;
  /** Rows that came before the map was emptied; null while it never was. */
  #emptiedAfter: number | null = null;

  constructor(rows: number, groups: number, fast: FastHashMap) {
    this.#rows = rows;
    this.#arrivals = new KeyArrivals(rows, groups);
    this.#fast = fast;
    this.groupsAtEnd = Math.round(fast.overflowOf(groups));
  }

  /** Rows until the map has `groups` since it was empty. */
  rowOf(groups: number): number {
    if (this.#emptiedAfter === null) return this.#arrivals.recordsUntil(this.#fast.groupsUntil(groups));
    const { set } = this.#arrivals;
    if (set === Infinity) return this.#emptiedAfter + groups;
    const left = 1 - groups / (set - this.#fast.maxRows);
    return left <= 0 ? Infinity : this.#emptiedAfter - set * log(left);
  }

  /** The map was emptied after `rows`; groups that it had may come again, those of the first-level map stay there. */
  emptied(rows: number): void {
    this.#emptiedAfter = rows;
    const { set } = this.#arrivals;
    const rest = this.#rows - rows;
    this.groupsAtEnd = set === Infinity
      ? Math.round(rest)
      : Math.round((set - this.#fast.maxRows) * (1 - exp(-rest / set)));
  }
}
