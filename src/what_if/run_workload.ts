/**
 * One run of a workload under settings, as a Summary.
 *
 * @module
 */
import type { Kernel } from "../kernel.ts";
import { Summarizer } from "../report/summarize.ts";
import type { Summary } from "../report/summary.ts";
import { Simulation, type SimulationLimits } from "../simulator/simulate.ts";
import type { EventSink, SparkEvent } from "../spark/events.ts";
import type { Changed } from "./apply_changes.ts";
import { finish, type Steps } from "./steps.ts";

const DEFAULT_STEP_EVENTS = 1 << 20;

/** How a run is made. */
export interface RunOptions {
  /** Seed of what Spark leaves to chance; the workload's own unless said. */
  readonly seed?: number;
  /** When to give a run up. */
  readonly limits?: Partial<SimulationLimits>;
  /** Makes the kernel of a run. */
  readonly newKernel?: () => Kernel;
  /** Simulated events between two steps. */
  readonly stepEvents?: number;
  /** Takes the run's events besides the Summary. */
  readonly sink?: EventSink;
}

/**
 * Runs a workload and summarizes it.
 *
 * @throws {InputError} for settings that Spark refuses or that cannot be simulated.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { applyChanges } from "./apply_changes.ts";
 * import { runWorkload } from "./run_workload.ts";
 *
 * const summary = runWorkload(applyChanges(emptyWorkload("nothing"), {}));
 * assertEquals([summary.app.source, summary.outcome.status], ["simulated", "succeeded"]);
 * ```
 */
export function runWorkload(changed: Changed, options: RunOptions = {}): Summary {
  return finish(runSteps(changed, options));
}

/** {@linkcode runWorkload} in steps of `stepEvents` simulated events. */
export function* runSteps(changed: Changed, options: RunOptions = {}): Steps<Summary> {
  const { sink, stepEvents = DEFAULT_STEP_EVENTS } = options;
  const summarizer = new Summarizer({ source: "simulated" });
  const both = sink === undefined ? summarizer : {
    event(event: SparkEvent): void {
      summarizer.event(event);
      sink.event(event);
    },
  };
  const simulation = new Simulation(changed.workload, {
    conf: changed.conf,
    sink: both,
    ...(changed.storageLevel === null ? {} : { storageLevel: changed.storageLevel }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.newKernel === undefined ? {} : { kernel: options.newKernel() }),
  });
  for (let done = false; !done;) {
    const before = simulation.stepsTaken;
    done = simulation.run(stepEvents);
    yield simulation.stepsTaken - before;
  }
  return summarizer.summary();
}
