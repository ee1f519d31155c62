/**
 * The Summary of a run: its shape (a public contract). It is a fold over events, the same for real and simulated runs.
 *
 * @module
 */
import type { EventSource } from "../spark/events.ts";

/** A count or size; `null` means "not recorded", never 0 for unknown. */
export type Recorded = number | null;

/** How task results travelled. */
export interface ResultCounts {
  direct: Recorded;
  indirect: Recorded;
  dropped: Recorded;
  lost: Recorded;
}

/** One submitted stage attempt; sizes in bytes, times in ms. */
export interface StageSummary {
  stageId: number;
  attempt: number;
  name: string;
  status: "succeeded" | "failed" | "unfinished";
  failureReason: string | null;
  submittedAtMs: Recorded;
  completedAtMs: Recorded;
  results: ResultCounts;
  tasks: { total: number; succeeded: number; failed: number; killed: number };
  durationMs: Recorded;
  executorRunMs: Recorded;
  memoryBytesSpilled: Recorded;
  diskBytesSpilled: Recorded;
  spilledTasks: Recorded;
  peakExecutionMemory: { max: Recorded; sum: Recorded };
  resultBytes: Recorded;
  shuffleReadBytes: Recorded;
  shuffleWriteBytes: Recorded;
  inputBytes: Recorded;
}

/** One executor (the driver included in local mode); sizes in bytes. */
export interface ExecutorSummary {
  executorId: string;
  host: string;
  cores: Recorded;
  maxMemory: Recorded;
  peakStorageBytes: Recorded;
  peakExecutionBytes: Recorded;
  tasks: number;
  evictions: Recorded;
  removedReason: string | null;
}

/** A warning by code, with how often it came. */
export interface SummaryWarning {
  code: string;
  message: string;
  count: number;
}

/** What a run did, real or simulated. */
export interface Summary {
  app: {
    id: string | null;
    name: string;
    sparkVersion: string;
    source: EventSource;
  };
  outcome: {
    status: "succeeded" | "failed" | "unfinished";
    reason: string | null;
  };
  thresholds: {
    maxDirectResultSize: number;
    rpcMessageMaxSize: number;
    effectiveDirectLimit: number;
    maxResultSize: number;
  };
  durationMs: Recorded;
  jobs: {
    jobId: number;
    status: "succeeded" | "failed" | "unfinished";
    reason: string | null;
    stageIds: number[];
    durationMs: Recorded;
  }[];
  stages: StageSummary[];
  results: ResultCounts & { totalBytes: Recorded; maxBytes: Recorded };
  storage: {
    blocksStored: Recorded;
    blocksEvicted: Recorded;
    bytesEvicted: Recorded;
    blocksDroppedToDisk: Recorded;
    putsRefused: Recorded;
    cacheHits: Recorded;
    cacheMisses: Recorded;
    cachedAtEnd: {
      memoryBlocks: Recorded;
      memoryBytes: Recorded;
      diskBlocks: Recorded;
      diskBytes: Recorded;
    };
    peakBytes: Recorded;
  };
  execution: {
    memoryBytesSpilled: Recorded;
    diskBytesSpilled: Recorded;
    spilledTasks: Recorded;
    waits: Recorded;
    waitMs: Recorded;
    oomTasks: Recorded;
    peakBytes: Recorded;
  };
  executors: ExecutorSummary[];
  warnings: SummaryWarning[];
}
