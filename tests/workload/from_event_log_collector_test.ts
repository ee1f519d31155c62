import { assertEquals } from "@std/assert";
import { collectedLog } from "../support/event_logs.ts";

Deno.test("tasks started on an executor are counted up to its loss", async () => {
  const { executors, tasks } = await collectedLog("take_first");
  const started = executors.records.filter(({ id }) => id !== "driver").map(({ tasksStarted }) => tasksStarted);
  assertEquals(started.reduce((a, b) => a + b, 0), tasks.length);
});

Deno.test("a broadcast before any stage is the user's own, one after a submission the task binary", async () => {
  const { blocks, stages } = await collectedLog("broadcasts");
  const readers = (id: number) =>
    [...blocks.broadcasts.get(id)!.readers].map((index) => stages.attempts[index].stage.stageId);
  // 0 and 1 by sc.broadcast; 2 is stage 0's task binary.
  assertEquals([readers(0), readers(1), readers(2)], [[0], [0], [0]]);
  assertEquals(readers(3), [1]);
});
