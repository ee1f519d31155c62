import { assert, assertEquals } from "@std/assert";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { recommend, type Recommendation } from "../../src/what_if/recommend.ts";
import { memoryCandidates } from "../../src/what_if/memory_candidates.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
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

/** The Summary of a log in which one executor was seen with these peaks. */
function observedWith(peaks: { peakStorageBytes?: number; peakHeapBytes?: number }): Summary {
  const observed = new Summarizer({ source: "observed" }).summary();
  observed.executors.push({
    executorId: "0",
    host: "h",
    cores: 1,
    maxMemory: 600 * MIB,
    peakStorageBytes: null,
    peakExecutionBytes: null,
    peakHeapBytes: null,
    tasks: 1,
    evictions: 0,
    removedReason: null,
    ...peaks,
  });
  return observed;
}

Deno.test("no memory below what was seen in use is tried", () => {
  const least = (observed: Summary) => memoryCandidates(applyChanges(CACHED, {}), observed, "spark.executor.memory")[0];
  // 300 MiB / 0.6 + 300 MiB reserved.
  assertEquals(least(observedWith({ peakStorageBytes: 300 * MIB })), 832);
  assertEquals(least(observedWith({ peakHeapBytes: 1000 * MIB })), 1024);
});

Deno.test("pools do not grow into heap that was seen in use; a log without that is warned of", () => {
  const heap = (peakHeapBytes: number | undefined) =>
    recommend(CACHED, { observed: observedWith(peakHeapBytes === undefined ? {} : { peakHeapBytes }) });
  const fractions = ({ alternatives, recommended }: Recommendation) =>
    [...alternatives.map(({ settings }) => settings), recommended]
      .map(({ conf }) => conf["spark.memory.fraction"]).filter((fraction) => fraction !== undefined);
  // 640 MiB: 34 and 68 MiB more for the pools at 0.7 and 0.8, beside 580 MiB only the first has room.
  assertEquals(fractions(heap(400 * MIB)).includes("0.8"), true);
  assertEquals(new Set(fractions(heap(580 * MIB))), new Set(["0.7"]));
  const codes = (answer: Recommendation) => answer.warnings.map(({ code }) => code);
  assertEquals(codes(heap(undefined)).includes("recommend.heap_not_recorded"), true);
  assertEquals(codes(heap(400 * MIB)).includes("recommend.heap_not_recorded"), false);
});

Deno.test("a heap that Spark refuses is not recommended", () => {
  const small = sized(workloadOf({ rdds: [rddOf(0, 4)], demands: [demandOf(4)], jobs: [jobOf(0, 0, 0)] }), "4g");
  const under = (collector: "g1" | "parallel") =>
    recommend({ ...small, cluster: { ...small.cluster, collector } }).recommended.conf["spark.executor.memory"];
  // The parallel collector keeps a survivor space back: of 450 MiB Spark sees less than it starts with.
  assertEquals([under("g1"), under("parallel")], ["450m", "512m"]);
});

Deno.test("the best split of a heap: more of it for storage where blocks are evicted by execution", () => {
  // 4 blocks of 50 MiB and sorts of 60 MiB a task in 400 MiB: what the sorts spill the cache could give up.
  const workload = workloadOf({
    cluster: clusterOf(1, { memory: 400 * MIB }),
    rdds: [cachedRdd(1, 4, 50 * MIB), rddOf(2, 8)],
    demands: [
      demandOf(4),
      demandOf(8, { consumers: [consumerOf(8, { bytes: column(8, 120 * MIB), records: column(8, 1e5) })] }),
    ],
    jobs: [jobOf(0, 1, 0), jobOf(1, 2, 1), jobOf(2, 1, 0)],
  });
  const { alternatives, recommended } = recommend(workload, { changes: {}, budget: { maxSpilledBytes: 0 } });
  const tried = [...alternatives.map(({ settings }) => settings), recommended];
  assert(tried.some(({ conf }) => conf["spark.memory.storageFraction"] !== undefined), JSON.stringify(tried));
});

Deno.test("with no more memory to have, another level or another split is recommended, each with what it does", () => {
  const GIB = 2 ** 30;
  const executor = { cluster: { executors: 1, cores: 1 }, conf: { "spark.executor.memory": "1g" } };
  const cached = (fields: { bytes: string; serializedBytes?: string }) => ({
    name: "c",
    partitions: 10,
    computeMs: 20_000,
    ...fields,
  });
  const jobs = [{ stage: 0 }, { stage: 1 }, { stage: 2 }];
  // 10 blocks of 100 MiB, of which 434 MiB hold four; serialized they take 10 MiB each.
  const level = recommend(
    workloadFromJobSpec({
      ...executor,
      cached: [cached({ bytes: "100m", serializedBytes: "10m" })],
      stages: [{ id: 0, caches: ["c"] }, { id: 1, reads: ["c"] }, { id: 2, reads: ["c"] }],
      jobs,
    }),
    { budget: { maxDurationMs: 230_000, maxClusterMemoryBytes: 1.4 * GIB } },
  );
  assertEquals([level.recommended.storageLevel, level.reasons[0].setting], ["MEMORY_ONLY_SER", "storageLevel"]);
  assert(/^it takes 3\.\d min instead of \d+\.\d min$/.test(level.reasons[0].effect), level.reasons[0].effect);
  // 450 MiB of cached blocks and a sort in 579 MiB: the region of 290 MiB protects too little of them, one of 521 MiB all.
  const region = recommend(
    workloadFromJobSpec({
      ...executor,
      conf: { ...executor.conf, "spark.memory.fraction": "0.8" },
      cached: [cached({ bytes: "45m" })],
      stages: [
        { id: 0, caches: ["c"] },
        {
          id: 1,
          tasks: 4,
          computeMs: 100,
          memory: [{ kind: "UnsafeExternalSorter", bytes: "250m", records: 100_000 }],
        },
        { id: 2, reads: ["c"] },
      ],
      jobs,
    }),
    { budget: { maxEvictedBlocks: 0, maxSpilledBytes: 1e12, maxClusterMemoryBytes: 1.4 * GIB } },
  );
  assertEquals(region.recommended.conf, { "spark.memory.storageFraction": "0.9" });
  assertEquals(
    region.reasons[0].why,
    "the border up to which cached blocks are safe from execution fits this job better",
  );
});
