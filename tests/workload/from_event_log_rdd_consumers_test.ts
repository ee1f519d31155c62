import { assert, assertEquals } from "@std/assert";
import type { RddDependency } from "../../src/simulator/workload.ts";
import { diskBytesPerByte, rddConsumers, type RddStage } from "../../src/workload/from_event_log_rdd_consumers.ts";
import type { RddRecord } from "../../src/workload/from_event_log_stages.ts";
import { TaskTable } from "../../src/workload/from_event_log_tasks.ts";
import { workloadOfLog } from "../support/event_logs.ts";

function rdd(id: number, name: string, scope: string, parentIds: number[]): RddRecord {
  return {
    id,
    name,
    callSite: "",
    scope,
    parentIds,
    numPartitions: 1,
    levels: [],
    unpersistBeforeJob: null,
    numCachedPartitions: 0,
    memorySize: 0,
    diskSize: 0,
  };
}

/** rdd1.reduceByKey (rdd 3), joined with rdd 2 (rdd 6), in one task that fetched 400 records. */
function joinStage(): RddStage {
  const tasks = new TaskTable();
  tasks.length = 1;
  tasks.shuffleReadRecords[0] = 400;
  tasks.peakMemory[0] = 8000;
  const dependencies = new Map<number, RddDependency[]>([
    [3, [{ kind: "shuffle", shuffleId: 0 }]],
    [6, [{ kind: "shuffle", shuffleId: 1 }, { kind: "narrow", rddId: 3, mapping: "oneToOne" }]],
  ]);
  const shuffle = (id: number) => ({ id, mapRddId: id + 1, numReducers: 1, stageIds: [id] });
  return {
    tasks,
    rows: [0],
    rdds: new Map([
      [3, rdd(3, "ShuffledRDD", "reduceByKey", [1])],
      [6, rdd(6, "CoGroupedRDD", "join", [2, 3])],
    ]),
    dependencies,
    shuffles: [shuffle(0), shuffle(1)],
    rddId: 6,
    isCached: () => false,
    writes: null,
    recordsWritten: ({ id }) => id === 0 ? 100 : 300,
    numPartitions: 1,
  };
}

Deno.test("collections below others are filled first and read by them", () => {
  const consumers = rddConsumers(joinStage());
  assertEquals(consumers.map(({ name, records, readBy }) => [name, records[0], readBy]), [
    ["reduceByKey (rdd 3)", 100, 1],
    ["join (rdd 6)", 400, null],
  ]);
  assertEquals(consumers.map(({ bytes }) => bytes[0]), [1600, 6400]);
});

Deno.test("what a cached RDD collects is its own", () => {
  const stage = { ...joinStage(), isCached: (id: number) => id === 3 };
  assertEquals(rddConsumers(stage).map(({ name }) => name), ["join (rdd 6)"]);
});

Deno.test("a map side that combines has a sorter, one that does not only with many reducers", () => {
  const names = (scope: string, numReducers: number) => {
    const base = joinStage();
    const writes = { id: 2, mapRddId: 6, numReducers, stageIds: [9] };
    base.tasks.shuffleWriteRecords[0] = 50;
    return rddConsumers({
      ...base,
      rdds: new Map([...base.rdds, [7, rdd(7, "ShuffledRDD", scope, [6])]]),
      dependencies: new Map([...base.dependencies, [7, [{ kind: "shuffle", shuffleId: 2 }]]]),
      writes,
    }).map(({ name }) => name).slice(2);
  };
  assertEquals(names("reduceByKey", 2), ["map side of reduceByKey"]);
  assertEquals(names("partitionBy", 200), []);
  assertEquals(names("partitionBy", 201), ["map side of partitionBy"]);
});

Deno.test("a spilled collection is as much larger as the shuffle is than what it wrote", async () => {
  const { demands } = await workloadOfLog("group_by_key");
  const [map] = demands.find(({ recordedStageId }) => recordedStageId === 1)!.consumers;
  assertEquals(map.kind, "ExternalAppendOnlyMap");
  // Partition 0 was not spilled, its peak is 17,246,371. The same job with room for all: 19,439,408 to 20,281,076.
  assertEquals(map.bytes[0], 17246371);
  for (const bytes of map.bytes.slice(1)) assert(bytes > 19.4e6 && bytes < 21e6, String(bytes));
});

Deno.test("spilled bytes on disk are in proportion to those in memory", () => {
  const tasks = new TaskTable();
  tasks.length = 2;
  tasks.memorySpilled.set([100, 300]);
  tasks.diskSpilled.set([20, 40]);
  assertEquals(diskBytesPerByte(tasks, [0, 1]), 0.15);
});

Deno.test("a spilled buffer of records is followed through its doubling", () => {
  // Two tasks of a sortByKey on Spark 3.5.9, each under two settings: where they spilled and where all fitted.
  const recorded = [
    { records: 287342, read: 26452537, spilled: 46134576, disk: 23891297, whole: 47526669 },
    { records: 253945, read: 23378039, spilled: 22322135, disk: 12745363, whole: 37016490 },
  ];
  for (const { records, read, spilled, disk, whole } of recorded) {
    const tasks = new TaskTable();
    tasks.length = 1;
    tasks.shuffleReadRecords[0] = records;
    tasks.shuffleReadBytes[0] = read;
    tasks.peakMemory[0] = tasks.memorySpilled[0] = spilled;
    tasks.diskSpilled[0] = disk;
    const stage = { ...joinStage(), tasks, rdds: new Map([[3, rdd(3, "ShuffledRDD", "sortByKey", [1])]]), rddId: 3 };
    const [{ bytes, parameters }] = rddConsumers(stage);
    assertEquals(parameters, { buffer: 1, read: 1 });
    assert(Math.abs(bytes[0] / whole - 1) < 0.03, `${bytes[0]} of ${whole}`);
  }
});
