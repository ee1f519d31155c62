import { assertEquals } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { memoryFractionFor, RESERVED_SYSTEM_MEMORY_BYTES, sizing } from "../../src/spark/sizing.ts";
import { captureIo } from "../support/capture_io.ts";
import { caseOf, casesLeft } from "../support/cases.ts";

const STAGE = {
  "Stage ID": 0,
  "Stage Attempt ID": 0,
  "Stage Name": "count",
  "Number of Tasks": 1,
  "RDD Info": [],
  "Parent IDs": [],
  Details: "",
  "Submission Time": 10,
  Accumulables: [],
};

const METRICS = {
  "Executor Deserialize Time": 1,
  "Executor Run Time": 5,
  "Result Size": 1000,
  "JVM GC Time": 0,
  "Result Serialization Time": 0,
  "Memory Bytes Spilled": 4096,
  "Disk Bytes Spilled": 1024,
  "Shuffle Read Metrics": {},
  "Shuffle Write Metrics": {},
  "Input Metrics": {},
  "Output Metrics": {},
};

const TASK_INFO = {
  "Task ID": 0,
  Index: 0,
  Attempt: 0,
  "Launch Time": 11,
  "Executor ID": "1",
  Host: "h",
  Locality: "ANY",
  Speculative: false,
  "Getting Result Time": 0,
  "Finish Time": 17,
  Failed: false,
  Killed: false,
  Accumulables: [],
};

/** Lines of a small event log: one executor, one stage, one task. */
function eventLog(version: string, metrics: Record<string, unknown>, more: readonly unknown[] = []): string {
  return [
    { Event: "SparkListenerLogStart", "Spark Version": version },
    { Event: "SparkListenerApplicationStart", "App Name": "app", "App ID": "app-1", Timestamp: 1, User: "u" },
    {
      Event: "SparkListenerExecutorAdded",
      Timestamp: 2,
      "Executor ID": "1",
      "Executor Info": { Host: "h", "Total Cores": 2 },
    },
    {
      Event: "SparkListenerBlockManagerAdded",
      "Block Manager ID": { "Executor ID": "1", Host: "h", Port: 1 },
      "Maximum Memory": 384093388,
      Timestamp: 3,
    },
    {
      Event: "SparkListenerJobStart",
      "Job ID": 0,
      "Submission Time": 9,
      "Stage Infos": [STAGE],
      "Stage IDs": [0],
      Properties: {},
    },
    { Event: "SparkListenerStageSubmitted", "Stage Info": STAGE, Properties: {} },
    ...more,
    {
      Event: "SparkListenerTaskEnd",
      "Stage ID": 0,
      "Stage Attempt ID": 0,
      "Task Type": "ResultTask",
      "Task End Reason": { Reason: "Success" },
      "Task Info": TASK_INFO,
      "Task Metrics": { ...METRICS, ...metrics },
    },
    { Event: "SparkListenerStageCompleted", "Stage Info": { ...STAGE, "Completion Time": 20 } },
    { Event: "SparkListenerJobEnd", "Job ID": 0, "Completion Time": 21, "Job Result": { Result: "JobSucceeded" } },
    { Event: "SparkListenerApplicationEnd", Timestamp: 22 },
  ].map((event) => JSON.stringify(event)).join("\n") + "\n";
}

async function summaryOf(log: string) {
  const { io, out } = captureIo({ stdin: log });
  assertEquals([await runMain(["summarize", "-", "--format", "json"], io), out.stderr], [0, ""]);
  return JSON.parse(out.stdout);
}

Deno.test("tool-sparklens21: a peak that the log does not have is null, never 0", async () => {
  caseOf("tool-sparklens21");
  const old = await summaryOf(eventLog("2.1.0", {}));
  assertEquals(old.stages[0].peakExecutionMemory, { max: null, sum: null });
  const later = await summaryOf(eventLog("3.1.1", { "Peak Execution Memory": 1234 }));
  assertEquals(later.stages[0].peakExecutionMemory, { max: 1234, sum: 1234 });
});

Deno.test("tool-sparklint75: the amount spilled is the sum over the tasks of the log", async () => {
  caseOf("tool-sparklint75");
  const { execution, stages } = await summaryOf(eventLog("2.4.0", {}));
  assertEquals([execution.memoryBytesSpilled, execution.diskBytesSpilled, execution.spilledTasks], [4096, 1024, 1]);
  assertEquals(stages[0].memoryBytesSpilled, 4096);
});

