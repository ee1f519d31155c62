/**
 * One run of a job: its Summary or its event log.
 *
 * @module
 */
import type { Summary } from "../../src/report/summary.ts";
import { runSteps } from "../../src/what_if/run_workload.ts";
import type { JobRequest } from "../requests.ts";
import { changedJob, failure, mergedWarnings, runOptions, stepped, stepping, type Work } from "./job.ts";

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
  const { EventLogWriter } = await import("../../src/event_log/write.ts");
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
