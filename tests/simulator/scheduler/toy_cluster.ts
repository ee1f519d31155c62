/** A driver on a toy cluster: executors run tasks for times that a test gives, and fail them as it wants. */
import { SparkConf } from "../../../src/spark/conf.ts";
import type { SparkRules } from "../../../src/spark/versions.ts";
import type { CompletionEvent } from "../../../src/simulator/scheduler/dag_scheduler_types.ts";
import { Driver, SILENT_LISTENER } from "../../../src/simulator/scheduler/driver.ts";
import { mapStatus } from "../../../src/simulator/scheduler/map_status.ts";
import type { Rdd, ShuffleDependency } from "../../../src/simulator/scheduler/rdd.ts";
import { schedulerSettings } from "../../../src/simulator/scheduler/settings.ts";
import type { ExecutorLossReason, TaskFailedReason } from "../../../src/simulator/scheduler/task_end_reason.ts";
import type { TaskResult } from "../../../src/simulator/scheduler/task_result_getter.ts";

/** What becomes of an attempt, so long after its launch. */
export type Outcome =
  | { readonly afterMs: number; readonly result?: Partial<TaskResult> }
  | { readonly afterMs: number; readonly failure: TaskFailedReason };

/** An attempt that a test decides about. */
export interface Attempt {
  readonly tid: number;
  readonly stageId: number;
  readonly stageAttemptId: number;
  readonly partition: number;
  readonly attempt: number;
  readonly executor: string;
}

export interface ToyOptions {
  readonly conf?: Readonly<Record<string, string>>;
  readonly sparkVersion?: string;
  /** Executor to host; each has `cores`. */
  readonly executors?: Readonly<Record<string, string>>;
  readonly cores?: number;
  /** How long the network takes to bring an indirect result; 0 by default. */
  readonly fetchMs?: number;
  /** Whether the block of an indirect result is there. */
  readonly hasBlock?: (tid: number) => boolean;
  readonly outcome?: (attempt: Attempt) => Outcome;
  /** Records that each finished task has read, in so long; none by default. */
  readonly progress?: { readonly records: number; readonly runTimeMs: number };
}

/** An RDD that reads shuffles and RDDs of equal partitioning. */
export function rdd(
  id: number,
  numPartitions: number,
  parents: readonly (ShuffleDependency | Rdd)[] = [],
): Rdd {
  return {
    id,
    numPartitions,
    creationSite: `rdd ${id}`,
    isPersisted: false,
    dependencies: parents.map((parent) =>
      "shuffleId" in parent ? parent : { kind: "narrow", rdd: parent, getParents: (partition) => [partition] }
    ),
  };
}

/** A shuffle of an RDD. */
export function shuffle(shuffleId: number, of: Rdd, numReducers: number): ShuffleDependency {
  return { kind: "shuffle", shuffleId, rdd: of, numReducers };
}

interface Timer {
  readonly atMs: number;
  readonly run: () => void;
}

export class ToyCluster {
  nowMs = 1000;
  /** What the listener bus and the jobs' submitters were told. */
  readonly log: string[] = [];
  readonly ends: { tid: number; reason: string; partition: number; stageId: number }[] = [];
  readonly accumulated: { stageId: number; partition: number }[] = [];
  readonly driver: Driver;
  readonly rules: SparkRules;
  /** Result that a job's submitter makes of `taskSucceeded`. */
  onResult: (jobId: number, outputId: number) => string | void = () => {};
  readonly #options: ToyOptions;
  readonly #timers: Timer[] = [];
  readonly #free = new Map<number, number>();
  readonly #hosts = new Map<number, number>();
  /** Attempts that executors run. */
  readonly #running = new Set<number>();
  #wantsOffers = false;

  constructor(options: ToyOptions = {}) {
    this.#options = options;
    const conf = SparkConf.from(options.conf ?? {}, options.sparkVersion ?? "2.4.0");
    this.rules = conf.rules;
    this.driver = new Driver({
      settings: schedulerSettings(conf, options.cores ?? 2),
      backend: {
        reviveOffers: () => this.#wantsOffers = true,
        killTask: (tid, _executor, { reason }) => this.after(1, () => this.#kill(tid, reason)),
      },
      blockManagerMaster: { removeExecutor() {}, getLocations: () => [] },
      resultBlocks: {
        fetch: (tid, _size, done) => this.after(options.fetchMs ?? 0, () => done(options.hasBlock?.(tid) ?? true)),
        remove: (tid) => this.log.push(`result block ${tid} removed`),
      },
      listener: {
        ...SILENT_LISTENER,
        jobEnd: (jobId, failure) =>
          this.log.push(`job ${jobId} ${failure === null ? "succeeded" : `failed: ${failure}`}`),
        stageSubmitted: ({ id, latestInfo }) => this.log.push(`stage ${id}.${latestInfo.attemptNumber} submitted`),
        taskEnd: (event) => this.#ended(event),
        accumulatorsUpdated: (event) =>
          this.accumulated.push({ stageId: event.taskSet.stageId, partition: event.taskSet.partitions[event.index] }),
        schedulerFailed: (className, message) => this.log.push(`${className}: ${message}`),
      },
      nowMs: () => this.nowMs,
      taskProgress: () => options.progress ?? { records: 0, runTimeMs: 0 },
      scheduleResubmit: (delayMs) => this.after(delayMs, () => this.driver.resubmitFailedStages()),
    });
    for (const [name, host] of Object.entries(options.executors ?? { e1: "h1", e2: "h2" })) {
      this.addExecutor(name, host);
    }
  }

  #ended({ tid, reason, taskSet, index }: CompletionEvent): void {
    this.ends.push({
      tid,
      reason: reason.reason,
      partition: taskSet.partitions[index],
      stageId: taskSet.stageId,
    });
  }

