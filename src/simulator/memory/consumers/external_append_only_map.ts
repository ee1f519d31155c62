/**
 * Combining by key on the reduce side of RDD shuffles: org.apache.spark.util.collection.ExternalAppendOnlyMap
 * (groupByKey, reduceByKey, aggregateByKey, and CoGroupedRDD for join and cogroup).
 *
 * @module
 */
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import type { CollectionSize } from "./collection_size.ts";
import { SpillableCollection, type SpillableSettings } from "./spillable_collection.ts";
import type { ConsumerHost, ConsumerInput } from "./stepped_consumer.ts";

/**
 * A map that combines values by key; {@linkcode SpillableCollection} says how it asks and spills.
 *
 * Input: `records` that go in; `bytes`: Spark's estimate of the map that holds them all (what peakExecutionMemory
 * records when nothing was spilled); `keys`: distinct keys; left out where they are not known, the map then grows evenly.
 * Parameter `keyShare`: share of the bytes that each new key brings: 1 where values are combined to a fixed size
 * (reduceByKey; the default), near 0 where they are collected (groupByKey, cogroup).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { TaskMemoryManager } from "../task_memory_manager.ts";
 * import { ExternalAppendOnlyMap } from "./external_append_only_map.ts";
 *
 * const asked: number[] = [];
 * let free = 8 * 2 ** 20;
 * const memory = {
 *   acquireExecutionMemory: (numBytes: number) => {
 *     asked.push(numBytes / 2 ** 20);
 *     const granted = Math.min(numBytes, free);
 *     free -= granted;
 *     return granted;
 *   },
 *   releaseExecutionMemory: (numBytes: number) => void (free += numBytes),
 *   releaseAllExecutionMemoryForTask: () => 0,
 *   executionMemoryUsageForTask: () => 0,
 *   executionMemoryUsed: () => 0,
 *   storageMemoryUsed: () => 0,
 * };
 * const task = new TaskMemoryManager(memory, 0, { tungstenMemoryMode: ON_HEAP, pageSizeBytes: 1048576 });
 * const map = new ExternalAppendOnlyMap(task, { name: "groupByKey", records: 2 ** 20, bytes: 16 * 2 ** 20 });
 * while (map.step() === "progress");
 * // At 5 MiB it asks for as much again, at 10 MiB it gets 3 of 10; at 13 MiB there is no more, so it spills.
 * assertEquals(asked, [5, 10, 13]);
 * assertEquals(map.memoryBytesSpilled, 13 * 2 ** 20);
 * ```
 */
export class ExternalAppendOnlyMap extends SpillableCollection {
  constructor(
    taskMemoryManager: TaskMemoryManager,
    input: ConsumerInput,
    options: { host?: ConsumerHost; settings?: SpillableSettings; size?: CollectionSize } = {},
  ) {
    super(taskMemoryManager, input, {
      checksAfterInsert: false,
      spillsForOthersWhileFilled: true,
      spillsForOthersWhileRead: true,
    }, options);
  }
}
