import { assert, assertEquals } from "@std/assert";
import { simulate } from "../../src/simulator/simulate.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { shuffledDiskRatio } from "../../src/workload/from_event_log_disk_ratio.ts";
import { TaskTable } from "../../src/workload/from_event_log_tasks.ts";
import { workloadOfLog } from "../support/event_logs.ts";

/** Spilled bytes and peaks of the tasks of a run under the settings that were recorded, summed. */
function spilledIn(workload: Workload): { memory: number; disk: number; peak: number } {
  const sums = { memory: 0, disk: 0, peak: 0 };
  const event = (event: SparkEvent) => {
    if (event.kind !== "taskEnd" || event.metrics === null) return;
    sums.memory += event.metrics.memoryBytesSpilled;
    sums.disk += event.metrics.diskBytesSpilled;
    sums.peak += event.metrics.peakExecutionMemory ?? 0;
  };
  simulate(workload, { conf: SparkConf.from(workload.conf, workload.sparkVersion), sink: { event } });
  return sums;
}

// Sums over the TaskEnd events of the log itself (Spark 3.5.9): one task's left side was spilled while the right one was
// sorted, and had to be written whole.
Deno.test("a replayed sort-merge join spills what the recorded one did", async () => {
  const workload = await workloadOfLog("sql_join");
  const { memory, disk, peak } = spilledIn(workload);
  assertEquals([memory, disk, peak], [29360032, 5942841, 297794336]);
  // Twice as compressible, half as much.
  const demands = workload.demands.map((demand) => ({
    ...demand,
    consumers: demand.consumers.map((consumer) => ({
      ...consumer,
      diskBytesPerByte: consumer.diskBytesPerByte === null ? null : consumer.diskBytesPerByte / 2,
    })),
  }));
  assertEquals(spilledIn({ ...workload, demands }).disk, Math.round(5942841 / 2));
});

// Eight tasks fell back to sorting, each writing its map of 524288 groups and a small rest.
Deno.test("replayed aggregations spill what the recorded ones did", async () => {
  const { memory, disk } = spilledIn(await workloadOfLog("aggregation"));
  assertEquals(memory, 8 * 50855680);
  assert(Math.abs(disk / (2 * (7267604 + 7283979 + 7577498 + 7897073)) - 1) < 0.02);
});

Deno.test("rows that were not spilled would be on disk as they are in the shuffle", () => {
  const tasks = new TaskTable();
  tasks.length = 2;
  tasks.partition.set([0, 1]);
  tasks.shuffleReadBytes.set([400, 200]);
  tasks.shuffleWriteBytes.set([0, 250]);
  const sorter = { kind: "UnsafeExternalSorter" as const, bytes: Float64Array.of(1000, 300) };
  const relation = { kind: "HashedRelation" as const, bytes: Float64Array.of(5000, 5000) };
  assertEquals(shuffledDiskRatio([relation, sorter], tasks, [0, 1]), 0.5);
  assertEquals(shuffledDiskRatio([sorter], tasks, []), null);
  // Rows are not larger on disk.
  assertEquals(shuffledDiskRatio([{ ...sorter, bytes: Float64Array.of(1, 1) }], tasks, [0, 1]), 1);
});
