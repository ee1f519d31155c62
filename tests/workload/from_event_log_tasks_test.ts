import { assertEquals } from "@std/assert";
import type { TaskEnd } from "../../src/spark/events.ts";
import { OUTCOME, TaskTable } from "../../src/workload/from_event_log_tasks.ts";

const end = (taskId: number): TaskEnd => ({
  kind: "taskEnd",
  stageId: 0,
  stageAttemptId: 0,
  taskId,
  index: taskId,
  attempt: 0,
  partitionId: taskId,
  launchTime: 1000 + taskId,
  executorId: "1",
  host: "h",
  locality: "NODE_LOCAL",
  speculative: false,
  taskType: "ResultTask",
  reason: { reason: "ExecutorLostFailure", executorId: "1", exitCausedByApp: true, lossReason: null },
  gettingResultTime: 0,
  finishTime: 1500 + taskId,
  failed: true,
  killed: false,
  metrics: null,
  accumulables: [],
});

Deno.test("the table keeps its rows when it grows", () => {
  const tasks = new TaskTable();
  const rows = 1000;
  for (let i = 0; i < rows; i++) tasks.append(end(i), { stage: i % 7, executor: 1, host: 0 });
  assertEquals(tasks.length, rows);
  for (let i = 0; i < rows; i++) {
    assertEquals([tasks.partition[i], tasks.stage[i], tasks.launchTime[i]], [i, i % 7, 1000 + i]);
  }
});

Deno.test("metrics that were not recorded are -1", () => {
  const tasks = new TaskTable();
  const row = tasks.append(end(3), { stage: 0, executor: 0, host: 0 });
  assertEquals([tasks.runMs[row], tasks.resultSize[row], tasks.inputBytes[row]], [-1, -1, -1]);
  assertEquals([tasks.outcome[row], tasks.durationMs[row]], [OUTCOME.executorLost, 500]);
});
