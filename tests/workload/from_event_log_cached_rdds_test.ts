import { assertEquals } from "@std/assert";
import type { SparkEvent } from "../../src/spark/events.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import { runParts } from "../support/runs.ts";
import { computeCosts } from "../../src/workload/from_event_log_cached_rdds.ts";

Deno.test("without a task that found everything, nine tenths are taken for the cached partitions", () => {
  const costs = computeCosts({ rddId: [4], partition: [2], row: [0] }, () => "map", new Map(), () => 100);
  assertEquals(costs.byRdd.get(4)!.get(2), 90);
  assertEquals([...costs.assumed], [4]);
});

Deno.test("several partitions computed by one task share its time", () => {
  const computed = { rddId: [4, 5], partition: [0, 0], row: [7, 7] };
  const costs = computeCosts(computed, () => "join", new Map([["join", [10]]]), () => 110);
  assertEquals([costs.byRdd.get(4)!.get(0), costs.byRdd.get(5)!.get(0), costs.byRow.get(7)], [50, 50, 100]);
});

Deno.test("the first computation of a partition counts", () => {
  const computed = { rddId: [4, 4], partition: [0, 0], row: [0, 1] };
  const costs = computeCosts(computed, () => "count", new Map([["count", [0]]]), (row) => row === 0 ? 80 : 60);
  assertEquals(costs.byRdd.get(4)!.get(0), 80);
});

/** The workload of a recorded run, of whose events only some are given, or are changed. */
async function workloadWithout(run: string, change: (event: SparkEvent) => SparkEvent | null): Promise<Workload> {
  const builder = new WorkloadBuilder();
  const sink = {
    event(event: SparkEvent): void {
      const changed = change(event);
      if (changed !== null) builder.event(changed);
    },
  };
  await readEventLog(runParts(run), sink);
  return builder.workload();
}

/** Sizes of the first cached RDD's blocks, and on what they stand. */
function sizesOf(
  { rdds, evidence }: Workload,
): [bytes: number[] | null, grade: string | undefined] {
  const rdd = rdds.find(({ storageLevel }) => storageLevel !== null)!;
  const found = evidence.find(({ field, subject }) =>
    field === "deserializedBytes" && subject.startsWith(`rdd ${rdd.id} `)
  );
  return [rdd.deserializedBytes === null ? null : [...rdd.deserializedBytes], found?.grade];
}

Deno.test("sizes of cached blocks: from updates, else from tasks that read them, else from the stages' descriptions, else unknown", async () => {
  const [observed, grade] = sizesOf(await workloadWithout("cache_evictions", (event) => event));
  assertEquals(grade, "observed");
  const noUpdates = (event: SparkEvent) => event.kind === "blockUpdated" ? null : event;
  const [inferred, inferredGrade] = sizesOf(await workloadWithout("cache_evictions", noUpdates));
  assertEquals(inferredGrade, "inferred");
  // a task that finds a block reports its size as its input bytes: equal, but for partitions that no task found again
  assertEquals(inferred!.filter((bytes, i) => bytes === observed![i]).length > 0, true);
  const noInput = (event: SparkEvent): SparkEvent | null => {
    if (event.kind !== "taskEnd" || event.metrics === null) return noUpdates(event);
    return { ...event, metrics: { ...event.metrics, inputBytes: 0, inputRecords: 0 } };
  };
  const [unknown, unknownGrade] = sizesOf(await workloadWithout("cache_evictions", noInput));
  assertEquals([unknown, unknownGrade], [null, "assumed"]);
  const described = (event: SparkEvent): SparkEvent | null => {
    const changed = noInput(event);
    if (changed?.kind !== "stageSubmitted" && changed?.kind !== "stageCompleted") return changed;
    const rddInfos = changed.stageInfo.rddInfos.map((info) =>
      info.storageLevel.useMemory ? { ...info, numCachedPartitions: 4, memorySize: 4000, diskSize: 0 } : info
    );
    return { ...changed, stageInfo: { ...changed.stageInfo, rddInfos } };
  };
  const [spread, spreadGrade] = sizesOf(await workloadWithout("cache_evictions", described));
  // 4,000 bytes in 4 cached partitions
  assertEquals([[...new Set(spread)], spreadGrade], [[1000], "inferred"]);
});
