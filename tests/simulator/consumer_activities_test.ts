// What operators take that get no row: the constructors of UnsafeInMemorySorter, BytesToBytesMap, RowBasedKeyValueBatch,
// ShuffleInMemorySorter and LongToUnsafeRowMap (sources of spark-core and spark-sql 2.4.0, 3.0.3, 3.1.1, 3.5.9, 4.0.4).
import { assertEquals } from "@std/assert";
import { simulate } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { ConsumerKind } from "../../src/simulator/workload.ts";
import { clusterOf, column, consumerOf, demandOf, jobOf, MIB, rddOf, workloadOf } from "../support/workloads.ts";

const KIB = 1024;

/** Most execution memory used at a time, and the peak that the task reports, of one task with one consumer without rows. */
function taken(kind: ConsumerKind, parameters: Record<string, number> = {}, version = "3.5.9", absent = false) {
  const none = column(1, 0);
  const consumer = consumerOf(1, { kind, records: none, bytes: none, parameters, absentIn: absent ? [0] : null });
  const workload = workloadOf({
    sparkVersion: version,
    cluster: clusterOf(1),
    rdds: [rddOf(1, 1)],
    demands: [demandOf(1, { consumers: [consumer] })],
    jobs: [jobOf(0, 1, 0)],
  });
  let [used, reported] = [0, 0];
  simulate(workload, {
    conf: SparkConf.from({ "spark.executor.memory": "1g", "spark.buffer.pageSize": "1m" }, version),
    sink: {
      event(event) {
        if (event.kind === "stageExecutorMetrics") used = Math.max(used, event.metrics.OnHeapExecutionMemory ?? 0);
        if (event.kind === "taskEnd") reported = event.metrics?.peakExecutionMemory ?? 0;
      },
    },
  });
  return [used, reported];
}

Deno.test("sorters without rows take their first array", () => {
  // 4096 records of two words, and of one.
  assertEquals(taken("UnsafeExternalSorter"), [64 * KIB, 64 * KIB]);
  assertEquals(taken("ShuffleExternalSorter"), [32 * KIB, 32 * KIB]);
});

Deno.test("an aggregation without rows takes the map's array, and the first-level map's page", () => {
  // 16384 keys of two words.
  assertEquals(taken("HashAggregation"), [256 * KIB, 256 * KIB]);
  assertEquals(taken("HashAggregation", { fastMap: 1 }), [256 * KIB + MIB, 256 * KIB]);
});

Deno.test("a hash join without rows on its build side takes an empty map up to 3.0, and nothing since 3.1", () => {
  // LongToUnsafeRowMap: 64 keys of two words and a page of 1 MiB, then an array that is dense.
  assertEquals(taken("HashedRelation", { longKey: 1 }, "3.0.3")[0], MIB + KIB);
  assertEquals(taken("HashedRelation", { longKey: 1 }, "3.1.1"), [0, 0]);
  assertEquals(taken("HashedRelation", {}, "3.5.9"), [0, 0]);
});

Deno.test("collections of RDD jobs without records, and operators that do not run, take nothing", () => {
  for (const kind of ["ExternalAppendOnlyMap", "ExternalSorter", "Raw"] as const) assertEquals(taken(kind), [0, 0]);
  for (const kind of ["UnsafeExternalSorter", "HashAggregation", "ShuffleExternalSorter"] as const) {
    assertEquals(taken(kind, {}, "3.5.9", true), [0, 0]);
  }
});
