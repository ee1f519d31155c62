import { assertEquals } from "@std/assert";
import { Kernel, NO_RDD, ON_HEAP } from "../../src/kernel.ts";
import { explain } from "../../src/report/explain.ts";
import { ExternalAppendOnlyMap } from "../../src/simulator/memory/consumers/external_append_only_map.ts";
import { MemoryConsumer } from "../../src/simulator/memory/memory_consumer.ts";
import { TaskMemoryManager } from "../../src/simulator/memory/task_memory_manager.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { defaultPageSize, sizing } from "../../src/spark/sizing.ts";
import { caseOf, casesLeft, casesOf, mib } from "../support/cases.ts";

const OPTIONS = { tungstenMemoryMode: ON_HEAP, pageSizeBytes: 4 * 2 ** 20 } as const;

/** A consumer that holds pages and arrays and gives all of them back when it is told to spill. */
class Holder extends MemoryConsumer {
  readonly name = "holder";
  spilled = 0;
  spill(): number {
    const freed = this.used;
    this.freeMemory(freed);
    this.spilled += freed;
    return freed;
  }
}

/** The executor of SPARK-22713: 6.5 GB, one core, with the broadcasts that it held. */
function executorOf22713() {
  const { answer } = caseOf("cap-6.5g-trace");
  const { observed } = caseOf("spill-22713-growth");
  const max = answer.unified_bytes;
  const executor = Kernel.create().createExecutor({
    maxHeapMemory: max,
    onHeapStorageRegionSize: Math.trunc(max * 0.5),
  });
  const broadcasts = Math.trunc(observed.storage_used_KB * 1024);
  executor.putBytes(executor.declareBlock(NO_RDD), broadcasts, ON_HEAP);
  return { executor, max, broadcasts };
}

Deno.test("spill-22713-growth: each request is twice the size less the threshold, the last one gets what is left", () => {
  const { observed, answer } = caseOf("spill-22713-growth");
  // The same growth as recorded: the estimates at which the map was looked at and had reached its threshold.
  const rows: [current: number, threshold: number, requested: number][] = observed.current_threshold_requested_MB;
  for (const [current, threshold, requested] of rows) {
    assertEquals(Math.abs(2 * current - threshold - requested) <= 0.15, true, `${current}`);
  }
  const { executor, max, broadcasts } = executorOf22713();
  const asked: number[] = [];
  const task = new TaskMemoryManager(
    {
      acquireExecutionMemory: (bytes, tid, mode) => {
        asked.push(bytes);
        return executor.acquireExecutionMemory(bytes, tid, mode);
      },
      releaseExecutionMemory: (bytes, tid, mode) => executor.releaseExecutionMemory(bytes, tid, mode),
      releaseAllExecutionMemoryForTask: (tid) => executor.releaseAllExecutionMemoryForTask(tid),
      executionMemoryUsageForTask: (tid, mode) => executor.executionMemoryUsageForTask(tid, mode),
      executionMemoryUsed: (mode) => executor.executionMemoryUsed(mode),
      storageMemoryUsed: (mode) => executor.storageMemoryUsed(mode),
    },
    1,
    OPTIONS,
  );
  // The estimates, look by look (every 32 records), and none above the last threshold.
  const estimates = rows.map(([current]) => mib(current));
  const bytesAfter = (records: number) => estimates[Math.min(Math.floor(records / 32), estimates.length) - 1] ?? 0;
  const size = {
    bytesAfter,
    recordsUntil: (bytes: number, from: number, until: number) => {
      for (let n = from; n <= until; n++) if (bytesAfter(n) >= bytes) return n;
      return Infinity;
    },
  };
  const records = 32 * estimates.length + 1;
  const map = new ExternalAppendOnlyMap(task, { name: "map", records, bytes: estimates.at(-1)! }, { size });
  while (map.step() === "progress");
  const held = asked.slice(0, -1).reduce((a, b) => a + b, 0);
  const free = max - broadcasts - held;
  assertEquals(map.memoryBytesSpilled > 0, answer.spill_at_that_check);
  assertEquals(asked.length, rows.length);
  assertEquals(asked.at(-1)! > free, true, "the last request is for more than there is");
  assertEquals(Math.abs(free / 2 ** 20 - answer.last_grant_MB) < 1, true, `${free / 2 ** 20}`);
});

