import { assertEquals } from "@std/assert";
import { taskEndOf, taskEndReasonOf } from "../../src/event_log/task_json.ts";
import { blockUpdatedText, type LogFormat, taskEndText, type WriteContext } from "../../src/event_log/write_task.ts";
import type { TaskEnd, TaskEndReason } from "../../src/spark/events.ts";

function context(format: LogFormat): WriteContext {
  return { format, sqlMetrics: new Set(), sums: new Map(), portOf: () => 40_000 };
}

function end(reason: TaskEndReason): TaskEnd {
  return {
    kind: "taskEnd",
    stageId: 1,
    stageAttemptId: 0,
    taskId: 5,
    index: 2,
    attempt: 0,
    partitionId: 2,
    launchTime: 10,
    executorId: "1",
    host: "h",
    locality: "NODE_LOCAL",
    speculative: false,
    taskType: "ResultTask",
    reason,
    gettingResultTime: 0,
    finishTime: 20,
    failed: true,
    killed: false,
    metrics: null,
    accumulables: [],
  };
}

const REASONS: TaskEndReason[] = [
  { reason: "Success" },
  { reason: "Resubmitted" },
  { reason: "TaskResultLost" },
  { reason: "UnknownReason" },
  { reason: "TaskKilled", killReason: 'another "attempt" succeeded' },
  { reason: "ExceptionFailure", className: "java.lang.E", description: "a\nb", fullStackTrace: "\tat x" },
  {
    reason: "FetchFailed",
    executorId: "2",
    host: "h2",
    shuffleId: 1,
    mapId: 7,
    mapIndex: 3,
    reduceId: 2,
    message: "m",
  },
  {
    reason: "FetchFailed",
    executorId: null,
    host: null,
    shuffleId: 1,
    mapId: 7,
    mapIndex: 3,
    reduceId: 2,
    message: "m",
  },
  { reason: "TaskCommitDenied", jobId: 1, partitionId: 2, attemptNumber: 3 },
  { reason: "ExecutorLostFailure", executorId: "2", exitCausedByApp: false, lossReason: "gone" },
  { reason: "ExecutorLostFailure", executorId: "2", exitCausedByApp: true, lossReason: null },
];

for (const format of ["2.4", "3.5", "4.0"] as const) {
  Deno.test(`taskEndText() writes every reason so that it is read back (${format})`, () => {
    for (const reason of REASONS) {
      const peakHeapMemory = 123_456_789;
      const json = JSON.parse(taskEndText(context(format), { ...end(reason), peakHeapMemory }));
      const expected = format === "2.4" && reason.reason === "FetchFailed"
        ? { ...reason, mapIndex: reason.mapId }
        : reason;
      assertEquals(taskEndReasonOf(json["Task End Reason"]), expected);
      // Executor metrics came with 3.0.
      assertEquals(taskEndOf(json, false), {
        ...end(expected),
        peakHeapMemory: format === "2.4" ? null : peakHeapMemory,
      });
    }
  });
}

Deno.test("blockUpdatedText() says where a block is as Spark 3.4 and later do, with Use Off Heap", () => {
  const event = {
    kind: "blockUpdated",
    executorId: "1",
    blockId: "rdd_1_2",
    storageLevel: { useDisk: false, useMemory: true, useOffHeap: true, deserialized: false, replication: 1 },
    memorySize: 7,
    diskSize: 0,
    time: 5,
  } as const;
  // The line of a real 3.5.9 log (tests/testdata/runs), with other values.
  assertEquals(
    blockUpdatedText(context("3.5"), event, "localhost"),
    '{"Event":"SparkListenerBlockUpdated","Block Updated Info":{"Block Manager ID":{"Executor ID":"1","Host":"localhost","Port":40000},' +
      '"Block ID":"rdd_1_2","Storage Level":{"Use Disk":false,"Use Memory":true,"Use Off Heap":true,"Deserialized":false,"Replication":1},' +
      '"Memory Size":7,"Disk Size":0}}',
  );
});
