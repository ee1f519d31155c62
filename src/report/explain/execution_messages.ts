/**
 * Messages of execution memory: shares, waiting, spilling, leaks, out of memory inside Spark's own accounting.
 *
 * @module
 */
import { BYTE_UNITS } from "../../spark/sizes.ts";
import { sizing } from "../../spark/sizing.ts";
import {
  BYTES,
  kind,
  mebibytes,
  type MessageKind,
  printed,
  re,
  type Reading,
  type ReadingContext,
  SIZE,
} from "./message_kind.ts";

const { KiB, MiB } = BYTE_UNITS;

/** spark.shuffle.spill.initialMemoryThreshold: what a spillable collection never accounts for. */
const INITIAL_THRESHOLD = 5 * MiB;

const SHARE_SETTINGS = [
  "spark.executor.memory",
  "spark.executor.cores",
  "spark.memory.fraction",
  "spark.memory.offHeap.size",
];

const LARGER_SHARE = [
  "Fewer tasks at once: lower spark.executor.cores, or raise spark.task.cpus; each of N tasks gets at most 1/N",
  "More, smaller partitions (spark.sql.shuffle.partitions, repartition), so that a task needs less",
  "More executor memory, or spark.memory.offHeap.enabled with a size",
  "If one task is much larger than the others: the key is skewed (adaptive skew joins, salting)",
];

/** What the settings would give each of N tasks, or nothing when they cannot be sized. */
function shareLines({ conf }: ReadingContext): string[] {
  try {
    const { unifiedMemory, offHeap, perTask, tasks, tungstenMemoryMode } = sizing({ conf });
    const pool = tungstenMemoryMode === "ON_HEAP" ? unifiedMemory : offHeap.size;
    return [
      `under the settings that are given (others: defaults) ${tasks} task(s) share ${pool} bytes: each from ` +
      `${perTask.min} (1/${2 * tasks}) to ${perTask.max} (1/${tasks})`,
    ];
  } catch {
    return [];
  }
}

function unableToAcquire(required: number, got: number, context: ReadingContext): Reading {
  const usage = context.earlier("execution.usage");
  const execution = usage?.executionBytes;
  const storage = usage?.storageBytes;
  const arithmetic = [
    `${required} bytes (${mebibytes(required)}) asked, ${got} bytes (${mebibytes(got)}) got: ` +
    `${required - got} bytes missing`,
  ];
  if (typeof execution === "number" && typeof storage === "number") {
    arithmetic.push(`at that moment ${execution} bytes were used for execution and ${storage} for storage`);
  }
  return {
    values: { requiredBytes: required, gotBytes: got, missingBytes: required - got },
    arithmetic: [...arithmetic, ...shareLines(context)],
    meaning: got === 0
      ? "Nothing at all was granted: the task holds its whole share already, or the pool is empty."
      : "The grant was cut: by the task's share (1/N of the pool for N tasks), or by what was free.",
  };
}

/** Pages that a leak can be made of, when it is made of pages: under G1 each is 16 bytes short (3.3 on). */
const MOST_SHORT_PAGES = 64;

/** What a leak of `size` bytes is made of: Tungsten's pages and arrays, or the estimate of a spillable collection. */
function leak(size: number): Reading {
  let short = 0;
  while (short <= MOST_SHORT_PAGES && (size + 16 * short) % (64 * KiB) !== 0) short++;
  if (short <= MOST_SHORT_PAGES) {
    const whole = size + 16 * short;
    let page = 64 * MiB;
    while (page > MiB && (page > whole || (short > 0 && Math.floor(whole / page) < short))) page /= 2;
    const pages = short > 0 ? short : Math.floor(whole / page);
    const pageBytes = short > 0 ? page - 16 : page;
    const arrayBytes = size - pages * pageBytes;
    return {
      values: { sizeBytes: size, pageBytes, pages, arrayBytes, harmless: true },
      arithmetic: [
        `${size} = ${pages} page(s) of ${pageBytes} bytes (${page / MiB} MiB) + ${arrayBytes} bytes of pointer array`,
      ],
      meaning: "Pages and a pointer array: a sorter or a hash map of Tungsten that was not read to its end.",
    };
  }
  const current = (size + INITIAL_THRESHOLD) / 2;
  return {
    values: { sizeBytes: size, currentSizeAtLastGrowth: current, harmless: true },
    arithmetic: [
      `a spillable collection holds its threshold less 5 MiB, and the threshold is twice its size when it last grew: ` +
      `(${size} + ${INITIAL_THRESHOLD}) / 2 = ${current} bytes`,
    ],
    meaning: "An odd size is the estimate of an ExternalAppendOnlyMap or ExternalSorter that was not read to its end.",
  };
}

