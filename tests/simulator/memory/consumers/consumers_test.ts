import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { OFF_HEAP, ON_HEAP, WAITING } from "../../../../src/simulator/memory/execution_memory.ts";
import { TaskMemoryManager } from "../../../../src/simulator/memory/task_memory_manager.ts";
import { makeConsumer } from "../../../../src/simulator/memory/consumers/mod.ts";
import type {
  ConsumerInput,
  SpillReport,
  SteppedConsumer,
} from "../../../../src/simulator/memory/consumers/stepped_consumer.ts";
import type { ConsumerKind } from "../../../../src/simulator/workload.ts";
import { Prng } from "../../../../src/prng.ts";
import { rulesFor } from "../../../../src/spark/versions.ts";
import { PlainExecutor } from "../plain_executor.ts";

const MiB = 2 ** 20;

interface Setting {
  readonly heap: number;
  readonly offHeap?: number;
  readonly spark?: string;
  readonly pageSizeBytes?: number;
}

function taskWith({ heap, offHeap, spark = "3.5.9", pageSizeBytes = MiB }: Setting): TaskMemoryManager {
  return new TaskMemoryManager(new PlainExecutor({ onHeap: heap, offHeap }), 0, {
    tungstenMemoryMode: offHeap === undefined ? ON_HEAP : OFF_HEAP,
    pageSizeBytes,
    rules: rulesFor(spark).spilling,
  });
}

function fill(consumer: SteppedConsumer): void {
  while (consumer.phase === "fill" && consumer.step() === "progress");
}

function drain(consumer: SteppedConsumer): string {
  for (;;) {
    const result = consumer.step();
    if (result !== "progress") return result;
  }
}

const rows = (records: number, recordBytes: number, more: Partial<ConsumerInput> = {}): ConsumerInput => ({
  name: "rows",
  records,
  bytes: records * recordBytes,
  ...more,
});

Deno.test("UnsafeExternalSorter spills for others only while it is read, the current page last", () => {
  const task = taskWith({ heap: 16 * MiB });
  const reports: SpillReport[] = [];
  const host = { position: () => 0.5, spilled: (report: SpillReport) => void reports.push(report) };
  const sorter = makeConsumer("UnsafeExternalSorter", task, rows(50000, 60), { host });
  const other = makeConsumer("Raw", task, { name: "other", records: 1, bytes: 30 * MiB });
  sorter.step();
  sorter.step();
  assertEquals(sorter.spill(MiB, other), 0);
  fill(sorter);
  const held = sorter.used;
  // 50000 rows of 64 bytes: 4 pages, and an array of 2 MiB for up to 87381 of them.
  assertEquals(held, 4 * MiB + 2 * MiB);
  assertEquals(sorter.spill(MiB, other), held - MiB);
  assertEquals(reports.map(({ memoryBytes, diskBytes }) => [memoryBytes, diskBytes]), [[held - MiB, 25000 * 60]]);
  assertEquals([sorter.nextAt, sorter.used], [0.5, MiB]);
  assertEquals(sorter.spill(MiB, other), 0);
  assertEquals(sorter.step(), "progress");
  assertEquals(sorter.used, 0);
  assertEquals(drain(sorter), "done");
});

// SPARK-32911.
Deno.test("a sorter that was read to its end frees its pages from 2.4.8 on", () => {
  const freed = ["2.4.0", "2.4.8"].map((spark) => {
    const task = taskWith({ heap: 64 * MiB, spark });
    const sorter = makeConsumer("UnsafeExternalSorter", task, rows(1000, 60), { host: { position: () => 1 } });
    fill(sorter);
    return sorter.spill(MiB, makeConsumer("Raw", task, { name: "other", records: 1, bytes: 1 }));
  });
  assertEquals(freed, [0, 65536]); // the array; the one page is under the last row
});

Deno.test("a number of records that forces spills is kept to", () => {
  const settings = { numElementsForceSpillThreshold: 1000 };
  const spills = (["UnsafeExternalSorter", "ShuffleExternalSorter", "ExternalSorter"] as const).map((kind) => {
    const consumer = makeConsumer(kind, taskWith({ heap: 64 * MiB }), rows(5000, 60), { settings });
    assertEquals(drain(consumer), "done");
    return consumer.spillCount;
  });
  // Before record 1001, 2001, ...; Spillable after more than 1000.
  assertEquals(spills, [4, 4, 4]);
});

