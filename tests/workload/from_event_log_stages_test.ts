import { assertEquals } from "@std/assert";
import { collectedLog } from "../support/event_logs.ts";

Deno.test("a stage's own RDD comes first", async () => {
  const { stages } = await collectedLog("sql_join");
  // Stage 4 joins the two exchanges: MapPartitionsRDD 15 over the zipped 12.
  assertEquals(stages.stages.get(4)!.rddIds[0], 15);
});

Deno.test("levels of an RDD are kept with the job that saw them first", async () => {
  const { stages } = await collectedLog("unpersist");
  assertEquals(stages.rdds.get(1)!.levels.map(({ jobId, level }) => [jobId, level.useMemory]), [[0, true], [6, false]]);
});

Deno.test("values of SQL metrics are kept by task", async () => {
  const { stages, plans } = await collectedLog("sql_join");
  const join = stages.attempts.find(({ stage }) => stage.stageId === 4)!;
  const sorts = [...join.accumulators].filter(([id, { name }]) =>
    name === "spill size" && plans.metric(id)!.node.nodeName === "Sort"
  );
  // Only the second sort of partition 1 spilled, 29,360,032 bytes (executor log).
  assertEquals(sorts.map(([, { sum }]) => sum).sort((a, b) => a - b), [0, 29360032]);
  assertEquals(sorts.some(([, { byPartition }]) => byPartition!.get(1) === 29360032), true);
});
