import { assertEquals } from "@std/assert";
import { Kernel, type KernelExecutorMemory, NO_RDD, OFF_HEAP, ON_HEAP, PutFlags, WAITING } from "../../src/kernel.ts";
import { explain } from "../../src/report/explain.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { bytesToString, printedSize } from "../../src/spark/sizes.ts";
import { sizing } from "../../src/spark/sizing.ts";
import { caseOf, casesLeft, mib } from "../support/cases.ts";

const GIB = 2 ** 30;
const SETTINGS = { memoryThreshold: 1048576, checkPeriod: 16, growthFactor: 1.5 };

/** An executor with the given unified memory; half of it is the storage region. */
function executorOf(maxHeapMemory: number, storageFraction = 0.5): KernelExecutorMemory {
  return Kernel.create().createExecutor({
    maxHeapMemory,
    onHeapStorageRegionSize: Math.trunc(maxHeapMemory * storageFraction),
  });
}

/** Stores a block of an RDD; its id. */
function stored(executor: KernelExecutorMemory, rddId: number, size: number): number {
  const block = executor.declareBlock(rddId);
  assertEquals(executor.putBytes(block, size, ON_HEAP), true);
  return block;
}

function evictedBy(executor: KernelExecutorMemory): number[] {
  const evicted: number[] = [];
  executor.drain({ evicted: (block) => evicted.push(block) });
  return evicted;
}

Deno.test("same-rdd-rule: a block never evicts blocks of its own RDD, and nothing goes when the rest is too little", () => {
  const { answer } = caseOf("same-rdd-rule");
  const names = ["rdd_2_0", "rdd_1_0", "rdd_2_1"];
  const attempt = (size: number) => {
    const executor = executorOf(100, 1);
    const blocks = [stored(executor, 2, 40), stored(executor, 1, 30), stored(executor, 2, 30)];
    const fits = executor.putBytes(executor.declareBlock(2), size, ON_HEAP);
    return { fits, evicted: evictedBy(executor).map((block) => names[blocks.indexOf(block)]) };
  };
  // The case's own words: only rdd_1_0 could go, 30 < 35, so nothing is dropped; a block of 30 drops it.
  assertEquals(attempt(35), { fits: answer.stored, evicted: [] });
  assertEquals(attempt(30), { fits: true, evicted: answer.evicted });
});

Deno.test("share-12155: the share counts what storage may keep, not what execution has", () => {
  const { config, observed, answer } = caseOf("share-12155");
  const executor = executorOf(config.total, config.storageFraction);
  // A second active task that holds nothing: it was given 0 bytes while all blocks were in use.
  const blocks = Array.from({ length: 10 }, () => stored(executor, NO_RDD, 100));
  for (const block of blocks) executor.lockForReading(block);
  assertEquals(executor.acquireExecutionMemory(1, 2, ON_HEAP), 0);
  for (const block of blocks) executor.unlock(block);
  executor.remove(blocks[9]);
  assertEquals(executor.storageMemoryUsed(ON_HEAP), config.storage_used);
  const granted = executor.acquireExecutionMemory(observed.request, 1, ON_HEAP);
  assertEquals([granted, executor.activeTasks(ON_HEAP)], [answer.granted, config.active_tasks]);
  assertEquals(evictedBy(executor).length * 100 >= answer.evict_bytes_at_least, true);
  // The cap: 1000 - min(storage, 400) for two tasks.
  const region = config.total * config.storageFraction;
  assertEquals((config.total - region) / config.active_tasks, answer.max_per_task);
  assertEquals(executor.acquireExecutionMemory(1000, 1, ON_HEAP), answer.max_per_task - granted);
});

