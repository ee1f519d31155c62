import { assertEquals } from "@std/assert";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { SparkEvent, StageInfo, TaskEnd } from "../../src/spark/events.ts";
import { expectedRun, RUN_NAMES, runParts } from "../support/runs.ts";

async function summaryOf(run: string) {
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(runParts(run), summarizer);
  return summarizer.summary();
}

for (const name of RUN_NAMES) {
  Deno.test(`Summarizer agrees with the figures of ${name}`, async () => {
    const summary = await summaryOf(name);
    const expected = expectedRun(name);
    assertEquals(summary.app.sparkVersion, expected.spark);
    assertEquals(summary.outcome.status, expected.outcome === "OK" ? "succeeded" : "failed");
    if (expected.outcome !== "OK") assertEquals(expected.message.endsWith(summary.outcome.reason!), true);
    const sum = (of: (tasks: typeof summary.stages[number]["tasks"]) => number) =>
      summary.stages.reduce((n, { tasks }) => n + of(tasks), 0);
    assertEquals({
      stages: summary.stages.length,
      tasks: sum(({ succeeded, failed, killed }) => succeeded + failed + killed),
      failed: sum(({ failed }) => failed),
      killed: sum(({ killed }) => killed),
      memoryBytesSpilled: summary.execution.memoryBytesSpilled,
      diskBytesSpilled: summary.execution.diskBytesSpilled,
      spilledTasks: summary.execution.spilledTasks,
      resultBytes: summary.results.totalBytes,
      shuffleReadBytes: summary.stages.reduce((n, { shuffleReadBytes }) => n + shuffleReadBytes!, 0),
      shuffleWriteBytes: summary.stages.reduce((n, { shuffleWriteBytes }) => n + shuffleWriteBytes!, 0),
    }, {
      stages: expected.stages,
      tasks: expected.tasks,
      failed: expected.failed,
      killed: expected.killed,
      memoryBytesSpilled: expected.memoryBytesSpilled,
      diskBytesSpilled: expected.diskBytesSpilled,
      spilledTasks: expected.spilledTasks,
      resultBytes: expected.resultBytes,
      shuffleReadBytes: expected.shuffleReadBytes,
      shuffleWriteBytes: expected.shuffleWriteBytes,
    });
  });
}

Deno.test("Summarizer counts the evictions that the executors' own logs show, read-backs from disk included", async () => {
  for (const name of ["cache_evictions", "disk_level", "storage_region", "codec_lz4", "codec_zstd"]) {
    assertEquals((await summaryOf(name)).storage.blocksEvicted, expectedRun(name).evictions, name);
  }
  const { storage, warnings } = await summaryOf("disk_level");
  assertEquals(storage.blocksDroppedToDisk, 24);
  // Four of the evicted blocks had come back from disk, of which Spark writes no update.
  assertEquals(warnings.find(({ code }) => code === "storage.read_back")?.count, 4);
});

Deno.test("Summarizer knows which blocks are there at the end", async () => {
  for (const name of ["cache_evictions", "disk_level", "storage_region", "fetch_failure"]) {
    const rdds = Object.values(expectedRun(name).cachedAtEnd!);
    const { cachedAtEnd } = (await summaryOf(name)).storage;
    assertEquals(cachedAtEnd, {
      memoryBlocks: rdds.reduce((n, rdd) => n + rdd.blocks_mem, 0),
      memoryBytes: rdds.reduce((n, rdd) => n + rdd.bytes_mem, 0),
      diskBlocks: rdds.reduce((n, rdd) => n + rdd.blocks_disk, 0),
      diskBytes: rdds.reduce((n, rdd) => n + rdd.bytes_disk, 0),
    }, name);
  }
});

Deno.test("Summarizer finds the same blocks in what tasks record (before 2.3, or tracked) as in block updates", () => {
  const status = (blockId: string, memorySize: number) => ({
    blockId,
    storageLevel: { ...LEVEL, useMemory: memorySize > 0 },
    memorySize,
    diskSize: 0,
  });
  const metrics = (blocks: ReturnType<typeof status>[]) =>
    ({ resultSize: 0, updatedBlocks: blocks }) as unknown as TaskEnd["metrics"];
  const { summary } = summarize([
    taskEnd({ taskId: 1, metrics: metrics([status("rdd_1_0", 100)]) }),
    taskEnd({ taskId: 2, metrics: metrics([status("rdd_1_0", 0), status("rdd_2_0", 80)]) }),
  ]);
  const { blocksStored, blocksEvicted, bytesEvicted, cachedAtEnd } = summary.storage;
  assertEquals([blocksStored, blocksEvicted, bytesEvicted, cachedAtEnd.memoryBytes], [2, 1, 100, 80]);
  assertEquals(summarize([taskEnd({ metrics: metrics([]) })]).summary.storage.blocksStored, 0);
});