Deno.test("ShuffleExternalSorter counts its pages and spills for nobody else", () => {
  const task = taskWith({ heap: 3 * MiB });
  const sorter = makeConsumer("ShuffleExternalSorter", task, rows(60000, 96, { diskBytesPerByte: 0.5 }));
  assertEquals(sorter.spill(1, makeConsumer("Raw", task, { name: "other", records: 1, bytes: 1 })), 0);
  assertEquals(drain(sorter), "done");
  // 10485 records a page; the third page does not fit beside an array of 512 KiB.
  assertEquals(sorter.spillCount, 2);
  assertEquals(sorter.memoryBytesSpilled, 4 * MiB);
  assertEquals(sorter.diskBytesSpilled, 2 * 2 * 10485 * 96 / 2);
  assertEquals(task.memoryConsumption, 0);
});

Deno.test("consumers that cannot begin fail with Spark's message and numbers", () => {
  const failed = (kind: ConsumerKind, heap: number, parameters = {}, spark = "2.4.0") => {
    const task = taskWith({ heap, spark });
    const consumer = makeConsumer(kind, task, rows(1e5, 60, { parameters }));
    assertEquals(drain(consumer), "failed");
    assertEquals(consumer.step(), "failed");
    return [task.failure!.className.split(".").at(-1), task.failure!.message, task.failure!.outOfMemory!.got];
  };
  assertEquals(failed("UnsafeExternalSorter", 60000), [
    "SparkOutOfMemoryError",
    "Unable to acquire 65536 bytes of memory, got 60000",
    60000,
  ]);
  assertEquals(failed("ShuffleExternalSorter", 32800, {}, "3.5.9"), [
    "SparkOutOfMemoryError",
    "[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 64 bytes of memory, got 32.",
    32,
  ]);
  assertEquals(failed("HashAggregation", 262144), ["SparkOutOfMemoryError", "No enough memory for aggregation", 0]);
  assertEquals(failed("HashedRelation", MiB, { longKey: 1 }), [
    "SparkException",
    "Can't acquire 1049600 bytes memory to build hash relation, got 1048576 bytes",
    1048576,
  ]);
  assertEquals(failed("HashedRelation", MiB, {}, "3.5.9"), [
    "SparkOutOfMemoryError",
    "There is not enough memory to build hash map.",
    0,
  ]);
  assertEquals(failed("Raw", 3 * MiB, { spills: 0 }).at(1), "Unable to acquire 1 bytes of memory, got 0");
});

Deno.test("HashAggregation gives its last pages to others while it is read, which is counted nowhere", () => {
  const task = taskWith({ heap: 64 * MiB });
  const aggregation = makeConsumer("HashAggregation", task, rows(1e5, 48));
  fill(aggregation);
  const pages = Math.ceil(1e5 / Math.floor((MiB - 4) / 64));
  assertEquals(aggregation.used, pages * MiB);
  const other = makeConsumer("Raw", task, { name: "other", records: 1, bytes: 1 });
  assertEquals(aggregation.spill(2 * MiB - 1, other), 2 * MiB);
  assertEquals([aggregation.used, aggregation.memoryBytesSpilled], [(pages - 2) * MiB, 0]);
  assertEquals(drain(aggregation), "done");
  assertEquals(task.memoryConsumption, 0);
});

// SPARK-31952.
Deno.test("the map of an aggregation that falls back counts as spilled from 3.0.2 on", () => {
  const spilled = ["2.4.0", "3.5.9"].map((spark) => {
    const aggregation = makeConsumer("HashAggregation", taskWith({ heap: 4 * MiB, spark }), rows(1e5, 48));
    assertEquals(drain(aggregation), "done");
    return [aggregation.spillCount > 1, aggregation.memoryBytesSpilled > 0, aggregation.diskBytesSpilled > 0];
  });
  assertEquals(spilled, [[true, false, true], [true, true, true]]);
});

// BroadcastHashJoinExec: incPeakExecutionMemory(relation.estimatedSize), for a relation held elsewhere.
Deno.test("a relation that was broadcast asks for nothing and counts in the peak", () => {
  const task = taskWith({ heap: 1 });
  const relation = makeConsumer("HashedRelation", task, rows(1, 5e6, { parameters: { broadcast: 1 } }));
  assertEquals([drain(relation), relation.peakExecutionMemory, task.memoryConsumption], ["done", 5e6, 0]);
});

