/**
 * sparkmem as a library: what Apache Spark's memory manager and task-result path do to a job, and would do under other
 * settings. Runs in Deno, Node, Bun, browsers and workers; reads no file, clock or environment, so that the same
 * workload, settings and seed give the same bytes everywhere.
 *
 * An event log becomes a {@linkcode Workload} with {@linkcode workloadFromEventLog}, a job spec with
 * {@linkcode workloadFromJobSpec}, a template with {@linkcode jobSpecFromTemplate}. A workload is run with
 * {@linkcode simulate}, {@linkcode whatIf}, {@linkcode sweep} or {@linkcode recommend}; what happens comes as the listener
 * events of an event log, which {@linkcode Summarizer} folds and {@linkcode EventLogWriter} writes.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { jobSpecFromTemplate, whatIf, workloadFromJobSpec } from "./mod.ts";
 *
 * const { spec } = jobSpecFromTemplate("cached-iterative");
 * const { replayed, predicted } = whatIf(workloadFromJobSpec(spec), null, { conf: { "spark.executor.memory": "2g" } });
 * assertEquals(replayed.storage.blocksEvicted, 0);
 * assertEquals(predicted.storage.blocksEvicted! > 0, true); // the cached data no longer fits
 * ```
 *
 * @module
 */
export { InputError, type InputErrorOptions, LimitError } from "./errors.ts";

export { readEventLog } from "./event_log/read.ts";
export type { LogPart, ReadLimits, ReadOptions, ReadProgress, ReadReport } from "./event_log/read.ts";
export { EventLogWriter } from "./event_log/write.ts";
export { workloadFromEventLog, type WorkloadFromEventLogOptions } from "./workload/workload_from_event_log.ts";
export { WorkloadBuilder } from "./workload/from_event_log.ts";

export { jobSpecFromWorkload, parseJobSpec, workloadFromJobSpec } from "./workload/job_spec.ts";
export type { JobSpecOptions } from "./workload/job_spec.ts";
export type * from "./workload/job_spec_types.ts";
export type { InputWarning } from "./workload/check_input.ts";
export type { JobSpecLimits } from "./workload/limits.ts";
export type { Template, TemplateParameter, TemplateParameters } from "./workload/template.ts";
export { jobSpecFromTemplate, TEMPLATES } from "./workload/templates.ts";

export { simulate, Simulation } from "./simulator/simulate.ts";
export type { CostModel } from "./simulator/cost_model.ts";
export type { SimulationLimits, SimulationOptions } from "./simulator/simulate.ts";
export type * from "./simulator/workload.ts";

export { Summarizer } from "./report/summarize.ts";
export { summarize, type SummaryWithVerdict } from "./report/summarize_event_log.ts";
export type * from "./report/summary.ts";
export type { Advice, Finding, Severity as FindingSeverity } from "./report/verdict/finding.ts";
export {
  explain,
  type ExplainOptions,
  type ExplainResult,
  type Explanation,
  type GoverningSetting,
  type MessageValues,
  type Severity as MessageSeverity,
} from "./report/explain.ts";

export type { Change, Changes, ChangeWarning } from "./what_if/apply_changes.ts";
export type { PoolSettings } from "./simulator/scheduler/pool.ts";
export type { Budget } from "./what_if/budget.ts";
export type { RunOptions } from "./what_if/run_workload.ts";
export { recommend } from "./what_if/recommend.ts";
export type {
  Alternative,
  Reason,
  Recommendation,
  RecommendedSettings,
  RecommendOptions,
} from "./what_if/recommend.ts";
export { sweep } from "./what_if/sweep.ts";
export type { Scenario, SweepFigures, SweepResult, Vary } from "./what_if/sweep.ts";
export { whatIf } from "./what_if/what_if.ts";
export type { WhatIf, WhatIfOptions } from "./what_if/what_if.ts";
export type { VersionEffect, VersionEffects, VersionSearchLimits } from "./what_if/version_effects.ts";
export type { FigureRange, RangeFigure, RunRanges } from "./what_if/run_ranges.ts";

export { SparkConf } from "./spark/conf.ts";
export type { ConfSource, ConfWarning } from "./spark/conf.ts";
export type { StorageLevel } from "./spark/storage_level.ts";
export type { Collector } from "./spark/versions.ts";
export type { HeapCommitted } from "./spark/heap.ts";
export type { ContainerMemory } from "./spark/container.ts";
export { sizing } from "./spark/sizing.ts";
export type { Role, Sizing, SizingOptions, TaskShare } from "./spark/sizing.ts";
export type * from "./spark/events.ts";

export { Kernel, useKernelModule } from "./kernel.ts";
export type { BatchEventVisitor, KernelModule, MemoryStatus, OperationBatch, OperationName } from "./kernel.ts";
export type * from "./kernel/types.ts";
export { MemoryError, NO_RDD, NO_TASK, OFF_HEAP, ON_HEAP, PutFlags, WAITING } from "./kernel.ts";
