// Reports of kinds that tests/testdata/cases does not have, each with where it stands; what they show is computed from the rules.
import { assertEquals } from "@std/assert";
import { Kernel, OFF_HEAP } from "../../src/kernel.ts";
import { explain } from "../../src/report/explain.ts";
import { BytesToBytesMap } from "../../src/simulator/memory/consumers/bytes_to_bytes_map.ts";
import { PointerArray } from "../../src/simulator/memory/consumers/pointer_array.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { containerMemory } from "../../src/spark/container.ts";
import { bytesToString } from "../../src/spark/sizes.ts";
import { sizing } from "../../src/spark/sizing.ts";

const MIB = 2 ** 20;
const GIB = 2 ** 30;

function explained(text: string) {
  const [{ code, values }] = explain(text).explanations;
  return { code, values };
}

// mozilla/telemetry-airflow pull request 2003: 24g is refused, with these numbers; 20g is what it was set to.
Deno.test("yarn-maximum: heap and a tenth are above the threshold, and the next smaller heap is not", () => {
  const message =
    "Required executor memory (24576), overhead (2457 MB), and PySpark memory (0 MB) is above the max threshold " +
    "(24576 MB) of this cluster";
  const memory = (heap: string) =>
    containerMemory(SparkConf.from({ "spark.executor.memory": heap }, "2.4.0"), "executor");
  assertEquals([memory("24g").heap / MIB, memory("24g").overhead / MIB], [24_576, 2457]);
  assertEquals(explained(message), { code: "startup.yarnMaximum", values: { heapMiB: 24_576, thresholdMiB: 24_576 } });
  assertEquals([memory("24g").total > 24_576 * MIB, memory("20g").total > 24_576 * MIB], [true, false]);
});

// JohnSnowLabs/spark-nlp issue 5837 (Spark 2.4 on EMR): an overhead of 2048 MB is set, a tenth of 16g would be 1638.
Deno.test("yarn-maximum: an overhead that is set takes the place of the tenth", () => {
  const memory = (conf: Record<string, string>) =>
    containerMemory(SparkConf.from({ "spark.executor.memory": "16g", ...conf }, "2.4.0"), "executor");
  assertEquals(memory({}).overhead / MIB, 1638);
  const set = memory({ "spark.executor.memoryOverhead": "2048" });
  assertEquals([set.overhead / MIB, set.overheadFrom, set.total > 11_520 * MIB], [
    2048,
    "spark.executor.memoryOverhead",
    true,
  ]);
});

// apache/datafusion-comet pull request 6051: both have an overhead of 3276 MiB; 2g in its place is 1228 MiB less.
Deno.test("container-overhead: a tenth of 32 GiB is as much as four tenths of 8 GiB", () => {
  const overhead = (conf: Record<string, string>) =>
    containerMemory(SparkConf.from(conf, "3.5.1"), "executor").overhead / MIB;
  assertEquals(overhead({ "spark.executor.memory": "32g" }), 3276);
  const python = { "spark.master": "k8s://h", "spark.kubernetes.memoryOverheadFactor": "0.4" };
  assertEquals(overhead({ "spark.executor.memory": "8g", ...python }), 3276);
  assertEquals(3276 - overhead({ "spark.executor.memory": "32g", "spark.executor.memoryOverhead": "2g" }), 1228);
});

// yahoo/TensorFlowOnSpark issue 134: 1g and 384 MiB of overhead, rounded up to YARN's step of 1 GiB, times 2.1.
Deno.test("virtual-memory: the limit is the container times 2.1, which more overhead hardly moves", () => {
  const { total } = containerMemory(SparkConf.from({ "spark.executor.memory": "1g" }, "2.4.0"), "executor");
  const limit = Math.ceil(total / GIB) * GIB * 2.1;
  assertEquals((limit / GIB).toFixed(1), "4.2");
  const { code, values } = explained(
    "Lost executor 9 on h: Container killed by YARN for exceeding memory limits. 7.2 GB of 4.2 GB virtual memory used. Consider " +
      "boosting spark.yarn.executor.memoryOverhead.",
  );
  assertEquals([code, Math.abs(values.limitBytes as number - limit) < 0.05 * GIB], ["container.yarnVirtual", true]);
});

// SHSE/spark-es issue 3 (1.6) and apache/spark pull request 34536 (3.x): the driver looks once a minute (spark.network.timeoutInterval),
// so that an executor is silent for up to a minute longer than it may be.
Deno.test("heartbeat: executors are removed at the first look after spark.network.timeout", () => {
  for (const [silent, timeout] of [[124_251, "120s"], [123_265, "120s"], [350_149, "300s"]] as const) {
    const allowed = SparkConf.from({ "spark.network.timeout": timeout }, "3.1.2").getTimeAsMs("spark.network.timeout");
    const line = `Removing executor 8 with no recent heartbeats: ${silent} ms exceeds timeout ${allowed} ms`;
    assertEquals(explained(line), {
      code: "scheduler.heartbeat",
      values: { executor: "8", silentMs: silent, timeoutMs: allowed },
    });
    assertEquals([silent > allowed, silent < allowed + 60_000], [true, true]);
  }
});

