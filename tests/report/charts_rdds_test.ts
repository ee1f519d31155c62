import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { Charts } from "../../src/report/charts.ts";
import { rddIdOf } from "../../src/report/charts_rdds.ts";
import { blockUpdated } from "./chart_events.ts";

const steps = fc.array(
  fc.oneof(
    fc.record({
      op: fc.constant("update" as const),
      executor: fc.nat(2),
      rdd: fc.nat(2),
      partition: fc.nat(4),
      memory: fc.nat(3).map((n) => n * 100),
      disk: fc.nat(1).map((n) => n * 10),
    }),
    fc.record({ op: fc.constant("remove" as const), executor: fc.nat(2) }),
    fc.record({ op: fc.constant("unpersist" as const), rdd: fc.nat(2) }),
  ),
  { maxLength: 100 },
);

Deno.test("what is cached at the end equals a plain model's", () => {
  fc.assert(fc.property(steps, (list) => {
    const charts = new Charts({ timeBuckets: 8 });
    const model = new Map<string, { memory: number; disk: number }>();
    let time = 1000;
    for (const step of list) {
      time += 10;
      if (step.op === "update") {
        const { executor, rdd, partition, memory, disk } = step;
        charts.event(blockUpdated(`rdd_${rdd}_${partition}`, memory, {
          executorId: String(executor),
          diskSize: disk,
          time,
        }));
        model.set(`${executor} ${rdd} ${partition}`, { memory, disk });
      } else if (step.op === "remove") {
        const executorId = String(step.executor);
        charts.event({ kind: "blockManagerRemoved", time, executorId });
        for (const key of [...model.keys()]) {
          if (key.startsWith(`${executorId} `)) model.delete(key);
        }
      } else {
        charts.event({ kind: "unpersistRdd", rddId: step.rdd });
        for (const key of [...model.keys()]) {
          if (key.split(" ")[1] === String(step.rdd)) model.delete(key);
        }
      }
    }
    for (const chart of charts.finish().rdds) {
      const blocks = [...model].filter(([key]) => key.split(" ")[1] === String(chart.rddId)).map(([, block]) => block);
      const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
      assertEquals(chart.endMemoryBytes, sum(blocks.map((b) => b.memory)));
      assertEquals(chart.endDiskBytes, sum(blocks.map((b) => b.disk)));
      assertEquals(
        chart.endMemoryBlocks,
        blocks.filter((b) => b.memory > 0).length,
      );
      assertEquals(
        chart.endDiskBlocks,
        blocks.filter((b) => b.disk > 0).length,
      );
      assertEquals(chart.points.at(-1)?.memoryBytes ?? 0, chart.endMemoryBytes);
    }
  }));
});

Deno.test("block ids of RDDs and of others are told apart", () => {
  assertEquals(
    ["rdd_12_3", "broadcast_1", "rdd_x_1", "rdd_5", "rdd__1"].map(rddIdOf),
    [12, null, null, null, null],
  );
});

Deno.test("reads and evictions of simulated runs are counted", () => {
  const charts = new Charts();
  const at = { time: 1000, executorId: "1", blockId: "rdd_4_0" };
  const read = { kind: "cacheRead" as const, ...at, taskId: 1, numBytes: 9 };
  charts.event({ ...read, from: "miss" });
  charts.event({ ...read, from: "memory" });
  charts.event({ ...read, from: "disk" });
  charts.event({
    kind: "blockEvicted",
    ...at,
    memorySize: 9,
    offHeap: false,
    droppedToDisk: true,
    forBlockId: null,
    forTaskId: 1,
  });
  // The update that Spark sends for the same eviction does not count again.
  charts.event(blockUpdated("rdd_4_0", 0, { diskSize: 9, time: 1000 }));
  const [{ hits, misses, evictions }] = charts.finish().rdds;
  assertEquals({ hits, misses, evictions }, {
    hits: 2,
    misses: 1,
    evictions: 1,
  });
});

Deno.test("puts that found no room are counted by RDD; other blocks are of none", () => {
  const charts = new Charts();
  const at = { time: 1000, executorId: "1", taskId: 1, numBytes: 9 };
  for (const blockId of ["rdd_4_0", "rdd_4_1", "broadcast_1"]) {
    charts.event({ kind: "putRefused", ...at, blockId, toDisk: false });
  }
  charts.event({ kind: "cacheRead", ...at, blockId: "broadcast_1", from: "memory" });
  assertEquals(charts.finish().rdds.map(({ rddId, refused, hits }) => [rddId, refused, hits]), [[4, 2, 0]]);
});
