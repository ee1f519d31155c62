/**
 * The tasks of one stage attempt, from pending to done (org.apache.spark.scheduler.TaskSetManager).
 *
 * @module
 */
import { type AliveExecutors, DelayScheduling } from "./delay_scheduling.ts";
import { mapKeyOrder } from "./hash_map_order.ts";
import { type IntSet, newIntSet } from "./hash_set_order.ts";
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
import { PendingTasks } from "./pending_tasks.ts";
import type { SchedulerSettings } from "./settings.ts";
import { SpeculatableTasks } from "./speculatable_tasks.ts";
import { SuccessfulTaskDurations } from "./successful_task_durations.ts";
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
import { ANY, NO_PREF, NODE_LOCAL, PROCESS_LOCAL } from "./task_location.ts";
import { TaskProcessRates } from "./task_process_rates.ts";
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
  /** Task ids that run, in the order of Scala's HashSet. */
  readonly runningTasks: IntSet;
  readonly locality: DelayScheduling;
  readonly #host: TaskSetManagerHost;
  readonly #infos: TaskInfos;
  readonly #pending: PendingTasks;
  /** Second copies wait here since 3.0. */
  readonly #pendingCopies: PendingTasks;
  readonly #speculatable: SpeculatableTasks;
  readonly #durations = new SuccessfulTaskDurations();
  readonly #processRates: TaskProcessRates | null;
  /** Newest attempt of each task, -1 for none, and how many there were. */
  readonly #lastAttempt: Int32Array;
  readonly #attempts: Int32Array;
  /** Task ids in the order of launching. */
  readonly #tids: number[] = [];
  #indexByPartition: Map<number, number> | null = null;
  /** What the last dequeue took, besides the index. */
  #takenLocality = ANY;
  #takenIsCopy = false;

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
    this.copiesRunning = new Int32Array(numTasks);
    this.successful = new Uint8Array(numTasks);
    this.numFailures = new Int32Array(numTasks);
    this.#lastAttempt = new Int32Array(numTasks).fill(-1);
    this.#attempts = new Int32Array(numTasks);
    this.runningTasks = newIntSet(rules.scheduler.hashOrder);
    const lists = () => new PendingTasks(rules.scheduler.hashOrder, host.executors, host.hosts);
    this.#pending = lists();
    this.#pendingCopies = lists();
    this.#speculatable = new SpeculatableTasks(
      rules.scheduler.hashOrder,
      taskSet.locations,
    );
    this.#processRates = rules.scheduler.checksEfficiency && (speculation?.efficiency ?? null) !== null
      ? new TaskProcessRates()
      : null;
    // Stacks: filled from the end, so that low indices are launched first.
    for (let index = numTasks - 1; index >= 0; index--) {
      this.#pending.add(index, taskSet.locations);
    }
    this.locality = new DelayScheduling(this.#pending, host, {
      settings: host.settings,
      nowMs: host.nowMs(),
      needsLaunch: (list) => this.#endsWithPending(list),
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
    return !this.isZombie &&
      (this.#pending.all.length > 0 || this.#pendingCopies.all.length > 0);
  }

  get #rules() {
    return this.#host.settings.rules;
  }

  #addPending(index: number): void {
    if (this.isZombie && this.#rules.scheduler.zombiesKeepNoPending) return;
    this.#pending.add(index, this.taskSet.locations);
  }

  /** The list's last task waits; those behind it that do not are taken off. */
  #endsWithPending(list: number[]): boolean {
    while (list.length > 0) {
      const index = list[list.length - 1];
      if (this.copiesRunning[index] === 0 && this.successful[index] === 0) {
        return true;
      }
      list.pop();
    }
    return false;
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
    const index = this.#dequeue(executor, host, allowed);
    if (index < 0) return -1;
    if (maxLocality !== NO_PREF && this.#resetsTimerAtLaunch) {
      this.locality.resetTimer(this.#takenLocality, nowMs);
    }
    return this.#launch(index, executor, host);
  }

  get #resetsTimerAtLaunch(): boolean {
    const { rules, legacyLocalityReset } = this.#host.settings;
    return !rules.scheduler.localityTimerNeedsFullUse || legacyLocalityReset;
  }

  /** An offer was turned down though something waits: delay scheduling held it back (since 3.1). */
  get hasPending(): boolean {
    return this.#pending.all.length > 0 || this.#pendingCopies.all.length > 0;
  }

  #dequeue(executor: number, host: number, maxLocality: number): number {
    this.#takenIsCopy = false;
    const index = this.#dequeueFrom(this.#pending, executor, host, maxLocality);
    if (index >= 0 || this.#speculatable.size === 0) return index;
    this.#takenIsCopy = true;
    return this.#rules.scheduler.copiesWaitByLocality
      ? this.#dequeueFrom(this.#pendingCopies, executor, host, maxLocality)
      : this.#dequeueSpeculatable(executor, host, maxLocality);
  }

  #dequeueFrom(
    lists: PendingTasks,
    executor: number,
    host: number,
    maxLocality: number,
  ): number {
    let index = this.#takeFrom(lists.forExecutor.get(executor), host);
    this.#takenLocality = PROCESS_LOCAL;
    if (index < 0 && maxLocality >= NODE_LOCAL) {
      index = this.#takeFrom(lists.forHost.get(host), host);
      if (index >= 0) this.#takenLocality = NODE_LOCAL;
    }
    if (index < 0 && maxLocality >= NO_PREF) {
      index = this.#takeFrom(lists.noPrefs, host);
    }
    if (index < 0 && maxLocality >= ANY) {
      index = this.#takeFrom(lists.all, host);
      this.#takenLocality = ANY;
    }
    return index;
  }

  /** Takes the last task of a list that needs a launch, dropping those that do not; -1 when there is none. */
  #takeFrom(list: number[] | undefined, host: number): number {
    if (list === undefined) return -1;
    const copy = this.#takenIsCopy;
    for (let offset = list.length - 1; offset >= 0; offset--) {
      const index = list[offset];
      if (copy && this.#hasAttemptOnHost(index, host)) continue;
      if (offset === list.length - 1) list.pop();
      else list.splice(offset, 1);
      if (this.successful[index] !== 0) continue;
      const running = this.copiesRunning[index];
      if (running === 0 || (copy && running === 1)) {
        if (copy) this.#speculatable.delete(index);
        return index;
      }
    }
    return -1;
  }

  #dequeueSpeculatable(
    executor: number,
    host: number,
    maxLocality: number,
  ): number {
    const taken = this.#speculatable.dequeue({ executor, host, maxLocality }, {
      isSuccessful: (index) => this.successful[index] !== 0,
      mayRun: (index) => !this.#hasAttemptOnHost(index, host),
    });
    if (taken === null) return -1;
    this.#takenLocality = taken.locality;
    return taken.index;
  }

  #hasAttemptOnHost(index: number, host: number): boolean {
    for (
      let tid = this.#lastAttempt[index];
      tid >= 0;
      tid = this.#infos.previous[tid]
    ) {
      if (this.#infos.host[tid] === host) return true;
    }
    return false;
  }

  #launch(index: number, executor: number, host: number): number {
    const infos = this.#infos;
    const tid = infos.add(this.number, index);
    infos.attempt[tid] = this.#attempts[index]++;
    infos.launchTime[tid] = this.#host.nowMs();
    infos.executor[tid] = executor;
    infos.host[tid] = host;
    infos.locality[tid] = this.#takenLocality;
    infos.previous[tid] = this.#lastAttempt[index];
    if (this.#takenIsCopy) infos.set(tid, SPECULATIVE);
    this.#lastAttempt[index] = tid;
    this.#tids.push(tid);
    this.copiesRunning[index]++;
    this.runningTasks.add(tid);
    this.#host.dagScheduler.taskStarted(tid);
    return tid;
  }

  /** The locality of an attempt, for the timer (since 3.1). */
  localityOf(tid: number): number {
    return this.#infos.locality[tid];
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
    if (this.successful[index] !== 0 && infos.has(tid, KILLED_BY_OTHER)) {
      this.calculatedTasks--;
      this.totalResultSize -= infos.resultSize[tid];
      this.handleFailedTask(tid, "KILLED", FINISHED_TOO_LATE);
      return;
    }
    infos.markFinished(tid, "FINISHED", this.#host.nowMs());
    if (this.#host.settings.speculation !== null) this.#noteDuration(tid);
    this.removeRunningTask(tid);
    this.#killOtherAttempts(index);
    if (this.successful[index] === 0) this.#markSuccessful(index);
    if (!this.#rules.scheduler.dagNotifiesPartitionCompletion) {
      this.#host.markPartitionCompletedInAllTaskSets(
        this.stageId,
        this.taskSet.partitions[index],
        tid,
      );
    }
    this.#host.dagScheduler.taskEnded(tid, SUCCESS, output);
    this.#maybeFinish();
  }

  #noteDuration(tid: number): void {
    this.#durations.insert(this.#infos.duration(tid));
    if (this.#processRates !== null) {
      const { records, runTimeMs } = this.#host.taskProgress(tid);
      this.#processRates.taskFinished(tid, records, runTimeMs);
    }
  }

  /** A heartbeat told how fast a running task gets through its records. */
  updateProcessRate(tid: number, recordsPerSecond: number): void {
    this.#processRates?.update(tid, recordsPerSecond);
  }

  #markSuccessful(index: number): void {
    this.tasksSuccessful++;
    this.successful[index] = 1;
    if (this.#rules.scheduler.failureCountRestartsOnSuccess) this.numFailures[index] = 0;
    if (this.tasksSuccessful === this.numTasks) this.isZombie = true;
  }

  #killOtherAttempts(index: number): void {
    const infos = this.#infos;
    for (let tid = this.#lastAttempt[index]; tid >= 0; tid = infos.previous[tid]) {
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
    if (
      tid !== null && this.#host.settings.speculation !== null && !this.isZombie
    ) {
      this.#durations.insert(this.#infos.duration(tid));
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
    const tids = this.#tidsOn(executor);
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

  /** Attempts that were launched on an executor, in the order of Scala's HashMap by task id. */
  #tidsOn(executor: number): number[] {
    const on = (tid: number) => this.#infos.executor[tid] === executor;
    const launched = this.#tids.filter(on);
    if (launched.length < 2) return launched;
    return mapKeyOrder(this.#rules.scheduler.hashOrder, this.#tids).filter(on);
  }

  #resubmit(tid: number): void {
    const infos = this.#infos;
    const index = infos.index[tid];
    if (this.successful[index] === 0 || infos.has(tid, KILLED_BY_OTHER)) return;
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
    const settings = this.#host.settings.speculation;
    if (settings === null || this.isZombie) return false;
    const byThreshold = (settings.taskDurationThresholdMs ?? 0) > 0 &&
      this.#rules.scheduler.copiesWaitByLocality;
    if (this.numTasks === 1 && !byThreshold) return false;
    if (this.#enoughFinished(settings.quantile)) {
      const typicalMs = this.#rules.scheduler.typicalDuration === "upperMedian"
        ? this.#durations.upperMedian()
        : this.#durations.meanOfMiddle();
      const thresholdMs = Math.max(
        settings.multiplier * typicalMs,
        settings.minTaskRuntimeMs,
      );
      return this.#markSlow(thresholdMs, this.#processRates !== null);
    }
    if (byThreshold && this.numTasks <= settings.slotsPerExecutor) {
      return this.#markSlow(settings.taskDurationThresholdMs!, false);
    }
    return false;
  }

  #enoughFinished(quantile: number): boolean {
    const needed = Math.floor(quantile * this.numTasks);
    if (this.#rules.scheduler.copiesWaitByLocality) {
      return this.#durations.size >= Math.max(needed, 1);
    }
    return this.tasksSuccessful >= needed && this.tasksSuccessful > 0;
  }

  #markSlow(thresholdMs: number, checksEfficiency: boolean): boolean {
    const infos = this.#infos;
    const nowMs = this.#host.nowMs();
    let found = false;
    for (const tid of this.runningTasks.toArray()) {
      const index = infos.index[tid];
      if (
        this.successful[index] !== 0 || this.copiesRunning[index] !== 1 ||
        this.#speculatable.has(index)
      ) continue;
      const runTimeMs = nowMs - infos.launchTime[tid];
      if (runTimeMs <= thresholdMs) continue;
      if (checksEfficiency && !this.#isInefficient(tid, runTimeMs, thresholdMs)) {
        continue;
      }
      if (this.#rules.scheduler.copiesWaitByLocality) {
        this.#pendingCopies.add(index, this.taskSet.locations);
      }
      this.#speculatable.add(index);
      this.#host.dagScheduler.speculativeTaskSubmitted(this.taskSet, index);
      found = true;
    }
    return found;
  }

  #isInefficient(tid: number, runTimeMs: number, thresholdMs: number): boolean {
    const efficiency = this.#host.settings.speculation!.efficiency!;
    return runTimeMs > efficiency.longRunTaskFactor * thresholdMs ||
      this.#processRates!.isInefficient(tid, efficiency.processRateMultiplier);
  }
}