Deno.test("ExternalAppendOnlyMap spills for others only with Tungsten memory on the heap", () => {
  const freed = [undefined, 64 * MiB].map((offHeap) => {
    const task = taskWith({ heap: 64 * MiB, offHeap });
    const map = makeConsumer("ExternalAppendOnlyMap", task, rows(1e6, 16));
    fill(map);
    return map.spill(MiB, makeConsumer("Raw", task, { name: "other", records: 1, bytes: 1 }));
  });
  assertEquals(freed[1], 0);
  // 5 MiB asked for at 5 MiB, 10 at 10; both within 32 records.
  assert(freed[0] >= 15 * MiB && freed[0] < 15 * MiB + 2000);
});

Deno.test("ExternalSorter spills for others only while its result is read in the same task", () => {
  const freed = [0, 1].map((read) => {
    const task = taskWith({ heap: 64 * MiB });
    const sorter = makeConsumer("ExternalSorter", task, rows(1e6, 16, { parameters: { read } }));
    const other = makeConsumer("Raw", task, { name: "other", records: 1, bytes: 1 });
    while (sorter.nextAt < 0.9) sorter.step();
    assertEquals(sorter.spill(MiB, other), 0);
    fill(sorter);
    return sorter.spill(MiB, other) > 0;
  });
  assertEquals(freed, [false, true]);
});

Deno.test("a consumer whose request waits goes on when it is granted", () => {
  const executor = new PlainExecutor({ onHeap: 8 * MiB });
  const options = { tungstenMemoryMode: ON_HEAP, pageSizeBytes: MiB, rules: rulesFor("3.5.9").spilling };
  const [first, second] = [1, 2].map((id) => new TaskMemoryManager(executor, id, options));
  const hog = makeConsumer("Raw", first, { name: "hog", records: 1, bytes: 8 * MiB });
  fill(hog);
  const sorter = makeConsumer("UnsafeExternalSorter", second, rows(20000, 60));
  assertEquals(sorter.step(), "waiting");
  assertEquals(executor.serve(), []);
  drain(hog);
  const [{ granted }] = executor.serve();
  assert(second.resume(granted) !== WAITING);
  assertEquals(drain(sorter), "done");
  assertEquals(sorter.spillCount, 0);
});

const KINDS: readonly ConsumerKind[] = [
  "UnsafeExternalSorter",
  "ShuffleExternalSorter",
  "HashAggregation",
  "HashedRelation",
  "ExternalAppendOnlyMap",
  "ExternalSorter",
  "Raw",
];

const anyInput = fc.record({
  kind: fc.constantFrom(...KINDS),
  records: fc.integer({ min: 0, max: 300000 }),
  recordBytes: fc.integer({ min: 8, max: 300 }),
  keyShare: fc.double({ min: 0.001, max: 1, noNaN: true }),
  parameters: fc.record({
    radixSort: fc.constantFrom(0, 1),
    fastMap: fc.constantFrom(0, 1),
    longKey: fc.constantFrom(0, 1),
    buffer: fc.constantFrom(0, 1),
    read: fc.constantFrom(0, 1),
    spills: fc.constantFrom(0, 1),
  }),
});

Deno.test("whatever the input and the memory: places ascend, spills are counted once, all memory is given back", () => {
  fc.assert(
    fc.property(
      fc.array(anyInput, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: 100000, max: 40 * MiB }),
      fc.constantFrom("2.4.0", "3.2.0", "3.5.9", "4.1.0"),
      (inputs, heap, spark) => {
        const task = taskWith({ heap, spark, pageSizeBytes: 262144 });
        const reported = new Map<SteppedConsumer, number>();
        const host = {
          spilled: ({ consumer, memoryBytes }: SpillReport) =>
            void reported.set(consumer, (reported.get(consumer) ?? 0) + memoryBytes),
        };
        const consumers = inputs.map(({ kind, records, recordBytes, keyShare, parameters }) =>
          makeConsumer(kind, task, rows(records, recordBytes, { keys: Math.ceil(records * keyShare), parameters }), {
            host,
          })
        );
        const failed = consumers.some((consumer) => !runsThrough(consumer));
        for (const consumer of consumers) {
          assertEquals(reported.get(consumer) ?? 0, consumer.memoryBytesSpilled);
          assert(consumer.used >= 0);
        }
        if (failed) task.cleanUpAllAllocatedMemory();
        assertEquals(task.memoryConsumption, 0);
      },
    ),
    { numRuns: 300, seed: 20260501 },
  );
});

