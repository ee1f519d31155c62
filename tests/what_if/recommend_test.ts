import { assert, assertEquals } from "@std/assert";
import { recommend } from "../../src/what_if/recommend.ts";
import { memoryCandidates } from "../../src/what_if/memory_candidates.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import {
  cachedRdd,
  clusterOf,
  column,
  consumerOf,
  demandOf,
  jobOf,
  MIB,
  rddOf,
  workloadOf,
} from "../support/workloads.ts";

/** Executors whose memory follows from the settings. */
function sized(workload: Workload, memory: string): Workload {
  const executors = workload.cluster.executors.map((spec) => ({ ...spec, maxOnHeapMemory: null }));
  return {
    ...workload,
    conf: { ...workload.conf, "spark.executor.memory": memory },
    cluster: { ...workload.cluster, executors },
  };
}

const CACHED = sized(
  workloadOf({
    cluster: clusterOf(1),
    rdds: [cachedRdd(1, 8, 20 * MIB), cachedRdd(2, 8, 20 * MIB)],
    demands: [demandOf(8)],
    jobs: [jobOf(0, 1, 0), jobOf(1, 2, 0), jobOf(2, 1, 0)],
  }),
  "640m",
);

Deno.test("recommend() finds settings without the evictions, and says what each does", () => {
  const answer = recommend(CACHED);
  assert(answer.replayed.storage.blocksEvicted! > 0);
  assert(answer.violations[0].includes("evicted"));
  assertEquals([answer.gain, answer.predicted.storage.blocksEvicted], [true, 0]);
  assert(answer.reasons.every(({ why, effect }) => why !== "" && effect !== ""));
});

Deno.test("recommend() moves when the workload does: twice the data needs more memory", () => {
  const heap = (workload: Workload) => {
    const { settings } =
      recommend(workload).alternatives.concat([]).find(({ settings, withinBudget }) =>
        withinBudget && Object.keys(settings.conf).join() === "spark.executor.memory"
      ) ?? { settings: recommend(workload).recommended };
    const text = settings.conf["spark.executor.memory"];
    return text.endsWith("g") ? Number(text.slice(0, -1)) * 1024 : Number(text.slice(0, -1));
  };
  const doubled = { ...CACHED, rdds: [cachedRdd(1, 8, 40 * MIB), cachedRdd(2, 8, 40 * MIB)] };
  // 320 MiB of blocks in 0.6 of the heap above 300 MiB: 834 MiB at least; twice that: 1,367 MiB.
  assert(heap(CACHED) >= 834 && heap(CACHED) < 1000, `${heap(CACHED)}`);
  assert(heap(doubled) >= 1367 && heap(doubled) < 1600, `${heap(doubled)}`);
});

Deno.test("recommend() raises maxResultSize to what the job collects, with a fifth in reserve", () => {
  const workload = sized(
    workloadOf({
      cluster: clusterOf(1),
      rdds: [rddOf(0, 8)],
      demands: [demandOf(8, { resultBytes: column(8, 2 * MIB) })],
      jobs: [jobOf(0, 0, 0)],
      conf: { "spark.driver.maxResultSize": "10m" },
    }),
    "450m",
  );
  const { recommended, reasons, predicted } = recommend(workload);
  assertEquals(recommended.conf["spark.driver.maxResultSize"], "20m"); // 16 MiB x 1.25
  assertEquals(predicted.outcome.status, "succeeded");
  assert(reasons[0].why.includes("16.0 MiB"));
});

Deno.test("recommend() says that there is nothing to gain", () => {
  const workload = sized(workloadOf({ rdds: [rddOf(0, 4)], demands: [demandOf(4)], jobs: [jobOf(0, 0, 0)] }), "450m");
  const { gain, reasons, recommended } = recommend(workload);
  assertEquals([gain, reasons, recommended.conf], [false, [], {}]);
});

Deno.test("a budget of spills is enough for less memory", () => {
  const workload = sized(
    workloadOf({
      cluster: clusterOf(1, { cores: 1 }),
      rdds: [rddOf(0, 2)],
      demands: [demandOf(2, { consumers: [consumerOf(2, { bytes: column(2, 600 * MIB) })] })],
      jobs: [jobOf(0, 0, 0)],
    }),
    "4g",
  );
  const strict = recommend(workload);
  const lax = recommend(workload, { budget: { maxSpilledBytes: 1e12 } });
  assertEquals(strict.predicted.execution.memoryBytesSpilled, 0);
  assert(lax.predicted.execution.memoryBytesSpilled! > 0);
  assertEquals(lax.recommended.conf["spark.executor.memory"], "450m");
});

Deno.test("no memory below what was seen in use is tried", () => {
  const observed = new Summarizer({ source: "observed" }).summary();
  observed.executors.push({
    executorId: "0",
    host: "h",
    cores: 1,
    maxMemory: 600 * MIB,
    peakStorageBytes: 300 * MIB,
    peakExecutionBytes: null,
    tasks: 1,
    evictions: 0,
    removedReason: null,
  });
  // 300 MiB / 0.6 + 300 MiB reserved.
  assertEquals(memoryCandidates(applyChanges(CACHED, {}), observed, "spark.executor.memory")[0], 832);
});
