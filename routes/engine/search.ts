/**
 * Several runs of a job: what-ifs, sweeps, recommendations.
 *
 * @module
 */
import { InputError, LimitError } from "../../src/errors.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import type { Changed } from "../../src/what_if/apply_changes.ts";
import { type Recommendation, recommendation } from "../../src/what_if/recommend.ts";
import { runSteps } from "../../src/what_if/run_workload.ts";
import {
  gridScenarios,
  gridSize,
  refusedResult,
  scenarioChanges,
  scenarioRun,
  type SweepResult,
  sweepResult,
  type Vary,
} from "../../src/what_if/sweep.ts";
import { type WhatIf, whatIfSteps } from "../../src/what_if/what_if.ts";
import { checkCount, limitsOf } from "../../src/workload/limits.ts";
import { jsonPointer } from "../../src/workload/strict_json.ts";
import { jobSpecLimits, type ServiceLimits } from "../limits.ts";
import { HttpError } from "../problem.ts";
import type { RecommendationRequest, SweepRequest, WhatIfRequest } from "../requests.ts";
import { changedJob, changesOf, failure, mergedWarnings, runOptions, stepped, type Work } from "./job.ts";

/** Runs in which the rules of another version are tried, and their share of a request's events: more is left untried. */
const MAX_VERSION_RUNS = 60;
const VERSION_SHARE = 0.25;

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