Deno.test("Summarizer tells direct from indirect results as the executors did", async () => {
  for (const name of ["spark_4_0_sort_spill", "cache_evictions"]) {
    const { results } = await summaryOf(name);
    const { direct, indirect, dropped } = results;
    assertEquals({ direct, indirect, dropped }, expectedRun(name).resultPaths);
  }
});

Deno.test("Summarizer says null for results that a refused stage does not record", async () => {
  const { results, warnings, stages } = await summaryOf("max_result_size");
  // The executors sent 12 results; the driver accepted 6 before it gave up.
  assertEquals([results.direct, results.indirect, results.dropped], [0, 6, null]);
  assertEquals(stages[0].results.dropped, null);
  assertEquals(warnings.some(({ code }) => code === "results.lower_bound"), true);
});

Deno.test("Summarizer lists executors with their peaks, the driver only in local mode", async () => {
  const { executors } = await summaryOf("fetch_failure");
  assertEquals(executors.map(({ executorId, cores, removedReason }) => [executorId, cores, removedReason]), [
    ["1", 2, null],
    ["0", 2, "Command exited with code 137"],
    ["2", 2, null],
  ]);
  const [executor] = (await summaryOf("cache_evictions")).executors;
  assertEquals([executor.maxMemory, executor.evictions, executor.tasks], [213909504, 12, 24]);
});

const LEVEL = { useDisk: false, useMemory: true, useOffHeap: false, deserialized: true, replication: 1 };

function stage(stageId: number, change: Partial<StageInfo> = {}): StageInfo {
  return {
    stageId,
    attemptId: 0,
    name: "count",
    numTasks: 1,
    rddInfos: [],
    parentIds: [],
    details: "",
    submissionTime: 10,
    completionTime: null,
    failureReason: null,
    resourceProfileId: 0,
    isShufflePushEnabled: null,
    accumulables: [],
    ...change,
  };
}

function taskEnd(change: Partial<TaskEnd>): TaskEnd {
  return {
    kind: "taskEnd",
    stageId: 0,
    stageAttemptId: 0,
    taskId: 0,
    index: 0,
    attempt: 0,
    partitionId: 0,
    launchTime: 10,
    executorId: "1",
    host: "h",
    locality: "ANY",
    speculative: false,
    taskType: "ResultTask",
    reason: { reason: "Success" },
    gettingResultTime: 0,
    finishTime: 20,
    failed: false,
    killed: false,
    metrics: null,
    accumulables: [],
    ...change,
  };
}

function summarize(events: SparkEvent[], source: "observed" | "simulated" = "observed") {
  const summarizer = new Summarizer({ source });
  for (const event of events) summarizer.event(event);
  return { summary: summarizer.summary(), facts: summarizer.facts() };
}

Deno.test("an empty run has null for all that is not recorded and no figure that is made up", () => {
  const { summary } = summarize([]);
  assertEquals(summary.app, { id: null, name: "", sparkVersion: "unknown", source: "observed" });
  assertEquals(summary.durationMs, null);
  assertEquals(summary.outcome.status, "unfinished");
  assertEquals([summary.storage.blocksStored, summary.storage.putsRefused, summary.storage.peakBytes], [
    null,
    null,
    null,
  ]);
  assertEquals([summary.execution.waits, summary.execution.peakBytes, summary.results.maxBytes], [null, null, null]);
});

Deno.test("a job that was cancelled does not make the run fail, one cut off by a shutdown does", () => {
  const run = (failure: string) =>
    summarize([
      { kind: "jobStart", jobId: 0, time: 1, stageInfos: [], stageIds: [], properties: {} },
      { kind: "jobEnd", jobId: 0, time: 2, failure },
      { kind: "applicationEnd", time: 3, exitCode: null },
    ]).summary;
  assertEquals(run("Job 0 cancelled part of cancelled job group victim").outcome.status, "succeeded");
  assertEquals(run("Job 0 cancelled part of cancelled job group victim").jobs[0].status, "failed");
  assertEquals(run("Job 0 cancelled because SparkContext was shut down").outcome.status, "failed");
});

