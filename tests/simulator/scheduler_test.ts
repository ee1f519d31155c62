import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { KeyOrder } from "../../src/simulator/scheduler/hash_map_order.ts";
import { freshSetOrder, newIntSet, type ScalaCollections } from "../../src/simulator/scheduler/hash_set_order.ts";
import { compressSize, decompressSize, mapStatus } from "../../src/simulator/scheduler/map_status.ts";
import { lostTask } from "../../src/simulator/scheduler/messages.ts";
import { NameTable } from "../../src/simulator/scheduler/names.ts";
import type { PoolSettings } from "../../src/simulator/scheduler/pool.ts";
import { resultPath } from "../../src/simulator/scheduler/result_path.ts";
import { schedulerSettings } from "../../src/simulator/scheduler/settings.ts";
import { rulesFor } from "../../src/spark/versions.ts";
import { testdata, traceLines } from "../support/traces.ts";

/** One recorded history of a collection of the real Scala (2.12.7, 2.13.16), and the order in which it then iterates. */
type HashOrder =
  & { scala: ScalaCollections; order: (number | string)[] }
  & (
    | { set: (number | "clear")[]; filtered: number[]; mapped: number[] }
    | { map: ["add" | "del", number | string][] }
  );

function hashOrders(): Promise<HashOrder[]> {
  return traceLines(testdata("scheduler/hash_order.jsonl.gz"));
}

Deno.test("newIntSet() iterates as scala.collection.mutable.HashSet[Int]", async () => {
  let compared = 0;
  for (const recorded of await hashOrders()) {
    if (!("set" in recorded)) continue;
    const set = newIntSet(recorded.scala);
    for (const operation of recorded.set) {
      if (operation === "clear") set.clear();
      else if (operation >= 0) set.add(operation);
      else set.delete(-1 - operation);
    }
    const order = set.toArray();
    assertEquals<unknown>(order, recorded.order);
    assertEquals(set.size, order.length);
    assertEquals(freshSetOrder(recorded.scala, order.filter((n) => n % 3 !== 0)), recorded.filtered);
    assertEquals(freshSetOrder(recorded.scala, order.map((n) => n >> 1)), recorded.mapped);
    compared++;
  }
  assertEquals(compared, 120);
});

Deno.test("KeyOrder iterates as scala.collection.mutable.HashMap, by integers and by strings", async () => {
  let compared = 0;
  for (const recorded of await hashOrders()) {
    if (!("map" in recorded)) continue;
    const names = new NameTable();
    const order = new KeyOrder(recorded.scala);
    for (const [operation, key] of recorded.map) {
      const id = names.idOf(String(key));
      if (operation === "del") {
        if (order.has(id)) order.delete(id);
      } else if (!order.has(id)) {
        order.add(id, typeof key === "string" ? names.hashOf(id) : key);
      }
    }
    const visited: string[] = [];
    order.some((id) => {
      visited.push(names.nameOf(id));
      return false;
    });
    assertEquals(visited, recorded.order.map(String));
    compared++;
  }
  assertEquals(compared, 120);
});

Deno.test("compressSize() and decompressSize() are MapStatus's at every boundary", async () => {
  const codes: { code: number; decompressed: number; largest: number | null }[] = await traceLines(
    testdata("scheduler/map_status.jsonl.gz"),
  );
  assertEquals(codes.length, 256);
  for (const { code, decompressed, largest } of codes) {
    assertEquals(decompressSize(code), decompressed);
    // Codes 2 to 7 are never used: 1.1^7 is below 2.
    if (largest === null || (code > 1 && code < 8)) continue;
    assertEquals([compressSize(largest) <= code, compressSize(largest + 1) > code], [true, true]);
  }
  assertEquals(compressSize(2 ** 40), 255);
});

Deno.test("mapStatus() keeps the average of small blocks and the huge ones above 2,000 partitions", () => {
  const sizes = new Float64Array(2001).fill(10);
  sizes[3] = 0;
  sizes[5] = 200 * 1024 * 1024;
  const status = mapStatus(sizes);
  // HighlyCompressedMapStatus 2.4.0: 1,999 blocks of 10 bytes; 200 MiB is above spark.shuffle.accurateBlockThreshold.
  assertEquals([0, 3, 5].map((reduceId) => status.getSizeForBlock(reduceId)), [
    10,
    0,
    decompressSize(compressSize(sizes[5])),
  ]);
  assertEquals(mapStatus(sizes.subarray(0, 2000)).getSizeForBlock(0), decompressSize(compressSize(10)));
});

