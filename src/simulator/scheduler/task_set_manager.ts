/**
 * The tasks of one stage attempt, from pending to done (org.apache.spark.scheduler.TaskSetManager).
 *
 * @module
 */
import type { SparkRules } from "../../spark/versions.ts";
import { type AliveExecutors, DelayScheduling } from "./delay_scheduling.ts";
import { type IntSet, newIntSet } from "./hash_set_order.ts";
import { LaunchQueue } from "./launch_queue.ts";
import type { MapOutputSizes } from "./map_status.ts";
import {
  type AttemptName,
  failedTooOften,
  lostTask,
  notSerializableResult,
  outputFileExists,
  resultsTooLarge,
} from "./messages.ts";
import type { NameTable } from "./names.ts";
import type { SchedulerSettings } from "./settings.ts";
import { Speculation } from "./speculation.ts";
import { TaskAttempts } from "./task_attempts.ts";
import {
  countsTowardsTaskFailures,
  type ExecutorLossReason,
  FINISHED_TOO_LATE,
  lossMessage,
  NOT_SERIALIZABLE,
  OUTPUT_FILE_EXISTS,
  RESUBMITTED,
  SUCCESS,
  type TaskFailedReason,
  toErrorString,
} from "./task_end_reason.ts";
import { FAILED, KILLED, KILLED_BY_OTHER, LAUNCHING, SPECULATIVE, type TaskInfos } from "./task_infos.ts";
import { NO_PREF } from "./task_location.ts";
import type { DagSchedulerClient } from "./task_scheduler_types.ts";
import type { TaskSet } from "./task_set.ts";

/** What a task set manager needs of the task scheduler. */
export interface TaskSetManagerHost extends AliveExecutors {
  readonly settings: SchedulerSettings;
  readonly infos: TaskInfos;
  readonly executors: NameTable;
  readonly hosts: NameTable;
  readonly dagScheduler: DagSchedulerClient;
  /** Virtual time, above 0. */
  nowMs(): number;
  killTask(
    tid: number,
    kill: { readonly interruptThread: boolean; readonly reason: string },
  ): void;
  taskSetFinished(manager: TaskSetManager): void;
  /** An attempt of the partition succeeded here (up to 2.4: all task sets of the stage are told). */
  markPartitionCompletedInAllTaskSets(
    stageId: number,
    partition: number,
    tid: number,
  ): void;
  /** Records that a finished task read, and its run time, for efficiency-aware speculation. */
  taskProgress(tid: number): { records: number; runTimeMs: number };
}

/** How a failed attempt ended. */
export type EndState = "FINISHED" | "FAILED" | "KILLED";

/** One task set's state. Task ids are the application's, tasks of the set are indices. */
export class TaskSetManager {
  /** Attempts running by index. */
  readonly copiesRunning: Int32Array;
  readonly successful: Uint8Array;
  readonly numFailures: Int32Array;
  tasksSuccessful = 0;
  totalResultSize = 0;
  calculatedTasks = 0;
  /** No more launches: done, aborted, or replaced by a newer attempt. */
  isZombie = false;
  /** Delay scheduling turned an offer down since the locality timer was reset (since 3.1). */
  hasRejectedOffers = false;
  /** Task ids that run, in the order of Scala's HashSet. */
  readonly runningTasks: IntSet;
  readonly locality: DelayScheduling;
  readonly #host: TaskSetManagerHost;
  readonly #infos: TaskInfos;
  readonly #rules: SparkRules;
  /** The locality timer is reset at each launch (before 3.1, or as before). */
  readonly #resetsTimerAtLaunch: boolean;
  readonly #attempts: TaskAttempts;
  readonly #queue: LaunchQueue;
  /** null: spark.speculation is off. */
  readonly #speculation: Speculation | null;
  #indexByPartition: Map<number, number> | null = null;
  constructor(
    host: TaskSetManagerHost,
    readonly taskSet: TaskSet,
    /** Number among all task set managers, for TaskInfos.manager. */
    readonly number: number,
  ) {
    const { rules, speculation } = host.settings;
    const numTasks = taskSet.numTasks;
    this.#host = host;
    this.#infos = host.infos;
    this.#rules = rules;
    this.#resetsTimerAtLaunch = !rules.scheduler.localityTimerNeedsFullUse ||
      host.settings.legacyLocalityReset;
    this.copiesRunning = new Int32Array(numTasks);
    this.successful = new Uint8Array(numTasks);
    this.numFailures = new Int32Array(numTasks);
    this.runningTasks = newIntSet(rules.scheduler.hashOrder);
    this.#attempts = new TaskAttempts(host.infos, rules.scheduler.hashOrder, numTasks);
    const { copiesRunning, successful } = this;
    const states = { copiesRunning, successful, attempts: this.#attempts };
    this.#queue = new LaunchQueue(states, taskSet.locations, { rules, executors: host.executors, hosts: host.hosts });
    this.#speculation = speculation === null ? null : new Speculation(speculation, rules, numTasks);
    // Stacks: filled from the end, so that low indices are launched first.
    for (let index = numTasks - 1; index >= 0; index--) this.#queue.add(index);
    this.locality = new DelayScheduling(this.#queue.pending, host, {
      settings: host.settings,
      nowMs: host.nowMs(),
    });
  }