Deno.test("share-bolt-187: the second task waits for its half of the half, and goes on when enough is released", () => {
  const { observed, answer } = caseOf("share-bolt-187");
  const executor = Kernel.create().createExecutor({
    maxHeapMemory: 0,
    onHeapStorageRegionSize: 0,
    maxOffHeapMemory: 10 * GIB,
    offHeapStorageRegionSize: 5 * GIB,
  });
  assertEquals(executor.acquireExecutionMemory(observed.task1_holds_GB * GIB, 1, OFF_HEAP), 9 * GIB);
  assertEquals(executor.acquireExecutionMemory(observed.task2_requests_GB * GIB, 2, OFF_HEAP), WAITING);
  const released = (gib: number) => {
    executor.releaseExecutionMemory(gib * GIB, 1, OFF_HEAP);
    let granted = -1;
    executor.drain({ granted: (_ticket, bytes) => granted = bytes });
    return granted;
  };
  assertEquals(released(1), -1, "1 GiB free and 1 more are less than the least share");
  assertEquals(released(0.5), answer.min_share_GB * GIB);
});

Deno.test("share-gluten-7658: each of four tasks is capped at a quarter of the off-heap memory", () => {
  const { config, observed, answer } = caseOf("share-gluten-7658");
  const conf = SparkConf.from({
    "spark.memory.offHeap.enabled": "true",
    "spark.memory.offHeap.size": "15g",
    "spark.executor.cores": String(config.cores),
  }, "3.3.0");
  const { perTask, offHeap } = sizing({ conf, collector: "g1" });
  assertEquals([perTask.max / GIB, perTask.min / 2 ** 20], [answer.max_share_GiB, answer.min_share_MiB]);
  assertEquals([bytesToString(perTask.max), bytesToString(perTask.min)], [observed.per_task, observed.conservative]);
  const executor = Kernel.create().createExecutor({
    maxHeapMemory: 0,
    onHeapStorageRegionSize: 0,
    maxOffHeapMemory: offHeap.size,
    offHeapStorageRegionSize: offHeap.storageRegion,
  });
  for (const task of [1, 2, 3]) executor.acquireExecutionMemory(GIB, task, OFF_HEAP);
  // 3.7 GiB and 25 MiB that the failing task held, then what is left of the share, then nothing.
  assertEquals(executor.acquireExecutionMemory(mib(3.7 * 1024), 4, OFF_HEAP), mib(3.7 * 1024));
  assertEquals(executor.acquireExecutionMemory(mib(25), 4, OFF_HEAP), mib(25));
  const rest = perTask.max - mib(3.7 * 1024) - mib(25);
  assertEquals(executor.acquireExecutionMemory(mib(100), 4, OFF_HEAP), rest);
  assertEquals(executor.acquireExecutionMemory(1, 4, OFF_HEAP), 0);
});

Deno.test("share-aut-cores: fewer cores, larger shares", () => {
  const { answer } = caseOf("share-aut-cores");
  for (const cores of [16, 12]) {
    const conf = SparkConf.from({ "spark.driver.memory": "45g", "spark.master": `local[${cores}]` }, "2.1.1");
    const { unifiedMemory, perTask, tasks } = sizing({ conf, collector: "parallel" });
    assertEquals([unifiedMemory / 2 ** 20, tasks], [answer.capacity_MiB, cores]);
    assertEquals(
      [perTask.max, perTask.min],
      [mib(answer.max_per_task_MiB[cores]), mib(answer.min_per_task_MiB[cores])],
    );
  }
});

Deno.test("unroll-18827: with execution in nearly all of the memory not even the first MiB is reserved", () => {
  const { observed, answer } = caseOf("unroll-18827");
  const max = 384093388;
  const executor = executorOf(max);
  stored(executor, 7, printedSize(observed.blocks)!.min);
  assertEquals(executor.acquireExecutionMemory(max - observed.limit, 1, ON_HEAP), max - observed.limit);
  const unrolling = executor.beginUnroll(executor.declareBlock(8), 1, ON_HEAP, SETTINGS);
  assertEquals(unrolling.keepUnrolling, answer.initial_reservation !== "refused");
  assertEquals(evictedBy(executor), [], "refused before eviction is looked at");
  const free = observed.limit - executor.storageMemoryUsed(ON_HEAP);
  assertEquals((free / 1024).toFixed(1), String(answer.free_storage_KB));
  assertEquals(bytesToString(observed.limit, "MB"), observed.storage_limit);
});

