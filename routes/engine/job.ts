/**
 * What requests that simulate have in common: the job that they are about, its runs step by step within a budget, and what
 * goes wrong, with its place in the request.
 *
 * @module
 */
import { InputError, LimitError } from "../../src/errors.ts";
import { Kernel, type KernelModule, MemoryError } from "../../src/kernel.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { checkStartup } from "../../src/spark/startup.ts";
import { applyChanges, type Changed, type Changes } from "../../src/what_if/apply_changes.ts";
import type { RunOptions } from "../../src/what_if/run_workload.ts";
import type { Steps } from "../../src/what_if/steps.ts";
import type { InputWarning } from "../../src/workload/check_input.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { checkCount, limitsOf } from "../../src/workload/limits.ts";
import { jsonPointer } from "../../src/workload/strict_json.ts";
import { jobSpecFromTemplate } from "../../src/workload/templates.ts";
import type { Budget } from "../budget.ts";
import { jobSpecLimits, type ServiceLimits } from "../limits.ts";
import type { JobRequest, Settings, SettingValue } from "../requests.ts";

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
export function changedJob(request: JobRequest, work: Work): Changed {
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
export function runOptions({ budget, module }: Work): RunOptions {
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
export async function* stepping<T>(steps: Steps<T>, { budget }: Work): AsyncGenerator<void, T> {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
    await budget.spend(value);
    yield;
  }
}

/** Does all steps. */
export async function stepped<T>(steps: Steps<T>, work: Work): Promise<T> {
  const turns = stepping(steps, work);
  for (;;) {
    const { value, done } = await turns.next();
    if (done) return value;
  }
}

/** What went wrong in a request's work, with the place in the request where that can be told. */
export function failure(error: unknown, settings: Settings, { budget }: Work, pointer = ""): unknown {
  if (error instanceof MemoryError && error.status === "OUT_OF_MEMORY") return kernelLimit(budget.limits.kernelBytes);
  return located(error, settings, pointer);
}

function kernelLimit(limit: number): LimitError {
  return new LimitError("limit.kernel", `Cannot simulate: the kernel must need at most ${limit} bytes of memory`, {
    parameters: { limit },
  });
}

/** The settings of a request as the library takes them. */
export function changesOf(
  { conf, storageLevel, executors, sparkVersion }: Settings,
  { budget }: Work,
  pointer: string,
): Changes {
  if (executors !== undefined) {
    checkCount("executors", executors, limitsOf(jobSpecLimits(budget.limits)), `${pointer}/executors`);
  }
  return { conf: confTexts(conf), storageLevel, executors, sparkVersion };
}

/** Warnings from several places, each code and message once. */
export function mergedWarnings(
  ...lists: readonly (readonly { code: string; message: string; count?: number }[])[]
): InputWarning[] {
  const merged = new Map<string, InputWarning>();
  for (const { code, message, count } of lists.flat()) {
    const key = `${code} ${message}`;
    if (!merged.has(key)) merged.set(key, { code, message, count: count ?? 1 });
  }
  return [...merged.values()];
}
