import { assertEquals } from "@std/assert";
import { STORAGE_LEVELS } from "../../src/spark/storage_level.ts";
import { StageTable } from "../../src/workload/from_event_log_stages.ts";
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

Deno.test("the RDD that no other of the stage's has as a parent is its own, wherever it is listed", () => {
  const table = new StageTable();
  const info = (rddId: number, parentIds: number[]) => ({
    rddId,
    parentIds,
    name: "",
    callsite: "",
    scope: null,
    storageLevel: STORAGE_LEVELS.NONE,
    numPartitions: 1,
    numCachedPartitions: 0,
    memorySize: 0,
    diskSize: 0,
    isBarrier: false,
  });
  const rddInfos = [info(1, []), info(2, [1])];
  const stageInfo = { stageId: 0, attemptId: 0, name: "", details: "", numTasks: 1, rddInfos, parentIds: [] };
  const rest = { submissionTime: 1, completionTime: null, failureReason: null, accumulables: [] };
  table.jobStart(
    { kind: "jobStart", jobId: 0, time: 1, stageInfos: [{ ...stageInfo, ...rest }], stageIds: [0] } as never,
  );
  assertEquals(table.stages.get(0)!.rddIds, [2, 1]);
});