Deno.test("a log without an application end is unfinished, and so is one with a job without an end", () => {
  const start: SparkEvent = { kind: "jobStart", jobId: 4, time: 1, stageInfos: [], stageIds: [1], properties: {} };
  assertEquals(summarize([start]).summary.outcome.reason, "the application has no end in the log");
  assertEquals(summarize([start, { kind: "applicationEnd", time: 9, exitCode: 0 }]).summary.outcome, {
    status: "unfinished",
    reason: "job 4 has no end in the log",
  });
});

Deno.test("stages that never ran are not listed; attempts of one stage are, each on its own", () => {
  const { summary, facts } = summarize([
    { kind: "jobStart", jobId: 0, time: 1, stageInfos: [], stageIds: [0, 1, 2], properties: {} },
    { kind: "stageSubmitted", stageInfo: stage(1), properties: {} },
    { kind: "stageCompleted", stageInfo: stage(1, { completionTime: 30, failureReason: "lost" }) },
    { kind: "stageSubmitted", stageInfo: stage(1, { attemptId: 1 }), properties: {} },
    { kind: "jobEnd", jobId: 0, time: 40, failure: null },
  ]);
  assertEquals(
    summary.stages.map(({ stageId, attempt, status, durationMs }) => [stageId, attempt, status, durationMs]),
    [
      [1, 0, "failed", 20],
      [1, 1, "unfinished", null],
    ],
  );
  assertEquals(facts.skippedStages, 2);
});

Deno.test("unpersist and the loss of an executor are not evictions", () => {
  const stored = (executorId: string, blockId: string): SparkEvent => ({
    kind: "blockUpdated",
    executorId,
    blockId,
    storageLevel: LEVEL,
    memorySize: 100,
    diskSize: 0,
    time: null,
  });
  const { summary } = summarize([
    stored("1", "rdd_1_0"),
    stored("1", "rdd_2_0"),
    stored("2", "rdd_2_1"),
    stored("2", "rdd_3_0"),
    { kind: "unpersistRdd", rddId: 2 },
    { kind: "blockManagerRemoved", time: 5, executorId: "2" },
  ]);
  const { blocksStored, blocksEvicted, cachedAtEnd } = summary.storage;
  assertEquals([blocksStored, blocksEvicted, cachedAtEnd.memoryBlocks], [4, 0, 1]);
});

Deno.test("a simulated run's counts come from the simulator's own events", () => {
  const at = { time: 5, executorId: "1" };
  const { summary, facts } = summarize([
    { kind: "stageSubmitted", stageInfo: stage(0), properties: {} },
    { kind: "blockUpdated", ...at, blockId: "rdd_1_0", storageLevel: LEVEL, memorySize: 100, diskSize: 0 },
    {
      kind: "blockEvicted",
      ...at,
      blockId: "rdd_1_0",
      memorySize: 100,
      offHeap: false,
      droppedToDisk: true,
      forBlockId: null,
      forTaskId: 3,
    },
    {
      kind: "blockUpdated",
      ...at,
      blockId: "rdd_1_0",
      storageLevel: { ...LEVEL, useMemory: false, useDisk: true },
      memorySize: 100,
      diskSize: 90,
    },
    { kind: "blockReadBack", ...at, blockId: "rdd_1_0", memorySize: 100, offHeap: false },
    { kind: "putRefused", ...at, blockId: "rdd_1_1", numBytes: 500, taskId: 3, toDisk: false },
    { kind: "cacheRead", ...at, blockId: "rdd_1_0", taskId: 3, from: "disk", numBytes: 90 },
    { kind: "cacheRead", ...at, blockId: "rdd_1_1", taskId: 3, from: "miss", numBytes: 0 },
    { kind: "memoryWait", ...at, taskId: 3, numBytes: 10, waitMs: 7 },
    { kind: "taskResult", ...at, taskId: 3, stageId: 0, stageAttemptId: 0, path: "dropped", numBytes: 10 },
    taskEnd({ taskId: 3 }),
    {
      kind: "memoryState",
      ...at,
      onHeap: {
        storagePoolSize: 0,
        storageMemoryUsed: 5,
        unrollMemoryUsed: 0,
        executionPoolSize: 0,
        executionMemoryUsed: 8,
      },
      offHeap: {
        storagePoolSize: 0,
        storageMemoryUsed: 1,
        unrollMemoryUsed: 0,
        executionPoolSize: 0,
        executionMemoryUsed: 2,
      },
    },
  ], "simulated");
  const { storage, execution, results } = summary;
  assertEquals([storage.blocksStored, storage.blocksEvicted, storage.blocksDroppedToDisk, storage.putsRefused], [
    1,
    1,
    1,
    1,
  ]);
  assertEquals([storage.cacheHits, storage.cacheMisses, execution.waits, execution.waitMs], [1, 1, 1, 7]);
  assertEquals([results.direct, results.dropped], [0, 1]);
  assertEquals(storage.cachedAtEnd, { memoryBlocks: 1, memoryBytes: 100, diskBlocks: 1, diskBytes: 90 });
  assertEquals(execution.peakBytes, 10);
  assertEquals(facts.evictions, { storage: 0, execution: 1, broadcast: 0 });
});

