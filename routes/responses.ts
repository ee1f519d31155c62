/**
 * The shapes of answers, as schemas for the OpenAPI document. The types are the library's own; a test holds real answers
 * against these.
 *
 * @module
 */
import * as v from "valibot";
import type { Summary } from "../src/report/summary.ts";
import type { Sizing } from "../src/spark/sizing.ts";
import { JobSpecSchema } from "../src/workload/job_spec_schema.ts";
import type { Problem } from "./problem.ts";

const text = v.string();
const number = v.number();
const recorded = v.pipe(v.nullable(number), v.description("null: not recorded"));
const status = v.picklist(["succeeded", "failed", "unfinished"]);
const reason = v.nullable(text);

const resultCounts = { direct: recorded, indirect: recorded, dropped: recorded, lost: recorded };

const warning = v.object({ code: text, message: text, count: number });

const stage = v.object({
  stageId: number,
  attempt: number,
  name: text,
  status,
  failureReason: reason,
  submittedAtMs: recorded,
  completedAtMs: recorded,
  results: v.object(resultCounts),
  tasks: v.object({ total: number, succeeded: number, failed: number, killed: number }),
  durationMs: recorded,
  executorRunMs: recorded,
  memoryBytesSpilled: recorded,
  diskBytesSpilled: recorded,
  spilledTasks: recorded,
  peakExecutionMemory: v.object({ max: recorded, sum: recorded }),
  resultBytes: recorded,
  shuffleReadBytes: recorded,
  shuffleWriteBytes: recorded,
  inputBytes: recorded,
});

/** A run, real or simulated. */
export const SummarySchema: v.GenericSchema<unknown, Summary> = v.object({
  app: v.object({
    id: v.nullable(text),
    name: text,
    sparkVersion: text,
    source: v.picklist(["observed", "simulated"]),
  }),
  outcome: v.object({ status, reason }),
  thresholds: v.object({
    maxDirectResultSize: number,
    rpcMessageMaxSize: number,
    effectiveDirectLimit: number,
    maxResultSize: number,
    defaults: v.optional(v.array(text), []),
  }),
  durationMs: recorded,
  jobs: v.array(
    v.object({
      jobId: number,
      status,
      reason,
      stageIds: v.array(number),
      durationMs: recorded,
      description: v.optional(text),
    }),
  ),
  stages: v.array(stage),
  results: v.object({ ...resultCounts, totalBytes: recorded, maxBytes: recorded }),
  storage: v.object({
    blocksStored: recorded,
    blocksEvicted: recorded,
    bytesEvicted: recorded,
    blocksDroppedToDisk: recorded,
    putsRefused: recorded,
    cacheHits: recorded,
    cacheMisses: recorded,
    cachedAtEnd: v.object({
      memoryBlocks: recorded,
      memoryBytes: recorded,
      diskBlocks: recorded,
      diskBytes: recorded,
    }),
    peakBytes: recorded,
  }),
  execution: v.object({
    memoryBytesSpilled: recorded,
    diskBytesSpilled: recorded,
    spilledTasks: recorded,
    waits: recorded,
    waitMs: recorded,
    oomTasks: recorded,
    peakBytes: recorded,
  }),
  executors: v.array(v.object({
    executorId: text,
    host: text,
    cores: recorded,
    maxMemory: recorded,
    peakStorageBytes: recorded,
    peakExecutionBytes: recorded,
    peakHeapBytes: v.optional(recorded, null),
    tasks: number,
    evictions: recorded,
    removedReason: reason,
  })),
  driver: v.optional(v.object({ peakHeapBytes: recorded }), { peakHeapBytes: null }),
  warnings: v.array(warning),
});

const taskShare = v.object({ min: number, max: number });

/** Pools of an executor or a driver. */
export const SizingSchema: v.GenericSchema<unknown, Pick<Sizing, "systemMemory" | "unifiedMemory" | "perTask">> = v
  .looseObject({
    systemMemory: number,
    reservedMemory: number,
    unifiedMemory: number,
    storageRegion: number,
    executionRegion: number,
    userMemory: number,
    offHeap: v.looseObject({ enabled: v.boolean(), size: number, storageRegion: number, executionRegion: number }),
    perTask: taskShare,
    pageSize: number,
  });

