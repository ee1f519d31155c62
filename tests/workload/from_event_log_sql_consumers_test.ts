import { assertEquals } from "@std/assert";
import type { StageDemand } from "../../src/simulator/workload.ts";
import { workloadOfLog } from "../support/event_logs.ts";

async function stageOf(log: string, stageId: number): Promise<StageDemand> {
  return (await workloadOfLog(log)).demands.find(({ recordedStageId }) => recordedStageId === stageId)!;
}

Deno.test("the sorts of a merge join are fed with the rows of their exchanges", async () => {
  const { consumers } = await stageOf("sql_join", 4);
  assertEquals(consumers.map(({ kind, parameters }) => [kind, parameters.radixSort]), [
    ["UnsafeExternalSorter", 1],
    ["UnsafeExternalSorter", 1],
  ]);
  // The exchanges' "records read" of partition 1; rows of 24 and 40 bytes ("data size" 12,000,000 and 20,000,000 of
  // 500,000 records a task).
  assertEquals(consumers.map(({ records }) => records[1]), [499765, 499626]);
  assertEquals(consumers.map(({ records, bytes }) => bytes[1] / records[1]), [24, 40]);
});

Deno.test("both sorts of a merge join keep their rows to its end, one is filled after the other", async () => {
  const [left, right] = (await stageOf("sql_join", 4)).consumers;
  assertEquals([left.start, left.fillEnd, left.release, right.release], [0, right.start, 1, 1]);
});

Deno.test("the build side of a shuffled hash join is a hashed relation with a long key", async () => {
  const { consumers } = await stageOf("sql_join", 13);
  assertEquals(consumers.map(({ kind, parameters, records }) => [kind, parameters.longKey, records[1]]), [
    ["HashedRelation", 1, 499765],
  ]);
});

Deno.test("a partial aggregation has a first-level map, rows from its child and groups from its output", async () => {
  const [aggregation] = (await stageOf("aggregation", 0)).consumers;
  assertEquals(aggregation.kind, "HashAggregation");
  assertEquals([aggregation.records[1], aggregation.keys![1], aggregation.parameters.fastMap], [625000, 578997, 1]);
  // Key row of 16 and buffer row of 24 bytes; the exchange's rows have both in 32.
  assertEquals(aggregation.bytes[1] / aggregation.records[1], 40);
});

Deno.test("a final aggregation takes its rows from the exchange", async () => {
  const [aggregation] = (await stageOf("aggregation", 2)).consumers;
  assertEquals([aggregation.records[1], aggregation.keys![1], aggregation.parameters.fastMap], [577903, 464228, 0]);
});

Deno.test("aggregations without keys take no memory of the pool", async () => {
  const { demands } = await workloadOfLog("aggregation");
  assertEquals(demands.filter(({ recordedStageId }) => recordedStageId === 5).map((d) => d.consumers.length), [0]);
});
