import { assertEquals, assertStringIncludes } from "@std/assert";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { type Finding, verdictOf } from "../../src/report/verdict.ts";
import { failureCause } from "../../src/report/verdict/failure_cause.ts";
import { size, tellingLine } from "../../src/report/verdict/finding.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { STORAGE_LEVELS } from "../../src/spark/storage_level.ts";
import { runParts } from "../support/runs.ts";
import { blockUpdated, taskEnd } from "./chart_events.ts";

async function verdict(run: string): Promise<Finding[]> {
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(runParts(run), summarizer);
  return verdictOf(summarizer.summary(), summarizer.facts());
}

function verdictOn(events: SparkEvent[], conf: Record<string, string> = {}): Finding[] {
  const summarizer = new Summarizer({ source: "observed" });
  summarizer.event({ kind: "logStart", sparkVersion: "3.5.9" });
  summarizer.event({ kind: "environmentUpdate", sparkProperties: conf, jvmInformation: {}, systemProperties: {} });
  for (const event of events) summarizer.event(event);
  summarizer.event({ kind: "applicationEnd", time: 99, exitCode: null });
  return verdictOf(summarizer.summary(), summarizer.facts());
}

function failedJob(failure: string): SparkEvent[] {
  return [
    { kind: "jobStart", jobId: 0, time: 1, stageInfos: [], stageIds: [], properties: {} },
    { kind: "jobEnd", jobId: 0, time: 2, failure },
  ];
}

const keys = (finding: Finding) => finding.settings.map(({ key }) => key);

Deno.test("cached RDDs that do not fit: evictions for storage, with the memory that would hold them", async () => {
  const [finding] = await verdict("cache_evictions");
  assertEquals([finding.code, finding.severity], ["memory.evictions.storage", "problem"]);
  // 24 blocks of 20,974,783 bytes each, as the executors' logs say ("Dropping block").
  assertStringIncludes(finding.sentence, "24 cached blocks were evicted from memory (480.1 MiB)");
  assertStringIncludes(finding.why!, "never of its own");
  const memory = finding.settings.find(({ key }) => key === "spark.executor.memory")!;
  // 240 MiB an executor / 0.6 + 300 MiB, rounded up to 64 MiB; the run with 1g (a1-cache-bytes-em1g) kept all of it.
  assertEquals([memory.value, memory.advice.slice(0, 10)], ["640m", "about 704m"]);
});

Deno.test("cached blocks that come back from disk and go again are evicted for storage, not for broadcasts", async () => {
  const [finding] = await verdict("disk_level");
  assertEquals(finding.code, "memory.evictions.storage");
  assertStringIncludes(finding.sentence, "24 of them to disk");
});

Deno.test("a sort that takes the place of cached blocks: evictions for execution down to the region, and spills", async () => {
  const [evictions, spills] = await verdict("storage_region");
  assertEquals([evictions.code, spills.code], ["memory.evictions.execution", "memory.spills"]);
  assertStringIncludes(evictions.why!, "until storage is down to its region of 140.4 MiB");
  assertEquals(keys(evictions)[0], "spark.memory.storageFraction");
  assertStringIncludes(spills.sentence, "7 tasks spilled: 312.0 MiB");
  assertStringIncludes(spills.why!, "between 70.2 MiB and 140.4 MiB");
});

Deno.test("results above spark.driver.maxResultSize: the stage, the sum, the limit, and what would do", async () => {
  const [finding] = await verdict("max_result_size");
  assertEquals([finding.code, finding.severity], ["results.max_result_size", "failure"]);
  assertStringIncludes(finding.sentence, "10.1 MiB from 7 tasks, and spark.driver.maxResultSize allows 10.0 MiB");
  const limit = finding.settings.find(({ key }) => key === "spark.driver.maxResultSize")!;
  // 12 results of 1,511,448 bytes: the run with 18m (d3-collect-sum-max18m) came to 17.3 MiB.
  assertEquals([limit.value, limit.advice.slice(0, 17)], ["10m", "at least 17.3 MiB"]);
});

Deno.test("Spark 2.4 prints sizes in MB and reports no end of refused tasks: the verdict is the same", async () => {
  const [finding] = await verdict("spark_2_4_max_result_size");
  assertEquals(finding.code, "results.max_result_size");
  assertStringIncludes(finding.sentence, "5.9 MB from 8 tasks, and spark.driver.maxResultSize allows 5.0 MB");
});

