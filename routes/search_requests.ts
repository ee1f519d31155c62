/**
 * The schemas of requests with several runs.
 *
 * @module
 */
import * as v from "valibot";
import { job, settingName, settings, settingValue } from "./requests.ts";
import type { RecommendationRequest, SweepRequest, WhatIfRequest } from "./requests.ts";
import { SummarySchema } from "./responses.ts";

/** Schema of {@linkcode WhatIfRequest}. */
export const WhatIfRequestSchema: v.GenericSchema<unknown, WhatIfRequest> = v.object({
  ...job,
  changes: v.optional(v.object(settings)),
  observed: v.optional(v.nullable(SummarySchema)),
});

/** Schema of {@linkcode SweepRequest}. */
export const SweepRequestSchema: v.GenericSchema<unknown, SweepRequest> = v.object({
  ...job,
  vary: v.pipe(
    v.record(settingName, v.pipe(v.array(settingValue), v.minLength(1), v.maxLength(10_000))),
    v.minEntries(1),
    v.maxEntries(100),
    v.description("Values by setting; every combination is run"),
  ),
});

const bound = v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(Number.MAX_SAFE_INTEGER)));

/** Schema of {@linkcode RecommendationRequest}. */
export const RecommendationRequestSchema: v.GenericSchema<unknown, RecommendationRequest> = v.object({
  ...job,
  budget: v.optional(v.object({
    maxEvictedBlocks: bound,
    maxSpilledBytes: bound,
    maxSpilledTasks: bound,
    maxDurationMs: bound,
    maxClusterMemoryBytes: bound,
  })),
  observed: v.optional(v.nullable(SummarySchema)),
});
