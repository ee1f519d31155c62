import { assertEquals } from "@std/assert";
import { demandOf } from "../../src/workload/from_event_log_demands.ts";
import { OUTCOME, TaskTable } from "../../src/workload/from_event_log_tasks.ts";

const stage = { stageId: 0, jobId: 0, name: "s", details: "", numTasks: 3, rddIds: [0], parentIds: [] };
const nothing = { cachedComputeMs: new Map(), shuffleIsCached: false, cachedInputBytes: new Map() };

function tasksOf(...attempts: Partial<Record<keyof TaskTable, number>>[]): { tasks: TaskTable; rows: number[] } {
  const tasks = new TaskTable();
  for (const values of attempts) {
    for (const [name, value] of Object.entries(values)) {
      (tasks[name as "runMs"] as Int32Array)[tasks.length] = value;
    }
    tasks.length++;
  }
  return { tasks, rows: attempts.map((_, row) => row) };
}

Deno.test("a partition's figures are those of its first success", () => {
  const log = tasksOf(
    { partition: 0, runMs: 5, outcome: OUTCOME.exception },
    { partition: 0, runMs: 70, outcome: OUTCOME.success },
    { partition: 0, runMs: 90, outcome: OUTCOME.success },
  );
  const { demand } = demandOf({ ...log, ...nothing, stage, numPartitions: 1 });
  assertEquals(demand.computeMs, new Float64Array([70]));
});

Deno.test("computing leaves out fetch waits and what cached partitions cost", () => {
  const log = tasksOf({ partition: 0, runMs: 100, fetchWaitMs: 20 });
  const cachedComputeMs = new Map([[0, 50]]);
  const { demand } = demandOf({ ...log, ...nothing, cachedComputeMs, stage, numPartitions: 1 });
  assertEquals(demand.computeMs, new Float64Array([30]));
});

Deno.test("partitions without a success get the median and are counted", () => {
  const log = tasksOf({ partition: 0, runMs: 10 }, { partition: 1, runMs: 30 });
  const { demand, filled } = demandOf({ ...log, ...nothing, stage, numPartitions: 3 });
  assertEquals([demand.computeMs, filled], [new Float64Array([10, 30, 20]), new Set([2])]);
});

Deno.test("what cached RDDs fetch is not the stage's", () => {
  const log = tasksOf({ partition: 0, runMs: 10, shuffleReadBytes: 800 });
  const { demand } = demandOf({ ...log, ...nothing, shuffleIsCached: true, stage, numPartitions: 1 });
  assertEquals(demand.shuffleReadBytes, new Float64Array([0]));
});
