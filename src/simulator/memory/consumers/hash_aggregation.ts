/**
 * Hash aggregation: HashAggregateExec with its UnsafeFixedWidthAggregationMap (a BytesToBytesMap), the first-level map
 * that generated code puts before it, and the fall back to sorting.
 *
 * @module
 */
import { FAILED } from "../execution_memory.ts";
import { MemoryConsumer } from "../memory_consumer.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import { BytesToBytesMap } from "./bytes_to_bytes_map.ts";
import { FastHashMap } from "./fast_hash_map.ts";
import { GroupArrivals } from "./group_arrivals.ts";
import { GeneratedSteps, type Steps } from "./generated_steps.ts";
import type { ConsumerHost, ConsumerInput } from "./stepped_consumer.ts";

/** Keys that the map is made for (HashAggregateExec.createHashMap). */
const INITIAL_CAPACITY = 1 << 14;
/** RowBasedKeyValueBatch: a row ends with a word for a pointer; other rows begin with their lengths. */
const FIXED_ROW_OVERHEAD_BYTES = 8;
const OUT_OF_MEMORY_ERROR = "org.apache.spark.memory.SparkOutOfMemoryError";

/** RowBasedKeyValueBatch: one page that never spills. */
class KeyValueBatch extends MemoryConsumer {
  readonly name = "RowBasedKeyValueBatch";

  override spill(): number {
    return 0;
  }
}

/**
 * A hash aggregation.
 *
 * The map has an array of two words a key, doubled when it is half full (old and new are held while it is copied), and
 * pages with one record a key. When it gets no page, or is full and could not grow, all of it is sorted and written to
 * disk and it starts anew, small; what was written is merged at the end. The map does not spill for others before its
 * result is read; then it gives up the pages not yet read, which Spark counts nowhere.
 *
 * Input: `records` rows of `keys` groups; `bytes / records` is what a group takes: its key row and its buffer row.
 * Parameters: `fastMap`: 1 where generated code puts a first-level map in front (partial aggregation of primitive,
 * decimal or string columns), which takes one page and the first groups; `capacityBit`: its size as a power of 2
 * (spark.sql.codegen.aggregate.fastHashMap.capacityBit, 16 by default).
 *
 * How keys arrive decides only what happens after the map has fallen back once; they are taken to come in no order.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { TaskMemoryManager } from "../task_memory_manager.ts";
 * import { HashAggregation } from "./hash_aggregation.ts";
 *
 * const asked: number[] = [];
 * const memory = {
 *   acquireExecutionMemory: (numBytes: number) => {
 *     asked.push(numBytes);
 *     return numBytes;
 *   },
 *   releaseExecutionMemory: () => {},
 *   releaseAllExecutionMemoryForTask: () => 0,
 *   executionMemoryUsageForTask: () => 0,
 *   executionMemoryUsed: () => 0,
 *   storageMemoryUsed: () => 0,
 * };
 * const task = new TaskMemoryManager(memory, 0, { tungstenMemoryMode: ON_HEAP, pageSizeBytes: 1048576 });
 * const input = { name: "HashAggregate", records: 10000, keys: 10000, bytes: 10000 * 32 };
 * const aggregation = new HashAggregation(task, input);
 * while (aggregation.step() === "progress");
 * // The array for 16384 keys, a page, and a second array when it is half full.
 * assertEquals(asked, [262144, 1048576, 524288]);
 * assertEquals(aggregation.peakExecutionMemory, 1048576 + 524288);
 * ```
 */
export class HashAggregation extends GeneratedSteps {
  /** The map has been sorted to disk (the operator's metric "number of sort fallback tasks"). */
  fellBack = false;
  readonly #batch: KeyValueBatch | null;
  readonly #map: BytesToBytesMap;
  readonly #groups: number;
  readonly #recordBytes: number;
  #fast = new FastHashMap(0, 0);

  constructor(
    taskMemoryManager: TaskMemoryManager,
    input: ConsumerInput,
    options: { host?: ConsumerHost } = {},
  ) {
    super(taskMemoryManager, taskMemoryManager.tungstenMemoryMode, input, options);
    this.#groups = Math.min(input.keys ?? input.records, input.records);
    this.#recordBytes = input.records > 0 ? input.bytes / input.records : 0;
    this.#map = new BytesToBytesMap(this, this.#recordBytes);
    this.#batch = input.parameters?.fastMap === 1 ? new KeyValueBatch(taskMemoryManager, this.mode) : null;
  }

  override get peakExecutionMemory(): number {
    return this.#map.peakMemoryUsedBytes;
  }

