/**
 * The job spec: a workload as JSON, written by hand or by {@linkcode jobSpecFromWorkload}.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { type Cluster, type Evidence, executorStartupEvidence, type Workload } from "../simulator/workload.ts";
import { refuseUnsupported } from "../simulator/unsupported_settings.ts";
import { SparkConf } from "../spark/conf.ts";
import { parseSparkVersion, REFERENCE_SPARK_VERSION } from "../spark/spark_version.ts";
import { checkInput, type InputWarning } from "./check_input.ts";
import { clusterFromSpec, clusterToSpec } from "./cluster_form.ts";
import { JobSpecSchema } from "./job_spec_schema.ts";
import type { JobSpec } from "./job_spec_types.ts";
import { checkCount, type JobSpecLimits, limitsOf } from "./limits.ts";
import { lineageFromSpec, lineageToSpec } from "./lineage_form.ts";
import { poolsFromSpec } from "./pool_form.ts";
import { expandStages } from "./stage_form.ts";

/** The Spark version of a spec that names none. */
export const DEFAULT_SPARK_VERSION = "3.5.9";

/**
 * Checks a parsed JSON document against the format. References between its parts are checked by
 * {@linkcode workloadFromJobSpec}.
 *
 * @param document What JSON.parse gave.
 * @param pointer Place of the spec in a larger document, for errors.
 * @returns The spec, and a warning for each unknown property that names the nearest known one.
 * @throws {InputError} `input.type`, `input.missing`, `input.range` or `input.choice`, with a pointer.
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { parseJobSpec } from "./job_spec.ts";
 *
 * const { warnings } = parseJobSpec({ stages: [{ id: 0, tasks: 4, computeMS: 5 }] });
 * assertEquals(warnings[0].message, "Unknown property /stages/0/computeMS is ignored: did you mean computeMs?");
 * assertThrows(() => parseJobSpec({ stages: [{ id: 0, tasks: -1 }] }), TypeError, "/stages/0/tasks");
 * ```
 */
export function parseJobSpec(
  document: unknown,
  pointer = "",
): { spec: JobSpec; warnings: readonly InputWarning[] } {
  const { value, warnings } = checkInput(JobSpecSchema, document, {
    what: "job spec",
    pointer,
  });
  return { spec: value, warnings };
}

/** Options of {@linkcode workloadFromJobSpec}. */
export interface JobSpecOptions {
  /** How large the spec may be, where it is not to be the default. */
  readonly limits?: Partial<JobSpecLimits>;
  /** Place of the spec in a larger document, for errors. */
  readonly pointer?: string;
  /** Warnings to carry along, for example those of {@linkcode parseJobSpec}. */
  readonly warnings?: readonly InputWarning[];
}

/**
 * The workload that a spec describes. Distributions are drawn here: the same spec gives the same workload everywhere.
 *
 * @throws {InputError} `job_spec.form`, `job_spec.duplicate`, `job_spec.unknown_reference`, `job_spec.cycle`,
 * `job_spec.length`, `job_spec.range`, `job_spec.missing`, `job_spec.version`, `job_spec.unsupported`, `size.bytes`,
 * `size.time`, with a pointer; `conf.unsupported` for a setting that switches on what is not simulated.
 * @throws {LimitError} `limit.tasks`, `limit.stages`, ... when the spec is larger than `limits` allows.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { workloadFromJobSpec } from "./job_spec.ts";
 *
 * const workload = workloadFromJobSpec({
 *   stages: [
 *     { id: "map", tasks: 8, computeMs: 200, shuffleWriteBytes: "16m" },
 *     { id: "reduce", parents: ["map"], tasks: 4, computeMs: "1s" },
 *   ],
 * });
 * assertEquals(workload.jobs.length, 1);
 * assertEquals(workload.demands[1].shuffleReadBytes[0], 8 * 16 * 1024 * 1024 / 4);
 * ```
 */
