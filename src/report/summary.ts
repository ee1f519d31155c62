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
  /** Sent inside the status message. */
  direct: Recorded;
  /** Fetched by the driver from the executor's block manager. */
  indirect: Recorded;
  /** Above spark.driver.maxResultSize: thrown away at the executor. */
  dropped: Recorded;
  /** Gone before the driver could fetch them (TaskResultLost). */
  lost: Recorded;
}

/** One submitted stage attempt; sizes in bytes, times in ms. */
export interface StageSummary {
  /** As Spark numbers it. */
  stageId: number;
  /** Attempt of the stage, from 0. */
  attempt: number;
  /** Name in the Spark UI: operation and call site. */
  name: string;
  /** How the attempt ended; unfinished where the run ends before. */
  status: "succeeded" | "failed" | "unfinished";
  /** Spark's text; null unless it failed. */
  failureReason: string | null;
  /** Since the epoch. */
  submittedAtMs: Recorded;
  /** Since the epoch. */
  completedAtMs: Recorded;
  /** How the results of its tasks travelled. */
  results: ResultCounts;
  /** Task attempts, by outcome. */
  tasks: { total: number; succeeded: number; failed: number; killed: number };
  /** From its submission to its completion. */
  durationMs: Recorded;
  /** Sum over its tasks (executorRunTime). */
  executorRunMs: Recorded;
  /** Size in memory of what its tasks spilled. */
  memoryBytesSpilled: Recorded;
  /** Size on disk of what its tasks spilled. */
  diskBytesSpilled: Recorded;
  /** Tasks that spilled. */
  spilledTasks: Recorded;
  /** Peaks of its tasks: the largest, and their sum. */
  peakExecutionMemory: { max: Recorded; sum: Recorded };
  /** Sum over its tasks (resultSize). */
  resultBytes: Recorded;
  /** Local and remote. */
  shuffleReadBytes: Recorded;
  /** What its map tasks wrote. */
  shuffleWriteBytes: Recorded;
  /** Read from input and from cached blocks. */
  inputBytes: Recorded;
}

/** One executor (the driver included in local mode); sizes in bytes. */
export interface ExecutorSummary {
  /** "driver" in local mode. */
  executorId: string;
  /** Where it ran. */
  host: string;
  /** As its registration tells them (totalCores). */
  cores: Recorded;
  /** Memory for storage as its block manager reports it. */
  maxMemory: Recorded;
  /** Most bytes of blocks at a time. */
  peakStorageBytes: Recorded;
  /** Most execution memory at a time. */
  peakExecutionBytes: Recorded;
  /** Most of the JVM's heap that was seen in use, garbage included (executor metrics, from 3.0); unknown of simulated runs. */
  peakHeapBytes: Recorded;
  /** Task attempts that ran on it. */
  tasks: number;
  /** RDD blocks evicted from its memory. */
  evictions: Recorded;
  /** Why it went; null while it lived. */
  removedReason: string | null;
}

/** A warning by code, with how often it came. */
export interface SummaryWarning {
  /** Stable identifier. */
  code: string;
  /** In a sentence. */
  message: string;
  /** How often it came. */
  count: number;
}

/** What a run did, real or simulated. */
export interface Summary {
  /** Which application it was, and whether it ran or was simulated. */
  app: {
    id: string | null;
    name: string;
    sparkVersion: string;
    source: EventSource;
  };
  /** How it ended, and Spark's reason where it failed. */
  outcome: {
    status: "succeeded" | "failed" | "unfinished";
    reason: string | null;
  };
  /** Sizes in bytes that decide how a result travels; the effective limit is the smaller of the two before it. */
  thresholds: {
    maxDirectResultSize: number;
    rpcMessageMaxSize: number;
    effectiveDirectLimit: number;
    maxResultSize: number;
    /** Properties behind them that nobody set: the defaults of the version hold. */
    defaults: string[];
  };
  /** From the application's start to its end. */
  durationMs: Recorded;
  /** In the order of their start. */
  jobs: {
    jobId: number;
    status: "succeeded" | "failed" | "unfinished";
    reason: string | null;
    stageIds: number[];
    durationMs: Recorded;
    /** What the program calls it, or the SQL execution that it is of with the operator that gives its result; absent without. */
    description?: string;
  }[];
  /** Submitted attempts only, never skipped stages. */
  stages: StageSummary[];
  /** How results travelled, all in all, and their sizes in bytes. */
  results: ResultCounts & { totalBytes: Recorded; maxBytes: Recorded };
  /** RDD blocks in the block stores; an eviction is counted whether or not the block went to disk. */
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
  /** Spilling, waiting for execution memory, tasks that failed for want of it. */
  execution: {
    memoryBytesSpilled: Recorded;
    diskBytesSpilled: Recorded;
    spilledTasks: Recorded;
    waits: Recorded;
    waitMs: Recorded;
    oomTasks: Recorded;
    peakBytes: Recorded;
  };
  /** In the order in which they were added. */
  executors: ExecutorSummary[];
  /** The driver's heap, as of executors (with spark.eventLog.logStageExecutorMetrics; in local mode always). */
  driver: { peakHeapBytes: Recorded };
  /** What the figures leave open. */
  warnings: SummaryWarning[];
}