  protected override *run(): Steps {
    if (this.#batch !== null && !(yield* this.#takeBatch(this.#batch))) return false;
    if (!(yield* this.#takeArray(INITIAL_CAPACITY))) return false;
    if (!(yield* this.#fill())) return false;
    yield this.before(1);
    this.#map.updatePeak();
    if (this.fellBack) {
      if (!(yield* this.#sortToDisk())) return false;
      this.#map.clear();
    } else this.#map.freeArray();
    this.phase = "read";
    yield* this.#read();
    this.#map.clear();
    return true;
  }

  /** While it is filled the map keeps its memory; while it is read it writes pages, the last first. */
  override spill(size: number, trigger: MemoryConsumer): number {
    if (trigger === this || this.phase === "fill") return 0;
    let freed = 0;
    while (this.#map.pages.length > 1 && freed < size) freed += this.#map.freePage("last");
    return freed;
  }

  *#takeBatch(batch: KeyValueBatch): Steps {
    const got = yield* this.ended(batch.allocatePage(this.pageSize), batch);
    if (got === FAILED) return this.#isOutOfMemory();
    const capacity = 2 ** (this.input.parameters?.capacityBit ?? 16);
    const rows = Math.floor(got / (this.#recordBytes + FIXED_ROW_OVERHEAD_BYTES));
    this.#fast = new FastHashMap(capacity, Math.min(rows, capacity));
    return true;
  }

  *#fill(): Steps {
    const { records } = this.input;
    const arrivals = new GroupArrivals(records, this.#groups, this.#fast);
    const map = this.#map;
    for (;;) {
      if (map.mustGrow) {
        yield this.before(Math.min(1, arrivals.rowOf(map.numKeys) / records));
        if (!(yield* this.#grow())) return false;
      } else if (map.numKeys >= arrivals.groupsAtEnd) {
        return true;
      } else if (map.full || map.roomInPage === 0) {
        const row = Math.min(records, arrivals.rowOf(map.numKeys + 1));
        yield this.before(row / records);
        if (!(yield* this.#makeRoom(arrivals, row))) return false;
      } else {
        const untilGrowth = Math.max(1, map.growthThreshold - map.numKeys);
        map.append(Math.min(map.roomInPage, untilGrowth, arrivals.groupsAtEnd - map.numKeys));
      }
    }
  }

  /** growAndRehash; a map that cannot grow takes no more keys. */
  *#grow(): Steps {
    if (this.#map.atMaxCapacity) {
      this.#map.canGrow = false;
      return true;
    }
    if (yield* this.#takeArray(this.#map.capacity * 2)) return true;
    this.#map.canGrow = false;
    return this.#isOutOfMemory();
  }

  /** The next group needs a page, or finds the map full. */
  *#makeRoom(arrivals: GroupArrivals, row: number): Steps {
    if (!this.#map.full) {
      const got = yield* this.ended(this.allocatePage(this.#map.requiredPageBytes));
      if (got !== FAILED) {
        this.#map.addPage(this.page!);
        return true;
      }
      if (!this.#isOutOfMemory()) return false;
      if (this.#map.numKeys === 0) return this.#notEnoughMemory();
    }
    this.fellBack = true;
    arrivals.emptied(row - 1);
    return yield* this.#sortToDisk();
  }

  /** destructAndCreateExternalSorter: sorts the map in place, writes it, and starts with an empty one. */
  *#sortToDisk(): Steps {
    const { numKeys, totalMemoryConsumption } = this.#map;
    const { aggregationMapCountsAsSpilled } = this.taskMemoryManager.rules;
    const diskBytes = Math.round(numKeys * this.#recordBytes * (this.input.diskBytesPerByte ?? 1));
    this.countSpill(this, aggregationMapCountsAsSpilled ? totalMemoryConsumption : 0, diskBytes);
    this.#map.clear();
    return yield* this.#takeArray(INITIAL_CAPACITY);
  }

  *#takeArray(capacity: number): Steps {
    const got = yield* this.ended(this.allocateArray(BytesToBytesMap.longsFor(capacity)));
    if (got === FAILED) return false;
    this.#map.replaceArray(this.page!, capacity);
    return true;
  }

  /** First the rows of the first-level map, then the pages, each freed when its last row has been read. */
  *#read(): Steps<void> {
    const groups = Math.max(1, this.#groups);
    let rows = this.#fast.rowsOf(this.#groups);
    const page = this.#batch?.page ?? null;
    if (page !== null) {
      yield this.before(Math.min(1, rows / groups));
      this.#batch!.freePage(page);
    }
    while (this.#map.pages.length > 1) {
      rows += this.#map.recordsIn(this.#map.pages[0]);
      yield this.before(Math.min(1, rows / groups));
      if (this.#map.pages.length > 1) this.#map.freePage("first");
    }
    yield this.before(1);
  }

  #isOutOfMemory(): boolean {
    return this.taskMemoryManager.failure?.className === OUT_OF_MEMORY_ERROR;
  }

  /** An empty map that gets no page cannot go on. */
  #notEnoughMemory(): false {
    this.taskMemoryManager.failure = {
      className: OUT_OF_MEMORY_ERROR,
      message: "No enough memory for aggregation",
      outOfMemory: this.taskMemoryManager.failure?.outOfMemory ?? null,
    };
    return false;
  }
}