  get numTasks(): number {
    return this.taskSet.numTasks;
  }

  get stageId(): number {
    return this.taskSet.stageId;
  }

  /** Whether it takes part in offers (Schedulable.isSchedulable, since 3.1). */
  get isSchedulable(): boolean {
    return !this.isZombie && this.#queue.hasEntries;
  }

  #addPending(index: number): void {
    if (this.isZombie && this.#rules.scheduler.zombiesKeepNoPending) return;
    this.#queue.add(index);
  }

  /**
   * Launches a task on the offered executor, if one may run there at `maxLocality` or nearer.
   *
   * @returns its task id, or -1.
   */
  resourceOffer(executor: number, host: number, maxLocality: number): number {
    if (this.isZombie) return -1;
    const nowMs = this.#host.nowMs();
    let allowed = maxLocality;
    if (maxLocality !== NO_PREF) {
      allowed = Math.min(this.locality.allowedLevel(nowMs), maxLocality);
    }
    const index = this.#queue.dequeue(executor, host, allowed);
    if (index < 0) return -1;
    if (maxLocality !== NO_PREF && this.#resetsTimerAtLaunch) {
      this.locality.resetTimer(this.#queue.takenLocality, nowMs);
    }
    const tid = this.#infos.add(this.number, index);
    this.#infos.launchTime[tid] = nowMs;
    this.#infos.executor[tid] = executor;
    this.#infos.host[tid] = host;
    this.#launch(tid, index);
    this.#host.dagScheduler.taskStarted(tid);
    return tid;
  }

  /** Something is left on the lists: an offer that launched nothing was held back by delay scheduling (since 3.1). */
  get hasPending(): boolean {
    return this.#queue.hasEntries;
  }

  #launch(tid: number, index: number): void {
    this.#infos.locality[tid] = this.#queue.takenLocality;
    if (this.#queue.takenIsCopy) this.#infos.set(tid, SPECULATIVE);
    this.#attempts.add(tid, index);
    this.copiesRunning[index]++;
    this.runningTasks.add(tid);
  }

  #maybeFinish(): void {
    if (this.isZombie && this.runningTasks.size === 0) {
      this.#host.taskSetFinished(this);
    }
  }

  /** An indirect result is about to be fetched. */
  handleTaskGettingResult(tid: number): void {
    this.#infos.gettingResultTime[tid] = this.#host.nowMs();
    this.#host.dagScheduler.taskGettingResult(tid);
  }

  /** Adds a result's size to the total; false, and the stage is aborted, when that is above spark.driver.maxResultSize. */
  canFetchMoreResults(size: number): boolean {
    const { maxResultSize, rules } = this.#host.settings;
    this.totalResultSize += size;
    this.calculatedTasks++;
    if (maxResultSize <= 0 || this.totalResultSize <= maxResultSize) return true;
    if (!rules.results.mapStagesAbort && this.taskSet.isShuffleMap) return true;
    const total = this.totalResultSize;
    const sizes = { count: this.calculatedTasks, totalBytes: total, maxResultSize };
    this.abort(resultsTooLarge(sizes, rules));
    return false;
  }