// hammerlab/guacamole issue 572 (1.6): the wait is the heartbeat's own interval; apache-spark-on-k8s/spark issue 405: 60 of them end it.
Deno.test("heartbeat: an executor waits for an answer for one interval, and gives up after sixty", () => {
  const conf = SparkConf.from({}, "1.6.3");
  assertEquals(conf.getTimeAsMs("spark.executor.heartbeatInterval"), 10_000);
  const waited = "Futures timed out after [10 seconds]. This timeout is controlled by spark.executor.heartbeatInterval";
  assertEquals(explained(waited).code, "scheduler.heartbeatUnanswered");
  assertEquals(explained("Exit as unable to send heartbeats to driver more than 60 times"), {
    code: "scheduler.heartbeatFailures",
    values: { times: 60, exitCode: 56 },
  });
});

// apache/gluten issues 6863, 4275, 9784 and 9959: off-heap memory, its share for a task of N cores, and half of it, as the reports print.
Deno.test("off-heap-share: a task of N gets between 1/(2N) and 1/N of spark.memory.offHeap.size", () => {
  const reports = [
    [50 * GIB, 4, "12.5 GiB", "6.3 GiB"],
    [12 * GIB, 4, "3.0 GiB", "1536.0 MiB"],
    [5734 * MIB, 4, "1433.5 MiB", "716.8 MiB"],
    [2 * GIB, 1, "2.0 GiB", "1024.0 MiB"],
  ] as const;
  for (const [bytes, cores, most, least] of reports) {
    const conf = SparkConf.from(
      {
        "spark.memory.offHeap.enabled": "true",
        "spark.memory.offHeap.size": `${bytes}`,
        "spark.memory.storageFraction": "0",
      },
      "3.4.0",
    );
    const { offHeap } = sizing({ conf, role: "executor", collector: "g1", heapCommitted: "small", cores });
    assertEquals([bytesToString(offHeap.size / cores), bytesToString(offHeap.size / cores / 2)], [
      most,
      least,
    ]);
    // And so the pool grants: with N tasks active no more than the share, alone all of it (issue 9784 shows 5.6 GiB in one task).
    const executor = Kernel.create().createExecutor({
      maxHeapMemory: GIB,
      onHeapStorageRegionSize: 0,
      maxOffHeapMemory: bytes,
      offHeapStorageRegionSize: 0,
    });
    for (let task = 1; task < cores; task++) executor.acquireExecutionMemory(1, task, OFF_HEAP);
    assertEquals(executor.acquireExecutionMemory(bytes, 0, OFF_HEAP), Math.floor(bytes / cores));
    for (let task = 1; task < cores; task++) executor.releaseAllExecutionMemoryForTask(task);
    assertEquals(executor.executionMemoryUsed(OFF_HEAP), Math.floor(bytes / cores));
    assertEquals(executor.acquireExecutionMemory(bytes, 0, OFF_HEAP), bytes - Math.floor(bytes / cores));
  }
});

// apache/gluten issue 4275: 12 GiB, four tasks; asked for 8388608 bytes, granted 8126464.
Deno.test("off-heap-share: what is granted is what the share has left", () => {
  const executor = Kernel.create().createExecutor({
    maxHeapMemory: GIB,
    onHeapStorageRegionSize: 0,
    maxOffHeapMemory: 12 * GIB,
    offHeapStorageRegionSize: 6 * GIB,
  });
  for (let task = 1; task < 4; task++) executor.acquireExecutionMemory(1, task, OFF_HEAP);
  assertEquals(executor.acquireExecutionMemory(3 * GIB - 8_126_464, 0, OFF_HEAP), 3 * GIB - 8_126_464);
  assertEquals(executor.acquireExecutionMemory(8_388_608, 0, OFF_HEAP), 8_126_464);
});

// apache/gluten pull request 6480: a sorter has 44739242 records when its array of 2^27 words is full; TimSort leaves a third of it free.
Deno.test("sorter-array: 44739242 records fill an array of 1 GiB", () => {
  const array = new PointerArray(2, false);
  array.block = { size: GIB, pageNumber: 0 };
  assertEquals(array.room, 44_739_242);
  // Half of it with radix sort.
  const radix = new PointerArray(2, true);
  radix.block = { size: GIB, pageNumber: 0 };
  assertEquals(radix.room, 33_554_432);
});

// apache/spark pull request 25084 (SPARK-28314): a hash table of 8694366 rows asks for a page of 536870912 bytes.
Deno.test("hash-array: 8694366 keys need an array of 512 MiB, being more than half of 2^24", () => {
  let capacity = BytesToBytesMap.capacityFor(1);
  while (8_694_366 >= capacity / 2) capacity = BytesToBytesMap.capacityFor(capacity + 1);
  assertEquals([capacity, BytesToBytesMap.longsFor(capacity) * 8], [2 ** 25, 536_870_912]);
  assertEquals(explained("WARN TaskMemoryManager: Failed to allocate a page (536870912 bytes), try again."), {
    code: "execution.pageFailed",
    values: { pageBytes: 536_870_912 },
  });
});

