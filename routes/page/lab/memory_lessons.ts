/**
 * The lessons about the memory manager. Each is a scenario of the conformance traces, recorded from the real Spark
 * 2.4.0 (UnifiedMemoryManager, MemoryStore): `scenario` names the file. A test compares the operations with the file
 * and the kernel's outcomes with the recorded ones.
 *
 * @module
 */
import type { LabHeader, LabOperation } from "./state.ts";

/** A question before a step: what will happen? */
export interface LessonQuestion {
  readonly text: string;
  readonly choices: readonly string[];
  /** Index of the right choice. */
  readonly right: number;
}

/** One lesson. */
export interface MemoryLesson {
  readonly id: string;
  readonly title: string;
  /** What people often believe. */
  readonly belief: string;
  readonly scenario: string;
  readonly header: LabHeader;
  readonly operations: readonly LabOperation[];
  /** What to notice, by index of the operation. */
  readonly notes: Readonly<Record<number, string>>;
  readonly questions: Readonly<Record<number, LessonQuestion>>;
  readonly takeaway: string;
}

const HEADER: LabHeader = {
  heap: 1000,
  off: 0,
  frac: 0.5,
  unrollThreshold: 1048576,
  checkPeriod: 16,
  growth: 1.5,
};

/** Long.MaxValue, which stands for all that the task holds. */
const ALL = 2 ** 63;

const put = (b: string, n: number): LabOperation => ({ op: "putBytes", b, n, m: "ON" });
const acquire = (t: number, n: number): LabOperation => ({ op: "acqExec", t, n, m: "ON" });
const release = (t: number, n: number): LabOperation => ({ op: "relExec", t, n, m: "ON" });

