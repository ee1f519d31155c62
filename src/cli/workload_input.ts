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
import { parseStrictJson } from "../workload/strict_json.ts";
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

/** Events of a log between two calls of `watch`. */
const WATCHED_EVENTS = 1 << 12;

/**
 * Reads INPUT as a workload. `seed` is for what a spec or template draws, in place of its own; `watch` is called now and
 * then while a log is read, and ends that with what it throws.
 *
 * @throws {InputError} what {@linkcode openInput}, the event-log reader, the job spec and the templates throw.
 */
export async function readWorkload(
  names: readonly string[],
  io: Io,
  options: { readonly seed?: number; readonly watch?: () => void } = {},
): Promise<WorkloadInput> {
  const input = await openInput(names, io);
  if (input.kind !== "eventLog") {
    const { spec, warnings } = input.kind === "template"
      ? jobSpecFromTemplate(input.name)
      : parseJobSpec(parseStrictJson(input.text));
    const seeded = options.seed === undefined ? spec : { ...spec, seed: options.seed };
    return { workload: workloadFromJobSpec(seeded, { warnings }), observed: null, name: input.name };
  }
  const builder = new WorkloadBuilder();
  const summarizer = new Summarizer({ source: "observed" });
  let events = 0;
  await readInput(input, {
    event(event: SparkEvent): void {
      if (++events % WATCHED_EVENTS === 0) options.watch?.();
      builder.event(event);
      summarizer.event(event);
    },
  }, io);
  return { workload: builder.workload(), observed: summarizer.summary(), name: input.name };
}
