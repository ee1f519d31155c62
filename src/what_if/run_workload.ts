/**
 * One run of a workload under settings, as a Summary.
 *
 * @module
 */
import type { Kernel } from "../kernel.ts";
import { Summarizer } from "../report/summarize.ts";
import type { Summary } from "../report/summary.ts";
import { simulate, type SimulationLimits } from "../simulator/simulation.ts";
import type { EventSink, SparkEvent } from "../spark/events.ts";
import type { Changed } from "./apply_changes.ts";

/** How a run is made. */
export interface RunOptions {
  /** Seed of what Spark leaves to chance; the workload's own unless said. */
  readonly seed?: number;
  readonly limits?: Partial<SimulationLimits>;
  readonly kernel?: Kernel;
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
  const { sink } = options;
  const summarizer = new Summarizer({ source: "simulated" });
  const both = sink === undefined ? summarizer : {
    event(event: SparkEvent): void {
      summarizer.event(event);
      sink.event(event);
    },
  };
  simulate(changed.workload, {
    conf: changed.conf,
    sink: both,
    ...(changed.storageLevel === null ? {} : { storageLevel: changed.storageLevel }),
    ...(options.seed === undefined ? {} : { seed: options.seed }),
    ...(options.limits === undefined ? {} : { limits: options.limits }),
    ...(options.kernel === undefined ? {} : { kernel: options.kernel }),
  });
  return summarizer.summary();
}