Deno.test("unroll-413-kubeflow: the next step asks for more than is free, and blocks of the RDD stay", () => {
  const { observed, answer } = caseOf("unroll-413-kubeflow");
  const max = sizing({ conf: SparkConf.from({}, "2.4.0"), collector: "serial" }).unifiedMemory;
  assertEquals(bytesToString(max, "MB"), `${observed.limit_MB} MB`);
  const executor = executorOf(max);
  stored(executor, 2, mib(observed.blocks_MB));
  const settings = { ...SETTINGS, memoryThreshold: mib(observed.scratch_MB) };
  const unrolling = executor.beginUnroll(executor.declareBlock(2), 1, ON_HEAP, settings);
  assertEquals(unrolling.reservedBytes, mib(observed.scratch_MB));
  const free = max - executor.storageMemoryUsed(ON_HEAP);
  assertEquals(Math.abs(free / 2 ** 20 - answer.free_MB) < 0.06, true);
  assertEquals(unrolling.check(mib(observed.computed_MB)), answer.stored);
  assertEquals(evictedBy(executor), []);
  const { explanations } = explain(
    `Not enough space to cache rdd_2_1 in memory! (computed ${observed.computed_MB} MB so far)\n` +
      `Memory use = ${observed.blocks_MB} MB (blocks) + ${observed.scratch_MB} MB (scratch space shared across 1 ` +
      `tasks(s)) = 413.2 MB. Storage limit = ${observed.limit_MB} MB.`,
  );
  const next = explanations.find(({ code }) => code === "storage.memoryUse")!.values.nextRequestBytes as number;
  assertEquals((next / 2 ** 20).toFixed(2), String(answer.next_request_MB));
});

Deno.test("unroll-ladder2: unrolling asks at every growth by a half", () => {
  const { observed, answer } = caseOf("unroll-ladder2");
  const sizes = (observed.computed_sizes as string[]).slice(1).map((text) => {
    const { min, max } = printedSize(text)!;
    return (min + max) / 2;
  });
  const ratios = sizes.slice(1).map((size, i) => Number((size / sizes[i]).toFixed(2)));
  ratios.forEach((ratio, i) => assertEquals(Math.abs(ratio - answer.ratios[i]) <= 0.04, true, `${ratio}`));
  // The kernel: the sizes at which the reservation grows, looked at every 16 records of 1 KiB.
  const executor = executorOf(mib(1024));
  const unrolling = executor.beginUnroll(executor.declareBlock(1), 1, ON_HEAP, SETTINGS);
  const asked: number[] = [];
  for (let size = 0; size < mib(64); size += 16 * 1024) {
    const before = unrolling.reservedBytes;
    unrolling.check(size);
    if (unrolling.reservedBytes > before) asked.push(size);
  }
  const growth = asked.slice(1).map((size, i) => size / asked[i]);
  assertEquals(growth.length >= 8 && growth.every((ratio) => ratio >= 1.5 && ratio < 1.56), true, `${growth}`);
});

Deno.test("unroll-nifty: a partition of 318.1 MiB so far fits no 1g executor, whatever the collector", () => {
  const { observed, answer } = caseOf("unroll-nifty");
  const line = `Not enough space to cache ${observed.block} in memory! (computed ${observed.computed_MiB} MiB so far)`;
  const needed = explain(line).explanations[0].values.neededBytes as number;
  assertEquals(Math.abs(needed / 2 ** 20 - answer.needed_MiB) < 0.06, true);
  for (
    const [collector, heapCommitted] of [["g1", "small"], ["parallel", "small"], ["parallel", "full"], [
      "serial",
      "small",
    ]] as const
  ) {
    const conf = SparkConf.from({ "spark.driver.memory": "1g" }, "3.1.0");
    const executor = executorOf(sizing({ conf, role: "driver", collector, heapCommitted }).unifiedMemory);
    const unrolling = executor.beginUnroll(executor.declareBlock(100), 1, ON_HEAP, SETTINGS);
    let refused = false;
    for (let size = 0; size <= mib(observed.computed_MiB) && !refused; size += 65536) refused = !unrolling.check(size);
    assertEquals([collector, refused], [collector, !answer.can_ever_be_cached]);
  }
});

