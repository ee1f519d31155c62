/**
 * Which combinations of a sweep are worth a look.
 *
 * @module
 */

/**
 * Indexes of the points, sorted by memory and then time, than which no other needs less memory and less time.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { paretoFront } from "./pareto.ts";
 *
 * const points = [[1, 50], [2, 60], [3, 40], [3, 45], [4, 40]];
 * const front = paretoFront(points.map(([memoryBytes, durationMs]) => ({ memoryBytes, durationMs })));
 * assertEquals([...front], [0, 2]);
 * ```
 */
export function paretoFront(
  points: readonly { readonly memoryBytes: number; readonly durationMs: number }[],
): Set<number> {
  const front = new Set<number>();
  let shortest = Infinity;
  points.forEach(({ durationMs }, i) => {
    if (durationMs >= shortest) return;
    front.add(i);
    shortest = durationMs;
  });
  return front;
}
