/**
 * The bodies of requests: their types, and the schema of those with one run.
 *
 * @module
 */
import * as v from "valibot";
import { JobSpecSchema } from "../src/workload/job_spec_schema.ts";
import type { Summary } from "../src/report/summary.ts";
import type { JobSpec } from "../src/workload/job_spec_types.ts";

import type { Budget } from "../src/what_if/budget.ts";

/** A value of a setting; null unsets it. */
export type SettingValue = string | number | boolean | null;

/** Settings to apply, and what is no setting of Spark. */
export interface Settings {
  /** Spark properties by name. */
  readonly conf?: Readonly<Record<string, SettingValue>>;
  /** StorageLevel constant for the RDDs that are cached. */
  readonly storageLevel?: string;
  /** Number of executors. */
  readonly executors?: number;
  /** Spark version whose rules and defaults apply. */
  readonly sparkVersion?: string;
}

/** A job: either a workload or a template, and the settings under which it runs. */
export interface JobRequest extends Settings {
  readonly workload?: JobSpec;
  readonly template?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly seed?: number;
}

/** A job and what is to change. */
export interface WhatIfRequest extends JobRequest {
  readonly changes?: Settings;
  /** Summary of the log that the workload comes from: shows how far the model can be trusted here. */
  readonly observed?: Summary | null;
}

/** A job and the values of settings to combine. */
export interface SweepRequest extends JobRequest {
  /** Values by setting; `storageLevel` and `executors` as well. */
  readonly vary: Readonly<Record<string, readonly SettingValue[]>>;
}

/** A job and what it may cost. */
export interface RecommendationRequest extends JobRequest {
  /** No eviction and no spill unless said. */
  readonly budget?: Budget;
  readonly observed?: Summary | null;
}

/** Name of a setting. */
export const settingName = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
/** A value of a setting. */
export const settingValue = v.union([
  v.pipe(v.string(), v.maxLength(1_000_000)),
  v.pipe(v.number(), v.finite()),
  v.boolean(),
  v.null(),
]);

/** Entries of {@linkcode Settings}. */
export const settings = {
  conf: v.optional(v.pipe(
    v.record(settingName, settingValue),
    v.description("Spark properties in Spark's own value syntax; null unsets one"),
  )),
  storageLevel: v.optional(v.pipe(
    v.string(),
    v.maxLength(100),
    v.description("StorageLevel constant for the RDDs that are cached"),
  )),
  executors: v.optional(v.pipe(
    v.number(),
    v.safeInteger(),
    v.minValue(1),
    v.maxValue(100_000),
    v.description("Number of executors"),
  )),
  sparkVersion: v.optional(v.pipe(
    v.string(),
    v.minLength(1),
    v.maxLength(100),
    v.description("Spark version whose rules and defaults apply, in place of the job's own"),
  )),
};

/** Entries of {@linkcode JobRequest}. */
export const job = {
  workload: v.optional(JobSpecSchema),
  template: v.optional(v.pipe(v.string(), v.maxLength(100), v.description("Name of a template, see /v1/templates"))),
  parameters: v.optional(v.record(v.string(), v.unknown())),
  ...settings,
  seed: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.description("Seed of what is drawn"))),
};

/** Schema of {@linkcode JobRequest}. */
export const JobRequestSchema: v.GenericSchema<unknown, JobRequest> = v.object(job);
