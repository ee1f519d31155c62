import { assertEquals } from "@std/assert";
import { EventLogCollector } from "../../src/workload/from_event_log_collector.ts";
import { STORAGE_LEVELS } from "../../src/spark/storage_level.ts";
import { METRICS, taskEnd } from "../report/chart_events.ts";
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

Deno.test("a task that is told as resubmitted is no attempt of its own; ends of unknown jobs are passed over", () => {
  const collector = new EventLogCollector();
  collector.event(taskEnd({ taskId: 1 }));
  // Posted for a finished map task whose executor was lost (DAGScheduler, SPARK-5259).
  collector.event(taskEnd({ taskId: 1, reason: { reason: "Resubmitted" } as never, failed: true }));
  collector.event({ kind: "jobEnd", jobId: 7, time: 9, failure: null });
  assertEquals([collector.tasks.length, collector.stages.jobs], [1, []]);
});

Deno.test("blocks that tasks record (before 2.3, or tracked) tell the sizes of an RDD's partitions, broadcasts are none of them", () => {
  const collector = new EventLogCollector();
  const block = { storageLevel: STORAGE_LEVELS.MEMORY_ONLY, memorySize: 500, diskSize: 0 };
  const updatedBlocks = [{ ...block, blockId: "rdd_3_1" }, { ...block, blockId: "broadcast_0_piece0" }];
  collector.event(taskEnd({ metrics: { ...METRICS, updatedBlocks } as never }));
  assertEquals([...collector.blocks.rdds.keys()], [3]);
  assertEquals([...collector.blocks.rdds.get(3)!.deserialized], [[1, 500]]);
});
