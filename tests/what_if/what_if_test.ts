import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import type { Column, Workload } from "../../src/simulator/workload.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { whatIf } from "../../src/what_if/what_if.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import { workloadOfLog } from "../support/event_logs.ts";
import { expectedRun, runParts } from "../support/runs.ts";

/** A recorded run as workload and Summary. */
async function recorded(name: string): Promise<{ workload: Workload; observed: Summary }> {
  const builder = new WorkloadBuilder();
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(runParts(name), {
    event(event) {
      builder.event(event);
      summarizer.event(event);
    },
  });
  return { workload: builder.workload(), observed: summarizer.summary() };
}

const scaled = (column: Column | null, factor: number) => column?.map((value) => Math.round(value * factor)) ?? null;

/** The workload with other sizes of cached blocks and rows. */
function perturbed(workload: Workload, factor: number): Workload {
  return {
    ...workload,
    rdds: workload.rdds.map((rdd) => ({ ...rdd, deserializedBytes: scaled(rdd.deserializedBytes, factor) })),
    demands: workload.demands.map((demand) => ({
      ...demand,
      consumers: demand.consumers.map((consumer) => ({ ...consumer, bytes: scaled(consumer.bytes, factor)! })),
    })),
  };
}

Deno.test("a recorded run is replayed: evictions as in the executors' logs", async () => {
  const { workload, observed } = await recorded("cache_evictions");
  const { replayed } = whatIf(workload, observed, {});
  assertEquals(replayed.storage.blocksEvicted, expectedRun("cache_evictions").evictions);
  assertEquals(replayed.storage.cachedAtEnd.memoryBlocks, 18);
});

Deno.test("a recorded run is replayed: spills as in the log", async () => {
  const { workload, observed } = await recorded("storage_region");
  const { replayed } = whatIf(workload, observed, {});
  const expected = expectedRun("storage_region");
  assertEquals(replayed.execution.memoryBytesSpilled, expected.memoryBytesSpilled);
  assertEquals(replayed.execution.spilledTasks, expected.spilledTasks);
  assertEquals(replayed.storage.blocksEvicted, expected.evictions);
});

Deno.test("without changes the prediction is the replay", async () => {
  const { workload, observed } = await recorded("cache_evictions");
  const { replayed, predicted, changes } = whatIf(workload, observed, {});
  assertEquals(predicted, replayed);
  assertEquals(changes, []);
});

Deno.test("more memory is a prediction, not a copy", async () => {
  // a1-cache-bytes-em1g of the recorded runs: no eviction, all 24 blocks in memory.
  const { workload, observed } = await recorded("cache_evictions");
  const { predicted } = whatIf(workload, observed, { conf: { "spark.executor.memory": "1g" } });
  assertEquals([predicted.storage.blocksEvicted, predicted.storage.cachedAtEnd.memoryBlocks], [0, 24]);
});

Deno.test("the answer moves with the workload: nothing observed is taken over", async () => {
  const cached = await recorded("cache_evictions");
  const evicted = (factor: number) =>
    whatIf(perturbed(cached.workload, factor), cached.observed, {}).replayed.storage.blocksEvicted!;
  // Blocks of half the size all fit; of twice the size five fit on an executor.
  assertEquals(evicted(0.5), 0);
  assert(evicted(2) > 24);
  const sorted = await recorded("storage_region");
  const spilled = (factor: number) =>
    whatIf(perturbed(sorted.workload, factor), sorted.observed, {}).replayed.execution.memoryBytesSpilled!;
  assertEquals(spilled(0.5), 0);
  assert(spilled(2) > spilled(1));
});

Deno.test("the same workload, settings and seed give the same answer", async () => {
  const workload = await workloadOfLog("take_first");
  const answer = () =>
    JSON.stringify(whatIf(workload, null, { conf: { "spark.executor.memory": "600m" } }, { seed: 7 }));
  assertEquals(answer(), answer());
});

Deno.test("settings that Spark refuses at start are bad input with its message", async () => {
  const workload = await workloadOfLog("take_first");
  assertThrows(
    () => whatIf(workload, null, { conf: { "spark.executor.memory": "400m" } }),
    InputError,
    "Executor memory",
  );
});

