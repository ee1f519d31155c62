/**
 * Hands tasks to executors as they offer cores, and takes their statuses (org.apache.spark.scheduler.TaskSchedulerImpl).
 *
 * @module
 */
import { mapKeyOrder } from "./hash_map_order.ts";
import type { MapOutputSizes } from "./map_status.ts";
import type { NameTable } from "./names.ts";
import { type TaskSetPool, taskSetPool } from "./pool.ts";
import { SchedulerException } from "./scheduler_exception.ts";
import type { SchedulerSettings } from "./settings.ts";
import type { ExecutorLossReason, TaskFailedReason } from "./task_end_reason.ts";
import { KNOWN, LAUNCHING, type TaskInfos } from "./task_infos.ts";
import { ANY } from "./task_location.ts";
import {
  type FailedTask,
  FixedThreads,
  type GetterThreads,
  type ResultBlocks,
  type TaskResult,
  TaskResultGetter,
  type TaskResultReceiver,
} from "./task_result_getter.ts";
import { taskProcessRate } from "./task_process_rates.ts";
import type { DagSchedulerClient, SchedulerBackend, TaskScheduler } from "./task_scheduler_types.ts";
import type { TaskSet } from "./task_set.ts";
import { TaskSetManager, type TaskSetManagerHost } from "./task_set_manager.ts";

/** Free cores of executors, in the order in which they are to be tried (Spark shuffles it). Parallel arrays. */
export interface WorkerOffers {
  readonly executors: ArrayLike<number>;
  readonly hosts: ArrayLike<number>;
  readonly cores: ArrayLike<number>;
}

/** What the task scheduler works with. */
export interface TaskSchedulerOptions {
  readonly settings: SchedulerSettings;
  readonly executors: NameTable;
  readonly hosts: NameTable;
  readonly infos: TaskInfos;
  readonly dagScheduler: DagSchedulerClient;
  readonly backend: SchedulerBackend;
  readonly resultBlocks: ResultBlocks;
  /** The result getter's threads; 4 of them by default. */
  readonly getterThreads?: GetterThreads;
  /** Virtual time in ms, above 0. */
  nowMs(): number;
  /** The map output tracker's epoch. */
  epoch(): number;
  /** Records that a finished task read and its run time; for efficiency-aware speculation. */
  taskProgress?(tid: number): { records: number; runTimeMs: number };
}

/** An executor that the scheduler knows. */
interface ExecutorState {
  host: number;
  /** In executorIdToRunningTaskIds: it may take tasks. False while the reason of its loss is pending. */
  alive: boolean;
  /** Attempts whose status is awaited. */
  readonly tids: number[];
}

/** The task scheduler. */
export class TaskSchedulerImpl implements TaskScheduler, TaskSetManagerHost, TaskResultReceiver {
  readonly settings: SchedulerSettings;
  readonly executors: NameTable;
  readonly hosts: NameTable;
  readonly infos: TaskInfos;
  readonly dagScheduler: DagSchedulerClient;
  readonly backend: SchedulerBackend;
  readonly #options: TaskSchedulerOptions;
  readonly #getter: TaskResultGetter;
  readonly #pool: TaskSetPool;
  /** All task set managers by number. */
  readonly #managers: TaskSetManager[] = [];
  /** Task sets that have not finished, by stage and then in the order of submission. */
  readonly #byStage = new Map<number, TaskSetManager[]>();
  readonly #executorStates: (ExecutorState | undefined)[] = [];
  /** Executors alive by host. */
  readonly #aliveOnHost: number[] = [];
  /** Attempts launched in the current round of offers, and how many of the array count. */
  readonly #launched: number[] = [];
  #numLaunched = 0;
  /** Cores left of each offer of the current round. */
  #available = new Int32Array(16);

