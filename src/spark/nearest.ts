/**
 * The nearest of some names, for "did you mean".
 *
 * @module
 */

/** Names longer than this are not compared: the work grows with the square of the length. */
const MAX_LENGTH = 200;

/** Number of single-character changes, insertions, deletions and swaps of neighbours between two texts. */
function distance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      row[j] = Math.min(
        previous[j] + 1,
        row[j - 1] + 1,
        previous[j - 1] + same,
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        row[j] = Math.min(row[j], beforePrevious[j - 2] + 1);
      }
    }
    beforePrevious = previous;
    previous = row;
  }
  return previous[b.length];
}

/**
 * The candidate that is nearest to a name, or null when none is near: at most two characters, or a sixth of them, differ;
 * upper and lower case count as equal.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { nearestName } from "./nearest.ts";
 *
 * const keys = ["spark.memory.fraction", "spark.executor.memory"];
 * assertEquals(nearestName("spark.memory.fractoin", keys), "spark.memory.fraction");
 * assertEquals(nearestName("spark.ui.port", keys), null);
 * ```
 */
export function nearestName(
  name: string,
  candidates: Iterable<string>,
): string | null {
  if (name.length > MAX_LENGTH) return null;
  const wanted = name.toLowerCase();
  let best: string | null = null;
  let bestDistance = Math.max(2, Math.floor(name.length / 6)) + 1;
  for (const candidate of candidates) {
    if (candidate.length > MAX_LENGTH) continue;
    const away = distance(wanted, candidate.toLowerCase(), bestDistance);
    if (away < bestDistance) {
      best = candidate;
      bestDistance = away;
    }
  }
  return best;
}