/** An error. */
export const ProblemSchema: v.GenericSchema<unknown, Problem> = v.object({
  type: text,
  title: text,
  status: v.picklist([400, 401, 404, 405, 413, 415, 422, 429, 499, 500]),
  detail: text,
  code: text,
  parameters: v.record(text, v.unknown()),
  pointer: v.optional(text),
  line: v.optional(number),
});

const parameter = v.object({
  kind: v.picklist(["count", "bytes", "ms", "number", "storageLevel"]),
  default: v.union([number, text]),
  min: v.optional(number),
  max: v.optional(number),
  description: text,
});

const finding = v.object({
  code: text,
  severity: v.picklist(["failure", "problem", "notice", "good"]),
  sentence: text,
  why: v.nullable(text),
  evidence: v.array(text),
});

const evidence = v.object({
  subject: text,
  field: text,
  grade: v.picklist(["observed", "inferred", "assumed"]),
  how: text,
  wouldRecord: v.optional(text),
});

/** A log that was read. */
export const EventLogSchema = v.object({
  summary: SummarySchema,
  verdict: v.array(finding),
  workload: JobSpecSchema,
  evidence: v.array(evidence),
  read: v.object({ lines: number, malformedLines: number, inProgress: v.boolean() }),
});

const versionEffect = v.object({
  kind: v.picklist(["rule", "default"]),
  name: text,
  summary: text,
  issue: v.nullable(text),
  from: v.unknown(),
  to: v.unknown(),
  effect: v.picklist(["changes", "met", "unmet", "notSimulated", "untried"]),
  figures: v.array(text),
  together: v.array(text),
  when: text,
});

/** Two runs of a job. */
export const WhatIfSchema = v.object({
  observed: v.nullable(SummarySchema),
  replayed: SummarySchema,
  predicted: SummarySchema,
  changes: v.array(v.object({
    key: text,
    from: v.nullable(text),
    fromDefault: v.optional(v.literal(true)),
    to: v.nullable(text),
  })),
  versionEffects: v.pipe(
    v.nullable(v.object({ from: text, to: text, effects: v.array(versionEffect) })),
    v.description("What another Spark version does, rule by rule; null without such a change"),
  ),
  verdict: v.array(finding),
  evidence: v.array(evidence),
  warnings: v.array(warning),
});

const figures = v.object({
  durationMs: recorded,
  clusterMemoryBytes: number,
  executors: number,
  blocksEvicted: recorded,
  bytesEvicted: recorded,
  cacheMisses: recorded,
  memoryBytesSpilled: recorded,
  diskBytesSpilled: recorded,
  spilledTasks: recorded,
  waits: recorded,
  oomTasks: recorded,
  indirectResults: recorded,
  droppedResults: recorded,
});

/** A line of a sweep. */
export const SweepResultSchema = v.variant("status", [
  v.object({ id: text, settings: v.record(text, text), status, reason, figures }),
  v.object({
    id: text,
    settings: v.record(text, text),
    status: v.literal("refused"),
    reason: text,
    code: text,
    figures: v.null(),
  }),
]);

const recommendedSettings = v.object({ conf: v.record(text, text), storageLevel: v.nullable(text) });

/** Recommended settings. */
export const RecommendationSchema = v.object({
  recommended: recommendedSettings,
  gain: v.boolean(),
  reasons: v.array(v.object({
    setting: text,
    from: v.nullable(text),
    to: text,
    why: text,
    effect: text,
    grade: v.picklist(["observed", "inferred", "assumed"]),
  })),
  predicted: SummarySchema,
  replayed: SummarySchema,
  alternatives: v.array(v.object({
    settings: recommendedSettings,
    note: text,
    withinBudget: v.boolean(),
    clusterMemoryBytes: number,
    durationMs: v.nullable(number),
    blocksEvicted: v.nullable(number),
    memoryBytesSpilled: v.nullable(number),
  })),
  violations: v.array(text),
  evidence: v.array(evidence),
  warnings: v.array(warning),
});

/** The templates. */
export const TemplatesSchema = v.object({
  templates: v.array(v.object({ name: text, description: text, parameters: v.record(text, parameter) })),
});

/** All of them by their names in the document. */
export const RESPONSE_SCHEMAS: Readonly<Record<string, v.GenericSchema>> = Object.freeze({
  Summary: SummarySchema,
  EventLog: EventLogSchema,
  WhatIf: WhatIfSchema,
  SweepResult: SweepResultSchema,
  Recommendation: RecommendationSchema,
  Sizing: SizingSchema,
  Templates: TemplatesSchema,
  Problem: ProblemSchema,
});
