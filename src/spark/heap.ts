/**
 * From -Xmx to what Runtime.maxMemory reports, and back.
 *
 * Spark sizes its memory by Runtime.maxMemory, which is not -Xmx: a collector with fixed generations does not count one
 * of its two survivor spaces. So "1g" is seen in the wild as 366.3, 408.9, 413.9 and 434.4 MiB of unified memory.
 *
 * @module
 */
import { BYTE_UNITS } from "./sizes.ts";
import type { Collector } from "./versions.ts";

const { KiB, MiB } = BYTE_UNITS;

/** The heaps of the others are multiples of this (a page of card tables: 512 bytes of heap a card, 4 KiB of cards). */
const HEAP_ALIGNMENT = 2 * MiB;

/**
 * How much of the heap is committed at the start. Only the parallel collector's survivors depend on it: it begins with
 * a third of the young generation, or an eighth when -Xms is -Xmx (or the machine has so much memory that the default
 * -Xms reaches it).
 */
export type HeapCommitted = "small" | "full";

function alignDown(size: number, unit: number): number {
  return size - size % unit;
}

function alignUp(size: number, unit: number): number {
  return Math.ceil(size / unit) * unit;
}

/** G1's regions: about 2048 of them, a power of two from 1 to 32 MiB (JDK 17 and later round up). */
function g1RegionSize(heap: number): number {
  let region = MiB;
  while (region < heap / 2048 && region < 32 * MiB) region *= 2;
  return region;
}

/** Shenandoah's regions: 2048 of them or more, a power of two from 256 KiB to 32 MiB. */
function shenandoahRegionSize(heap: number): number {
  let region = 256 * KiB;
  while (region * 2 <= heap / 2048 && region < 32 * MiB) region *= 2;
  return region;
}

/**
 * Runtime.maxMemory of a JVM started with -Xmx `heap`, in bytes.
 *
 * Measured on JDK 17 for all five collectors; the parallel collector's numbers equal those of Java 8
 * in event logs. A G1 heap that is no multiple of its region size is rounded up to one (Java 8 and 11 choose a smaller
 * region at times).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { runtimeMaxMemory } from "./heap.ts";
 *
 * const oneGiB = 1073741824;
 * assertEquals(runtimeMaxMemory(oneGiB, "g1"), oneGiB);
 * assertEquals(runtimeMaxMemory(oneGiB, "parallel"), 954728448);
 * assertEquals(runtimeMaxMemory(oneGiB, "parallel", "full"), 1029177344);
 * assertEquals(runtimeMaxMemory(oneGiB, "serial"), 1037959168);
 * ```
 */
export function runtimeMaxMemory(heap: number, collector: Collector, committed: HeapCommitted = "small"): number {
  const aligned = alignUp(heap, HEAP_ALIGNMENT);
  switch (collector) {
    case "parallel": {
      const young = alignDown(Math.floor(aligned / 3), 512 * KiB);
      return aligned - alignDown(Math.floor(young / (committed === "full" ? 8 : 3)), 512 * KiB);
    }
    case "serial": {
      const young = alignDown(Math.floor(aligned / 3), 64 * KiB);
      return aligned - alignDown(Math.floor(young / 10), 64 * KiB);
    }
    case "g1":
      return alignUp(heap, Math.max(HEAP_ALIGNMENT, g1RegionSize(heap)));
    case "shenandoah":
      return alignUp(heap, shenandoahRegionSize(heap));
    case "zgc":
      return aligned;
  }
}

/** A heap that explains a Runtime.maxMemory. */
export interface HeapGuess {
  /** -Xmx in bytes. */
  readonly heap: number;
  readonly collector: Collector;
  readonly committed: HeapCommitted;
}

const GUESSES: readonly (readonly [Collector, HeapCommitted, divisor: number])[] = [
  ["g1", "small", Infinity],
  ["parallel", "small", 9],
  ["parallel", "full", 24],
  ["serial", "small", 30],
];

