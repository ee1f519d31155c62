/**
 * From requests to the engine and back: the only place where the service calls the library.
 *
 * @module
 */
import { InputError, LimitError } from "../src/errors.ts";
import type { Evidence, Workload } from "../src/simulator/workload.ts";
import type { SparkEvent } from "../src/spark/events.ts";
import { EventLogWriter } from "../src/event_log/write.ts";
import { readEventLog } from "../src/event_log/read.ts";
import { Kernel, type KernelModule, MemoryError } from "../src/kernel.ts";
import { Summarizer } from "../src/report/summarize.ts";
import type { Summary } from "../src/report/summary.ts";
import { type Finding, verdictOf } from "../src/report/verdict.ts";
import { type Sizing, sizing, type SizingOptions } from "../src/spark/sizing.ts";
import { checkStartup } from "../src/spark/startup.ts";
import { applyChanges, type Changed, type Changes } from "../src/what_if/apply_changes.ts";
import { type RunOptions, runSteps } from "../src/what_if/run_workload.ts";
import { type Recommendation, recommendation } from "../src/what_if/recommend.ts";
import {
  gridScenarios,
  gridSize,
  refusedResult,
  scenarioChanges,
  scenarioRun,
  type SweepResult,
  sweepResult,
  type Vary,
} from "../src/what_if/sweep.ts";
import type { Steps } from "../src/what_if/steps.ts";
import { type WhatIf, whatIfSteps } from "../src/what_if/what_if.ts";
import type { InputWarning } from "../src/workload/check_input.ts";
import { WorkloadBuilder } from "../src/workload/from_event_log.ts";
import { jobSpecFromWorkload, workloadFromJobSpec } from "../src/workload/job_spec.ts";
import { checkCount, limitsOf } from "../src/workload/limits.ts";
import { jsonPointer } from "../src/workload/strict_json.ts";
import { jobSpecFromTemplate } from "../src/workload/templates.ts";
import type { JobSpec } from "../src/workload/job_spec_types.ts";
import type { Budget } from "./budget.ts";
import { jobSpecLimits, type ServiceLimits } from "./limits.ts";
import { HttpError } from "./problem.ts";
import type {
  JobRequest,
  RecommendationRequest,
  Settings,
  SettingValue,
  SweepRequest,
  WhatIfRequest,
} from "./requests.ts";

/** Settings as texts; null unsets. */
export function confTexts(
  conf: Readonly<Record<string, SettingValue>> = {},
): Record<string, string | null> {
  const texts: Record<string, string | null> = {};
  for (const [key, value] of Object.entries(conf)) texts[key] = value === null ? null : String(value);
  return texts;
}

/**
 * The workload of a request's job, without the settings beside it.
 *
 * @throws {InputError} `request.job` unless there is exactly one of workload and template.
 */
export function workloadOf(
  request: JobRequest,
  limits: ServiceLimits,
  warnings: readonly InputWarning[],
): Workload {
  const { workload, template, parameters, seed } = request;
  if ((workload === undefined) === (template === undefined)) {
    throw new InputError(
      "request.job",
      `Cannot use the request: must have either workload or template: received ${
        workload === undefined ? "neither" : "both"
      }`,
      { pointer: "" },
    );
  }
  const job = template === undefined
    ? { spec: workload!, warnings: [], pointer: "/workload" }
    : { ...templateSpec(template, parameters), pointer: "/template" };
  const spec = seed === undefined ? job.spec : { ...job.spec, seed };
  return workloadFromJobSpec(spec, {
    limits: jobSpecLimits(limits),
    pointer: job.pointer,
    warnings: [...warnings, ...job.warnings],
  });
}

function templateSpec(template: string, parameters: unknown) {
  try {
    return jobSpecFromTemplate(template, parameters, "/parameters");
  } catch (error) {
    if (!(error instanceof InputError) || error.code !== "template.unknown") throw error;
    throw new InputError(error.code, error.message, { parameters: error.parameters, pointer: "/template" });
  }
}

/** With what a request's work is done. */
export interface Work {
  readonly budget: Budget;
  readonly module: KernelModule | undefined;
  /** Of the request's body; they come with the answer. */
  readonly warnings: readonly InputWarning[];
}

/** Events that a simulation handles before others have a turn. */
const STEP_EVENTS = 1000;

/** Runs in which the rules of another version are tried, and their share of a request's events: more is left untried. */
const MAX_VERSION_RUNS = 60;
const VERSION_SHARE = 0.25;

/** What is wrong with a setting, with the place in the request where it stands. */
function located(error: unknown, settings: Settings, pointer: string): unknown {
  if (!(error instanceof InputError) || error instanceof LimitError || error.pointer !== undefined) return error;
  const key = Object.keys(settings.conf ?? {}).find((name) =>
    name === error.parameters.key || error.message.includes(name)
  );
  const place = error.code.startsWith("storage_level.")
    ? "/storageLevel"
    : key === undefined
    ? null
    : jsonPointer(["conf", key]);
  if (place === null) return error;
  return new InputError(error.code, error.message, { ...error, pointer: pointer + place, cause: error });
}

