import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Charts } from "../../src/report/charts.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { blockUpdated, memoryState, METRICS, taskEnd } from "./chart_events.ts";

function fold(events: Iterable<SparkEvent>, timeBuckets = 8) {
  const charts = new Charts({ timeBuckets });
  for (const event of events) charts.event(event);
  return charts.finish();
}

const states = fc.array(
  fc.record({
    after: fc.nat(200),
    storageMemoryUsed: fc.nat(500),
    executionMemoryUsed: fc.nat(500),
  }),
  { minLength: 1, maxLength: 200 },
);

Deno.test("the fullest moment and the last state survive any number of widenings", () => {
  fc.assert(fc.property(states, (steps) => {
    let time = 1000;
    const events = steps.map(({ after, ...pools }) => memoryState(time += after, pools));
    const { points } = fold(events).executors[0];
    const used = (i: number) => points[i].onHeap.storageMemoryUsed + points[i].onHeap.executionMemoryUsed;
    const expected = Math.max(
      ...steps.map((s) => s.storageMemoryUsed + s.executionMemoryUsed),
    );
    assertEquals(Math.max(...points.map((_, i) => used(i))), expected);
    const last = steps[steps.length - 1];
    assertEquals(
      points[points.length - 1].onHeap.storageMemoryUsed,
      last.storageMemoryUsed,
    );
    assertEquals(points.length <= 16, true);
    assertEquals(
      points.every((p, i) => i === 0 || p.timeMs >= points[i - 1].timeMs),
      true,
    );
  }));
});

Deno.test("marks count every happening and keep the largest as the example", () => {
  const happenings = fc.array(
    fc.record({ after: fc.nat(100), bytes: fc.nat(1000) }),
    { minLength: 1, maxLength: 100 },
  );
  fc.assert(fc.property(happenings, (steps) => {
    let time = 1000;
    const events = steps.map(({ after, bytes }, i): SparkEvent => ({
      kind: "blockEvicted",
      time: time += after,
      executorId: "1",
      blockId: `rdd_1_${i}`,
      memorySize: bytes,
      offHeap: false,
      droppedToDisk: false,
      forBlockId: null,
      forTaskId: 7,
    }));
    const { marks } = fold(events).executors[0];
    const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
    assertEquals(sum(marks.map(({ count }) => count)), steps.length);
    assertEquals(
      sum(marks.map(({ bytes }) => bytes)),
      sum(steps.map(({ bytes }) => bytes)),
    );
    assertEquals(
      Math.max(...marks.map(({ example }) => example.bytes)),
      Math.max(...steps.map(({ bytes }) => bytes)),
    );
  }));
});

Deno.test("without pools, storage comes from block updates and execution from the tasks' peaks", () => {
  const { executors: [chart] } = fold([
    {
      kind: "blockManagerAdded",
      time: 1000,
      executorId: "1",
      host: "a:7070",
      maximumMemory: 900,
      maximumOnHeapMemory: 600,
      maximumOffHeapMemory: 300,
    },
    blockUpdated("rdd_1_0", 200),
    taskEnd({
      launchTime: 2000,
      finishTime: 4000,
      metrics: { ...METRICS, peakExecutionMemory: 100 },
    }),
    blockUpdated("rdd_1_0", 0),
  ], 512);
  assertEquals([chart.host, chart.maxOnHeapMemory], ["a", 600]);
  // 8 ms buckets: 3,000 ms in at most 512.
  assertEquals(
    chart.points.map(({ timeMs, onHeap }) => [
      timeMs,
      onHeap.storageMemoryUsed,
      onHeap.executionMemoryUsed,
    ]),
    [[1000, 200, 0], [2000, 200, 100], [4000, 0, 0]],
  );
  assertEquals(
    chart.marks.map(({ kind, bytes, example }) => [
      kind,
      bytes,
      example.subject,
    ]),
    [["evicted", 200, "rdd_1_0"]],
  );
});

