import { assertEquals } from "@std/assert";
import type { RddDependency } from "../../src/simulator/workload.ts";
import { STORAGE_LEVELS, type StorageLevel } from "../../src/spark/storage_level.ts";
import { CacheUse } from "../../src/workload/from_event_log_cache_use.ts";
import type { RddRecord, StageAttempt } from "../../src/workload/from_event_log_stages.ts";
import { TaskTable } from "../../src/workload/from_event_log_tasks.ts";
import { collectedLog } from "../support/event_logs.ts";
import { lineageOf } from "../../src/workload/from_event_log_lineage.ts";

function rdd(id: number, level: StorageLevel | null, parentIds: number[] = []): RddRecord {
  return {
    id,
    name: `rdd${id}`,
    callSite: "",
    scope: null,
    parentIds,
    numPartitions: 1,
    levels: level === null ? [] : [{ jobId: 0, level }],
    unpersistBeforeJob: null,
    numCachedPartitions: 0,
    memorySize: 0,
    diskSize: 0,
  };
}

function attempt(rddIds: number[]): StageAttempt {
  return {
    index: 0,
    stage: { stageId: 0, jobId: 0, name: "", details: "", numTasks: 1, rddIds, parentIds: [] },
    attemptId: 0,
    numTasks: 1,
    submittedTime: 0,
    completedTime: 0,
    failureReason: null,
    taskType: "ResultTask",
    tasksStarted: 1,
    accumulators: new Map(),
  };
}

/** Two cached RDDs under one that is not, and tasks that read the given bytes one after another. */
function joinOfTwo(bytes: number[]): { use: CacheUse; computed: number[] } {
  const tasks = new TaskTable();
  const oneToOne = (rddId: number): RddDependency => ({ kind: "narrow", rddId, mapping: "oneToOne" });
  const size = (value: number) => new Map([[0, value]]);
  const use = new CacheUse({
    tasks,
    rdds: new Map([
      [1, rdd(1, STORAGE_LEVELS.MEMORY_ONLY)],
      [2, rdd(2, STORAGE_LEVELS.MEMORY_ONLY)],
      [3, rdd(3, null, [1, 2])],
    ]),
    dependencies: new Map([[3, [oneToOne(1), oneToOne(2)]]]),
    blocks: new Map([
      [1, { deserialized: size(100), serialized: new Map(), disk: new Map() }],
      [2, { deserialized: size(30), serialized: new Map(), disk: new Map() }],
    ]),
  });
  const computed = bytes.map((read, row) => {
    tasks.length++;
    tasks.inputBytes[row] = read;
    return use.stage(attempt([3, 1, 2]), [row], 0).get(row)!;
  });
  return { use, computed };
}

Deno.test("input bytes tell which of several cached inputs were found", () => {
  const { use, computed } = joinOfTwo([0, 130, 100, 30]);
  assertEquals(computed, [2, 0, 1, 1]);
  assertEquals(use.computed.rddId, [1, 2, 2, 1]);
});

Deno.test("a partition is computed before it can be found", () => {
  const { computed } = joinOfTwo([130]);
  assertEquals(computed, [2]);
});

Deno.test("every hit and miss of a recorded run is told", async () => {
  const { stages, tasks, blocks } = await collectedLog("take_first");
  const { dependencies } = lineageOf(stages);
  const use = new CacheUse({ tasks, rdds: stages.rdds, dependencies, blocks: blocks.rdds });
  for (const stageAttempt of stages.attempts) {
    const rows = Array.from({ length: tasks.length }, (_, row) => row).filter((row) =>
      tasks.stage[row] === stageAttempt.index
    );
    use.stage(stageAttempt, rows, stageAttempt.stage.jobId ?? 0);
  }
  // 20 partitions, none evicted: 20 block updates; 33 tasks read input bytes (python over the log's TaskEnd).
  assertEquals([use.misses, use.hits], [20, 33]);
});