  constructor(options: TaskSchedulerOptions) {
    this.#options = options;
    this.settings = options.settings;
    this.#pool = taskSetPool(options.settings.fairPools);
    this.executors = options.executors;
    this.hosts = options.hosts;
    this.infos = options.infos;
    this.dagScheduler = options.dagScheduler;
    this.backend = options.backend;
    this.#getter = new TaskResultGetter(this, {
      threads: options.getterThreads ?? new FixedThreads(),
      blocks: options.resultBlocks,
      rules: options.settings.rules,
    });
  }

  nowMs(): number {
    return this.#options.nowMs();
  }

  /** The map output tracker's epoch. */
  epoch(): number {
    return this.#options.epoch();
  }

  taskProgress(tid: number): { records: number; runTimeMs: number } {
    return this.#options.taskProgress?.(tid) ?? { records: 0, runTimeMs: 0 };
  }

  /** The manager of the set that an attempt belongs to. */
  managerOf(tid: number): TaskSetManager {
    return this.#managers[this.infos.manager[tid]];
  }

  /** All task set managers, in the order of submission. */
  get managers(): readonly TaskSetManager[] {
    return this.#managers;
  }

  // Task sets

  submitTasks(taskSet: TaskSet): void {
    taskSet.epoch = this.epoch();
    const manager = new TaskSetManager(this, taskSet, this.#managers.length);
    this.#managers.push(manager);
    let ofStage = this.#byStage.get(taskSet.stageId);
    if (ofStage === undefined) {
      ofStage = [];
      this.#byStage.set(taskSet.stageId, ofStage);
    }
    if (this.settings.rules.scheduler.newTaskSetMakesOldZombie) {
      for (const older of ofStage) older.isZombie = true;
    }
    const sameAttempt = ofStage.findIndex((other) => other.taskSet.stageAttemptId === taskSet.stageAttemptId);
    if (sameAttempt >= 0) ofStage.splice(sameAttempt, 1);
    ofStage.push(manager);
    this.#checkOnlyActive(manager, ofStage);
    this.#pool.add(manager);
    this.backend.reviveOffers();
  }

  #checkOnlyActive(
    manager: TaskSetManager,
    ofStage: readonly TaskSetManager[],
  ): void {
    if (!ofStage.some((other) => other !== manager && !other.isZombie)) return;
    const ids = this.#inAttemptOrder(ofStage).map((other) => other.taskSet.id);
    throw new SchedulerException(
      "java.lang.IllegalStateException",
      `more than one active taskSet for stage ${manager.stageId}: ${ids.join(",")}`,
    );
  }

  /** Task sets of a stage in the order of Scala's HashMap by attempt. */
  #inAttemptOrder(ofStage: readonly TaskSetManager[]): TaskSetManager[] {
    if (ofStage.length < 2) return ofStage.slice();
    const attempts = ofStage.map((manager) => manager.taskSet.stageAttemptId);
    return mapKeyOrder(this.settings.rules.scheduler.hashOrder, attempts)
      .map((attempt) => ofStage[attempts.indexOf(attempt)]);
  }

  #managersOf(stageId: number): TaskSetManager[] {
    const ofStage = this.#byStage.get(stageId);
    return ofStage === undefined ? [] : this.#inAttemptOrder(ofStage);
  }

  cancelTasks(stageId: number, interruptThread: boolean, reason: string): void {
    const killReason = {
      lowerCase: "stage cancelled",
      plain: "Stage cancelled",
      reason: `Stage cancelled: ${reason}`,
    }[this.settings.rules.scheduler.stageCancelledText];
    this.#killRunning(stageId, interruptThread, killReason);
    for (const manager of this.#managersOf(stageId)) {
      manager.abort(`Stage ${stageId} cancelled`);
    }
  }

  killAllTaskAttempts(
    stageId: number,
    interruptThread: boolean,
    reason: string,
  ): void {
    if (!this.settings.rules.scheduler.suspendsKilledTaskSets) {
      this.#killRunning(stageId, interruptThread, reason);
      return;
    }
    const killReason = `Stage cancelled: ${reason}`;
    for (const manager of this.#managersOf(stageId)) {
      this.#killRunningOf(manager, interruptThread, killReason);
      manager.suspend();
    }
  }

  #killRunning(
    stageId: number,
    interruptThread: boolean,
    reason: string,
  ): void {
    for (const manager of this.#managersOf(stageId)) {
      this.#killRunningOf(manager, interruptThread, reason);
    }
  }

  #killRunningOf(
    manager: TaskSetManager,
    interruptThread: boolean,
    reason: string,
  ): void {
    for (const tid of manager.runningTasks.toArray()) {
      if (!this.infos.has(tid, KNOWN)) continue;
      this.killTask(tid, { interruptThread, reason });
    }
  }

  /** Tells the executor of an attempt to kill it. */
  killTask(
    tid: number,
    kill: { readonly interruptThread: boolean; readonly reason: string },
  ): void {
    this.backend.killTask(tid, this.infos.executor[tid], kill);
  }

  /** Kills one attempt; false when none with that id is running. */
  killTaskAttempt(
    tid: number,
    interruptThread: boolean,
    reason: string,
  ): boolean {
    if (tid >= this.infos.length || !this.infos.has(tid, KNOWN)) return false;
    this.killTask(tid, { interruptThread, reason });
    return true;
  }

  notifyPartitionCompletion(stageId: number, partition: number): void {
    this.#getter.enqueuePartitionCompletionNotification(stageId, partition);
  }

  handlePartitionCompleted(stageId: number, partition: number): void {
    for (const manager of this.#managersOf(stageId)) {
      if (!manager.isZombie) manager.markPartitionCompleted(partition, null);
    }
  }

  markPartitionCompletedInAllTaskSets(
    stageId: number,
    partition: number,
    tid: number,
  ): void {
    const ofStage = this.#byStage.get(stageId);
    // The set in which the attempt ran has marked it already.
    if (ofStage === undefined) return;
    if (ofStage.length === 1 && ofStage[0] === this.managerOf(tid)) return;
    for (const manager of this.#managersOf(stageId)) {
      manager.markPartitionCompleted(partition, tid);
    }
  }

  taskSetFinished(manager: TaskSetManager): void {
    const { stageId, stageAttemptId } = manager.taskSet;
    const ofStage = this.#byStage.get(stageId);
    const at = ofStage?.findIndex((other) => other.taskSet.stageAttemptId === stageAttemptId) ?? -1;
    if (at >= 0) ofStage!.splice(at, 1);
    if (ofStage?.length === 0) this.#byStage.delete(stageId);
    this.#pool.remove(manager);
  }

  // Offers

  /**
   * Launches tasks on the offered cores.
   *
   * @param offers Free cores; an executor that is new is added.
   * @param isAllFreeResources False when the offer is of one executor that just got free (makeOffers(executorId)):
   * the locality timer is then reset only when nothing has been turned down since its last reset (since 3.1).
   * @returns task ids in the order of launching; valid until the next call.
   */
  resourceOffers(
    offers: WorkerOffers,
    isAllFreeResources = true,
  ): readonly number[] {
    const isNew = this.#addNewExecutors(offers);
    this.#takeCores(offers);
    this.#numLaunched = 0;
    const sets = this.#offeredSets();
    if (isNew) { for (const manager of sets) manager.recomputeLocality(); }
    for (const manager of sets) this.#offerTo(manager, offers, isAllFreeResources);
    if (this.#launched.length !== this.#numLaunched) this.#launched.length = this.#numLaunched;
    return this.#launched;
  }

  #offeredSets(): readonly TaskSetManager[] {
    const sorted = this.#pool.sorted();
    return this.settings.rules.scheduler.offersSkipSetsWithoutPending
      ? sorted.filter((manager) => manager.isSchedulable)
      : sorted;
  }

  #takeCores({ cores }: WorkerOffers): void {
    if (this.#available.length < cores.length) {
      this.#available = new Int32Array(cores.length * 2);
    }
    for (let i = 0; i < cores.length; i++) this.#available[i] = cores[i];
  }

  #addNewExecutors(offers: WorkerOffers): boolean {
    let isNew = false;
    for (let i = 0; i < offers.executors.length; i++) {
      const executor = offers.executors[i];
      const known = this.#executorStates[executor];
      if (known !== undefined && known.alive) continue;
      const host = offers.hosts[i];
      while (this.#executorStates.length <= executor) {
        this.#executorStates.push(undefined);
      }
      this.#executorStates[executor] = { host, alive: true, tids: [] };
      while (this.#aliveOnHost.length <= host) this.#aliveOnHost.push(0);
      this.#aliveOnHost[host]++;
      this.dagScheduler.executorAdded(executor, host);
      isNew = true;
    }
    return isNew;
  }

  /** Offers to one set, level by level, each level again while it launches something. */
  #offerTo(
    manager: TaskSetManager,
    offers: WorkerOffers,
    isAllFreeResources: boolean,
  ): void {
    const first = this.#numLaunched;
    let rejected = false;
    for (const level of manager.locality.levels) {
      let before: number;
      do {
        before = this.#numLaunched;
        if (this.#offerAt(manager, offers, level)) rejected = true;
      } while (this.#numLaunched > before);
    }
    const { rules, legacyLocalityReset } = this.settings;
    if (!rules.scheduler.localityTimerNeedsFullUse || legacyLocalityReset) return;
    if (rejected) manager.hasRejectedOffers = true;
    else if (this.#numLaunched > first) this.#resetTimer(manager, first, isAllFreeResources);
  }

  /** All offers were used: the locality timer starts anew, at the nearest level that was launched at. */
  #resetTimer(
    manager: TaskSetManager,
    firstLaunched: number,
    isAllFreeResources: boolean,
  ): void {
    if (!isAllFreeResources && manager.hasRejectedOffers) return;
    let nearest = ANY;
    for (let i = firstLaunched; i < this.#numLaunched; i++) {
      nearest = Math.min(nearest, this.infos.locality[this.#launched[i]]);
    }
    manager.locality.resetTimer(nearest, this.nowMs());
    manager.hasRejectedOffers = false;
  }

  /** One pass over the offers at one level. @returns whether delay scheduling turned an offer down. */
  #offerAt(
    manager: TaskSetManager,
    offers: WorkerOffers,
    level: number,
  ): boolean {
    const available = this.#available;
    const cpus = this.settings.cpusPerTask;
    const { executors, hosts } = offers;
    let rejected = false;
    for (let i = 0; i < executors.length; i++) {
      if (available[i] < cpus) continue;
      const executor = executors[i];
      const tid = manager.resourceOffer(executor, hosts[i], level);
      if (tid >= 0) {
        this.infos.set(tid, KNOWN);
        this.#executorStates[executor]!.tids.push(tid);
        available[i] -= cpus;
        this.#launched[this.#numLaunched++] = tid;
      } else if (level === ANY && !manager.isZombie && manager.hasPending) {
        rejected = true;
      }
    }
    return rejected;
  }

  // Statuses

  /** A task runs. */
  taskRunning(tid: number): void {
    if (this.infos.has(tid, KNOWN)) this.infos.clear(tid, LAUNCHING);
  }

  /** A task finished and sent its result. Ignored when its executor is gone, or it was reported before. */
  taskFinished(tid: number, result: TaskResult): void {
    if (!this.#forget(tid)) return;
    this.#getter.enqueueSuccessfulTask(this.managerOf(tid), tid, result);
  }

  /** A task failed or was killed. */
  taskFailed(
    tid: number,
    state: "FAILED" | "KILLED",
    reason: TaskFailedReason,
  ): void {
    if (!this.#forget(tid)) return;
    this.#getter.enqueueFailedTask(this.managerOf(tid), { tid, state, reason });
  }

  /** Takes a task off the books; false when it is not there. */
  #forget(tid: number): boolean {
    if (!this.infos.has(tid, KNOWN)) return false;
    this.#cleanUp(tid);
    this.managerOf(tid).removeRunningTask(tid);
    return true;
  }

  #cleanUp(tid: number): void {
    this.infos.clear(tid, KNOWN);
    const tids = this.#executorStates[this.infos.executor[tid]]!.tids;
    const at = tids.indexOf(tid);
    tids[at] = tids[tids.length - 1];
    tids.pop();
  }

  handleTaskGettingResult(manager: TaskSetManager, tid: number): void {
    manager.handleTaskGettingResult(tid);
  }

  handleSuccessfulTask(
    manager: TaskSetManager,
    tid: number,
    output: MapOutputSizes | null,
  ): void {
    manager.handleSuccessfulTask(tid, output);
  }

  handleFailedTask(manager: TaskSetManager, failed: FailedTask): void {
    const { tid, state, reason } = failed;
    manager.handleFailedTask(tid, state, reason);
    const succeeded = manager.successful[this.infos.index[tid]] !== 0;
    // It may have to run again.
    if (!manager.isZombie && !succeeded) this.backend.reviveOffers();
  }

  /** A heartbeat: what a running task has read so far, and how long it runs. */
  executorHeartbeatReceived(
    tid: number,
    records: number,
    runTimeMs: number,
  ): void {
    if (!this.infos.has(tid, KNOWN)) return;
    const rate = taskProcessRate(records, runTimeMs);
    this.managerOf(tid).updateProcessRate(tid, rate);
  }

  /** The speculation timer (spark.speculation.interval). */
  checkSpeculatableTasks(): void {
    let found = false;
    for (const manager of this.#pool.all()) {
      if (manager.checkSpeculatableTasks()) found = true;
    }
    if (found) this.backend.reviveOffers();
  }

  // Executors

  /** An executor is gone. */
  executorLost(executor: number, reason: ExecutorLossReason): void {
    const state = this.#executorStates[executor];
    if (state === undefined) return;
    const wasAlive = state.alive;
    this.#removeExecutor(executor, state, reason);
    if (!wasAlive) return;
    this.dagScheduler.executorLost(executor, state.host, reason);
    this.backend.reviveOffers();
  }

  #removeExecutor(
    executor: number,
    state: ExecutorState,
    reason: ExecutorLossReason,
  ): void {
    if (state.alive) {
      state.alive = false;
      this.#aliveOnHost[state.host]--;
    }
    while (state.tids.length > 0) this.#cleanUp(state.tids[0]);
    if (reason.kind === "pending") return;
    this.#executorStates[executor] = undefined;
    for (const manager of this.#pool.all()) {
      manager.executorLost(executor, reason);
    }
  }

  /** A worker was removed from the cluster. */
  workerRemoved(host: number): void {
    this.dagScheduler.workerRemoved(host);
  }

  /** Whether an executor runs tasks (TaskSchedulerImpl.isExecutorBusy). */
  isExecutorBusy(executor: number): boolean {
    const state = this.#executorStates[executor];
    return state !== undefined && state.tids.length > 0;
  }

  isExecutorAlive(executor: number): boolean {
    return this.#executorStates[executor]?.alive === true;
  }

  hasExecutorsAliveOnHost(host: number): boolean {
    return this.#aliveOnHost[host] > 0;
  }
}