// apache/spark pull request 20835: a map of 16384 places asks for its first array; 224631 bytes were left in the suite's memory manager.
Deno.test("hash-array: the first array of a map for 16384 keys is 262144 bytes", () => {
  assertEquals(BytesToBytesMap.longsFor(BytesToBytesMap.capacityFor(16_384)) * 8, 262_144);
  const { code, values } = explained("SparkOutOfMemoryError:  Unable to acquire 262144 bytes of memory, got 224631");
  assertEquals([code, values.requiredBytes, values.gotBytes], ["execution.unableToAcquire", 262_144, 224_631]);
});

// NVIDIA/cudf-spark issue 10940 and pull request 14903 (4.x): a sorter's first array, 4096 records of two words, is not to be had.
Deno.test("sorter-array: the first array is 65536 bytes, and its message has a class and a state since 4.0", () => {
  const initial = SparkConf.from({}, "4.0.0").getSizeAsBytes("spark.shuffle.sort.initialBufferSize");
  assertEquals(initial * 2 * 8, 65_536);
  const { code, values } = explained(
    "[UNABLE_TO_ACQUIRE_MEMORY] Unable to acquire 65536 bytes of memory, got 0. SQLSTATE: 53200",
  );
  assertEquals([code, values.requiredBytes, values.gotBytes], ["execution.unableToAcquire", 65_536, 0]);
});

// apache/spark pull request 27828 (SPARK-31068): a map takes 2^29 keys, and grows at a load that allows 341 (binary) million rows.
Deno.test("broadcast-rows: the rows of a hash join's broadcast are limited by the keys that its map takes", () => {
  assertEquals(Math.trunc(2 ** 29 / 1.5), 357_913_941);
  assertEquals(Math.trunc(357_913_941 / 2 ** 20), 341);
  assertEquals(explained("Cannot broadcast the table over 357913941 rows: 400000000 rows"), {
    code: "result.broadcastTooLarge",
    values: { most: "357913941", received: "400000000" },
  });
});

// Intel-bigdata/HiBench issue 98 (1.x): blocks and scratch space of 7 tasks make the 2.1 GB that are the limit.
Deno.test("unroll-scratch: what blocks and seven unrolling tasks hold adds up to the storage limit", () => {
  const line =
    "Memory use = 1334.2 MB (blocks) + 778.6 MB (scratch space shared across 7 thread(s)) = 2.1 GB. Storage limit = 2.1 GB.";
  assertEquals(explained(line).code, "storage.memoryUse");
  assertEquals(bytesToString(Math.round((1334.2 + 778.6) * MIB), "MB"), "2.1 GB");
});

// apache/spark pull request 53710: two sorters hold 2214902769 bytes; the log prints 2.1 GiB and 303.0 KiB, and two spaces before "time".
Deno.test("spill: the sizes that sorters print add up to the execution memory in use", () => {
  const { code, values } = explained(
    "UnsafeExternalSorter: Thread 152 spilling sort data of 2.1 GiB to disk (0  time so far)",
  );
  assertEquals([code, values.times], ["execution.spillingSort", 0]);
  assertEquals(bytesToString(2_214_902_769 - 303 * 1024), "2.1 GiB");
  const usage = "2214902769 bytes of memory are used for execution and 87455554 bytes of memory are used for storage";
  assertEquals(explained(usage).code, "execution.usage");
});

// apache/spark pull request 10081 (SPARK-12081): 300 MB are taken off before the 75 %, which leaves 543 MB of 1 GB.
Deno.test("reserved-memory: 1 GB has 543 MB for execution and storage in 1.6", () => {
  const conf = SparkConf.from({ "spark.executor.memory": "1g" }, "1.6.0");
  const { unifiedMemory } = sizing({ conf, role: "executor", collector: "g1", heapCommitted: "small", cores: 1 });
  assertEquals([unifiedMemory, unifiedMemory / MIB], [569_376_768, 543]);
});

// besthub.dev, "Spark SQL UNION Causing driver.maxResultSize Error" (3.1.2), and the title of sparktpoint.com's page on 16 tasks.
Deno.test("maxResultSize: many small results and a few large ones cross the limit at the task that is counted", () => {
  const small = explained(
    "Total size of serialized results of 22460 tasks (2.0 GiB) is bigger than spark.driver.maxResultSize (2.0 GiB)",
  ).values;
  // Some 96 kB a task: metadata of files that were written. It prints as the limit does, and is above it.
  assertEquals([small.aborts, Math.round(2 * GIB / 22_460)], [true, 95_614]);
  const large = explained(
    "Total size of serialized results of 16 tasks (1048.5 MB) is bigger than spark.driver.maxResultSize (1024.0 MB)",
  ).values;
  // Sixteen of one size: fifteen are below the limit.
  const each = large.meanResultBytes as number;
  assertEquals([15 * each <= GIB, 16 * each > GIB], [true, true]);
});
