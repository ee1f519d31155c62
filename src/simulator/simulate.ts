/**
 * Runs a workload: to its end, or in slices.
 *
 * @module
 */
import { SimulatedApplication } from "./simulated_application.ts";
import type { SimulationOptions } from "./simulation_options.ts";
import type { Workload } from "./workload.ts";

export { DEFAULT_SIMULATION_LIMITS, type SimulationLimits, type SimulationOptions } from "./simulation_options.ts";

/**
 * A simulation that can be run in slices, for hosts that stream, show progress or keep a deadline.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { Simulation } from "./simulate.ts";
 * import { emptyWorkload } from "./workload.ts";
 *
 * const kinds: string[] = [];
 * const simulation = new Simulation(emptyWorkload("nothing"), {
 *   conf: SparkConf.from({}, "3.5.1"),
 *   sink: { event: ({ kind }) => void kinds.push(kind) },
 * });
 * while (!simulation.run(1000));
 * assertEquals([kinds[0], kinds.at(-1)], ["logStart", "applicationEnd"]);
 * ```
 */
export class Simulation {
  readonly #application: SimulatedApplication;

  /**
   * Begins the run: the events of the application's start come at once.
   *
   * @throws {InputError} for a workload or settings that cannot be simulated, with Spark's message where it refuses them.
   */
  constructor(workload: Workload, options: SimulationOptions) {
    this.#application = new SimulatedApplication(workload, options);
  }

  /**
   * Handles up to `maxEvents` events.
   *
   * @returns true when the application has ended, or nothing more can happen.
   * @throws {LimitError} `limit.events`, `limit.virtualTime` when a limit of the run is crossed.
   */
  run(maxEvents: number): boolean {
    return this.#application.run(maxEvents);
  }

  /** Events that have been handled and the steps within them that count: what `maxEvents` of the limits is held against. */
  get stepsTaken(): number {
    return this.#application.stepsTaken;
  }

  /** Events of the queue that have been handled. */
  get eventsHandled(): number {
    return this.#application.eventsHandled;
  }

  /** Virtual time since the start, ms. */
  get elapsedMs(): number {
    return this.#application.elapsedMs;
  }
}

/**
 * Runs a workload to its end.
 *
 * @returns the number of events handled.
 * @throws {InputError} for a workload or settings that cannot be simulated, with Spark's message where it refuses them.
 * @throws {LimitError} `limit.events`, `limit.virtualTime` when a limit of the run is crossed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { simulate } from "./simulate.ts";
 * import { emptyWorkload } from "./workload.ts";
 *
 * const kinds: string[] = [];
 * const conf = SparkConf.from({}, "3.5.1");
 * simulate(emptyWorkload("nothing"), { conf, sink: { event: ({ kind }) => void kinds.push(kind) } });
 * assertEquals(kinds.includes("executorAdded"), true);
 * ```
 */
export function simulate(workload: Workload, options: SimulationOptions): number {
  const simulation = new Simulation(workload, options);
  while (!simulation.run(1 << 20));
  return simulation.eventsHandled;
}