Deno.test("an unpersisted RDD is no eviction, a lost executor holds nothing", () => {
  const { executors: [chart] } = fold([
    memoryState(1000, {}),
    memoryState(1500, { storageMemoryUsed: 300 }),
    {
      kind: "executorRemoved",
      time: 3000,
      executorId: "1",
      reason: "exit 137",
    },
  ]);
  assertEquals(chart.points.at(-1)!.onHeap.storageMemoryUsed, 0);
  assertEquals(chart.marks.map(({ kind }) => kind), ["removed"]);

  const { executors: [unpersisted] } = fold([
    { kind: "applicationEnd", time: 1000, exitCode: null },
    blockUpdated("rdd_1_0", 200),
    blockUpdated("rdd_12_0", 50),
    { kind: "unpersistRdd", rddId: 1 },
  ]);
  assertEquals(unpersisted.points.at(-1)!.onHeap.storageMemoryUsed, 250);
  assertEquals(unpersisted.marks, []);
});

Deno.test("what a simulated run tells of memory is marked by its kind, with its bytes and its cause", () => {
  const at = { time: 1000, executorId: "1", taskId: 7 };
  const consumer = { ...at, consumer: "UnsafeExternalSorter" };
  const { executors: [{ marks }] } = fold([
    memoryState(1000, {}),
    { kind: "putRefused", ...at, blockId: "rdd_1_0", numBytes: 11, toDisk: true },
    { kind: "memoryWait", ...at, numBytes: 12, waitMs: 30 },
    { kind: "spill", ...consumer, memoryBytes: 13, diskBytes: 5, trigger: "HashAggregation" },
    { kind: "outOfMemory", ...consumer, requested: 14, granted: 2 },
  ]);
  const told = marks.map(({ kind, bytes, example: { subject, cause, toDisk, waitMs } }) =>
    [kind, bytes, subject, cause, toDisk, waitMs] as const
  );
  assertEquals(
    new Map(told.map((mark) => [mark[0], mark.slice(1)])) as Map<string, unknown>,
    new Map<string, unknown>([
      ["refused", [11, "rdd_1_0", "task 7", true, null]],
      ["wait", [12, "task 7", null, false, 30]],
      ["spill", [13, "UnsafeExternalSorter", "HashAggregation", true, null]],
      ["outOfMemory", [14, "UnsafeExternalSorter", "task 7", false, null]],
    ]),
  );
});

Deno.test("pools off the heap are shown beside those on it; an unpersist leaves pools to what the run says of them", () => {
  const pools = { storagePoolSize: 300, storageMemoryUsed: 100, unrollMemoryUsed: 0 };
  const offHeap = { ...pools, executionPoolSize: 300, executionMemoryUsed: 50 };
  const { executors: [{ points }] } = fold([
    { ...memoryState(1000, { storageMemoryUsed: 20 }), offHeap } as SparkEvent,
    blockUpdated("rdd_1_0", 20),
    { kind: "unpersistRdd", rddId: 1 },
  ]);
  const last = points.at(-1)!;
  assertEquals([last.onHeap.storageMemoryUsed, last.offHeap!.storageMemoryUsed, last.offHeap!.executionMemoryUsed], [
    20,
    100,
    50,
  ]);
});

Deno.test("many executors share the samples that there may be: buckets widen, and the fullest moments stay", () => {
  // 80 executors with 1,024 moments each are more than the 65,536 samples of all.
  const events: SparkEvent[] = [];
  for (let moment = 0; moment < 1024; moment++) {
    for (let executor = 0; executor < 80; executor++) {
      const storageMemoryUsed = moment === 500 ? executor + 1 : 0;
      events.push({ ...memoryState(1000 + moment, { storageMemoryUsed }), executorId: `${executor}` } as SparkEvent);
    }
  }
  const { executors } = fold(events, 4096);
  assertEquals(executors.length, 80);
  assertEquals(executors.reduce((sum, { points }) => sum + points.length, 0) <= 65_536, true);
  for (const { executorId, points } of executors) {
    assertEquals(Math.max(...points.map(({ onHeap }) => onHeap.storageMemoryUsed)), Number(executorId) + 1);
  }
});