Deno.test("tasks out of memory are counted by their exception, killed tasks by their flag", () => {
  const exception = (className: string) =>
    ({ reason: "ExceptionFailure", className, description: "d", fullStackTrace: "" }) as const;
  const { summary, facts } = summarize([
    taskEnd({ taskId: 1, reason: exception("java.lang.OutOfMemoryError") }),
    taskEnd({ taskId: 2, reason: exception("org.apache.spark.memory.SparkOutOfMemoryError") }),
    taskEnd({ taskId: 3, reason: exception("java.io.IOException") }),
    taskEnd({ taskId: 4, reason: { reason: "TaskKilled", killReason: "another attempt succeeded" }, killed: true }),
  ]);
  assertEquals(summary.execution.oomTasks, 2);
  assertEquals(summary.stages[0].tasks, { total: 4, succeeded: 0, failed: 3, killed: 1 });
  assertEquals([...facts.kills], [["another attempt succeeded", 1]]);
  assertEquals(facts.failures.map(({ className, count }) => [className, count]).length, 3);
});

Deno.test("a task that was lost with its executor is put down to the loss, though its end comes first", () => {
  const { facts } = summarize([
    taskEnd({
      reason: { reason: "ExecutorLostFailure", executorId: "1", exitCausedByApp: true, lossReason: "killed" },
    }),
    { kind: "executorRemoved", time: 9, executorId: "1", reason: "killed" },
  ]);
  assertEquals([facts.losses.length, facts.tasksLost.get("1")], [1, 1]);
});

Deno.test("failures of one kind are one group, whatever numbers their messages have; kinds are bounded", () => {
  const failure = (i: number, kind = "") =>
    taskEnd({
      taskId: i,
      reason: { reason: "ExceptionFailure", className: `E${kind}`, description: `partition ${i}`, fullStackTrace: "" },
    });
  const alike = summarize(Array.from({ length: 10 }, (_, i) => failure(i)));
  assertEquals(alike.facts.failures.map(({ count }) => count), [10]);
  const many = summarize(Array.from({ length: 500 }, (_, i) => failure(i, "x".repeat(i))));
  assertEquals(many.facts.failures.length, 64);
});

Deno.test("warnings of the source are passed on, counted by code", () => {
  const { summary } = summarize([
    { kind: "warning", code: "log.cut_line", message: "m", count: 1 },
    { kind: "warning", code: "log.cut_line", message: "m", count: 2 },
  ]);
  assertEquals(summary.warnings[0], { code: "log.cut_line", message: "m", count: 3 });
});

Deno.test("a version that is not known, and a plan that a log has no more, are no reason to stop", () => {
  const summarizer = new Summarizer({ source: "observed" });
  const description = { description: "q", details: "", physicalPlanDescription: "" };
  const start = { kind: "sqlExecutionStart", executionId: 1, time: 2, ...description, plan: null };
  summarizer.event({ kind: "logStart", sparkVersion: "7.0.0" });
  summarizer.event(start as unknown as SparkEvent);
  const { warnings } = summarizer.summary();
  // the newest version whose rules are known (tests/spark/versions_test.ts)
  assertEquals(warnings.find(({ code }) => code === "conf.version"), {
    code: "conf.version",
    message: "Spark 7.0.0 is not known: the rules of 4.2 are used",
    count: 1,
  });
});
