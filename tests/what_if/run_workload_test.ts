import { assertEquals } from "@std/assert";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { runWorkload } from "../../src/what_if/run_workload.ts";
import { workloadOfLog } from "../support/event_logs.ts";

Deno.test("a run's events go to the Summary and to the sink", async () => {
  const changed = applyChanges(await workloadOfLog("task_failures"), {});
  let tasks = 0;
  const summary = runWorkload(changed, { sink: { event: ({ kind }) => void (tasks += kind === "taskEnd" ? 1 : 0) } });
  const counted = summary.stages.reduce((sum, { tasks: t }) => sum + t.succeeded + t.failed + t.killed, 0);
  assertEquals(tasks, counted);
});