Deno.test("a single result above the limit was dropped by its executor", () => {
  const message =
    "Job aborted due to stage failure: Total size of serialized results of 1 tasks (39.0 KiB) is bigger than " +
    "spark.driver.maxResultSize (10.0 KiB)";
  const info = {
    stageId: 0,
    attemptId: 0,
    name: "collect",
    numTasks: 2,
    rddInfos: [],
    parentIds: [],
    details: "",
    submissionTime: 1,
    completionTime: 2,
    failureReason: message,
    resourceProfileId: 0,
    isShufflePushEnabled: null,
    accumulables: [],
  };
  const [finding] = verdictOn([
    { kind: "stageSubmitted", stageInfo: { ...info, failureReason: null }, properties: {} },
    { kind: "stageCompleted", stageInfo: info },
    ...failedJob(message),
  ], { "spark.driver.maxResultSize": "10k" });
  assertEquals(finding.evidence.some((line) => line.includes("its executor dropped it")), true);
});

Deno.test("an executor killed while a reduce stage ran: the loss, the fetch failure, the repeated stages", async () => {
  const findings = await verdict("fetch_failure");
  assertEquals(findings.slice(0, 2).map(({ code }) => code), ["executor.killed_137", "tasks.fetch_failed"]);
  assertStringIncludes(findings[1].sentence, "because an executor that held it was lost: 3 stage attempts ran again");
  assertEquals(keys(findings[0])[0], "spark.executor.memoryOverhead");
});

Deno.test("thousands of short tasks, and a sort that spills", async () => {
  assertEquals((await verdict("spark_4_1_rolling"))[0].code, "tasks.tiny");
  const [spills] = await verdict("spark_4_0_sort_spill");
  assertEquals(spills.code, "memory.spills");
  assertStringIncludes(spills.sentence, "6 tasks spilled: 128.0 MiB");
});

Deno.test("a run without trouble is said to be good, with its results", () => {
  const [finding] = verdictOn([]);
  assertEquals([finding.code, finding.severity], ["application.good", "good"]);
});

// Messages of real failures, from the public reports of the project's case collection and from Spark's sources (3.5).
const CAUSES: readonly [text: string, code: string, setting: string][] = [
  [
    "ExecutorLostFailure (executor 3 exited caused by one of the running tasks) Reason: Container killed by YARN for exceeding " +
    "memory limits. 5.5 GB of 5.5 GB physical memory used. Consider boosting spark.yarn.executor.memoryOverhead.",
    "memory.container_limit",
    "spark.executor.memoryOverhead",
  ],
  [
    "The executor with id 2 exited with exit code 137(SIGKILL, possible container OOM).",
    "memory.container_limit",
    "spark.executor.memoryOverhead",
  ],
  ["Command exited with code 137", "executor.killed_137", "spark.executor.memoryOverhead"],
  [
    "Container marked as failed. Exit status: 143. Diagnostics: Container killed on request.",
    "executor.killed_143",
    "spark.executor.memoryOverhead",
  ],
  ["Command exited with code 52", "memory.exit_52", "spark.executor.memory"],
  ["java.lang.OutOfMemoryError: Java heap space", "memory.java_heap", "spark.executor.memory"],
  ["java.lang.OutOfMemoryError: GC overhead limit exceeded", "memory.gc_overhead", "spark.executor.memory"],
  ["java.lang.OutOfMemoryError: Metaspace", "memory.metaspace", "spark.executor.extraJavaOptions"],
  [
    "org.apache.spark.memory.SparkOutOfMemoryError: Unable to acquire 65536 bytes of memory, got 0",
    "memory.unable_to_acquire",
    "spark.executor.memory",
  ],
  [
    "io.netty.util.internal.OutOfDirectMemoryError: failed to allocate 16777216 byte(s) of direct memory",
    "memory.direct_buffer",
    "spark.executor.memoryOverhead",
  ],
  ["Executor heartbeat timed out after 172152 ms", "executor.heartbeat", "spark.executor.memory"],
  [
    "Kryo serialization failed: Buffer overflow. Available: 0, required: 23",
    "memory.kryo_buffer",
    "spark.kryoserializer.buffer.max",
  ],
  [
    "Not enough memory to build and broadcast the table to all worker nodes.",
    "memory.broadcast",
    "spark.sql.autoBroadcastJoinThreshold",
  ],
  ["Could not execute broadcast in 300 secs.", "memory.broadcast_timeout", "spark.sql.broadcastTimeout"],
];

for (const [text, code, setting] of CAUSES) {
  Deno.test(`failureCause() knows ${code}: ${text.slice(0, 50)}`, () => {
    const cause = failureCause(text, { conf: SparkConf.from({}, "3.5.9"), local: false })!;
    assertEquals(cause.code, code);
    assertEquals(cause.settings[0].key, setting);
  });
}

Deno.test("failureCause() names the driver's memory in local mode", () => {
  const cause = failureCause("java.lang.OutOfMemoryError: Java heap space", {
    conf: SparkConf.from({}, "3.5.9"),
    local: true,
  })!;
  assertEquals(cause.settings[0].key, "spark.driver.memory");
});