/** The six, in the order in which they are best read. */
export const MEMORY_LESSONS: readonly MemoryLesson[] = [
  {
    id: "region",
    title: "The region is no guarantee",
    belief: "Execution never takes cached data below spark.memory.storageFraction.",
    scenario: "h34_probe_overshoot_below_region_then_storage_borrows_back",
    header: HEADER,
    operations: [put("rdd_0_0", 900), acquire(0, 150), put("rdd_0_1", 900), put("rdd_0_1", 850), put("rdd_0_2", 1)],
    notes: {
      0: "Storage may grow as long as execution has free memory: the boundary moves beyond the region.",
      1: "Blocks leave whole. 50 bytes were missing, 900 went, and storage is far below its region of 500.",
      2: "Storage can never have more than execution leaves: it never evicts execution.",
      3: "Only storing again moves the boundary back; the pools do not return to the region by themselves.",
    },
    questions: {
      1: {
        text: "The storage pool holds one block of 900; the region is 500. Task 0 asks for 150 bytes, and 100 are " +
          "free in the execution pool. What happens to the block?",
        choices: [
          "It stays: part of it lies within the region",
          "400 bytes of it are dropped, 500 stay",
          "All of it is evicted",
        ],
        right: 2,
      },
    },
    takeaway: "The region limits how much execution may ask storage to give back: the pool's size beyond the region. " +
      "It does not keep a block from leaving whole. Many small partitions are protected; a few large ones are not.",
  },
  {
    id: "failed-put",
    title: "A put that fails still moves the boundary",
    belief: "When a block does not fit, nothing changes.",
    scenario: "h35_probe_failed_put_keeps_the_borrowed_pool",
    header: HEADER,
    operations: [put("rdd_0_0", 400), put("rdd_0_1", 700), acquire(0, 10), put("rdd_1_1", 700)],
    notes: {
      1: "The memory was borrowed before it was known whether the block would fit.",
      2: "Execution takes back what it needs of the free storage memory, byte by byte, when it needs it.",
      3: "A block of another RDD may evict rdd_0_0.",
    },
    questions: {
      1: {
        text: "rdd_0_1 needs 700. The storage pool has 100 free, execution 500, and the only block belongs to the " +
          "same RDD. The put fails. Where is the boundary afterwards?",
        choices: ["At 500, where it was", "At 800: the block’s size", "At 1,000: storage has all of it"],
        right: 2,
      },
    },
    takeaway:
      "A refused put can hand all of execution’s free memory to storage. It is not lost: the next request for " +
      "execution memory takes it back. In a log it shows as a storage pool that is large and empty.",
  },
  {
    id: "who-goes",
    title: "Not simply the oldest block",
    belief: "The least recently used block is the one that is evicted.",
    scenario: "h39_probe_pinned_and_same_rdd_are_skipped",
    header: { ...HEADER, frac: 1 },
    operations: [
      put("rdd_0_0", 200),
      put("rdd_1_0", 200),
      put("rdd_2_0", 200),
      put("rdd_1_1", 200),
      put("broadcast_0", 200),
      { op: "lockRead", b: "rdd_0_0" },
      put("rdd_1_2", 300),
      put("rdd_1_3", 700),
      { op: "unlockRead", b: "rdd_0_0" },
      put("rdd_1_3", 500),
    ],
    notes: {
      5: "A task reads rdd_0_0 at this moment.",
      6: "A block never evicts blocks of its own RDD, or scanning an RDD that is too large would throw out what it " +
        "has just cached.",
      7: "If the candidates do not suffice, nobody goes.",
      9: "Three of the four blocks are of RDD 1 itself: only rdd_0_0 could go, and 200 do not suffice.",
    },
    questions: {
      6: {
        text: "The store is full. Eldest first: rdd_0_0 (being read), rdd_1_0, rdd_2_0, rdd_1_1, broadcast_0, 200 " +
          "bytes each. rdd_1_2 needs 300. Who goes?",
        choices: ["rdd_0_0 and rdd_1_0", "rdd_1_0 and rdd_2_0", "rdd_2_0 and broadcast_0", "Nobody: it is refused"],
        right: 2,
      },
    },
    takeaway: "Eldest first, but passing over blocks that are being read and, when a block is stored, those of the " +
      "same RDD. Broadcasts are evicted like any other block. All or nobody.",
  },
  {
    id: "shares",
    title: "At most 1/N, at least 1/2N, and in between: waiting",
    belief: "Each of N running tasks gets 1/N of the memory.",
    scenario: "h15_MMSuite_block_for_1_of_2N",
    header: HEADER,
    operations: [acquire(1, 1000), acquire(2, 250), release(1, 250), acquire(2, 100)],
    notes: {
      0: "Alone, a task may have everything, storage’s free memory included.",
      1: "Nobody takes memory away from task 1. Task 2 waits, and its thread stands still.",
      2: "Task 2 is due 1/2N = 250: now it gets them.",
      3: "It holds its due already, so it no longer waits for more: it is told 0, and has to spill.",
    },
    questions: {
      1: {
        text: "Task 1 holds all of the 1,000. Now task 2 starts and asks for 250. What does it get?",
        choices: ["0, at once: it has to spill", "250: task 1 is made to spill", "It waits until task 1 releases"],
        right: 2,
      },
      3: {
        text: "Task 2 holds 250 and asks for another 100; nothing is free. What now?",
        choices: ["It waits", "It gets 0, at once"],
        right: 1,
      },
    },
    takeaway: "A task may hold at most 1/N of what execution could have, and waits only as long as it has less than " +
      "1/2N. A task that came first keeps what it has until it spills or ends by itself.",
  },
  {
    id: "no-wake",
    title: "Freeing cached data wakes nobody",
    belief: "A task that waits for memory goes on as soon as there is some.",
    scenario: "h26_probe_storage_release_does_not_wake_a_waiter",
    header: HEADER,
    operations: [
      put("broadcast_0", 500),
      acquire(1, 500),
      acquire(2, 100),
      { op: "remove", b: "broadcast_0" },
      { op: "relStorage", n: 0, m: "ON" },
      acquire(1, 1),
      acquire(3, 1),
    ],
    notes: {
      2: "Storage lies within its region and execution is used up: task 2 waits.",
      3: "500 bytes are free, and task 2 goes on waiting: only releases of execution memory and new tasks wake it.",
      5: "Task 1 asks for more. The pool grows by the byte, then the limit of 1/N says 0. Nobody is woken.",
      6: "A task that arrives wakes the others; it is served first, then task 2 finds the free memory.",
    },
    questions: {
      3: {
        text:
          "Task 2 waits for 100. Now broadcast_0 is removed: 500 bytes of storage memory are free. Does task 2 go on?",
        choices: ["Yes, at once", "No, it goes on waiting"],
        right: 1,
      },
    },
    takeaway: "Unpersisting and evicting do not help a task that waits already. What wakes it: any release of " +
      "execution memory (a spill or the end of a task), or a new task.",
  },
  {
    id: "unroll",
    title: "Caching that fails is not free",
    belief: "A partition that does not fit is just not cached; no harm done.",
    scenario: "h49_probe_unroll_evicts_then_fails",
    header: { ...HEADER, unrollThreshold: 100 },
    operations: [
      put("broadcast_0", 300),
      put("broadcast_1", 300),
      put("rdd_0_0", 300),
      { op: "unrollPut", b: "rdd_0_1", t: 2, cnt: 100, el: 20, p: -1, m: "ON" },
      put("rdd_0_1", 300),
      { op: "releaseUnrollTask", t: 2, n: ALL, m: "ON" },
      { op: "unrollPut", b: "rdd_0_2", t: 2, cnt: 40, el: 10, p: 700, m: "ON" },
      { op: "unrollPut", b: "rdd_0_2", t: 2, cnt: 40, el: 10, p: 701, m: "ON" },
      { op: "releaseUnrollTask", t: 2, n: ALL, m: "ON" },
      { op: "unrollPut", b: "rdd_1_2", t: 2, cnt: 17, el: 20, p: 10, m: "ON" },
    ],
    notes: {
      3: "100 first; at the 17th value 340 bytes need 510; at the 33rd, 660 need 990, which cannot be had.",
      4: "What task 2 holds for its unfinished partition counts as storage in use, and cannot be evicted.",
      5: "It is held until the task has consumed the values or ends.",
      6: "The last look takes the precise size: here it fits exactly.",
      9: "The first reservations evict two blocks for a partition of 10 bytes in the end.",
    },
    questions: {
      3: {
        text: "The store holds 900 of 1,000. A partition of 100 values, 20 bytes each, is to be cached: 2,000 bytes, " +
          "far too many. Spark finds out value by value. What is in memory afterwards?",
        choices: [
          "The three blocks, as before",
          "The broadcasts are gone, and the task holds 510 bytes for nothing",
          "Nothing: everything was evicted",
        ],
        right: 1,
      },
    },
    takeaway: "Unrolling reserves memory as it goes, half as much again each time. When it fails, what it evicted " +
      "stays evicted, and what it reserved stays reserved until the task is done with the values.",
  },
];