  addExecutor(name: string, host: string): void {
    const executor = this.driver.executors.idOf(name);
    this.#free.set(executor, this.#options.cores ?? 2);
    this.#hosts.set(executor, this.driver.hosts.idOf(host));
    this.#wantsOffers = true;
  }

  /** Removes an executor; what runs there is gone. */
  loseExecutor(name: string, reason: ExecutorLossReason): void {
    const executor = this.driver.executors.idOf(name);
    this.#free.delete(executor);
    for (const tid of this.#running) {
      if (this.driver.infos.executor[tid] === executor) this.#running.delete(tid);
    }
    this.driver.taskScheduler.executorLost(executor, reason);
  }

  /** Number of attempts that executors run. */
  get numRunning(): number {
    return this.#running.size;
  }

  /** Cores that are free. */
  get freeCores(): number {
    let cores = 0;
    for (const free of this.#free.values()) cores += free;
    return cores;
  }

  /** Cores there are. */
  get totalCores(): number {
    return this.#free.size * (this.#options.cores ?? 2);
  }

  after(delayMs: number, run: () => void): void {
    this.#timers.push({ atMs: this.nowMs + delayMs, run });
  }

  /** Submits an action on all partitions. */
  submit(final: Rdd): number {
    const partitions = Array.from({ length: final.numPartitions }, (_, i) => i);
    const jobId: number = this.driver.submitJob({ rdd: final, partitions }, {
      taskSucceeded: (outputId) => this.onResult(jobId, outputId),
      jobFailed: (message) => {
        this.log.push(`submitter of job ${jobId} told: ${message}`);
      },
    }, { callSite: "collect" });
    return jobId;
  }

  /** Runs until nothing is to happen any more, or `limit` timers have fired. */
  run(limit = 100_000): void {
    this.#settle();
    for (let fired = 0; fired < limit && this.#timers.length > 0; fired++) {
      let next = 0;
      for (let i = 1; i < this.#timers.length; i++) {
        if (this.#timers[i].atMs < this.#timers[next].atMs) next = i;
      }
      const [timer] = this.#timers.splice(next, 1);
      this.nowMs = timer.atMs;
      timer.run();
      this.#settle();
    }
  }

  #settle(): void {
    this.driver.drain();
    while (this.#wantsOffers) {
      this.#wantsOffers = false;
      this.#offer([...this.#free.keys()], true);
      this.driver.drain();
    }
  }

  #offer(executors: number[], isAllFreeResources: boolean): void {
    const hosts = executors.map((executor) => this.#hosts.get(executor)!);
    const cores = executors.map((executor) => this.#free.get(executor)!);
    const tids = this.driver.taskScheduler.resourceOffers({ executors, hosts, cores }, isAllFreeResources);
    for (const tid of tids.slice()) this.#launch(tid);
  }

  #launch(tid: number): void {
    const { infos, executors, taskScheduler } = this.driver;
    const executor = infos.executor[tid];
    this.#free.set(executor, this.#free.get(executor)! - 1);
    this.#running.add(tid);
    const { taskSet } = taskScheduler.managerOf(tid);
    const outcome = this.#options.outcome?.({
      tid,
      stageId: taskSet.stageId,
      stageAttemptId: taskSet.stageAttemptId,
      partition: taskSet.partitions[infos.index[tid]],
      attempt: infos.attempt[tid],
      executor: executors.nameOf(executor),
    }) ?? { afterMs: 10 };
    this.after(outcome.afterMs, () => this.#finish(tid, outcome));
  }

  #kill(tid: number, killReason: string): void {
    if (!this.#running.delete(tid)) return;
    this.driver.taskScheduler.taskFailed(tid, "KILLED", { reason: "TaskKilled", killReason });
    this.#freeCore(tid);
  }

  #finish(tid: number, outcome: Outcome): void {
    if (!this.#running.delete(tid)) return;
    const { taskScheduler } = this.driver;
    if ("failure" in outcome) taskScheduler.taskFailed(tid, "FAILED", outcome.failure);
    else {
      const isMap = taskScheduler.managerOf(tid).taskSet.isShuffleMap;
      const output = isMap ? mapStatus([100, 200]) : null;
      taskScheduler.taskFinished(tid, { kind: "direct", size: 600, valueSize: 127, output, ...outcome.result });
    }
    this.#freeCore(tid);
  }

  #freeCore(tid: number): void {
    const executor = this.driver.infos.executor[tid];
    const free = this.#free.get(executor);
    if (free === undefined) return;
    this.#free.set(executor, free + 1);
    this.#offer([executor], false);
  }
}
