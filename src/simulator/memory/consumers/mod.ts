/**
 * The models of Spark's memory consumers, by kind.
 *
 * @module
 */
import type { SparkConf } from "../../../spark/conf.ts";
import type { ConsumerKind } from "../../workload.ts";
import { ON_HEAP } from "../execution_memory.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import { ExternalAppendOnlyMap } from "./external_append_only_map.ts";
import { ExternalSorter } from "./external_sorter.ts";
import { HashAggregation } from "./hash_aggregation.ts";
import { HashedRelation } from "./hashed_relation.ts";
import { Raw } from "./raw.ts";
import { ShuffleExternalSorter } from "./shuffle_external_sorter.ts";
import type { ConsumerHost, ConsumerInput, SteppedConsumer } from "./stepped_consumer.ts";
import { UnsafeExternalSorter } from "./unsafe_external_sorter.ts";

/** Settings that decide how consumers ask for memory; what is left out has Spark's default. */
export interface ConsumerSettings {
  /** spark.shuffle.sort.initialBufferSize. */
  readonly initialBufferSize?: number;
  /** spark.shuffle.sort.useRadixSort. */
  readonly useRadixSort?: boolean;
  /** spark.shuffle.spill.initialMemoryThreshold. */
  readonly initialMemoryThreshold?: number;
  /** spark.shuffle.spill.numElementsForceSpillThreshold. */
  readonly numElementsForceSpillThreshold?: number;
}

/** What a consumer is made with. */
export interface ConsumerOptions {
  readonly host?: ConsumerHost;
  readonly settings?: ConsumerSettings;
  /** For `Raw`: in the memory that Tungsten uses (the default), or else on the heap. The others know theirs. */
  readonly tungsten?: boolean;
}

/**
 * The settings of consumers from Spark's properties.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../../../spark/conf.ts";
 * import { consumerSettings } from "./mod.ts";
 *
 * const settings = consumerSettings(SparkConf.from({ "spark.shuffle.sort.initialBufferSize": "1024" }));
 * assertEquals(settings.initialBufferSize, 1024);
 * assertEquals(settings.initialMemoryThreshold, 5 * 2 ** 20);
 * ```
 */
export function consumerSettings(conf: SparkConf): ConsumerSettings {
  return {
    // Before 2.1 the size is a constant of UnsafeShuffleWriter, that of the later default.
    initialBufferSize: conf.getSizeAsBytesOption("spark.shuffle.sort.initialBufferSize") ?? undefined,
    // Radix sort came with 2.0 (SPARK-14724).
    useRadixSort: conf.reads("spark.shuffle.sort.useRadixSort") && conf.getBoolean("spark.shuffle.sort.useRadixSort"),
    initialMemoryThreshold: conf.getSizeAsBytes("spark.shuffle.spill.initialMemoryThreshold"),
    numElementsForceSpillThreshold: conf.getIntOption("spark.shuffle.spill.numElementsForceSpillThreshold") ??
      undefined,
  };
}

/**
 * The model of one consumer of a task.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel, ON_HEAP } from "../../../kernel.ts";
 * import { TaskMemoryManager } from "../task_memory_manager.ts";
 * import { makeConsumer } from "./mod.ts";
 *
 * const memory = Kernel.create().createExecutor({ maxHeapMemory: 2 ** 26, onHeapStorageRegionSize: 2 ** 25 });
 * const task = new TaskMemoryManager(memory, 7, { tungstenMemoryMode: ON_HEAP, pageSizeBytes: 2 ** 21 });
 * const sorter = makeConsumer("UnsafeExternalSorter", task, { name: "Sort", records: 1e6, bytes: 64e6 });
 * let requests = 0;
 * while (sorter.step() !== "done") requests++;
 * // When 699050 rows (23 pages of 2 MiB) have filled an array of 16 MiB there is no room for one of 32 MiB.
 * assertEquals([sorter.spillCount, requests < 100], [1, true]);
 * assertEquals(memory.executionMemoryUsed(ON_HEAP), 0);
 * ```
 */
export function makeConsumer(
  kind: ConsumerKind,
  taskMemoryManager: TaskMemoryManager,
  input: ConsumerInput,
  options: ConsumerOptions = {},
): SteppedConsumer {
  const { host } = options;
  const settings = options.settings ?? {};
  const { initialBufferSize, numElementsForceSpillThreshold } = settings;
  switch (kind) {
    case "UnsafeExternalSorter":
      return new UnsafeExternalSorter(taskMemoryManager, input, {
        host,
        settings: { initialSize: initialBufferSize, numElementsForSpillThreshold: numElementsForceSpillThreshold },
      });
    case "ShuffleExternalSorter":
      return new ShuffleExternalSorter(taskMemoryManager, input, {
        host,
        settings: {
          initialSize: initialBufferSize,
          useRadixSort: settings.useRadixSort,
          numElementsForSpillThreshold: numElementsForceSpillThreshold,
        },
      });
    case "HashAggregation":
      return new HashAggregation(taskMemoryManager, input, { host });
    case "HashedRelation":
      return new HashedRelation(taskMemoryManager, input, { host });
    case "ExternalAppendOnlyMap":
      return new ExternalAppendOnlyMap(taskMemoryManager, input, { host, settings });
    case "ExternalSorter":
      return new ExternalSorter(taskMemoryManager, input, { host, settings });
    case "Raw":
      return new Raw(taskMemoryManager, input, { host, mode: options.tungsten === false ? ON_HEAP : undefined });
  }
}