/**
 * The heaps, by collector, whose Runtime.maxMemory is `maxMemory` bytes; empty when none is. Several collectors can
 * explain one number with different heaps; the configured heap tells them apart.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { heapsOfMaxMemory } from "./heap.ts";
 *
 * assertEquals(
 *   heapsOfMaxMemory(1073741824).map(({ heap, collector }) => [heap, collector]),
 *   [[1073741824, "g1"], [1207959552, "parallel"]],
 * );
 * ```
 */
export function heapsOfMaxMemory(maxMemory: number): HeapGuess[] {
  const found: HeapGuess[] = [];
  for (const [collector, committed, divisor] of GUESSES) {
    // maxMemory = heap (1 - 1/divisor), up to the alignments.
    const near = alignDown(divisor === Infinity ? maxMemory : maxMemory * divisor / (divisor - 1), HEAP_ALIGNMENT);
    for (let heap = near - 2 * HEAP_ALIGNMENT; heap <= near + 2 * HEAP_ALIGNMENT; heap += HEAP_ALIGNMENT) {
      if (heap > 0 && runtimeMaxMemory(heap, collector, committed) === maxMemory) {
        found.push({ heap, collector, committed });
      }
    }
  }
  return found;
}

/** What a recorded maximum says about the JVM. */
export interface InvertedMaximum {
  /** Runtime.maxMemory, in bytes. */
  readonly systemMemory: number;
  /** Heaps that explain it, the configured one first; empty when no heap of a known collector does. */
  readonly heaps: readonly HeapGuess[];
}

/**
 * Inverts a recorded on-heap maximum (`Maximum Onheap Memory` of SparkListenerBlockManagerAdded, or `Maximum Memory`
 * less the off-heap size): the Runtime.maxMemory of which Spark made it, and the heaps that have it.
 *
 * @param maxHeapMemory Recorded bytes of storage and execution.
 * @param options `fraction`: spark.memory.fraction; `reservedMemory`: 300 MiB unless said; `configuredHeap`: -Xmx as
 * configured, which is put first where it fits.
 * @returns null when no Runtime.maxMemory gives the recorded number.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { invertMaximum } from "./heap.ts";
 *
 * // An 80 GiB executor of a public event log (Spark 3.1.1, Java 8).
 * const inverted = invertMaximum(45624380620, { fraction: 0.6, configuredHeap: 85899345920 })!;
 * assertEquals(inverted.systemMemory, 76355207168);
 * assertEquals(inverted.heaps[0], { heap: 85899345920, collector: "parallel", committed: "small" });
 * ```
 */
export function invertMaximum(
  maxHeapMemory: number,
  options: { fraction: number; reservedMemory?: number; configuredHeap?: number },
): InvertedMaximum | null {
  const { fraction, reservedMemory = 300 * MiB, configuredHeap } = options;
  if (!(fraction > 0) || !Number.isSafeInteger(maxHeapMemory) || maxHeapMemory < 0) return null;
  const low = Math.floor(maxHeapMemory / fraction) + reservedMemory - 2;
  const high = Math.ceil((maxHeapMemory + 1) / fraction) + reservedMemory + 2;
  const fits = (memory: number) => Math.trunc((memory - reservedMemory) * fraction) === maxHeapMemory;
  // Heaps are multiples of 64 KiB less survivors that are, too; any other number was set by hand.
  let best: InvertedMaximum | null = null;
  for (let memory = alignUp(low, 64 * KiB); memory <= high; memory += 64 * KiB) {
    if (!fits(memory)) continue;
    const heaps = heapsOfMaxMemory(memory);
    if (best === null || heaps.some(({ heap }) => heap === configuredHeap)) {
      best = { systemMemory: memory, heaps: sorted(heaps, configuredHeap) };
    }
  }
  if (best !== null) return best;
  if (high - low > 64 * KiB) return null;
  for (let memory = low; memory <= high; memory++) {
    if (fits(memory)) return { systemMemory: memory, heaps: [] };
  }
  return null;
}

function sorted(heaps: readonly HeapGuess[], configuredHeap: number | undefined): HeapGuess[] {
  const rank = ({ heap }: HeapGuess) => heap === configuredHeap ? 0 : heap % (1024 * MiB) === 0 ? 1 : 2;
  return [...heaps].sort((a, b) => rank(a) - rank(b));
}