Deno.test("a large task is refused under a small spark.rpc.message.maxSize", async () => {
  // d7-bigtask-rpc1 of the recorded runs.
  const { predicted } = whatIf(await workloadOfLog("big_task"), null, { conf: { "spark.rpc.message.maxSize": "1" } });
  assertEquals(predicted.outcome.status, "failed");
  assert(predicted.outcome.reason!.includes("exceeds max allowed: spark.rpc.message.maxSize"));
});

Deno.test("failing tasks fail their job under fewer allowed failures", async () => {
  // e3-taskfail-max2 of the recorded runs.
  const workload = await workloadOfLog("task_failures");
  assertEquals(whatIf(workload, null, {}).replayed.outcome.status, "succeeded");
  const { predicted } = whatIf(workload, null, { conf: { "spark.task.maxFailures": "2" } });
  assert(predicted.outcome.reason!.includes("failed 2 times"));
});

Deno.test("an executor that fits on no worker: the verdict says so, in numbers and in Spark's words", async () => {
  const { workload, observed } = await recorded("cache_evictions");
  const { predicted, verdict } = whatIf(workload, observed, { conf: { "spark.executor.memory": "8g" } });
  assertEquals([predicted.outcome.status, predicted.executors.length], ["unfinished", 0]);
  assertEquals(verdict.map(({ code }) => code), ["whatif.outcome", "whatif.model"]);
  const [{ sentence, why, evidence }] = verdict;
  assertEquals(sentence, "Under the changed settings the application waits for ever: it gets no executor.");
  assert(why!.includes("an executor takes 8.0 GiB (spark.executor.memory), a worker has 2.0 GiB"), why!);
  assert(evidence[0].includes("Initial job has not accepted any resources; check your cluster UI"), evidence[0]);
});

Deno.test("the peaks that a task's memory manager recorded from 4.0 on are those of the replay, and the verdict compares them", async () => {
  const { workload, observed } = await recorded("spark_4_0_sort_spill");
  const { replayed, verdict } = whatIf(workload, observed, {});
  const peaks = ({ stages }: Summary) =>
    stages.map(({ stageId, peakExecutionMemory: { max, sum } }) => [stageId, max, sum]);
  assertEquals(peaks(replayed), peaks(observed));
  const model = verdict.find(({ code }) => code === "whatif.model")!;
  assert(model.evidence.some((line) => line.startsWith("execution memory of the largest task")), model.evidence.join());
});

Deno.test("results that the driver refused have the size that the message leaves for them", async () => {
  // 9 results; the log has the sizes of 5 (2.0 MiB), the message 5.9 MB of 8 tasks: the run failed in 2.4.0.
  const { workload, observed } = await recorded("spark_2_4_max_result_size");
  const { replayed, predicted } = whatIf(workload, observed, { conf: { "spark.driver.maxResultSize": "8m" } });
  assertEquals(replayed.outcome.status, "failed");
  assert(
    replayed.outcome.reason!.includes("is bigger than spark.driver.maxResultSize (5.0 MB)"),
    replayed.outcome.reason!,
  );
  // (5.9 MiB - 2,096,770 bytes) / 3 = 1.36 million bytes for each of the four that are not known: 7.5 million in all.
  assertEquals([predicted.outcome.status, Math.round(predicted.results.totalBytes! / 1e5)], ["succeeded", 75]);
});

Deno.test("the verdict names the RDDs that stay, and the storage region that lets them", async () => {
  const { workload, observed } = await recorded("cache_evictions");
  const { verdict } = whatIf(workload, observed, { conf: { "spark.executor.memory": "1g" } });
  const { sentence, why, evidence } = verdict.find(({ code }) => code === "whatif.evictions")!;
  assert(sentence.startsWith("0 cached blocks evicted instead of 24"), sentence);
  assert(why!.includes("its storage region from 102.0 MiB to 217.2 MiB"), why!);
  assert(evidence.some((line) => /^rdd \d \(data\d\) stays: 0 evictions instead of \d+$/.test(line)), evidence.join());
  const total = evidence.reduce((sum, line) => sum + Number(/instead of (\d+)$/.exec(line)![1]), 0);
  assertEquals(total, 24);
});
