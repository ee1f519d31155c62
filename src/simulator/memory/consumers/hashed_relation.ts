/**
 * The build side of a shuffled hash join: org.apache.spark.sql.execution.joins.HashedRelation, in its two forms.
 *
 * Relations that are broadcast are built in the driver, and read on executors, with a memory manager of their own that
 * has no limit: they take none of an executor's execution memory, but BroadcastHashJoinExec adds their size to the task's
 * peakExecutionMemory all the same.
 *
 * @module
 */
import { FAILED, type Failure, ON_HEAP } from "../execution_memory.ts";
import type { TaskMemoryManager } from "../task_memory_manager.ts";
import { BytesToBytesMap } from "./bytes_to_bytes_map.ts";
import { KeyArrivals } from "./key_arrivals.ts";
import { GeneratedSteps, type Steps } from "./generated_steps.ts";
import type { ConsumerHost, ConsumerInput } from "./stepped_consumer.ts";

/** Keys that ShuffledHashJoinExec's relations are made for. */
const SIZE_ESTIMATE = 64;
/** Bytes of the first page of a LongToUnsafeRowMap. */
const FIRST_PAGE_BYTES = 1 << 20;
/** After each row: a pointer to the next row of its key. */
const POINTER_BYTES = 8;
/** Words that a page of a LongToUnsafeRowMap can have. */
const MAX_PAGE_WORDS = 2 ** 30;

/**
 * The hash table of a shuffled hash join. It never spills, records no peak (so its memory shows nowhere in an event
 * log), and is kept to the end of the task; when it gets too little the task fails.
 *
 * - `longKey` 1 (one join column of type long): LongToUnsafeRowMap, always on the heap. An array of two words a key,
 *   doubled when half full, and one page that doubles; each time old and new are held together. At the end the array is
 *   made dense where the keys' range allows.
 * - otherwise: UnsafeHashedRelation on a BytesToBytesMap, pages and an array that doubles when half full.
 *
 * Input: `records` rows of `keys` keys; `bytes / records` is a row (with its key row, where the key is not a long).
 * Parameters: `longKey`; `keyRange`: largest less smallest key, default: so wide that the array is never made dense;
 * `broadcast`: 1 for a relation that was broadcast: nothing is asked for, and `bytes` is its size.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { TaskMemoryManager } from "../task_memory_manager.ts";
 * import { HashedRelation } from "./hashed_relation.ts";
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
 * const input = { name: "BuildLeft", records: 60, bytes: 60 * 40, parameters: { longKey: 1 } };
 * const relation = new HashedRelation(task, input);
 * while (relation.step() === "progress");
 * // 64 slots of two words and a page; 33 keys are more than half of them.
 * assertEquals(asked, [64 * 16 + 1048576, 128 * 16]);
 * assertEquals(relation.peakExecutionMemory, 0);
 * ```
 */
export class HashedRelation extends GeneratedSteps {
  readonly #keys: number;
  readonly #arrivals: KeyArrivals;
  readonly #recordBytes: number;
  readonly #longKey: boolean;

  constructor(
    taskMemoryManager: TaskMemoryManager,
    input: ConsumerInput,
    options: { host?: ConsumerHost } = {},
  ) {
    const longKey = input.parameters?.longKey === 1;
    super(taskMemoryManager, longKey ? ON_HEAP : taskMemoryManager.tungstenMemoryMode, input, options);
    this.#longKey = longKey;
    this.#keys = Math.min(input.keys ?? input.records, input.records);
    this.#arrivals = new KeyArrivals(input.records, this.#keys);
    this.#recordBytes = input.records > 0 ? input.bytes / input.records : 0;
  }

  override get peakExecutionMemory(): number {
    return this.#broadcast ? this.input.bytes : 0;
  }

  override spill(): number {
    return 0;
  }

  protected override *run(): Steps {
    const isEmpty = this.input.records === 0 && this.taskMemoryManager.rules.emptyRelationTakesNothing;
    if (isEmpty || this.#broadcast) {
      yield this.before(1);
      this.phase = "read";
      yield this.before(1);
      return true;
    }
    return yield* this.#longKey ? this.#longMap() : this.#unsafeMap();
  }

