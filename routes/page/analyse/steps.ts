/**
 * The values that sliders step through.
 *
 * @module
 */

const MIB = 1024 * 1024;

/**
 * A size as Spark's settings write it, in the largest unit that leaves a whole number.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { sizeText } from "./steps.ts";
 *
 * assertEquals([671088640, 2147483648, 1000].map(sizeText), ["640m", "2g", "1000b"]);
 * ```
 */
export function sizeText(bytes: number): string {
  for (const [unit, size] of [["g", 1024 * MIB], ["m", MIB], ["k", 1024]] as const) {
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return `${bytes}b`;
}

/**
 * Sizes from the smallest with which Spark starts to 64 GiB, about ten in each doubling, with the recorded one among
 * them.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { heapSteps, sizeText } from "./steps.ts";
 *
 * const steps = heapSteps(700 * 1024 * 1024).map(sizeText);
 * assertEquals(steps.slice(0, 6), ["512m", "576m", "640m", "700m", "704m", "768m"]);
 * ```
 */
export function heapSteps(recorded: number): number[] {
  const steps = new Set([recorded]);
  for (let size = 512 * MIB; size <= Math.max(64 * 1024 * MIB, 2 * recorded);) {
    steps.add(size);
    // An eighth of the power of two below.
    let power = 512 * MIB;
    while (power * 2 <= size) power *= 2;
    size += power / 8;
  }
  return [...steps].sort((a, b) => a - b);
}

/**
 * Fractions in steps of a twentieth, with the recorded one among them.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { fractionSteps } from "./steps.ts";
 *
 * assertEquals(fractionSteps(0.3, 0.4, 0.33), [0.3, 0.33, 0.35, 0.4]);
 * ```
 */
export function fractionSteps(from: number, to: number, recorded: number): number[] {
  const steps = new Set([recorded]);
  for (let i = Math.round(from * 20); i <= Math.round(to * 20); i++) steps.add(i / 20);
  return [...steps].sort((a, b) => a - b);
}

/** Counts from 1 up, at least to four times the recorded one. */
export function countSteps(recorded: number, least: number): number[] {
  const most = Math.max(least, 4 * recorded);
  const steps = new Set<number>([recorded, most]);
  let stride = 1;
  for (let n = 1; n <= most; n += stride) {
    steps.add(n);
    if (n >= 64) stride = Math.floor(n / 16);
  }
  return [...steps].sort((a, b) => a - b);
}

/** Sizes of off-heap memory: none, then as for a heap. */
export function offHeapSteps(recorded: number): number[] {
  return [...new Set([0, recorded, 128 * MIB, 256 * MIB, ...heapSteps(512 * MIB)])].sort((a, b) => a - b);
}
