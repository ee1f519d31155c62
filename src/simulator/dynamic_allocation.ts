/**
 * Dynamic allocation in a simulation: Spark's ExecutorAllocationManager on virtual time, and the cluster manager that it
 * asks for executors.
 *
 * @module
 */
import type { SparkConf } from "../spark/conf.ts";
import { localMaster } from "../spark/master.ts";
import { AllocationListener } from "./allocation_listener.ts";
import { ExecutorPlaces, type PlacedExecutor } from "./executor_places.ts";
import { allocationSettings } from "./scheduler/allocation_settings.ts";
import type { SchedulerListener } from "./scheduler/dag_scheduler_types.ts";
import type { Driver } from "./scheduler/driver.ts";
import { ExecutorAllocationManager, SCHEDULE_INTERVAL_MS } from "./scheduler/executor_allocation_manager.ts";
import type { Cluster, ExecutorProvision } from "./workload.ts";

/** One passes until the backlog has lasted, one more where executors that are idle have to stay. */
const MAX_ROUNDS_IN_VAIN = 4;

/** What dynamic allocation needs of the simulation. */
export interface DynamicAllocationHost {
  readonly conf: SparkConf;
  readonly cluster: Cluster;
  /** Timeouts that lie further off never come, ms. */
  readonly horizonMs: number;
  /** Made later than this. */
  driver(): Driver;
  now(): number;
  after(delayMs: number, work: () => void): void;
  /** Whether anything but periodic timers is left to happen. */
  somethingWaits(): boolean;
  hasCachedBlocks(executor: number): boolean;
  /** An executor is to come after so long. */
  start(executor: PlacedExecutor, delayMs: number): void;
  /** An executor is to go. */
  kill(executor: number): void;
}

/** Whether executors come and go by the backlog in this cluster under these settings (Utils.isDynamicAllocationEnabled). */
export function allocatesDynamically(cluster: Cluster, conf: SparkConf): boolean {
  return cluster.provision !== null && conf.getBoolean("spark.dynamicAllocation.enabled") &&
    localMaster(cluster.master) === null;
}

/**
 * The manager and the cluster: requests are granted while there is room, each executor comes after the cluster's
 * start-up time, a lost one is replaced as long as the target stands, what is granted is not taken back.
 */
export class DynamicAllocation {
  readonly #host: DynamicAllocationHost;
  #made: ExecutorAllocationManager | null = null;
  readonly #places: ExecutorPlaces;
  readonly #provision: ExecutorProvision;
  readonly #startMs: number;
  /** Executors that the application may have. */
  #total = 0;
  /** When the next round is due; Infinity: none. */
  #roundMs = Infinity;
  #lastRoundMs = -Infinity;
  /** Executors that the requests of the round under way have brought or taken. */
  #moved = 0;
  /** Rounds in a row that did nothing, with nothing heard between them. */
  #inVain = 0;
  #startupMs = 0;

  constructor(host: DynamicAllocationHost) {
    this.#host = host;
    this.#provision = host.cluster.provision!;
    this.#startMs = host.now();
    this.#places = new ExecutorPlaces(host.cluster.executors);
  }

  /** Made when it is first needed: the driver, which it works with, hears the scheduler through it. */
  get #manager(): ExecutorAllocationManager {
    return this.#made ??= this.#make();
  }

  #make(): ExecutorAllocationManager {
    const { conf, cluster } = this.#host;
    const settings = allocationSettings(conf, cluster.executors[0]?.cores ?? 1)!;
    return new ExecutorAllocationManager(settings, {
      client: {
        requestTotalExecutors: (total) => {
          this.#total = total;
          this.#fill();
        },
        killExecutors: (executors) => this.#kill(executors),
      },
      executors: this.#host.driver().executors,
      nowMs: () => this.#host.now(),
      hasCachedBlocks: (executor) => this.#host.hasCachedBlocks(executor),
    });
  }

  /** The application starts, with its first executors: they do not have to be waited for. */
  start(): void {
    this.#manager.start();
    this.#startupMs = this.#provision.startupMs;
  }

  /** A listener that hands everything on and hears it, too. */
  listener(listener: SchedulerListener): SchedulerListener {
    return new AllocationListener(listener, {
      manager: () => this.#manager,
      infos: () => this.#host.driver().infos,
      changed: () => this.#changed(),
    });
  }

  /** An executor has registered. */
  executorAdded(executor: number): void {
    this.#manager.executorAdded(executor);
    this.#changed();
  }

  /** The driver has heard that an executor is gone. */
  executorRemoved(executor: number, id: string): void {
    this.#manager.executorRemoved(executor);
    this.#places.free(id);
    this.#fill();
    this.#changed();
  }

  /** A block of a cached RDD came to an executor or went. */
  blocksChanged(executor: number): void {
    this.#manager.blockUpdated(executor);
    this.#changed();
  }

  /** Grants what is asked for as far as there is room. */
  #fill(): void {
    while (this.#places.taken < this.#total) {
      const executor = this.#places.take();
      if (executor === null) return;
      this.#moved++;
      this.#host.start(executor, this.#startupMs);
    }
  }

  /** CoarseGrainedSchedulerBackend.killExecutors: those that have got a task meanwhile stay. */
  #kill(executors: readonly number[]): readonly number[] {
    const { taskScheduler } = this.#host.driver();
    const idle = executors.filter((executor) => !taskScheduler.isExecutorBusy(executor));
    for (const executor of idle) this.#host.kill(executor);
    this.#moved += idle.length;
    return idle;
  }

  /** Something happened: the next round may have something to do. */
  #changed(): void {
    this.#inVain = 0;
    this.#plan(this.#host.now());
  }

  /** Plans the first round at or after a time: they are due every 100 ms from the start on. */
  #plan(timeMs: number): void {
    const nowMs = this.#host.now();
    if (timeMs - nowMs > this.#host.horizonMs) return;
    const earliest = Math.max(timeMs, nowMs, this.#lastRoundMs + SCHEDULE_INTERVAL_MS);
    const rounds = Math.ceil((earliest - this.#startMs) / SCHEDULE_INTERVAL_MS);
    const dueMs = this.#startMs + rounds * SCHEDULE_INTERVAL_MS;
    if (dueMs >= this.#roundMs) return;
    this.#roundMs = dueMs;
    this.#host.after(dueMs - nowMs, () => this.#round(dueMs));
  }

  #round(dueMs: number): void {
    // An earlier one was planned later, and has planned what comes next.
    if (dueMs !== this.#roundMs) return;
    this.#roundMs = Infinity;
    this.#lastRoundMs = dueMs;
    const targetBefore = this.#manager.numExecutorsTarget;
    this.#moved = 0;
    this.#manager.schedule();
    const didNothing = this.#moved === 0 && this.#manager.numExecutorsTarget === targetBefore;
    this.#inVain = didNothing ? this.#inVain + 1 : 0;
    // Rounds alone do not keep an application going that nothing else moves: the next event plans another.
    if (this.#inVain > MAX_ROUNDS_IN_VAIN && !this.#host.somethingWaits()) return;
    this.#plan(this.#manager.nextRoundMs);
  }
}
