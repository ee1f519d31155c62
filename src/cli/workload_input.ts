/**
 * INPUT of the commands that run a job: whatever it is, a workload.
 *
 * @module
 */
import type { Summary } from "../report/summary.ts";
import { Summarizer } from "../report/summarize.ts";
import type { Workload } from "../simulator/workload.ts";
import type { SparkEvent } from "../spark/events.ts";
import { WorkloadBuilder } from "../workload/from_event_log.ts";
import { parseJobSpec, workloadFromJobSpec } from "../workload/job_spec.ts";
import { jobSpecFromTemplate } from "../workload/templates.ts";
import type { Io } from "./command.ts";
import { openInput, readInput } from "./input.ts";

/** A workload and what is known about the run it was taken from. */
export interface WorkloadInput {
  readonly workload: Workload;
  /** Summary of the event log; null for specs and templates. */
  readonly observed: Summary | null;
  /** As the user gave it. */
  readonly name: string;
}

/**
 * Reads INPUT as a workload.
 *
 * @throws {InputError} what {@linkcode openInput}, the event-log reader, the job spec and the templates throw.
 */
export async function readWorkload(names: readonly string[], io: Io): Promise<WorkloadInput> {
  const input = await openInput(names, io);
  if (input.kind === "template") {
    const { spec } = jobSpecFromTemplate(input.name);
    return { workload: workloadFromJobSpec(spec), observed: null, name: input.name };
  }
  if (input.kind === "jobSpec") {
    const { spec } = parseJobSpec(input.text);
    return { workload: workloadFromJobSpec(spec), observed: null, name: input.name };
  }
  const builder = new WorkloadBuilder();
  const summarizer = new Summarizer({ source: "observed" });
  await readInput(input, {
    event(event: SparkEvent): void {
      builder.event(event);
      summarizer.event(event);
    },
  }, io);
  return { workload: builder.workload(), observed: summarizer.summary(), name: input.name };
}
