/**
 * Bodies of requests for the API's description. A test sends every one of them.
 *
 * @module
 */
import type { JobRequest, RecommendationRequest, SweepRequest, WhatIfRequest } from "./requests.ts";

/** Examples by name, as OpenAPI has them. */
export type Examples<T> = Readonly<Record<string, { readonly summary: string; readonly value: T }>>;

const TEMPLATE: JobRequest = {
  template: "cached-iterative",
  parameters: { partitions: 24, iterations: 4, linksBytes: "96m" },
  conf: { "spark.executor.memory": "2g" },
  executors: 4,
};

const SPEC: JobRequest = {
  workload: {
    name: "report",
    sparkVersion: "3.5.1",
    cluster: { executors: 2, cores: 2 },
    cached: [{ name: "users", partitions: 8, bytes: "64m", computeMs: "2s" }],
    stages: [
      { id: "load", caches: ["users"], computeMs: 300 },
      { id: "shuffle", reads: ["users"], computeMs: 800, shuffleWriteBytes: "8m" },
      {
        id: "report",
        parents: ["shuffle"],
        tasks: 4,
        computeMs: { distribution: "uniform", min: 500, max: 1500 },
        memory: [{ kind: "UnsafeExternalSorter", bytes: "96m" }],
        resultBytes: "2m",
      },
    ],
    jobs: [{ stage: "load" }, { stage: "report" }],
  },
  conf: { "spark.executor.memory": "1g" },
  seed: 7,
};

/** For routes that take a job. */
export const JOB_EXAMPLES: Examples<JobRequest> = {
  template: { summary: "A template under other settings", value: TEMPLATE },
  spec: { summary: "A job of one's own", value: SPEC },
};

/** For what-ifs. */
export const WHAT_IF_EXAMPLES: Examples<WhatIfRequest> = {
  memory: {
    summary: "More memory, another storage level",
    value: {
      ...TEMPLATE,
      changes: { conf: { "spark.executor.memory": "4g" }, storageLevel: "MEMORY_AND_DISK_SER" },
    },
  },
};

/** For sweeps. */
export const SWEEP_EXAMPLES: Examples<SweepRequest> = {
  memory: {
    summary: "Six combinations of two settings",
    value: {
      ...SPEC,
      vary: { "spark.executor.memory": ["1g", "2g", "4g"], "spark.memory.storageFraction": ["0.3", "0.5"] },
    },
  },
};

/** For recommendations. */
export const RECOMMENDATION_EXAMPLES: Examples<RecommendationRequest> = {
  strict: { summary: "Nothing evicted, nothing spilled", value: SPEC },
  budget: { summary: "A few evictions are all right", value: { ...SPEC, budget: { maxEvictedBlocks: 4 } } },
};