Deno.test("spill-22713-force: a second map of the task makes the first one spill, and is then served", () => {
  const { observed, answer } = caseOf("spill-22713-force");
  const { executor, max, broadcasts } = executorOf22713();
  const requests: [bytes: number, got: number][] = [];
  const task = new TaskMemoryManager(
    {
      acquireExecutionMemory: (bytes, tid, mode) => {
        const got = executor.acquireExecutionMemory(bytes, tid, mode);
        requests.push([bytes, got]);
        return got;
      },
      releaseExecutionMemory: (bytes, tid, mode) => executor.releaseExecutionMemory(bytes, tid, mode),
      releaseAllExecutionMemoryForTask: (tid) => executor.releaseAllExecutionMemoryForTask(tid),
      executionMemoryUsageForTask: (tid, mode) => executor.executionMemoryUsageForTask(tid, mode),
      executionMemoryUsed: (mode) => executor.executionMemoryUsed(mode),
      storageMemoryUsed: (mode) => executor.storageMemoryUsed(mode),
    },
    1,
    OPTIONS,
  );
  const first = new Holder(task, ON_HEAP);
  const all = max - broadcasts;
  assertEquals(first.acquireMemory(all), all);
  requests.length = 0;
  const wanted = mib(observed.second_map_requests_MB);
  const second = new Holder(task, ON_HEAP);
  assertEquals(second.acquireMemory(wanted), wanted);
  // request -> 0, the other consumer spills, request again -> all of it.
  assertEquals(requests, [[wanted, observed.got], [wanted, wanted]]);
  assertEquals([first.spilled, answer.order.length], [all, 3]);
  assertEquals((first.spilled / 2 ** 30).toFixed(1), String(observed.then_first_map_releases_GB));
});

Deno.test("leak: pages and a pointer array, or twice the size when it last grew less 5 MiB", () => {
  for (const one of casesOf("leak")) {
    const { size, tid } = one.observed;
    const [{ values, severity }] = explain(
      `Managed memory leak detected; size = ${size} bytes, TID = ${tid ?? 1}`,
    ).explanations;
    assertEquals([one.id, severity], [one.id, "harmless"]);
    if (one.answer.current_size_at_last_growth !== undefined) {
      assertEquals(values.currentSizeAtLastGrowth, one.answer.current_size_at_last_growth);
      continue;
    }
    const page = Number(/one (\d+) MiB page/.exec(one.answer.decomposition)![1]) * 2 ** 20;
    assertEquals([values.pages, values.pageBytes, values.arrayBytes], [1, page, 262144]);
  }
});

Deno.test("leak: what a task's manager frees at its end is what the message says", () => {
  for (const [id, pageSizeBytes] of [["leak-4456448", 4 * 2 ** 20], ["leak-33816576", 32 * 2 ** 20]] as const) {
    const executor = Kernel.create().createExecutor({ maxHeapMemory: 2 ** 30, onHeapStorageRegionSize: 2 ** 29 });
    const task = new TaskMemoryManager(executor, 1034, { ...OPTIONS, pageSizeBytes });
    const sorter = new Holder(task, ON_HEAP);
    sorter.allocateArray(262144 / 8);
    sorter.allocatePage(1000);
    assertEquals(task.cleanUpAllAllocatedMemory(), caseOf(id).observed.size);
  }
});

Deno.test("leak-4456448: a 4 MiB page means three to five cores of a 1g driver", () => {
  const { answer } = caseOf("leak-4456448");
  const { executionRegion } = sizing({ conf: SparkConf.from({}, "2.2.0"), role: "driver", collector: "parallel" });
  const cores = Array.from({ length: 16 }, (_, i) => i + 1)
    .filter((cores) => defaultPageSize(executionRegion, cores) === 4 * 2 ** 20);
  assertEquals(cores.filter((n) => answer.cores.includes(n)), answer.cores);
});

Deno.test("every case of these kinds has a test above", () => {
  assertEquals(casesLeft("spill", "leak"), []);
});