Deno.test("a job that failed of its tasks names their cause, and is not told twice", () => {
  const failure =
    "Job aborted due to stage failure: Task 7 in stage 3.0 failed 4 times, most recent failure: Lost task 7.3 in stage 3.0 " +
    "(TID 99) (host executor 2): java.lang.OutOfMemoryError: Java heap space\n\tat java.util.Arrays.copyOf";
  const findings = verdictOn(failedJob(failure));
  assertEquals(findings.map(({ code }) => code), ["memory.java_heap"]);
  assertStringIncludes(
    findings[0].sentence,
    "task 7 of stage 3.0 failed 4 times: the Java heap of the process was full",
  );
  assertEquals(findings[0].evidence[0], "java.lang.OutOfMemoryError: Java heap space");
});

Deno.test("a job that failed of an unknown exception shows it; of Python's, the exception and not its traceback", () => {
  const failure = (text: string) =>
    "Job aborted due to stage failure: Task 0 in stage 5.0 failed 4 times, most recent failure: Lost task 0.3 in stage 5.0 (TID 20) " +
    `(h executor driver): ${text}`;
  assertStringIncludes(
    verdictOn(failedJob(failure("java.io.IOException: No space left on device")))[0].sentence,
    "No space left on device",
  );
  const python =
    'org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n  File "a.py", line 1\nValueError: bad\n\n\tat org';
  assertStringIncludes(verdictOn(failedJob(failure(python)))[0].sentence, "failed 4 times: ValueError: bad");
  assertEquals(tellingLine("Traceback (most recent call last):\nException: boom\n\tat x"), "Exception: boom");
});

Deno.test("a task that is too large to send names the smallest message size that lets it pass", () => {
  // A public report: 250,906,987 bytes against 128 MiB; 240 is the smallest that works.
  const [finding] = verdictOn(failedJob(
    "Job aborted due to stage failure: Serialized task 15:0 was 250906987 bytes, which exceeds max allowed: spark.rpc.message.maxSize " +
      "(134217728 bytes). Consider increasing spark.rpc.message.maxSize or using broadcast variables for large values.",
  ));
  assertEquals(finding.code, "results.task_too_large");
  assertStringIncludes(finding.settings[1].advice, "240 (MiB)");
});

Deno.test("fetch failures in four attempts in a row, a shutdown, a cancelled job", () => {
  const codes = (failure: string) => verdictOn(failedJob(failure)).map(({ code }) => code);
  assertEquals(
    codes(
      "Job aborted due to stage failure: ShuffleMapStage 3 (x at y) has failed the maximum allowable number of times: 4. Most recent failure reason:\norg.apache.spark.shuffle.FetchFailedException",
    ),
    ["tasks.stage_attempts"],
  );
  assertEquals(codes("Job 0 cancelled because SparkContext was shut down"), ["application.shut_down"]);
  assertEquals(codes("Job 0 cancelled part of cancelled job group victim"), ["job.cancelled", "application.good"]);
});

Deno.test("executors that were not needed any more are not lost", () => {
  const removed = (reason: string): SparkEvent => ({ kind: "executorRemoved", time: 5, executorId: "1", reason });
  assertEquals(verdictOn([removed("Executor killed by driver.")]).map(({ code }) => code), ["application.good"]);
  assertEquals(verdictOn([removed("worker lost")]).map(({ code }) => code), ["executor.lost"]);
});

Deno.test("spark.executor.memory in local mode has no effect, and the verdict says so", () => {
  // A public report: --master local[1] with executor memory 8G and driver memory 12G; only the driver's counts.
  const codes = (conf: Record<string, string>) => verdictOn([], conf).map(({ code }) => code);
  assertEquals(codes({ "spark.master": "local[1]", "spark.executor.memory": "8g" }), [
    "settings.local_mode",
    "application.good",
  ]);
  assertEquals(codes({ "spark.master": "local-cluster[2,1,1024]", "spark.executor.memory": "8g" }), [
    "application.good",
  ]);
});

Deno.test("speculation that found nothing to copy says why", () => {
  const codes = verdictOn([
    { kind: "executorAdded", time: 1, executorId: "1", host: "a", totalCores: 2 },
    { kind: "executorAdded", time: 1, executorId: "2", host: "a", totalCores: 2 },
  ], { "spark.speculation": "true" });
  assertEquals(codes[0].code, "tasks.no_speculation");
  assertStringIncludes(codes[0].sentence, "all executors are on one host");
});

Deno.test("a query's error without a failed job is told", () => {
  const end = (errorMessage: string): SparkEvent => ({
    kind: "sqlExecutionEnd",
    executionId: 1,
    time: 5,
    errorMessage,
  });
  const [finding] = verdictOn([end("Not enough memory to build and broadcast the table to all worker nodes")]);
  assertEquals([finding.code, finding.severity], ["memory.broadcast", "failure"]);
  assertEquals(verdictOn([end("Job 3 cancelled")]).map(({ code }) => code), ["application.good"]);
});