/** A request's job under the settings beside it. */
function changedJob(request: JobRequest, work: Work): Changed {
  const workload = workloadOf(request, work.budget.limits, work.warnings);
  try {
    const job = applyChanges(workload, changesOf(request, work, ""));
    // A recorded run has started under its settings: only changed ones are checked.
    if (job.changes.length > 0 || request.workload?.lineage === undefined) {
      checkStartup(job.conf, { collector: job.workload.cluster.collector });
    }
    return job;
  } catch (error) {
    throw located(error, request, "");
  }
}

/** How the library makes a request's runs. */
function runOptions({ budget, module }: Work): RunOptions {
  const { kernelBytes, virtualMs, blocks } = budget.limits;
  return {
    stepEvents: STEP_EVENTS,
    limits: { maxEvents: budget.eventsLeft, maxVirtualMs: virtualMs, maxBroadcastPieces: blocks },
    newKernel: () => Kernel.create(module, { maxMemoryBytes: kernelBytes }),
  };
}

/**
 * Does work step by step and lets others have a turn after each.
 *
 * @throws {LimitError} `limit.events`, `limit.virtualTime`, `limit.deadline`, `limit.kernel`.
 */
async function* stepping<T>(steps: Steps<T>, { budget }: Work): AsyncGenerator<void, T> {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    await budget.spend(value);
    yield;
  }
}

/** Does all steps. */
async function stepped<T>(steps: Steps<T>, work: Work): Promise<T> {
  const turns = stepping(steps, work);
  for (;;) {
    const { value, done } = await turns.next();
    if (done) return value;
  }
}

/** What went wrong in a request's work, with the place in the request where that can be told. */
function failure(error: unknown, settings: Settings, { budget }: Work, pointer = ""): unknown {
  if (error instanceof MemoryError && error.status === "OUT_OF_MEMORY") return kernelLimit(budget.limits.kernelBytes);
  return located(error, settings, pointer);
}

function kernelLimit(limit: number): LimitError {
  return new LimitError("limit.kernel", `Cannot simulate: the kernel must need at most ${limit} bytes of memory`, {
    parameters: { limit },
  });
}

/** The Summary of a job's simulated run. */
export async function simulate(request: JobRequest, work: Work): Promise<Summary> {
  const job = changedJob(request, work);
  try {
    const summary = await stepped(runSteps(job, runOptions(work)), work);
    const { workload, warnings, conf } = job;
    return { ...summary, warnings: mergedWarnings(workload.warnings, warnings, conf.warnings(), summary.warnings) };
  } catch (error) {
    throw failure(error, request, work);
  }
}

/** The Spark event log of a job's simulated run, some lines at a time. */
export async function* simulateLog(request: JobRequest, work: Work): AsyncGenerator<string, void> {
  const job = changedJob(request, work);
  let text = "";
  const sink = new EventLogWriter((line) => text += line);
  try {
    for await (const _ of stepping(runSteps(job, { ...runOptions(work), sink }), work)) {
      if (text === "") continue;
      yield text;
      text = "";
    }
    if (text !== "") yield text;
  } catch (error) {
    throw failure(error, request, work);
  }
}

/** A job as it is under the settings beside it: what changes are then made to. */
function settled({ workload, conf, storageLevel }: Changed): Workload {
  return {
    ...workload,
    sparkVersion: conf.sparkVersion,
    conf: conf.toJSON(),
    rdds: storageLevel === null
      ? workload.rdds
      : workload.rdds.map((rdd) => rdd.storageLevel === null ? rdd : { ...rdd, storageLevel }),
  };
}

/** The settings of a request as the library takes them. */
function changesOf(
  { conf, storageLevel, executors, sparkVersion }: Settings,
  { budget }: Work,
  pointer: string,
): Changes {
  if (executors !== undefined) {
    checkCount("executors", executors, limitsOf(jobSpecLimits(budget.limits)), `${pointer}/executors`);
  }
  return { conf: confTexts(conf), storageLevel, executors, sparkVersion };
}

/** A job under its own and under changed settings. */
export async function whatIf(request: WhatIfRequest, work: Work): Promise<WhatIf> {
  const job = changedJob(request, work);
  const { changes = {}, observed = null } = request;
  try {
    const asked = changesOf(changes, work, "/changes");
    const search = { maxRuns: MAX_VERSION_RUNS, maxEvents: Math.floor(work.budget.eventsLeft * VERSION_SHARE) };
    const steps = whatIfSteps(settled(job), observed, asked, { ...runOptions(work), search });
    const answer = await stepped(steps, work);
    return { ...answer, warnings: mergedWarnings(job.warnings, answer.warnings) };
  } catch (error) {
    throw failure(error, changes, work, "/changes");
  }
}

