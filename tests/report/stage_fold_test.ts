import { assertEquals } from "@std/assert";
import { StageFold } from "../../src/report/stage_fold.ts";
import type { TaskEnd, TaskMetrics } from "../../src/spark/events.ts";

const METRICS: TaskMetrics = {
  executorDeserializeTime: 1,
  executorDeserializeCpuTimeNs: 0,
  executorRunTime: 10,
  executorCpuTimeNs: 0,
  resultSize: 100,
  jvmGcTime: 2,
  resultSerializationTime: 0,
  memoryBytesSpilled: 0,
  diskBytesSpilled: 0,
  peakExecutionMemory: 50,
  peakOnHeapExecutionMemory: null,
  peakOffHeapExecutionMemory: null,
  inputBytes: 7,
  inputRecords: 0,
  outputBytes: 0,
  outputRecords: 0,
  shuffleRemoteBytesRead: 3,
  shuffleRemoteBytesReadToDisk: 0,
  shuffleLocalBytesRead: 4,
  shuffleRemoteBlocksFetched: 0,
  shuffleLocalBlocksFetched: 0,
  shuffleFetchWaitTime: 0,
  shuffleRecordsRead: 0,
  shuffleBytesWritten: 5,
  shuffleWriteTimeNs: 0,
  shuffleRecordsWritten: 0,
  updatedBlocks: null,
};

function end(change: Partial<TaskEnd>, metrics: Partial<TaskMetrics> | null = {}): TaskEnd {
  return {
    kind: "taskEnd",
    stageId: 3,
    stageAttemptId: 0,
    taskId: 0,
    index: 0,
    attempt: 0,
    partitionId: 0,
    launchTime: 100,
    executorId: "1",
    host: "h",
    locality: "ANY",
    speculative: false,
    taskType: "ShuffleMapTask",
    reason: { reason: "Success" },
    gettingResultTime: 0,
    finishTime: 160,
    failed: false,
    killed: false,
    metrics: metrics === null ? null : { ...METRICS, ...metrics },
    accumulables: [],
    ...change,
  };
}

Deno.test("StageFold adds up what its tasks measured, failed ones included", () => {
  const stage = new StageFold(3, 0);
  stage.taskEnd(end({}), true);
  stage.taskEnd(
    end({ gettingResultTime: 150 }, {
      resultSize: 900,
      diskBytesSpilled: 8,
      memoryBytesSpilled: 80,
      peakExecutionMemory: 70,
    }),
    true,
  );
  stage.taskEnd(
    end({ reason: { reason: "ExceptionFailure", className: "E", description: "", fullStackTrace: "" } }),
    true,
  );
  stage.taskEnd(end({ reason: { reason: "TaskKilled", killReason: "" }, killed: true }, null), true);
  const summary = stage.summary(true);
  assertEquals(summary.tasks, { total: 4, succeeded: 2, failed: 1, killed: 1 });
  assertEquals(summary.results, { direct: 1, indirect: 1, dropped: 0, lost: 0 });
  assertEquals([summary.resultBytes, summary.executorRunMs, summary.spilledTasks, summary.memoryBytesSpilled], [
    1100,
    30,
    1,
    80,
  ]);
  assertEquals(summary.peakExecutionMemory, { max: 70, sum: 170 });
  assertEquals([summary.shuffleReadBytes, summary.shuffleWriteBytes, summary.inputBytes], [21, 15, 21]);
  assertEquals([stage.duration.max, stage.peakOfSpilled, stage.taskType], [60, 70, "ShuffleMapTask"]);
});

Deno.test("StageFold has null for a peak that no task recorded, and for dropped results that are not known", () => {
  const stage = new StageFold(3, 0);
  stage.taskEnd(end({}, { peakExecutionMemory: null }), true);
  assertEquals(stage.summary(false).peakExecutionMemory, { max: null, sum: null });
  assertEquals(stage.summary(false).results.dropped, null);
});

Deno.test("StageFold leaves the way of results to the simulator's events in simulated runs", () => {
  const stage = new StageFold(3, 0);
  stage.taskEnd(end({}), false);
  assertEquals(stage.summary(true).results.direct, 0);
});

Deno.test("StageFold keeps the SQL metrics that tell of memory", () => {
  const stage = new StageFold(3, 0);
  stage.taskEnd(
    end({ accumulables: [{ id: 1, name: "spill size", update: 5 }, { id: 2, name: "duration", update: 9 }] }),
    true,
  );
  stage.taskEnd(
    end({ accumulables: [{ id: 1, name: "spill size", update: 7 }, { id: 3, name: "peak memory", update: null }] }),
    true,
  );
  assertEquals([...stage.sqlMetrics], [["spill size", { max: 7, sum: 12, count: 2 }]]);
});