Deno.test("sizes are printed in the largest unit of which there is one", () => {
  assertEquals([0, 1023, 1024, 1048576, 1.5 * 2 ** 40].map(size), ["0 B", "1023 B", "1.0 KiB", "1.0 MiB", "1.5 TiB"]);
});

Deno.test("speculative copies are counted, with the attempts that lost against them", () => {
  const events = [
    taskEnd({ taskId: 1 }),
    taskEnd({ taskId: 2, attempt: 1, speculative: true }),
    taskEnd({
      taskId: 3,
      killed: true,
      reason: { reason: "TaskKilled", killReason: "another attempt succeeded", accumulables: [] } as never,
    }),
    taskEnd({ taskId: 4, killed: true, reason: { reason: "TaskKilled", killReason: "Stage cancelled" } as never }),
  ];
  const finding = verdictOn(events, { "spark.speculation": "true" }).find(({ code }) => code === "tasks.speculation")!;
  assertEquals([finding.sentence, finding.evidence], [
    "1 speculative copy of slow tasks ran.",
    ["1 attempt killed because another attempt succeeded"],
  ]);
  assertEquals(keys(finding)[0], "spark.speculation");
});

/** A stage that computes an RDD of two partitions at a level. */
function persisting(storageLevel: typeof STORAGE_LEVELS[string]): SparkEvent {
  const rdd = { rddId: 1, name: "users", callsite: "", parentIds: [], storageLevel, numPartitions: 2 };
  const sizes = { numCachedPartitions: 0, memorySize: 0, diskSize: 0, scope: null, isBarrier: false };
  const stageInfo = {
    stageId: 0,
    attemptId: 0,
    name: "count",
    numTasks: 2,
    rddInfos: [{ ...rdd, ...sizes }],
    parentIds: [],
    details: "",
    submissionTime: 1,
    completionTime: null,
    failureReason: null,
    resourceProfileId: 0,
    isShufflePushEnabled: null,
    accumulables: [],
  };
  return { kind: "stageSubmitted", stageInfo, properties: {} } as unknown as SparkEvent;
}

Deno.test("persisted RDDs in a log without block updates: how the next log says what became of them", () => {
  const findings = verdictOn([persisting(STORAGE_LEVELS.MEMORY_ONLY), taskEnd({ finishTime: 5 })]);
  const finding = findings.find(({ code }) => code === "memory.cache_not_recorded")!;
  assertStringIncludes(finding.sentence, "1 RDD is persisted (");
  assertEquals(keys(finding), ["spark.eventLog.logBlockUpdates.enabled"]);
});

Deno.test("evictions of RDDs off the heap: the off-heap size that would hold them, without the heap's fraction", () => {
  const finding = verdictOn([
    persisting(STORAGE_LEVELS.OFF_HEAP),
    {
      kind: "blockManagerAdded",
      time: 1,
      executorId: "1",
      host: "a:1",
      maximumMemory: 500 * 2 ** 20,
      maximumOnHeapMemory: 400 * 2 ** 20,
      maximumOffHeapMemory: 100 * 2 ** 20,
    },
    blockUpdated("rdd_1_0", 90 * 2 ** 20, { time: 2 }),
    // as Spark reports a drop: in no memory any more, with the size that was freed
    { ...blockUpdated("rdd_1_0", 0, { time: 3 }), memorySize: 90 * 2 ** 20 } as SparkEvent,
    blockUpdated("rdd_1_1", 90 * 2 ** 20, { time: 4 }),
  ]).find(({ code }) => code.startsWith("memory.evictions"))!;
  const advice = finding.settings.find(({ key }) => key === "spark.memory.offHeap.size")!;
  // two blocks of 90 MiB on one executor: 180 MiB, rounded up to 64 MiB
  assertEquals(advice.advice.slice(0, 10), "about 192m");
  assertStringIncludes(finding.why!, "off-heap");
});

Deno.test("a process killed for its memory in local mode is the driver, and an error of a query without a known cause is shown", () => {
  const killed = failureCause(
    "ExecutorLostFailure (executor driver exited caused by one of the running tasks) " +
      "Reason: Container killed on request. Exit code is 137",
    { conf: SparkConf.from({}, "3.5.9"), local: true },
  )!;
  assertEquals(killed.settings.map(({ key }) => key), ["spark.driver.memory"]);
  const end = { kind: "sqlExecutionEnd", executionId: 1, time: 5, errorMessage: "Table or view not found: t" } as const;
  const [finding] = verdictOn([end]);
  assertEquals([finding.code, finding.severity, finding.settings], ["sql.error", "problem", []]);
  assertStringIncludes(finding.sentence, "1 SQL query ended with an error: Table or view not found: t");
});