Deno.test("tool-spark23429: peaks of executors are used when the log has them", async () => {
  caseOf("tool-spark23429");
  const peaks = {
    Event: "SparkListenerStageExecutorMetrics",
    "Executor ID": "1",
    "Stage ID": 0,
    "Stage Attempt ID": 0,
    "Executor Metrics": { OnHeapStorageMemory: 5000, OffHeapStorageMemory: 0, OnHeapExecutionMemory: 7000 },
  };
  const executorOf = async (more: readonly unknown[]) =>
    (await summaryOf(eventLog("3.1.1", {}, more))).executors
      .find(({ executorId }: { executorId: string }) => executorId === "1");
  const measured = await executorOf([peaks]);
  assertEquals([measured.peakStorageBytes, measured.peakExecutionBytes], [5000, 7000]);
  const unmeasured = await executorOf([]);
  assertEquals(unmeasured.peakExecutionBytes, null);
});

Deno.test("tool-blockupdates: without block updates evictions and cached blocks are unknown, not 0", async () => {
  caseOf("tool-blockupdates");
  const { storage } = await summaryOf(eventLog("3.5.0", {}));
  assertEquals([storage.blocksEvicted, storage.cachedAtEnd.memoryBlocks], [null, null]);
  const update = {
    Event: "SparkListenerBlockUpdated",
    "Block Updated Info": {
      "Block Manager ID": { "Executor ID": "1", Host: "h", Port: 1 },
      "Block ID": "rdd_0_0",
      "Storage Level": { "Use Disk": false, "Use Memory": true, Deserialized: true, Replication: 1 },
      "Memory Size": 100,
      "Disk Size": 0,
    },
  };
  const logged = await summaryOf(eventLog("3.5.0", {}, [update]));
  assertEquals([logged.storage.blocksEvicted, logged.storage.cachedAtEnd.memoryBlocks], [0, 1]);
});

Deno.test("tool-gatk1456: what one task can count on is unified/2N to unified/N", () => {
  caseOf("tool-gatk1456");
  const conf = SparkConf.from({ "spark.executor.memory": "4g", "spark.executor.cores": "4" }, "3.5.1");
  const { unifiedMemory, perTask } = sizing({ conf, collector: "g1" });
  assertEquals(perTask, { min: Math.floor(unifiedMemory / 8), max: Math.floor(unifiedMemory / 4) });
});

Deno.test("tool-systemds1835: the storage region is 0.3 of the heap less 300 MiB, not half of the heap", () => {
  caseOf("tool-systemds1835");
  const { systemMemory, storageRegion } = sizing({ conf: SparkConf.from({}, "2.4.0"), heapMax: 4294967296 });
  assertEquals(storageRegion / (systemMemory - RESERVED_SYSTEM_MEMORY_BYTES) - 0.3 < 1e-9, true);
  assertEquals(storageRegion, 1194118348);
});

Deno.test("tool-drelephant281: the fraction that a peak needs", () => {
  caseOf("tool-drelephant281");
  const heapMax = 4294967296;
  const peak = 1_000_000_000;
  const fraction = memoryFractionFor(peak, heapMax);
  const unified = (value: number) =>
    sizing({ conf: SparkConf.from({ "spark.memory.fraction": String(value) }, "2.4.0"), heapMax }).unifiedMemory;
  assertEquals([unified(fraction) >= peak - 1, unified(fraction * 0.999) < peak], [true, true]);
  assertEquals(fraction < 0.6, true, "so the default is more than it needs");
});

/** A stage's peaks of executor 1, with so much of the heap in use. */
function heapPeak(bytes: number) {
  return {
    Event: "SparkListenerStageExecutorMetrics",
    "Executor ID": "1",
    "Stage ID": 0,
    "Stage Attempt ID": 0,
    "Executor Metrics": { JVMHeapMemory: bytes, OnHeapStorageMemory: 0, OnHeapExecutionMemory: 0 },
  };
}

async function recommendedHeap(log: string): Promise<string | undefined> {
  const { io, out } = captureIo({ stdin: log });
  assertEquals([await runMain(["recommend", "-", "--format", "json"], io), out.stderr], [0, ""]);
  return JSON.parse(out.stdout).recommended.conf["spark.executor.memory"];
}

Deno.test("tool-rapids2077: no heap is recommended below the one that was seen in use", async () => {
  caseOf("tool-rapids2077");
  // The job spills and caches nothing: by the pools alone the least that Spark starts with is enough. The log's maximum
  // memory is that of the parallel collector, under which Spark refuses 450 MiB.
  const metrics = { "Memory Bytes Spilled": 0, "Disk Bytes Spilled": 0 };
  assertEquals(await recommendedHeap(eventLog("3.1.1", metrics)), "512m");
  assertEquals(await recommendedHeap(eventLog("3.1.1", metrics, [heapPeak(700 * 1048576)])), "704m");
  // 1000 MiB of the 1 GiB that the executor has: nothing is left to gain.
  assertEquals(await recommendedHeap(eventLog("3.1.1", metrics, [heapPeak(1000 * 1048576)])), undefined);
});

Deno.test("every request has its test", () => {
  assertEquals(casesLeft("tool-request"), []);
});