function spilled(thread: string, size: string, times: string): Reading {
  return { values: { thread, sizeBytes: printed(size).bytes, times: Number(times) } };
}

const SPILL_MEANING =
  "The task could not get more execution memory, so it writes what it has to disk and goes on. Memory bytes " +
  "spilled are the size in memory, disk bytes spilled what was written. Sorted runs are merged in the end.";

/** The kinds of messages about execution memory. */
export const EXECUTION_MESSAGES: readonly MessageKind[] = [
  kind({
    code: "execution.waiting",
    title: "a task waits for its least share of execution memory",
    severity: "slow",
    printedBy: "ExecutionMemoryPool",
    anchor: "waiting for at least 1/2N of",
    pattern: /TID (\d+) waiting for at least 1\/2N of (on-heap|off-heap) execution pool to be free/,
    meaning:
      "With N active tasks each may have up to 1/N of the pool and is not given less than 1/2N: this one waits until " +
      "another task releases memory. Freed cache does not wake it, only released execution memory does.",
    settings: SHARE_SETTINGS,
    remedies: LARGER_SHARE,
    read: ([, tid, pool], context) => ({ values: { taskId: Number(tid), pool }, arithmetic: shareLines(context) }),
  }),
  kind({
    code: "execution.unableToAcquire",
    title: "a task could not get the memory it cannot do without",
    severity: "failure",
    printedBy: "MemoryConsumer",
    anchor: "Unable to acquire",
    pattern: re`Unable to acquire ${BYTES} bytes of memory, got ${BYTES}`,
    meaning:
      "SparkOutOfMemoryError of Spark's own accounting, not of the JVM: after evicting cached blocks above the storage " +
      "region and spilling what could be spilled, less than was needed was left. Hash joins' maps and pages for one large record " +
      "cannot spill. From 3.4 on it begins with [UNABLE_TO_ACQUIRE_MEMORY].",
    settings: SHARE_SETTINGS,
    remedies: LARGER_SHARE,
    read: ([, required, got], context) => unableToAcquire(Number(required), Number(got), context),
  }),
  kind({
    code: "execution.unableToAcquireOld",
    title: "a task could not get the memory it cannot do without (1.x)",
    severity: "failure",
    printedBy: "TaskMemoryManager",
    since: "1.5",
    until: "1.6",
    anchor: "Unable to acquire",
    pattern: re`Unable to acquire ${BYTES} bytes of memory(?!, got)`,
    meaning:
      "Spark 1.5 and 1.6 say it without what was got. 1.5 could fail like this although another task held the memory.",
    settings: SHARE_SETTINGS,
    remedies: ["Spark 2.x or later, whose tasks make each other's consumers spill", ...LARGER_SHARE],
    read: ([, required]) => ({ values: { requiredBytes: Number(required) } }),
  }),
  kind({
    code: "execution.spillingSort",
    title: "a sorter spills to disk",
    severity: "slow",
    printedBy: "UnsafeExternalSorter, ShuffleExternalSorter",
    anchor: "spilling sort data of",
    pattern: re`Thread (\d+) spilling sort data of ${SIZE} to disk \((\d+) +times? so far\)`,
    meaning: SPILL_MEANING,
    settings: SHARE_SETTINGS,
    remedies: LARGER_SHARE,
    read: ([, thread, size, times]) => spilled(thread, size, times),
  }),
  kind({
    code: "execution.spillingMap",
    title: "an in-memory map of an RDD operation spills to disk",
    severity: "slow",
    printedBy: "Spillable",
    anchor: "spilling in-memory map of",
    pattern: re`Thread (\d+) spilling in-memory map of ${SIZE}(?: \(elements: \d+\))? to disk \((\d+) times? so far\)`,
    meaning: "A reduceByKey, groupByKey, join or sortByKey asked for twice its size and got less. " + SPILL_MEANING,
    settings: ["spark.shuffle.spill.initialMemoryThreshold", ...SHARE_SETTINGS],
    remedies: LARGER_SHARE,
    read: ([, thread, size, times]) => spilled(thread, size, times),
  }),
  kind({
    code: "execution.forcedSpill",
    title: "a map is made to spill for another consumer of its task",
    severity: "slow",
    printedBy: "ExternalAppendOnlyMap, ExternalSorter",
    since: "2.0",
    anchor: "force spilling in-memory map to disk",
    pattern: re`Task (\d+) force spilling in-memory map to disk(?: and)? and? ?it will release ${SIZE} memory`,
    meaning:
      "Another operation of the same task asked for memory; TaskMemoryManager spills the smallest consumer that holds " +
      "enough, else the largest, and then asks again.",
    settings: SHARE_SETTINGS,
    remedies: LARGER_SHARE,
    read: ([, task, size]) => ({ values: { taskId: Number(task), releasedBytes: printed(size).bytes } }),
  }),
  kind({
    code: "execution.acquired",
    title: "a consumer of a task got memory",
    severity: "information",
    printedBy: "TaskMemoryManager",
    anchor: " acquired ",
    pattern: re`Task (\d+) acquired ${SIZE} for (\S+)`,
    meaning: "DEBUG of org.apache.spark.memory: the grants by which a task grows.",
    settings: SHARE_SETTINGS,
    read: ([, task, size, consumer]) => ({
      values: { taskId: Number(task), grantedBytes: printed(size).bytes, consumer },
    }),
  }),
  kind({
    code: "execution.released",
    title: "a consumer of a task gave memory back, or was made to spill",
    severity: "information",
    printedBy: "TaskMemoryManager",
    anchor: " from ",
    pattern: re`Task (\d+) (?:released?|spilled) ${SIZE} (?:of requested ${SIZE} )?from (\S+)(?: for (\S+))?`,
    meaning:
      "DEBUG of org.apache.spark.memory. With 'for' it is a spill that another consumer of the task asked for; 'from itself' " +
      "is a spill of its own.",
    settings: SHARE_SETTINGS,
    read: ([, task, size, , consumer, trigger]) => ({
      values: { taskId: Number(task), freedBytes: printed(size).bytes, consumer, trigger: trigger ?? null },
    }),
  }),
  kind({
    code: "execution.spillError",
    title: "a spill failed",
    severity: "failure",
    printedBy: "TaskMemoryManager",
    anchor: "rror while calling spill() on",
    pattern: /[Ee]rror while calling spill\(\) on (\S+)(?: : (.{0,300}))?/,
    meaning:
      "Writing to the local disk failed, so the memory could not be freed: mostly a full disk. From 4.0 on it begins with " +
      "[SPILL_OUT_OF_MEMORY].",
    remedies: ["Free space in spark.local.dir (on YARN: the node manager's local folders), or give it more disks"],
    read: ([, consumer, reason]) => ({ values: { consumer, reason: reason ?? null } }),
  }),
  kind({
    code: "execution.usage",
    title: "how much execution and storage use when a task runs out of memory",
    severity: "information",
    printedBy: "TaskMemoryManager",
    anchor: "used for execution and",
    pattern: re`${BYTES} bytes of memory are used for execution and ${BYTES} bytes of memory are used for storage`,
    meaning: "Of the whole executor, all tasks together. Storage inside its region is not evicted for execution.",
    settings: SHARE_SETTINGS,
    read: ([, execution, storage]) => ({
      values: { executionBytes: Number(execution), storageBytes: Number(storage) },
      arithmetic: [
        `${execution} + ${storage} = ${Number(execution) + Number(storage)} bytes of the unified memory are in use`,
      ],
    }),
  }),
  kind({
    code: "execution.acquiredBy",
    distinct: 1,
    title: "what one consumer of the failing task holds",
    severity: "information",
    printedBy: "TaskMemoryManager",
    anchor: "Acquired by",
    pattern: re`Acquired by (.{1,200}): ${SIZE}`,
    meaning: "The list names the operations of the task that hold memory; the largest is the one to make smaller.",
    settings: SHARE_SETTINGS,
    read: ([, consumer, size]) => ({ values: { consumer, heldBytes: printed(size).bytes } }),
  }),
  kind({
    code: "execution.notAssociated",
    title: "memory of the task that no consumer owns",
    severity: "information",
    printedBy: "TaskMemoryManager",
    anchor: "are not associated with specific consumers",
    pattern: re`${BYTES} bytes of memory were used by task (\d+) but are not associated with specific consumers`,
    meaning:
      "Bytes that were acquired while something failed (a spill, an interrupted wait), or by code that does not register. " +
      "They are freed when the task ends.",
    read: ([, bytes, task]) => ({ values: { bytes: Number(bytes), taskId: Number(task) } }),
  }),
  kind({
    code: "execution.leak",
    title: "a task ended while it held execution memory",
    severity: "harmless",
    printedBy: "Executor",
    anchor: "Managed memory leak detected",
    pattern: re`Managed memory leak detected; size = ${BYTES} bytes, (?:TID = (\d+)|.{0,100}?\(TID (\d+)\)|.{0,60})`,
    meaning:
      "Usually harmless: an operation was not read to its end (limit, show, take, a join that stops early), so its memory is " +
      "freed at the end of the task and only reported.",
    settings: ["spark.unsafe.exceptionOnMemoryLeak"],
    remedies: ["Nothing, unless spark.unsafe.exceptionOnMemoryLeak makes it a failure (Spark's own tests do)"],
    read: ([, size, tid, later]) => {
      const reading = leak(Number(size));
      return { ...reading, values: { ...reading.values, taskId: Number(tid ?? later ?? NaN) || null } };
    },
  }),
  kind({
    code: "execution.overRelease",
    title: "more execution memory was released than a task held",
    severity: "harmless",
    printedBy: "ExecutionMemoryPool",
    anchor: "Internal error: release called on",
    pattern:
      re`Internal error: release called on ${BYTES} bytes but task only has ${BYTES} bytes of memory from the (.{1,20}) pool`,
    meaning: "The bookkeeping is set to what the task held. A bug in Spark, not in the job.",
    read: ([, bytes, held, pool]) => ({ values: { releasedBytes: Number(bytes), heldBytes: Number(held), pool } }),
  }),
  kind({
    code: "execution.pageFailed",
    title: "the JVM had no room for a page that Spark had granted",
    severity: "slow",
    printedBy: "TaskMemoryManager",
    anchor: "Failed to allocate a page",
    pattern: re`Failed to allocate a page \(${BYTES} bytes\), try again`,
    meaning:
      "Spark's accounting said yes, the heap said no: objects of the application (user memory) take more than 1 - " +
      "spark.memory.fraction of it. The bytes stay accounted and the task spills more.",
    settings: ["spark.memory.fraction", "spark.executor.memory"],
    remedies: ["Lower spark.memory.fraction, so that more is left for objects", "More executor memory"],
    read: ([, bytes]) => ({ values: { pageBytes: Number(bytes) } }),
  }),
  kind({
    code: "execution.pageTable",
    title: "a task has all of its 8192 pages in use",
    severity: "failure",
    printedBy: "TaskMemoryManager",
    anchor: "Have already allocated a maximum of",
    pattern: /Have already allocated a maximum of (\d+) pages/,
    meaning: "A task addresses at most 8192 pages. Many small pages fill the table before the memory is full.",
    settings: ["spark.buffer.pageSize"],
    remedies: ["Raise spark.buffer.pageSize, or use more partitions"],
    read: ([, pages]) => ({ values: { pages: Number(pages) } }),
  }),
  kind({
    code: "execution.tooLargePage",
    title: "a page larger than Tungsten can address",
    severity: "failure",
    printedBy: "TaskMemoryManager",
    since: "2.0",
    anchor: "Cannot allocate a page of",
    pattern: re`Cannot allocate a page of ${BYTES} bytes`,
    meaning:
      "The largest page is 17179869176 bytes (2^31 - 1 words of 8 bytes): a hash table or a record array outgrew it.",
    settings: ["spark.sql.shuffle.partitions"],
    remedies: ["More partitions; for a broadcast, a sort-merge join instead"],
    read: ([, bytes]) => ({ values: { pageBytes: Number(bytes), largest: 17179869176 } }),
  }),
  kind({
    code: "execution.recordThreshold",
    title: "a sorter spills because of a count or a size, not for want of memory",
    severity: "slow",
    printedBy: "UnsafeExternalSorter, ShuffleExternalSorter",
    anchor: "Spilling data because",
    pattern:
      re`Spilling data because (number of spilledRecords|memory usage)(?: \(\d+\))? crossed the threshold ${BYTES}`,
    meaning:
      "A fixed threshold was reached: spark.shuffle.spill.numElementsForceSpillThreshold, a SQL operator's own, or (4.1) a size.",
    settings: [
      "spark.shuffle.spill.numElementsForceSpillThreshold",
      "spark.shuffle.spill.maxSizeInBytesForSpillThreshold",
      "spark.sql.windowExec.buffer.spill.threshold",
      "spark.sql.sortMergeJoinExec.buffer.spill.threshold",
    ],
    remedies: ["Raise the threshold that was set"],
    read: ([, what, threshold]) => ({ values: { what, threshold: Number(threshold) } }),
  }),
  kind({
    code: "execution.pointerArray",
    title: "a sorter's pointer array could not grow",
    severity: "failure",
    printedBy: "UnsafeExternalSorter, ShuffleExternalSorter",
    anchor: "Unable to grow the pointer array",
    pattern: /Unable to grow the pointer array/,
    meaning:
      "Growing needs the new array beside the old one: twice its size for a moment. The sorter spills to make room; failing " +
      "that the task fails.",
    settings: SHARE_SETTINGS,
    remedies: LARGER_SHARE,
  }),
  kind({
    code: "execution.aggregation",
    title: "an aggregation has no memory left, even after sorting",
    severity: "failure",
    printedBy: "TungstenAggregationIterator",
    anchor: "No enough memory for aggregation",
    pattern: /No enough memory for aggregation/,
    meaning:
      "The hash map could not even take one more row after it was emptied: other operations of the same task hold the memory.",
    settings: SHARE_SETTINGS,
    remedies: LARGER_SHARE,
  }),
  kind({
    code: "execution.hashedRelation",
    title: "the hash table of a join does not fit",
    severity: "failure",
    printedBy: "HashedRelation",
    anchor: "build hash",
    pattern:
      /[Nn]o enough memory to build hash|not enough memory to build (?:the )?hash|acquire \d+ bytes memory to build hash/,
    meaning: "A shuffled hash join or a broadcast keeps the whole side in memory; it cannot spill.",
    settings: ["spark.sql.autoBroadcastJoinThreshold", ...SHARE_SETTINGS],
    remedies: [
      "Use a sort-merge join (spark.sql.join.preferSortMergeJoin=true, no shuffle_hash hint)",
      ...LARGER_SHARE,
    ],
  }),
  kind({
    code: "execution.unmanaged",
    title: "memory outside the manager is measured",
    severity: "information",
    printedBy: "UnifiedMemoryManager",
    since: "4.1",
    anchor: "Unmanaged memory polling started",
    pattern: /Unmanaged memory polling started with interval (\d+)ms/,
    meaning: "What RocksDB and others use lowers what a task may have and what new blocks may take (SPARK-53001).",
    settings: ["spark.memory.unmanagedMemoryPollingInterval"],
    read: ([, interval]) => ({ values: { intervalMs: Number(interval) } }),
  }),
];
