import { assertEquals } from "@std/assert";
import { BlockFold } from "../../src/report/block_fold.ts";
import { ExecutorFold } from "../../src/report/executor_fold.ts";

const NO_BLOCKS = new BlockFold("observed");

Deno.test("a driver's block manager alone is no executor; a driver that runs tasks is one", () => {
  const executors = new ExecutorFold();
  executors.blockManagerAdded({
    kind: "blockManagerAdded",
    time: 1,
    executorId: "driver",
    host: "h",
    maximumMemory: 100,
    maximumOnHeapMemory: 100,
    maximumOffHeapMemory: 0,
  });
  assertEquals(executors.summaries(NO_BLOCKS, false), []);
  assertEquals(executors.unified(), null);
  executors.taskEnd("driver");
  assertEquals(executors.summaries(NO_BLOCKS, false).map(({ executorId, tasks }) => [executorId, tasks]), [[
    "driver",
    1,
  ]]);
});

Deno.test("peaks come from executor metrics, on-heap and off-heap together; null where none were logged", () => {
  const executors = new ExecutorFold();
  executors.added({ kind: "executorAdded", time: 1, executorId: "1", host: "h", totalCores: 4 });
  executors.added({ kind: "executorAdded", time: 1, executorId: "2", host: "h", totalCores: 4 });
  for (const OnHeapStorageMemory of [10, 30, 20]) {
    executors.metrics({
      kind: "stageExecutorMetrics",
      executorId: "1",
      stageId: 0,
      stageAttemptId: 0,
      metrics: { OnHeapStorageMemory, OffHeapStorageMemory: 5, OnHeapExecutionMemory: 7 },
    });
  }
  assertEquals(
    executors.summaries(NO_BLOCKS, false).map((
      { peakStorageBytes, peakExecutionBytes, evictions },
    ) => [peakStorageBytes, peakExecutionBytes, evictions]),
    [[35, 7, null], [null, null, null]],
  );
});

Deno.test("unified() gives the largest executor's memory, on-heap and off-heap apart", () => {
  const executors = new ExecutorFold();
  for (const [executorId, maximumMemory, maximumOffHeapMemory] of [["1", 100, 0], ["2", 150, 60]] as const) {
    executors.blockManagerAdded({
      kind: "blockManagerAdded",
      time: 1,
      executorId,
      host: "h",
      maximumMemory,
      maximumOnHeapMemory: maximumMemory - maximumOffHeapMemory,
      maximumOffHeapMemory,
    });
  }
  assertEquals(executors.unified(), { onHeap: 90, offHeap: 60 });
});

Deno.test("ExecutorFold keeps the largest heap that was seen, of tasks and of stages, and the driver's apart", () => {
  const fold = new ExecutorFold();
  const metrics = (executorId: string, JVMHeapMemory: number) =>
    fold.metrics({
      kind: "stageExecutorMetrics",
      executorId,
      stageId: 0,
      stageAttemptId: 0,
      metrics: { JVMHeapMemory },
    });
  fold.taskEnd("1", 500);
  fold.taskEnd("1", null);
  metrics("1", 400);
  metrics("driver", 900);
  fold.taskEnd("2", null, 70);
  metrics("2", 0);
  const peaks = fold.summaries(new BlockFold("observed"), false).map((executor) => [
    executor.executorId,
    executor.peakHeapBytes,
    executor.peakExecutionBytes,
  ]);
  assertEquals(peaks, [["1", 500, null], ["2", null, 70]]);
  assertEquals(fold.driverPeakHeap(), 900);
});