/** Steps a consumer to its end and looks at each place on the way. */
function runsThrough(consumer: SteppedConsumer): boolean {
  let last = { phase: consumer.phase, at: 0 };
  for (let steps = 0; steps < 100000; steps++) {
    const result = consumer.step();
    if (result !== "progress") {
      assert(result === "done" || result === "failed");
      return result === "done";
    }
    const { phase, nextAt } = consumer;
    assert(nextAt >= 0 && nextAt <= 1);
    if (phase === last.phase) assert(nextAt >= last.at - 1e-9, `${consumer.name}: ${nextAt} after ${last.at}`);
    else assertEquals([last.phase, phase], ["fill", "read"]);
    last = { phase, at: nextAt };
  }
  throw new Error("too many steps");
}

/** Makes requests wait as it likes; what they get in the end is what they would have got at once. */
class DelayingExecutor extends PlainExecutor {
  readonly #random: Prng | null;
  #last: (() => number) | null = null;

  constructor(heap: number, seed: number | null) {
    super({ onHeap: heap });
    this.#random = seed === null ? null : new Prng(seed);
  }

  override acquireExecutionMemory(numBytes: number, taskAttemptId: number, mode: 0 | 1): number {
    const acquire = () => super.acquireExecutionMemory(numBytes, taskAttemptId, mode);
    if (this.#random === null || this.#random.integer(3) > 0) return acquire();
    this.#last = acquire;
    return WAITING;
  }

  /** Grants the request that waits. */
  grant(): number {
    return this.#last!();
  }
}

Deno.test("requests that wait first, spills' inner ones too, change nothing of what a consumer takes and spills", () => {
  const kinds = ["UnsafeExternalSorter", "ShuffleExternalSorter", "HashAggregation", "HashedRelation"] as const;
  const others = ["ExternalAppendOnlyMap", "ExternalSorter", "Raw"] as const;
  /** Its end, spills and peak, and how often it waited. */
  const ran = (seed: number | null, kind: ConsumerKind, spark: string, heap: number, threshold?: number) => {
    const executor = new DelayingExecutor(heap, seed);
    const rules = rulesFor(spark).spilling;
    const task = new TaskMemoryManager(executor, 0, { tungstenMemoryMode: ON_HEAP, pageSizeBytes: MiB, rules });
    const spills: [bytes: number, disk: number][] = [];
    const host = {
      position: () => 0.5,
      spilled: ({ memoryBytes, diskBytes }: SpillReport) => void spills.push([memoryBytes, diskBytes]),
    };
    const settings = threshold === undefined ? {} : { numElementsForceSpillThreshold: threshold };
    const input = rows(60_000, 100, { keys: 40_000 });
    const consumer = makeConsumer(kind, task, input, { host, settings });
    let waits = 0;
    let end: string = consumer.step();
    for (; end === "progress" || end === "waiting"; end = consumer.step()) {
      if (end !== "waiting") continue;
      do waits++; while (task.resume(executor.grant()) === WAITING);
    }
    return { outcome: [end, spills, consumer.peakExecutionMemory, consumer.used] as unknown, waits };
  };
  let waited = 0;
  for (const kind of [...kinds, ...others]) {
    for (const spark of ["2.4.0", "3.5.9"]) {
      for (const [heap, threshold] of [[64 * MiB], [3 * MiB], [2 * MiB, 5000], [64 * MiB, 9000], [MiB / 2]]) {
        const { outcome } = ran(null, kind, spark, heap, threshold);
        for (let seed = 0; seed < 6; seed++) {
          const delayed = ran(seed, kind, spark, heap, threshold);
          assertEquals([kind, spark, heap, delayed.outcome], [kind, spark, heap, outcome]);
          waited += delayed.waits;
        }
      }
    }
  }
  assert(waited > 1000, `${waited} waits`);
});

Deno.test("a join without a row on its build side takes no memory from 3.1 on", () => {
  // HashedRelation.apply of 3.0.3 and 3.1.3: EmptyHashedRelation came with 3.1.
  const taken = (spark: string) => {
    const task = taskWith({ heap: 16 * MiB, spark });
    const relation = makeConsumer("HashedRelation", task, rows(0, 0));
    fill(relation);
    return relation.used > 0;
  };
  assertEquals([taken("3.0.3"), taken("3.1.3")], [true, false]);
});