Deno.test("resultPath() sends as the real TaskRunner at every threshold", async () => {
  const rows: {
    maxDirectResultSize: number;
    rpcMessageMaxSizeMB: number;
    maxResultSize: number;
    resultSize: number;
    sent: string;
  }[] = await traceLines(testdata("scheduler/result_thresholds.jsonl.gz"));
  assertEquals(rows.length, 30);
  for (const row of rows) {
    const limits = { ...row, rpcMessageMaxSize: row.rpcMessageMaxSizeMB * 1024 * 1024 };
    // The table is the same in 2.4.0, 3.5.9, 4.0.4 and 4.1.3.
    for (const version of ["2.4.0", "3.5.9", "4.0.4", "4.1.3"]) {
      assertEquals(resultPath(row.resultSize, limits, rulesFor(version)), row.sent, JSON.stringify(row));
    }
  }
});

Deno.test("resultPath() leaves 200 KiB of Akka's frame free in 1.x, and the frame's rest goes indirectly", () => {
  // Executor and AkkaUtils.reservedSizeBytes of 1.6.3: indirect from frame - 200 KiB on.
  const limits = { maxResultSize: 0, maxDirectResultSize: 1024 * 1024, rpcMessageMaxSize: 10 * 1024 * 1024 };
  const rest = 10 * 1024 * 1024 - 200 * 1024;
  const paths = [rest - 1, rest].map((size) => resultPath(size, limits, rulesFor("1.6.3")));
  assertEquals(paths, ["direct", "indirect"]);
});

Deno.test("lostTask() names an attempt as the version does", () => {
  const task = { index: 0, attempt: 3, taskSetId: "0.0", tid: 4, host: "h1", executorId: "e1" };
  assertEquals(
    ["2.0.2", "2.4.0", "3.5.9"].map((version) => lostTask(task, "x", rulesFor(version))),
    [
      "Lost task 0.3 in stage 0.0 (TID 4, h1): x",
      "Lost task 0.3 in stage 0.0 (TID 4, h1, executor e1): x",
      "Lost task 0.3 in stage 0.0 (TID 4) (h1 executor e1): x",
    ],
  );
});

Deno.test("schedulerSettings() has the defaults of the version", () => {
  const of = (version: string) => schedulerSettings(SparkConf.from({ "spark.speculation": "true" }, version), 4);
  // Spark's internal/config/package.scala and TaskSetManager of each version.
  assertEquals(of("2.4.0").speculation, {
    intervalMs: 100,
    quantile: 0.75,
    multiplier: 1.5,
    minTaskRuntimeMs: 100,
    taskDurationThresholdMs: null,
    slotsPerExecutor: 4,
    efficiency: null,
  });
  assertEquals(of("4.0.0").speculation, {
    ...of("2.4.0").speculation!,
    quantile: 0.9,
    multiplier: 3,
    efficiency: { processRateMultiplier: 0.75, longRunTaskFactor: 2 },
  });
  assertEquals(of("1.6.3").maxConsecutiveStageAttempts, 4);
  assertEquals(of("3.5.0").maxStageAttempts, 2147483647);
});

Deno.test("schedulerSettings() refuses a mode of scheduling that is not simulated", () => {
  const error = assertThrows(
    () => schedulerSettings(SparkConf.from({ "spark.scheduler.mode": "NONE" }, "2.4.0"), 1),
    InputError,
    "Cannot simulate with spark.scheduler.mode: must be FIFO or FAIR",
  );
  assertEquals(error.code, "conf.unsupported");
  assertEquals(schedulerSettings(SparkConf.from({ "spark.scheduler.mode": "fifo" }), 1).fairPools, null);
});

Deno.test("schedulerSettings() has the pools of FAIR, the default one too", () => {
  const pools = (version: string, described: readonly PoolSettings[] | null) =>
    schedulerSettings(SparkConf.from({ "spark.scheduler.mode": "fair" }, version), 1, described).fairPools;
  const etl: PoolSettings = { name: "etl", schedulingMode: "FAIR", minShare: 2, weight: 3 };
  const fifo: PoolSettings = { name: "default", schedulingMode: "FIFO", minShare: 0, weight: 1 };
  assertEquals(pools("3.5.9", [etl]), [etl, fifo]);
  assertEquals(pools("3.5.9", [{ ...fifo, weight: 5 }, etl]), [{ ...fifo, weight: 5 }, etl]);
  // SPARK-42157: without a file, the default pool itself is fair.
  assertEquals(pools("3.5.9", null), [{ ...fifo, schedulingMode: "FAIR" }]);
  assertEquals(["3.2.3", "3.3.1"].map((version) => pools(version, null)), [[fifo], [fifo]]);
  assertEquals(assertThrows(() => pools("3.5.9", [etl, etl]), InputError).code, "pool.duplicate");
});
