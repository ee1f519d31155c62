// TaskMetrics.updatedBlockStatuses of simulated tasks. The forms of the statuses are those of the recorded run
// a1-cache-bytes-track (3.5.9): a put, and a drop with no level and no size.
import { assert, assertEquals } from "@std/assert";
import { readEventLog } from "../../src/event_log/read.ts";
import { EventLogWriter } from "../../src/event_log/write.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { simulate } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { BlockStatus, SparkEvent } from "../../src/spark/events.ts";
import { cachedRdd, clusterOf, consumerOf, demandOf, jobOf, MIB, rddOf, workloadOf } from "../support/workloads.ts";

/** A cached RDD of which a sort drives some blocks out. */
async function run(sparkVersion: string, conf: Record<string, string> = {}) {
  const workload = workloadOf({
    sparkVersion,
    cluster: clusterOf(1),
    rdds: [cachedRdd(7, 8, 40 * MIB), rddOf(8, 1)],
    demands: [demandOf(8), demandOf(1, { consumers: [consumerOf(1)] })],
    jobs: [jobOf(0, 7, 0), jobOf(1, 8, 1), jobOf(2, 7, 0)],
  });
  const simulated = new Summarizer({ source: "simulated" });
  const lines: string[] = [];
  const writer = new EventLogWriter((line) => void lines.push(line));
  const updates: (readonly BlockStatus[] | null)[] = [];
  const evicted: string[] = [];
  simulate(workload, {
    conf: SparkConf.from({ "spark.executor.memory": "900m", ...conf }, sparkVersion),
    sink: {
      event(event: SparkEvent) {
        simulated.event(event);
        writer.event(event);
        if (event.kind === "blockEvicted") evicted.push(event.blockId);
        if (event.kind === "taskEnd") updates.push(structuredClone(event.metrics?.updatedBlocks ?? null));
      },
    },
  });
  const read = new Summarizer({ source: "observed" });
  // As Spark before 2.3 writes it, or since without spark.eventLog.logBlockUpdates.enabled.
  const withoutUpdates = lines.filter((line) => !line.startsWith('{"Event":"SparkListenerBlockUpdated"'));
  assert(withoutUpdates.length < lines.length);
  await readEventLog(new Blob(withoutUpdates).stream(), read);
  return { updates, evicted, simulated: simulated.summary(), read: read.summary() };
}

Deno.test("tasks before 2.3 record the blocks that they put and drive out", async () => {
  for (const version of ["1.6.3", "2.2.3"]) {
    const { updates, evicted } = await run(version);
    const all = updates.flatMap((statuses) => statuses ?? []);
    assertEquals(updates.filter((statuses) => statuses === null), []);
    const rddBlocks = all.filter(({ blockId }) => blockId.startsWith("rdd_"));
    const put = rddBlocks.filter(({ storageLevel }) => storageLevel.useMemory);
    const dropped = rddBlocks.filter(({ storageLevel }) => !storageLevel.useMemory);
    assert(evicted.length > 0, "nothing was driven out");
    assertEquals(dropped.map(({ blockId }) => blockId), evicted);
    assertEquals(put[0], {
      blockId: "rdd_7_0",
      storageLevel: { useDisk: false, useMemory: true, useOffHeap: false, deserialized: true, replication: 1 },
      memorySize: 40 * MIB,
      diskSize: 0,
    });
    assertEquals(dropped[0], {
      blockId: evicted[0],
      storageLevel: { useDisk: false, useMemory: false, useOffHeap: false, deserialized: false, replication: 1 },
      memorySize: 0,
      diskSize: 0,
    });
  }
});

Deno.test("since 2.3 they do with spark.taskMetrics.trackUpdatedBlockStatuses alone", async () => {
  const none = await run("3.5.9");
  assert(none.updates.every((statuses) => statuses === null));
  const { updates, evicted } = await run("3.5.9", { "spark.taskMetrics.trackUpdatedBlockStatuses": "true" });
  const dropped = updates.flatMap((statuses) => statuses ?? []).filter(({ storageLevel }) => !storageLevel.useMemory);
  assertEquals(dropped.map(({ blockId }) => blockId), evicted);
});

Deno.test("a log of a version without block updates that is read back tells the blocks of the run", async () => {
  const { simulated, read } = await run("2.2.3");
  const { blocksStored, blocksEvicted, bytesEvicted, cachedAtEnd } = simulated.storage;
  assert(blocksEvicted! > 0);
  assertEquals(
    [read.storage.blocksStored, read.storage.blocksEvicted, read.storage.bytesEvicted, read.storage.cachedAtEnd],
    [blocksStored, blocksEvicted, bytesEvicted, cachedAtEnd],
  );
});
