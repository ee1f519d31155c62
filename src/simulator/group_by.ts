/**
 * Map.groupBy, which Node has from version 21 on.
 *
 * @module
 */

/**
 * Items by a key, in their order.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { groupBy } from "./group_by.ts";
 *
 * assertEquals(groupBy([1, 2, 3], (n) => n % 2), new Map([[1, [1, 3]], [0, [2]]]));
 * ```
 */
export function groupBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
