import { assertEquals } from "@std/assert";
import { FailureReasons, taskFaults } from "../../src/workload/from_event_log_faults.ts";
import { OUTCOME, TaskTable } from "../../src/workload/from_event_log_tasks.ts";

function faultsOf(outcomes: number[], className: string, executorsWereLost = false) {
  const tasks = new TaskTable();
  const reasons = new FailureReasons();
  for (const [row, outcome] of outcomes.entries()) {
    tasks.length++;
    tasks.outcome[row] = outcome;
    tasks.durationMs[row] = 100;
    if (outcome === OUTCOME.exception) {
      reasons.add(row, { reason: "ExceptionFailure", className, description: "", fullStackTrace: "" });
    }
  }
  return taskFaults({ tasks, reasons, rows: outcomes.map((_, row) => row), demand: 0, executorsWereLost });
}

Deno.test("a partition that never succeeded would have gone on failing", () => {
  const [fault] = faultsOf([OUTCOME.exception, OUTCOME.exception], "java.lang.RuntimeException");
  assertEquals(fault.kind === "taskException" && fault.attempts, 2 ** 31 - 1);
});

Deno.test("the memory manager's own exceptions are no faults: the simulation raises them anew", () => {
  assertEquals(faultsOf([OUTCOME.exception, OUTCOME.success], "org.apache.spark.memory.SparkOutOfMemoryError"), []);
});

Deno.test("failed fetches follow from lost executors", () => {
  assertEquals(faultsOf([OUTCOME.fetchFailed, OUTCOME.success], "", true), []);
  assertEquals(faultsOf([OUTCOME.fetchFailed, OUTCOME.success], "").map(({ kind }) => kind), ["fetchFailure"]);
});
