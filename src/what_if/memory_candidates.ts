/**
 * Sizes of an executor's heap that are worth trying.
 *
 * @module
 */
import type { Summary } from "../report/summary.ts";
import type { Changed } from "./apply_changes.ts";
import { leastHeap, observedHeap } from "./observed_heap.ts";

const MIB = 1024 * 1024;
/** The least that Spark starts with: 1.5 times the reserved memory (471,859,200 bytes). */
const LEAST_MIB = 450;
const MOST_MIB = 256 * 1024;

/**
 * Heap sizes in MiB, ascending: in steps of 64 MiB up to 2 GiB, 256 MiB up to 16 GiB, 1 GiB up to 64 GiB, then 16 GiB;
 * none below the memory that was seen in use.
 *
 * @param memoryKey spark.executor.memory or spark.driver.memory
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { applyChanges } from "./apply_changes.ts";
 * import { memoryCandidates } from "./memory_candidates.ts";
 *
 * const sizes = memoryCandidates(applyChanges(emptyWorkload("nothing"), {}), null, "spark.executor.memory");
 * assertEquals(sizes.slice(0, 3), [450, 512, 576]);
 * ```
 */
export function memoryCandidates(changed: Changed, observed: Summary | null, memoryKey: string): number[] {
  const floorMib = Math.max(LEAST_MIB, Math.ceil(leastHeap(observedHeap(observed), changed.conf) / MIB));
  const current = changed.conf.getSizeAsBytes(memoryKey) / MIB;
  const sizes = floorMib > LEAST_MIB ? [] : [LEAST_MIB];
  for (let mib = 512; mib <= MOST_MIB; mib += step(mib)) if (mib >= floorMib) sizes.push(mib);
  if (Number.isInteger(current) && current >= floorMib && !sizes.includes(current)) {
    sizes.push(current);
    sizes.sort((a, b) => a - b);
  }
  return sizes;
}

/** Spark's text of a size in MiB. */
export function memoryText(mib: number): string {
  return mib % 1024 === 0 ? `${mib / 1024}g` : `${mib}m`;
}

function step(mib: number): number {
  if (mib < 2048) return 64;
  if (mib < 16 * 1024) return 256;
  return mib < 64 * 1024 ? 1024 : 16 * 1024;
}
