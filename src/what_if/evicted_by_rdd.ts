/**
 * Evictions by RDD, which a Summary does not tell apart.
 *
 * @module
 */
import type { EventSink, SparkEvent } from "../spark/events.ts";

/**
 * A sink that counts a simulated run's evicted blocks by the id of their RDD, and passes all events on.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EvictedByRdd } from "./evicted_by_rdd.ts";
 *
 * const evicted = new EvictedByRdd();
 * evicted.event({
 *   kind: "blockEvicted", time: 1, executorId: "0", blockId: "rdd_3_7", memorySize: 10, offHeap: false, droppedToDisk: false,
 *   forBlockId: "rdd_5_0", forTaskId: null,
 * });
 * assertEquals([...evicted.counts], [[3, 1]]);
 * ```
 */
export class EvictedByRdd implements EventSink {
  readonly counts = new Map<number, number>();
  readonly #next: EventSink | undefined;

  constructor(next?: EventSink) {
    this.#next = next;
  }

  event(event: SparkEvent): void {
    if (event.kind === "blockEvicted") this.#count(event.blockId);
    this.#next?.event(event);
  }

  #count(blockId: string): void {
    const match = /^rdd_(\d+)_/.exec(blockId);
    if (match === null) return;
    const rdd = Number(match[1]);
    this.counts.set(rdd, (this.counts.get(rdd) ?? 0) + 1);
  }
}
