/**
 * Sorting and combining of objects: org.apache.spark.util.collection.ExternalSorter. SortShuffleWriter uses it to write
 * shuffles with map-side combining (or more reducers than spark.shuffle.sort.bypassMergeThreshold and a serializer that
 * cannot move records), BlockStoreShuffleReader to sort what it read (sortByKey, repartitionAndSortWithinPartitions).
 *
 * @module
 */
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import type { CollectionSize } from "./collection_size.ts";
import { SpillableCollection, type SpillableSettings } from "./spillable_collection.ts";
import type { ConsumerHost, ConsumerInput } from "./stepped_consumer.ts";

/**
 * A sorter of objects; {@linkcode SpillableCollection} says how it asks and spills. It never spills for others while it
 * is filled, nor while it writes a shuffle; one that is read (sortByKey) does.
 *
 * Input: `records`, `bytes` and `keys` as for ExternalAppendOnlyMap. Parameters: `buffer`: 1 where nothing is combined
 * (every record has a slot of its own); `read`: 1 where its sorted output is read in the same task, 0 (the default) where
 * it writes a shuffle; `keyShare` as for ExternalAppendOnlyMap.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { TaskMemoryManager } from "../task_memory_manager.ts";
 * import { ExternalSorter } from "./external_sorter.ts";
 *
 * const memory = {
 *   acquireExecutionMemory: () => 0,
 *   releaseExecutionMemory: () => {},
 *   releaseAllExecutionMemoryForTask: () => 0,
 *   executionMemoryUsageForTask: () => 0,
 *   executionMemoryUsed: () => 0,
 *   storageMemoryUsed: () => 0,
 * };
 * const task = new TaskMemoryManager(memory, 0, { tungstenMemoryMode: ON_HEAP, pageSizeBytes: 1048576 });
 * const sorter = new ExternalSorter(task, { name: "reduceByKey", records: 2 ** 20, bytes: 16 * 2 ** 20 });
 * while (sorter.step() === "progress");
 * // Without any memory it spills each time it has grown to 5 MiB.
 * assertEquals([sorter.spillCount, sorter.memoryBytesSpilled], [3, 15 * 2 ** 20]);
 * ```
 */
export class ExternalSorter extends SpillableCollection {
  constructor(
    taskMemoryManager: TaskMemoryManager,
    input: ConsumerInput,
    options: { host?: ConsumerHost; settings?: SpillableSettings; size?: CollectionSize } = {},
  ) {
    super(taskMemoryManager, input, {
      checksAfterInsert: true,
      spillsForOthersWhileFilled: false,
      spillsForOthersWhileRead: input.parameters?.read === 1,
    }, options);
  }
}