/** The values to vary as texts; an empty one unsets a property. */
function varied(request: SweepRequest, limits: ServiceLimits): Vary {
  const vary: Record<string, readonly string[]> = {};
  for (const [key, values] of Object.entries(request.vary)) {
    const texts = values.map((value) => value === null ? "" : String(value));
    const pointer = jsonPointer(["vary", key]);
    checkVaried(key, texts, pointer);
    if (key === "executors") {
      for (const [i, text] of texts.entries()) {
        checkCount("executors", Number(text), limitsOf(jobSpecLimits(limits)), `${pointer}/${i}`);
      }
    }
    vary[key] = texts;
  }
  gridSize(vary, limits.sweepSize);
  return vary;
}

function checkVaried(key: string, texts: readonly string[], pointer: string): void {
  try {
    scenarioChanges({ [key]: texts[0] });
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new InputError(error.code, error.message, { parameters: error.parameters, pointer });
  }
  const wrong = key === "executors" ? texts.findIndex((text) => !/^[1-9]\d{0,8}$/.test(text)) : -1;
  if (wrong < 0) return;
  throw new InputError(
    "input.range",
    `Cannot use the request: ${pointer}/${wrong}: must be a number of executors: received ${texts[wrong].slice(0, 40)}`,
    { parameters: { received: texts[wrong].slice(0, 40) }, pointer: `${pointer}/${wrong}` },
  );
}

/** The results of a sweep, a line each. */
export async function* sweep(request: SweepRequest, work: Work): AsyncGenerator<string, void> {
  const vary = varied(request, work.budget.limits);
  const workload = settled(changedJob(request, work));
  for (const scenario of gridScenarios(vary)) {
    let result: SweepResult;
    try {
      const changed = scenarioRun(workload, scenario);
      result = sweepResult(scenario, changed, await stepped(runSteps(changed, runOptions(work)), work));
    } catch (error) {
      const cause = failure(error, {}, work);
      if (cause instanceof LimitError || cause instanceof HttpError) throw cause;
      result = refusedResult(scenario, cause);
    }
    yield JSON.stringify(result) + "\n";
  }
}

/** Recommended settings for a job. */
export async function recommend(request: RecommendationRequest, work: Work): Promise<Recommendation> {
  const { budget, observed = null } = request;
  const job = changedJob(request, work);
  const search = recommendation(settled(job), { observed, ...(budget === undefined ? {} : { budget }) });
  try {
    let step = search.next();
    while (!step.done) step = search.next(await stepped(runSteps(step.value, runOptions(work)), work));
    return { ...step.value, warnings: mergedWarnings(job.warnings, step.value.warnings) };
  } catch (error) {
    throw failure(error, request, work);
  }
}

/** Warnings from several places, each code and message once. */
function mergedWarnings(
  ...lists: readonly (readonly { code: string; message: string; count?: number }[])[]
): InputWarning[] {
  const merged = new Map<string, InputWarning>();
  for (const { code, message, count } of lists.flat()) {
    const key = `${code} ${message}`;
    if (!merged.has(key)) merged.set(key, { code, message, count: count ?? 1 });
  }
  return [...merged.values()];
}

/** How memory becomes pools. */
export function sizingOf(options: SizingOptions): Sizing {
  return sizing(options);
}

/** The job spec of a template at its defaults. */
export function templateJobSpec(name: string): JobSpec {
  try {
    return jobSpecFromTemplate(name).spec;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    throw new HttpError(404, error.code, error.message, { parameters: error.parameters });
  }
}

/** What `POST /v1/event-logs` answers. */
export interface EventLogAnswer {
  readonly summary: Summary;
  /** What went wrong or well, why, what to do. */
  readonly verdict: readonly Finding[];
  /** Goes to the other routes as `workload`. */
  readonly workload: JobSpec;
  /** Where the workload's figures come from. */
  readonly evidence: readonly Evidence[];
  /** What was read. */
  readonly read: { readonly lines: number; readonly malformedLines: number; readonly inProgress: boolean };
}

/**
 * Reads a log as it arrives.
 *
 * @throws {InputError} `event_log.*`
 * @throws {LimitError} `limit.bytes`, `limit.decompressed_bytes`, `limit.line_bytes`, `limit.tasks`, `limit.deadline`.
 */
export async function readLog(body: ReadableStream<Uint8Array> | null, budget: Budget): Promise<EventLogAnswer> {
  const { logBytes, decompressedBytes, lineBytes, tasks } = budget.limits;
  const summarizer = new Summarizer({ source: "observed" });
  const builder = new WorkloadBuilder();
  const sink = {
    event(event: SparkEvent) {
      summarizer.event(event);
      builder.event(event);
    },
  };
  const report = await readEventLog(body ?? new Blob([]).stream(), sink, {
    limits: { bytes: logBytes, decompressedBytes, lineBytes, tasks },
    signal: budget.signal,
    onProgress: () => budget.check(),
  });
  const summary = summarizer.summary();
  const workload = builder.workload();
  return {
    summary,
    verdict: verdictOf(summary, summarizer.facts()),
    workload: jobSpecFromWorkload(workload),
    evidence: workload.evidence,
    read: { lines: report.lines, malformedLines: report.malformed.count, inProgress: report.inProgress },
  };
}
