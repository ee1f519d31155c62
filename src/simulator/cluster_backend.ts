/**
 * The driver's end of the cluster: which cores are free, what is launched on them, which messages are under way
 * (org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend, Spark 2.4.0).
 *
 * @module
 */
import type { Executor } from "./executor.ts";
import type { Driver } from "./scheduler/driver.ts";
import type { SchedulerBackend } from "./scheduler/task_scheduler_types.ts";

/** What the backend needs of the simulation. */
export interface BackendHost {
  readonly driver: Driver;
  readonly executors: readonly Executor[];
  readonly cpusPerTask: number;
  /** Sends a launched task to its executor. */
  launch(tid: number): void;
  /** Tells an executor to kill an attempt. */
  sendKill(tid: number, reason: string): void;
  /** Offers are wanted at once, after what is being handled. */
  scheduleRevive(): void;
  /** Why a serialized task cannot be sent, in Spark's words; null when it can. */
  tooLargeToSend(tid: number): string | null;
  /** A whole number from 0 to n - 1. */
  random(n: number): number;
}

/** Free cores and offers. */
export class ClusterBackend implements SchedulerBackend {
  readonly #host: BackendHost;
  readonly #freeCores: number[] = [];
  readonly #registered: boolean[] = [];
  /** Registered executors, by dense index of the simulation. */
  readonly #live: number[] = [];
  /** The driver's number of each executor's host. */
  readonly #hosts: number[] = [];
  /** Filled anew for each offer. */
  readonly #offers: { executors: number[]; hosts: number[]; cores: number[] } = { executors: [], hosts: [], cores: [] };
  #reviveScheduled = false;

  constructor(host: BackendHost) {
    this.#host = host;
  }

  /** Number of registered executors. */
  get numExecutors(): number {
    return this.#live.length;
  }

  /** An executor has registered. */
  register(executor: Executor): void {
    this.#freeCores[executor.index] = executor.cores;
    this.#registered[executor.index] = true;
    this.#live.push(executor.index);
    this.makeOffers();
  }

  /** An executor is gone: no offers of it any more. */
  unregister(executor: number): void {
    if (!this.#registered[executor]) return;
    this.#registered[executor] = false;
    this.#live.splice(this.#live.indexOf(executor), 1);
  }

  reviveOffers(): void {
    if (this.#reviveScheduled) return;
    this.#reviveScheduled = true;
    this.#host.scheduleRevive();
  }

  /** The wanted offers are due. */
  revive(): void {
    this.#reviveScheduled = false;
    this.makeOffers();
  }

  killTask(tid: number, _executor: number, kill: { readonly reason: string }): void {
    this.#host.sendKill(tid, kill.reason);
  }

  /** Offers all executors, in random order as Spark shuffles them. */
  makeOffers(): void {
    const offered = this.#offers.executors;
    offered.length = 0;
    for (const executor of this.#live) if (this.#freeCores[executor] > 0) offered.push(executor);
    if (offered.length === 0) return;
    for (let i = offered.length - 1; i > 0; i--) {
      const j = this.#host.random(i + 1);
      const executor = offered[i];
      offered[i] = offered[j];
      offered[j] = executor;
    }
    this.#offer(true);
  }

  /** A task of an executor has ended: its cores are free, and offered. */
  release(executor: number): void {
    if (!this.#registered[executor]) return;
    this.#freeCores[executor] += this.#host.cpusPerTask;
    this.#offers.executors.length = 1;
    this.#offers.executors[0] = executor;
    this.#offer(false);
  }

  #offer(isAllFreeResources: boolean): void {
    const { driver } = this.#host;
    const offers = this.#offers;
    const count = offers.executors.length;
    offers.hosts.length = count;
    offers.cores.length = count;
    for (let i = 0; i < count; i++) {
      const executor = offers.executors[i];
      offers.hosts[i] = this.#hosts[executor] ??= driver.hosts.idOf(this.#host.executors[executor].host);
      offers.cores[i] = this.#freeCores[executor];
    }
    const launched = driver.taskScheduler.resourceOffers(offers, isAllFreeResources);
    for (let i = 0; i < launched.length; i++) this.#launch(launched[i]);
    driver.drain();
  }

  #launch(tid: number): void {
    const { driver, cpusPerTask } = this.#host;
    const tooLarge = this.#host.tooLargeToSend(tid);
    if (tooLarge !== null) {
      driver.taskScheduler.managerOf(tid).abort(tooLarge);
      return;
    }
    this.#freeCores[driver.infos.executor[tid]] -= cpusPerTask;
    this.#host.launch(tid);
  }
}
