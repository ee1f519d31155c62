/**
 * What a log tells of the heap that the application used: the floor below which no memory is recommended.
 *
 * @module
 */
import type { Summary } from "../report/summary.ts";
import { size } from "../report/verdict/finding.ts";
import type { SparkConf } from "../spark/conf.ts";
import { RESERVED_SYSTEM_MEMORY_BYTES } from "../spark/sizing.ts";

/** Peaks over the executors and of the driver, bytes; null where the log has none. */
export interface ObservedHeap {
  /** The largest heap in use of one executor, garbage included. */
  readonly executorPeak: number | null;
  readonly driverPeak: number | null;
  /** The most that storage or execution held in one executor. */
  readonly unifiedPeak: number | null;
}

/**
 * The peaks of a log's Summary. The JVM's heap is in executor metrics (from 3.0): of each task that a heartbeat or a poll
 * met, and of each stage with spark.eventLog.logStageExecutorMetrics.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { observedHeap } from "./observed_heap.ts";
 *
 * assertEquals(observedHeap(null), { executorPeak: null, driverPeak: null, unifiedPeak: null });
 * ```
 */
export function observedHeap(observed: Summary | null): ObservedHeap {
  let executorPeak: number | null = null;
  let unifiedPeak: number | null = null;
  const larger = (a: number | null, b: number | null) => a === null || (b !== null && b > a) ? b : a;
  for (const { peakHeapBytes, peakStorageBytes, peakExecutionBytes } of observed?.executors ?? []) {
    executorPeak = larger(executorPeak, peakHeapBytes);
    unifiedPeak = larger(larger(unifiedPeak, peakStorageBytes), peakExecutionBytes);
  }
  return { executorPeak, driverPeak: observed?.driver.peakHeapBytes ?? null, unifiedPeak };
}

/** The least heap that holds what was seen in use in one executor under these settings, bytes; 0 when nothing was recorded. */
export function leastHeap({ executorPeak, unifiedPeak }: ObservedHeap, conf: SparkConf): number {
  const forPools = unifiedPeak === null || unifiedPeak === 0
    ? 0
    : unifiedPeak / conf.getDouble("spark.memory.fraction") + RESERVED_SYSTEM_MEMORY_BYTES;
  return Math.max(executorPeak ?? 0, forPools);
}

/** What the heap is used for that the pools do not see, as far as the log tells. */
export function heapSentence({ executorPeak }: ObservedHeap): string {
  return executorPeak === null
    ? "how much of the heap the application's own objects take the log does not record " +
      "(spark.eventLog.logStageExecutorMetrics=true and spark.executor.metrics.pollingInterval do, from 3.0)"
    : `the largest heap that was seen in use was ${size(executorPeak)}, garbage included, which it is not set below`;
}