  get #broadcast(): boolean {
    return this.input.parameters?.broadcast === 1;
  }

  /** LongToUnsafeRowMap. */
  *#longMap(): Steps {
    const { records } = this.input;
    let words = SIZE_ESTIMATE * 2;
    let pageWords = FIRST_PAGE_BYTES / 8;
    if (!(yield* this.#acquire(words * 8 + FIRST_PAGE_BYTES))) return false;
    for (;;) {
      const row = this.#rowThatNeeds(pageWords);
      const growAt = Math.floor(words / 4) + 1;
      const rowOfKey = growAt > this.#keys ? Infinity : Math.ceil(this.#arrivals.recordsUntil(growAt));
      const next = Math.min(row, rowOfKey);
      if (next > records) break;
      yield this.before(next / records);
      if (next === row) {
        const grown = Math.max(this.#wordsFor(row), Math.min(pageWords * 2, MAX_PAGE_WORDS));
        if (!(yield* this.#replace(pageWords * 8, grown * 8))) return false;
        pageWords = grown;
      } else {
        if (!(yield* this.#replace(words * 8, words * 16))) return false;
        words *= 2;
      }
    }
    yield this.before(1);
    words = yield* this.#optimized(words);
    this.phase = "read";
    yield this.before(1);
    this.freeMemory(pageWords * 8);
    this.freeMemory(words * 8);
    return true;
  }

  /** optimize(): a dense array, if that is no larger; stays as it is when there is no memory for it. */
  *#optimized(words: number): Steps<number> {
    const range = this.input.parameters?.keyRange ?? Infinity;
    if (range >= words && range >= 1024) return words;
    if (!(yield* this.#replace(words * 8, (range + 1) * 8))) return words;
    return range + 1;
  }

  /** Words of the page once the n-th row is in. */
  #wordsFor(row: number): number {
    return Math.ceil(row * (this.#recordBytes + POINTER_BYTES) / 8);
  }

  /** The first row that a page of so many words does not hold. */
  #rowThatNeeds(pageWords: number): number {
    return Math.floor(pageWords * 8 / (this.#recordBytes + POINTER_BYTES)) + 1;
  }

  /** Takes the new part, copies, gives back the old one. */
  *#replace(oldBytes: number, newBytes: number): Steps {
    if (!(yield* this.#acquire(newBytes))) return false;
    this.freeMemory(oldBytes);
    return true;
  }

  /** ensureAcquireMemory: all or nothing. */
  *#acquire(numBytes: number): Steps {
    const got = yield* this.ended(this.acquireMemory(numBytes));
    if (got === FAILED) return false;
    if (got === numBytes) return true;
    this.freeMemory(got);
    const message = `Can't acquire ${numBytes} bytes memory to build hash relation, got ${got} bytes`;
    return this.#fail("org.apache.spark.SparkException", message, numBytes, got);
  }

  /** UnsafeHashedRelation. */
  *#unsafeMap(): Steps {
    const { records } = this.input;
    const map = new BytesToBytesMap(this, this.#recordBytes);
    if (!(yield* this.#takeArray(map, BytesToBytesMap.capacityFor(SIZE_ESTIMATE * 1.5 + 1)))) return false;
    for (let row = 0; row < records;) {
      if (map.roomInPage === 0) {
        yield this.before(row / records);
        const got = yield* this.ended(this.allocatePage(map.requiredPageBytes));
        if (got === FAILED) return this.#notEnoughMemory(map);
        map.addPage(this.page!);
      }
      const rowOfGrowth = map.canGrow ? Math.ceil(this.#arrivals.recordsUntil(map.growthThreshold)) : Infinity;
      const end = Math.min(row + map.roomInPage, Math.max(row + 1, rowOfGrowth), records);
      map.append(end - row, Math.round(this.#arrivals.seenAfter(end)) - map.numKeys);
      row = end;
      if (!map.mustGrow) continue;
      yield this.before(row / records);
      // Without a larger array the map takes no more keys, which the next new one finds out.
      if (!(yield* this.#takeArray(map, map.capacity * 2))) {
        if (map.numKeys < this.#keys) return this.#notEnoughMemory(map);
        map.canGrow = false;
      }
    }
    yield this.before(1);
    this.phase = "read";
    yield this.before(1);
    map.clear();
    return true;
  }

  *#takeArray(map: BytesToBytesMap, capacity: number): Steps {
    const got = yield* this.ended(this.allocateArray(BytesToBytesMap.longsFor(capacity)));
    if (got === FAILED) return false;
    map.replaceArray(this.page!, capacity);
    return true;
  }

  #notEnoughMemory(map: BytesToBytesMap): false {
    const numbers = this.taskMemoryManager.failure?.outOfMemory;
    map.clear();
    const plain = this.taskMemoryManager.rules.outOfMemoryText === "plain";
    const className = plain ? "org.apache.spark.SparkException" : "org.apache.spark.memory.SparkOutOfMemoryError";
    const message = plain
      ? "There is no enough memory to build hash map"
      : "There is not enough memory to build hash map";
    return this.#fail(className, message, numbers?.required ?? 0, numbers?.got ?? 0);
  }

  /** From 3.4 on these messages end in a full stop (_LEGACY_ERROR_TEMP_2106 and _2107). */
  #fail(className: string, message: string, required: number, got: number): false {
    const { taskMemoryManager } = this;
    const failure: Failure = {
      className,
      message: taskMemoryManager.rules.outOfMemoryText === "plain" ? message : `${message}.`,
      outOfMemory: {
        ...taskMemoryManager.memoryUsage(),
        consumer: this.name,
        required,
        got,
      },
    };
    taskMemoryManager.failure = failure;
    return false;
  }
}