export function workloadFromJobSpec(
  spec: JobSpec,
  options: JobSpecOptions = {},
): Workload {
  const at = options.pointer ?? "";
  const limits = limitsOf(options.limits);
  if ((spec.stages === undefined) === (spec.lineage === undefined)) {
    throw new InputError(
      "job_spec.form",
      "Cannot use the job spec: must have either stages or lineage: received " +
        (spec.stages === undefined ? "neither" : "both"),
      { pointer: at },
    );
  }
  const seed = spec.seed ?? 0;
  const conf: Record<string, string> = {};
  for (const [key, value] of Object.entries(spec.conf ?? {})) {
    conf[key] = String(value);
  }
  const sparkVersion = spec.sparkVersion ?? DEFAULT_SPARK_VERSION;
  if (spec.lineage === undefined && parseSparkVersion(sparkVersion) === null) {
    throw new InputError(
      "job_spec.version",
      `Cannot use the job spec: ${at}/sparkVersion: must be a version such as 3.5.1: received ${sparkVersion}`,
      { parameters: { sparkVersion }, pointer: `${at}/sparkVersion` },
    );
  }
  // The exact form is that of an application that has run: its simulation warns.
  if (spec.lineage === undefined) refuseUnsupported(SparkConf.from(conf, sparkVersion));
  const cluster = clusterFromSpec(spec.cluster ?? {}, {
    conf,
    sparkVersion,
    pointer: `${at}/cluster`,
    limits,
    widestStage: widestStage(spec),
  });
  const context = { seed, limits, pointer: at, cluster };
  const parts = spec.lineage === undefined
    ? expandStages(spec, context)
    : lineageFromSpec(spec.lineage, { ...context, pointer: `${at}/lineage` });
  checkCount("faults", parts.faults.length, limits, `${at}/faults`);
  return {
    name: spec.name ?? "job spec",
    appId: spec.appId ?? null,
    sparkVersion,
    seed,
    conf,
    cluster,
    pools: poolsFromSpec(spec, at),
    ...parts,
    evidence: [...spec.evidence ?? [], ...startupEvidence(spec, cluster)],
    warnings: [...spec.warnings ?? [], ...options.warnings ?? []],
  };
}

/** Tasks of the largest stage, as far as the spec says it in numbers. */
function widestStage({ stages, cached, lineage }: JobSpec): number {
  let widest = 1;
  for (const { tasks } of stages ?? []) widest = Math.max(widest, tasks ?? 1);
  for (const { partitions } of cached ?? []) widest = Math.max(widest, partitions);
  for (const { numPartitions } of lineage?.rdds ?? []) widest = Math.max(widest, numPartitions);
  return widest;
}

/** Where the time that executors take to come is not given. */
function startupEvidence({ cluster: spec }: JobSpec, { provision }: Cluster): Evidence[] {
  if (provision === null || spec?.executorStartupMs !== undefined) return [];
  return [executorStartupEvidence(provision.startupMs)];
}

/**
 * A spec of the exact form that gives the same workload again: nothing that the simulation uses is lost on the way
 * through JSON.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { jobSpecFromWorkload, workloadFromJobSpec } from "./job_spec.ts";
 *
 * const workload = workloadFromJobSpec({ stages: [{ id: 0, tasks: 2, computeMs: [10, 20] }] });
 * const json = JSON.stringify(jobSpecFromWorkload(workload));
 * assertEquals(workloadFromJobSpec(JSON.parse(json)), workload);
 * ```
 */
export function jobSpecFromWorkload(workload: Workload): JobSpec {
  return {
    name: workload.name,
    appId: workload.appId,
    // A log that lacks its beginning runs by the rules of the reference.
    sparkVersion: workload.sparkVersion || REFERENCE_SPARK_VERSION,
    seed: workload.seed,
    conf: workload.conf,
    cluster: clusterToSpec(workload.cluster),
    pools: workload.pools,
    lineage: lineageToSpec(workload),
    evidence: workload.evidence,
    warnings: workload.warnings,
  };
}
