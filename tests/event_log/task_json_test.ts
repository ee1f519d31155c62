import { assertEquals, assertThrows } from "@std/assert";
import { MalformedEvent } from "../../src/event_log/json_fields.ts";
import { accumulatorNumber, taskEndOf, taskEndReasonOf, taskInfoOf } from "../../src/event_log/task_json.ts";

const INFO = {
  "Task ID": 12,
  Index: 3,
  "Launch Time": 100,
  "Executor ID": "1",
  Host: "h",
  Locality: "PROCESS_LOCAL",
  Speculative: false,
  "Getting Result Time": 0,
  "Finish Time": 200,
  Failed: false,
  Accumulables: [],
};

function taskEnd(change: Record<string, unknown>) {
  return taskEndOf({
    Event: "SparkListenerTaskEnd",
    "Stage ID": 1,
    "Task Type": "ResultTask",
    "Task End Reason": { Reason: "Success" },
    "Task Info": INFO,
    ...change,
  }, false);
}

Deno.test("taskInfoOf() takes the index for the partition where there is none (before 3.3)", () => {
  assertEquals(taskInfoOf(INFO, 1, 0).partitionId, 3);
  assertEquals(taskInfoOf({ ...INFO, "Partition ID": 7 }, 1, 0).partitionId, 7);
  assertEquals(
    taskInfoOf({ ...INFO, "Partition ID": -1 }, 1, 0).partitionId,
    3,
  );
});

Deno.test("taskInfoOf() refuses a locality that Spark does not have", () => {
  assertThrows(
    () => taskInfoOf({ ...INFO, Locality: "SOMEWHERE" }, 1, 0),
    MalformedEvent,
  );
});

Deno.test("taskEndOf() reads metrics whose parts are missing, as in 1.x", () => {
  const { metrics } = taskEnd({
    "Task Metrics": {
      "Host Name": "h",
      "Executor Run Time": 5,
      "Result Size": 900,
      "Memory Bytes Spilled": 1,
      "Disk Bytes Spilled": 2,
    },
  });
  assertEquals(metrics?.executorRunTime, 5);
  assertEquals(metrics?.shuffleBytesWritten, 0);
  assertEquals(metrics?.peakExecutionMemory, null);
  assertEquals(metrics?.updatedBlocks, null);
});

Deno.test("taskEndOf() finds the peak execution memory among the accumulators before 3.0", () => {
  const peak = (
    accumulables: unknown[],
    metrics: Record<string, unknown> = {},
  ) =>
    taskEnd({
      "Task Info": { ...INFO, Accumulables: accumulables },
      "Task Metrics": metrics,
    }).metrics
      ?.peakExecutionMemory;
  // 2.x leaves out what is 0.
  assertEquals(
    peak([{ ID: 1, Name: "internal.metrics.resultSize", Update: 9 }]),
    0,
  );
  assertEquals(
    peak([{ ID: 1, Name: "internal.metrics.peakExecutionMemory", Update: 5 }]),
    5,
  );
  // 1.6 has another name and writes texts.
  assertEquals(
    peak([{
      ID: 1,
      Name: "peakExecutionMemory",
      Update: "5",
      Value: "5",
      Internal: true,
    }]),
    5,
  );
  assertEquals(peak([]), null);
  assertEquals(peak([], { "Peak Execution Memory": 7 }), 7);
});

Deno.test("taskEndOf() keeps named accumulators that are not task metrics", () => {
  const { accumulables } = taskEnd({
    "Task Info": {
      ...INFO,
      Accumulables: [
        { ID: 1, Name: "internal.metrics.resultSize", Update: 9 },
        { ID: 2, Name: "spill size", Update: "1024" },
        { ID: 3, Name: "mine", Update: "[a]" },
        { ID: 4, Update: "1" },
      ],
    },
  });
  assertEquals(accumulables, [{ id: 2, name: "spill size", update: 1024 }, {
    id: 3,
    name: "mine",
    update: null,
  }]);
});

Deno.test("taskEndOf() takes a failed task's metrics from its reason in 1.x, and infers killed before 2.1", () => {
  const failed = taskEnd({
    "Task End Reason": {
      Reason: "ExceptionFailure",
      "Class Name": "E",
      Description: "d",
      Metrics: { "Executor Run Time": 4 },
    },
  });
  assertEquals(failed.metrics?.executorRunTime, 4);
  assertEquals(failed.killed, false);
  assertEquals(
    taskEnd({ "Task End Reason": { Reason: "TaskKilled" } }).killed,
    true,
  );
});

Deno.test("taskEndOf() lists updated blocks where Spark tracks them", () => {
  const block = {
    "Block ID": "rdd_1_0",
    Status: {
      "Storage Level": {
        "Use Disk": false,
        "Use Memory": true,
        Deserialized: true,
        Replication: 1,
      },
      "Memory Size": 5,
      "Disk Size": 0,
    },
  };
  const { metrics } = taskEnd({
    "Task Metrics": { "Updated Blocks": [block] },
  });
  assertEquals(
    metrics?.updatedBlocks?.map((
      { blockId, memorySize },
    ) => [blockId, memorySize]),
    [["rdd_1_0", 5]],
  );
});

Deno.test("taskEndReasonOf() reads every reason, with what older versions leave out", () => {
  assertEquals(taskEndReasonOf({ Reason: "TaskKilled" }), {
    reason: "TaskKilled",
    killReason: "unknown reason",
  });
  assertEquals(
    taskEndReasonOf({
      Reason: "FetchFailed",
      "Shuffle ID": 1,
      "Map ID": 2,
      "Reduce ID": 3,
    }),
    // The address is missing when the map output was (SPARK-4471); "Map Index" is there since 3.0.
    {
      reason: "FetchFailed",
      executorId: null,
      host: null,
      shuffleId: 1,
      mapId: 2,
      mapIndex: 2,
      reduceId: 3,
      message: "Unknown reason",
    },
  );
  assertEquals(
    taskEndReasonOf({ Reason: "ExecutorLostFailure", "Executor ID": "4" }),
    {
      reason: "ExecutorLostFailure",
      executorId: "4",
      exitCausedByApp: true,
      lossReason: null,
    },
  );
  assertEquals(taskEndReasonOf({ Reason: "TaskCommitDenied" }), {
    reason: "TaskCommitDenied",
    jobId: -1,
    partitionId: -1,
    attemptNumber: -1,
  });
  assertEquals(taskEndReasonOf({ Reason: "SomethingNew" }), {
    reason: "UnknownReason",
  });
});

Deno.test("accumulatorNumber() reads numbers and texts of numbers, and nothing else", () => {
  assertEquals(
    [7, "7", "-7", "7.5", "", "0x10", "1e3", [1], null].map(accumulatorNumber),
    [
      7,
      7,
      -7,
      null,
      null,
      null,
      null,
      null,
      null,
    ],
  );
});