  /** The result of an attempt is there (its size is in TaskInfos.resultSize). */
  handleSuccessfulTask(tid: number, output: MapOutputSizes | null): void {
    const infos = this.#infos;
    if (this.#rules.results.ignoresQueuedResultOfLostExecutor && !infos.isRunning(tid)) return;
    const index = infos.index[tid];
    if (
      this.#rules.scheduler.lateSuccessIsKilled && this.successful[index] !== 0 && infos.has(tid, KILLED_BY_OTHER)
    ) {
      this.calculatedTasks--;
      this.totalResultSize -= infos.resultSize[tid];
      this.handleFailedTask(tid, "KILLED", FINISHED_TOO_LATE);
      return;
    }
    infos.markFinished(tid, "FINISHED", this.#host.nowMs());
    if (this.#speculation !== null) {
      this.#speculation.noteDuration(infos.duration(tid));
      this.#speculation.noteProgress(tid, this.#host.taskProgress(tid));
    }
    this.removeRunningTask(tid);
    if (this.#rules.scheduler.killsOtherAttempts) this.#killOtherAttempts(index);
    if (this.successful[index] === 0) this.#markSuccessful(index);
    if (!this.#rules.scheduler.dagNotifiesPartitionCompletion && this.#rules.scheduler.completionReachesAllTaskSets) {
      this.#host.markPartitionCompletedInAllTaskSets(
        this.stageId,
        this.taskSet.partitions[index],
        tid,
      );
    }
    this.#host.dagScheduler.taskEnded(tid, SUCCESS, output);
    this.#maybeFinish();
  }

  /** A heartbeat told how fast a running task gets through its records. */
  updateProcessRate(tid: number, recordsPerSecond: number): void {
    this.#speculation?.updateProcessRate(tid, recordsPerSecond);
  }

  #markSuccessful(index: number): void {
    this.tasksSuccessful++;
    this.successful[index] = 1;
    if (this.#rules.scheduler.failureCountRestartsOnSuccess) this.numFailures[index] = 0;
    if (this.tasksSuccessful === this.numTasks) this.isZombie = true;
  }

  #killOtherAttempts(index: number): void {
    const infos = this.#infos;
    for (let tid = this.#attempts.newest(index); tid >= 0; tid = infos.previous[tid]) {
      if (!infos.isRunning(tid)) continue;
      infos.set(tid, KILLED_BY_OTHER);
      this.#host.killTask(tid, {
        interruptThread: true,
        reason: "another attempt succeeded",
      });
    }
  }

  /** Another task set of the stage has completed the partition. `tid`: the attempt, where its duration counts (up to 2.4). */
  markPartitionCompleted(partition: number, tid: number | null): void {
    const index = this.#indexOf(partition);
    if (index === undefined || this.successful[index] !== 0) return;
    if (tid !== null && !this.isZombie) {
      this.#speculation?.noteDuration(this.#infos.duration(tid));
    }
    this.#markSuccessful(index);
    this.#maybeFinish();
  }

  #indexOf(partition: number): number | undefined {
    const partitions = this.taskSet.partitions;
    if (partitions[partition] === partition) return partition;
    if (this.#indexByPartition === null) {
      this.#indexByPartition = new Map();
      for (let index = 0; index < partitions.length; index++) {
        this.#indexByPartition.set(partitions[index], index);
      }
    }
    return this.#indexByPartition.get(partition);
  }

  /** An attempt failed, was killed, or its result is lost. */
  handleFailedTask(
    tid: number,
    state: EndState,
    reason: TaskFailedReason,
  ): void {
    const infos = this.#infos;
    const ended = this.#rules.results.ignoresQueuedResultOfLostExecutor
      ? !infos.isRunning(tid)
      : infos.has(tid, FAILED | KILLED);
    if (ended) return;
    this.removeRunningTask(tid);
    infos.markFinished(tid, state, this.#host.nowMs());
    const index = infos.index[tid];
    this.copiesRunning[index]--;
    if (reason.reason === "FetchFailed") {
      // The map stage has to run again first: this set launches nothing any more.
      if (this.successful[index] === 0) {
        this.successful[index] = 1;
        this.tasksSuccessful++;
      }
      this.isZombie = true;
    }
    if (this.#abortsAtOnce(tid, reason)) return;
    this.#host.dagScheduler.taskEnded(tid, reason, null);
    if (this.#failedTooOften(tid, reason)) return;
    if (this.successful[index] === 0) this.#addPending(index);
    this.#maybeFinish();
  }

  /** A result that cannot be serialized, or an output file that exists: another attempt would fail alike. */
  #abortsAtOnce(tid: number, reason: TaskFailedReason): boolean {
    if (reason.reason !== "ExceptionFailure") return false;
    const rules = this.#rules;
    const notSerializable = reason.className === NOT_SERIALIZABLE;
    const fileExists = reason.className === OUTPUT_FILE_EXISTS &&
      rules.scheduler.existingOutputFileAborts;
    if (!notSerializable && !fileExists) return false;
    if (rules.scheduler.reportsNotSerializable) {
      this.#host.dagScheduler.taskEnded(tid, reason, null);
    }
    const name = this.#nameOf(tid);
    this.abort(
      notSerializable
        ? notSerializableResult(name, reason.description, rules)
        : outputFileExists(name, reason.description),
    );
    return true;
  }

  #failedTooOften(tid: number, reason: TaskFailedReason): boolean {
    if (this.isZombie || !countsTowardsTaskFailures(reason)) return false;
    const { maxTaskFailures, rules } = this.#host.settings;
    const index = this.#infos.index[tid];
    this.numFailures[index]++;
    if (this.numFailures[index] < maxTaskFailures) return false;
    const name = this.#nameOf(tid);
    const failure = lostTask(name, toErrorString(reason, rules), rules);
    this.abort(failedTooOften(name, maxTaskFailures, failure));
    return true;
  }

  #nameOf(tid: number): AttemptName {
    const infos = this.#infos;
    return {
      index: infos.index[tid],
      attempt: infos.attempt[tid],
      taskSetId: this.taskSet.id,
      tid,
      host: this.#host.hosts.nameOf(infos.host[tid]),
      executorId: this.#host.executors.nameOf(infos.executor[tid]),
    };
  }

  /** Fails the stage. */
  abort(message: string): void {
    this.#host.dagScheduler.taskSetFailed(this.taskSet, message);
    this.suspend();
  }

  /** No more launches (TaskSetManager.suspend, since 4.0). */
  suspend(): void {
    this.isZombie = true;
    this.#maybeFinish();
  }

  removeRunningTask(tid: number): void {
    this.runningTasks.delete(tid);
  }

  /** An executor is gone: its running attempts fail, and without a shuffle service its finished map tasks run again. */
  executorLost(executor: number, reason: ExecutorLossReason): void {
    const tids = this.#attempts.onExecutor(executor);
    if (
      this.taskSet.isShuffleMap && !this.isZombie &&
      !this.#host.settings.externalShuffleService
    ) {
      for (const tid of tids) this.#resubmit(tid);
    }
    for (const tid of tids) {
      if (!this.#infos.isRunning(tid)) continue;
      this.handleFailedTask(tid, "FAILED", {
        reason: "ExecutorLostFailure",
        executorId: this.#host.executors.nameOf(executor),
        exitCausedByApp: this.#isCausedByApp(tid, reason),
        lossReason: lossMessage(reason),
      });
    }
    this.recomputeLocality();
  }

  #resubmit(tid: number): void {
    const infos = this.#infos;
    const index = infos.index[tid];
    if (this.successful[index] === 0) return;
    if (this.#rules.scheduler.killedAttemptsAreNotResubmitted && infos.has(tid, KILLED_BY_OTHER)) return;
    if (this.#rules.scheduler.resubmitsOnlyEndedAttempts && infos.isRunning(tid)) return;
    this.successful[index] = 0;
    this.copiesRunning[index]--;
    this.tasksSuccessful--;
    this.#addPending(index);
    this.#host.dagScheduler.taskEnded(tid, RESUBMITTED, null);
  }

  #isCausedByApp(tid: number, reason: ExecutorLossReason): boolean {
    switch (reason.kind) {
      case "killed":
        return false;
      case "exited":
        if (!reason.exitCausedByApp) return false;
        break;
      case "processLost":
        if (!reason.causedByApp) return false;
    }
    return !(this.#rules.scheduler.lossBeforeRunningIsNotCounted &&
      this.#infos.has(tid, LAUNCHING));
  }

  /** Executors came or went. */
  recomputeLocality(): void {
    if (this.isZombie && this.#rules.scheduler.zombiesKeepNoPending) return;
    this.locality.recompute();
  }

  /** Marks slow tasks for a second copy; whether any was found. Called every spark.speculation.interval. */
  checkSpeculatableTasks(): boolean {
    if (this.isZombie) return false;
    const isSlow = this.#speculation?.slowTest(this.tasksSuccessful) ?? null;
    if (isSlow === null) return false;
    const infos = this.#infos;
    const nowMs = this.#host.nowMs();
    let found = false;
    for (const tid of this.runningTasks.toArray()) {
      const index = infos.index[tid];
      if (this.successful[index] !== 0 || this.copiesRunning[index] !== 1) continue;
      if (this.#queue.isSpeculatable(index)) continue;
      if (!isSlow({ tid, runTimeMs: nowMs - infos.launchTime[tid] })) continue;
      this.#queue.addCopy(index);
      if (this.#rules.scheduler.postsSpeculativeTasks) {
        this.#host.dagScheduler.speculativeTaskSubmitted(this.taskSet, index);
      }
      found = true;
    }
    return found;
  }
}
