// What a block manager does by version, in whole runs: 1.6 knows no locks, and asks for a block's memory anew when it is unrolled.
// Spark 1.6.3 itself, a SparkContext in local mode (3,000,000 bytes, unrollMemoryThreshold 1000), asked for the same:
// - a block of which an iterator was handed out is evicted for another one, and the iterator goes on;
// - unrollSafely() of 16 elements, 3.75 MB, reserves 2,328 bytes; putArray() then finds no room: MEMORY_AND_DISK goes to disk,
//   MEMORY_ONLY nowhere, and nothing is reserved any more either way;
// - unrollSafely() of 4 MB stops with 2,165,608 bytes reserved, still so when its iterator was consumed, none at the task's end.
import { assertEquals } from "@std/assert";
import { simulate } from "../../src/simulator/simulate.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { STORAGE_LEVELS, type StorageLevel } from "../../src/spark/storage_level.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { whatIf } from "../../src/what_if/what_if.ts";
import { cachedRdd, clusterOf, demandOf, jobOf, MIB, workloadOf } from "../support/workloads.ts";

const ONE_TO_ONE = { kind: "narrow", rddId: 0, mapping: "oneToOne" } as const;

/** Two cached blocks of 20 MiB in 100; then a task reads the first for long while another one stores 90 MiB. */
function readWhileStored(sparkVersion: string): Workload {
  const stored = {
    ...cachedRdd(1, 2, 0),
    dependencies: [ONE_TO_ONE],
    deserializedBytes: Float64Array.of(MIB, 90 * MIB),
    serializedBytes: null,
    elements: Float64Array.of(16, 16),
    computeMs: Float64Array.of(20_000, 1000),
  };
  return onOneExecutor(
    sparkVersion,
    [{ ...cachedRdd(0, 2, 20 * MIB), elements: Float64Array.of(16, 16) }, stored],
    2,
  );
}

/** A job for each RDD, on one executor of two cores with 100 MiB. */
function onOneExecutor(sparkVersion: string, rdds: Workload["rdds"], partitions: number): Workload {
  return workloadOf({
    sparkVersion,
    cluster: clusterOf(1, { memory: 100 * MIB }),
    rdds,
    demands: rdds.map(() => demandOf(partitions)),
    jobs: rdds.map((_, i) => jobOf(i, i, i)),
  });
}

function run(workload: Workload): SparkEvent[] {
  const events: SparkEvent[] = [];
  const sink = { event: (event: SparkEvent) => void events.push(structuredClone(event)) };
  simulate(workload, { conf: SparkConf.from(workload.conf, workload.sparkVersion), sink });
  return events;
}

const evictions = (events: readonly SparkEvent[]) =>
  events.flatMap((event) => event.kind === "blockEvicted" ? [event.blockId] : []);
const refusals = (events: readonly SparkEvent[]) =>
  events.flatMap((event) => event.kind === "putRefused" ? [event.blockId] : []);

Deno.test("a block that is read is evicted in 1.6, and holds its place from 2.0 on (SPARK-12757)", () => {
  for (
    const [version, evicted, refused] of [["1.6.3", ["rdd_0_0", "rdd_0_1"], []], ["2.0.2", [], ["rdd_1_1"]]] as const
  ) {
    const events = run(readWhileStored(version));
    assertEquals([evictions(events).sort(), refusals(events)], [evicted, refused], version);
    // The reader goes on from what it has.
    assertEquals(events.flatMap((event) => event.kind === "jobEnd" ? [event.failure] : []), [null, null]);
  }
});

Deno.test("an upgrade from 1.6 names the missing locks", () => {
  // The same memory in both: what a pool is of a heap changes as well.
  const conf = { "spark.memory.fraction": "0.75" };
  const workload = { ...readWhileStored("1.6.3"), conf };
  const { effects } = whatIf(workload, null, { sparkVersion: "2.0.2" }).versionEffects!;
  const changing = effects.filter(({ effect }) => effect === "changes");
  assertEquals(changing.map(({ name, figures }) => [name, figures[0]]), [
    ["memory.locksBlocks", "blocks evicted: 0 instead of 2"],
  ]);
});

/** One partition of 16 elements, 150 MiB, of which unrolling sees one alone. */
function largeElements(sparkVersion: string, level: StorageLevel): Workload {
  const rdd = { ...cachedRdd(0, 1, 150 * MIB, level), elements: Float64Array.of(16), diskBytes: Float64Array.of(MIB) };
  return onOneExecutor(sparkVersion, [rdd], 1);
}

Deno.test("a block that was unrolled and does not fit goes to disk, and 1.6 does not read it back (SPARK-10907)", () => {
  const reads = (version: string, level: StorageLevel) => {
    const events = run(largeElements(version, level));
    return [refusals(events).length, events.some((event) => event.kind === "blockUpdated" && event.diskSize > 0)];
  };
  // Refused once when it is put; from 2.0 on once more when it is read back from disk.
  assertEquals(reads("1.6.3", STORAGE_LEVELS.MEMORY_AND_DISK), [1, true]);
  assertEquals(reads("2.0.2", STORAGE_LEVELS.MEMORY_AND_DISK), [2, true]);
  assertEquals(reads("1.6.3", STORAGE_LEVELS.MEMORY_ONLY), [1, false]);
});

Deno.test("what was unrolled in part is reserved to the end of the task in 1.6, until it is consumed from 2.0 on", () => {
  // Of 150 MiB unrolling stops on the way, and the task computes 30 s with it; after 20 s another one stores 50 MiB.
  const rdd = {
    ...cachedRdd(0, 2, 0),
    deserializedBytes: Float64Array.of(150 * MIB, 50 * MIB),
    serializedBytes: null,
    elements: Float64Array.of(150_000, 16),
    computeMs: Float64Array.of(1000, 20_000),
  };
  const refused = (version: string) => {
    const workload = onOneExecutor(version, [rdd], 2);
    return refusals(run({ ...workload, demands: [demandOf(2, { computeMs: Float64Array.of(30_000, 1000) })] }));
  };
  assertEquals(refused("1.6.3"), ["rdd_0_0", "rdd_0_1"]);
  assertEquals(refused("2.0.2"), ["rdd_0_0"]);
});