Deno.test("unroll-3825: eight threads hold a little each, and what is free is less than one needs", () => {
  const { config, observed, answer } = caseOf("unroll-3825");
  const { explanations } = explain(
    `Memory use = ${observed.blocks_B}.0 B (blocks) + ${observed.scratch_MB} MB (scratch space shared across ` +
      `${observed.threads} thread(s)) = ${observed.scratch_MB} MB. Storage limit = ${config.storage_limit_MB} MB.`,
  );
  const { freeBytes, perTaskUnrollBytes } = explanations[0].values as Record<string, number>;
  assertEquals((freeBytes / 2 ** 20).toFixed(1), String(answer.free_MB));
  assertEquals((perTaskUnrollBytes / 2 ** 20).toFixed(1), String(answer.per_thread_MB));
  const executor = executorOf(mib(config.storage_limit_MB), 1);
  const perThread = mib(answer.per_thread_MB);
  for (let task = 0; task < observed.threads; task++) {
    const block = executor.declareBlock(1);
    assertEquals(executor.reserveUnrollMemoryForTask(block, perThread, task, ON_HEAP), true);
  }
  const needed = mib(observed.computed_MB * 1.5) - perThread;
  assertEquals(executor.reserveUnrollMemoryForTask(executor.declareBlock(1), needed, 0, ON_HEAP), false);
});

Deno.test("unroll-bartosz-1gb: the partition's number follows from its split, and it is read for each action", () => {
  const { observed, answer } = caseOf("unroll-bartosz-1gb");
  assertEquals(observed.split_offset / (32 * 2 ** 20), answer.partition_index);
  assertEquals(observed.block, `rdd_1_${answer.partition_index}`);
  const { unifiedMemory } = sizing({ conf: SparkConf.from({}, "2.1.0"), collector: "parallel" });
  const executor = executorOf(unifiedMemory);
  // Two partitions of one RDD, of which one fits: how often two actions read each of their splits.
  const read = [0, 0];
  const blocks = [executor.declareBlock(1), executor.declareBlock(1)];
  const values = { elementCount: 3200, elementBytes: Math.trunc(mib(observed.computed_MB) / 3200) };
  for (let action = 0; action < 2; action++) {
    for (const [partition, block] of blocks.entries()) {
      if (executor.get(block)) continue;
      read[partition]++;
      executor.putIterator(block, 1, ON_HEAP, SETTINGS, values, PutFlags.DESERIALIZED);
      executor.releaseUnrollMemoryForTask(1, ON_HEAP);
    }
  }
  assertEquals(read, [1, answer.times_read_for_two_actions]);
});

Deno.test("spill-22713-unroll: execution left exactly what the broadcasts hold", () => {
  const { observed, answer } = caseOf("spill-22713-unroll");
  const { answer: capacity } = caseOf("cap-6.5g-trace");
  const executor = executorOf(capacity.unified_bytes);
  const broadcasts = Math.trunc(observed.blocks_KB * 1024);
  stored(executor, NO_RDD, broadcasts);
  const execution = capacity.unified_bytes - broadcasts;
  assertEquals(executor.acquireExecutionMemory(execution, 1, ON_HEAP), execution);
  const limit = capacity.unified_bytes - executor.executionMemoryUsed(ON_HEAP);
  assertEquals((limit / 1024).toFixed(1), String(answer.storage_limit_KB));
  const unrolling = executor.beginUnroll(executor.declareBlock(5), 1, ON_HEAP, SETTINGS);
  assertEquals(unrolling.keepUnrolling, observed.initial_reservation !== "refused");
});

Deno.test("every case of these kinds has a test above", () => {
  assertEquals(casesLeft("eviction", "exec-share", "unroll"), []);
});
