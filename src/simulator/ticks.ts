/**
 * What the driver does from time to time: offers of all cores every second, so that locality waits run out
 * (CoarseGrainedSchedulerBackend), and the look for slow tasks (TaskSchedulerImpl, spark.speculation.interval).
 *
 * @module
 */
import type { EventQueue } from "./event_queue.ts";
import type { Driver } from "./scheduler/driver.ts";
import type { SimulationSettings } from "./settings.ts";

/** What the ticks need of the simulation. */
export interface TicksHost {
  readonly queue: EventQueue;
  readonly settings: SimulationSettings;
  readonly driver: Driver;
  /** The local backend makes no offers of its own accord. */
  readonly isLocal: boolean;
  after(delayMs: number, work: () => void): void;
  makeOffers(): void;
}

/** The timers. They stop when nothing else is left to happen and every locality wait has run out. */
export class Ticks {
  readonly #host: TicksHost;
  #timers = 0;
  #idleMs = 0;

  constructor(host: TicksHost) {
    this.#host = host;
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#timers;
  }

  start(): void {
    const { settings, isLocal } = this.#host;
    if (!isLocal) this.#every(settings.reviveIntervalMs, () => this.#host.makeOffers());
    const { speculation } = settings.scheduler;
    if (speculation === null) return;
    this.#every(speculation.intervalMs, () => {
      this.#host.driver.taskScheduler.checkSpeculatableTasks();
      this.#host.driver.drain();
    });
  }

  #every(intervalMs: number, work: () => void): void {
    const { queue, after, settings } = this.#host;
    const { process, node, rack } = settings.scheduler.localityWaitMs;
    const patienceMs = process + node + rack + 2 * intervalMs;
    this.#timers++;
    const tick = () => {
      this.#timers--;
      // The other timer alone does not count as something that happens.
      this.#idleMs = queue.length > this.#timers ? 0 : this.#idleMs + intervalMs;
      work();
      if (this.#idleMs > patienceMs && queue.length <= this.#timers) return;
      this.#timers++;
      after(intervalMs, tick);
    };
    after(intervalMs, tick);
  }
}
