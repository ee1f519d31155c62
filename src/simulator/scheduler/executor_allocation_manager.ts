/**
 * Dynamic allocation: executors come while tasks wait and go when they are idle
 * (org.apache.spark.ExecutorAllocationManager).
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";
import type { AllocationSettings } from "./allocation_settings.ts";
import { IdleExecutors } from "./idle_executors.ts";
import type { NameTable } from "./names.ts";
import { TaskBacklog, type TaskEvent } from "./task_backlog.ts";

/** Call `ExecutorAllocationManager.schedule` so often. */
export const SCHEDULE_INTERVAL_MS = 100;

/** What dynamic allocation asks of the cluster manager. */
export interface ExecutorAllocationClient {
  /** The application wants so many executors in all. */
  requestTotalExecutors(total: number): void;
  /** These may go. @returns those that will. */
  killExecutors(executors: readonly number[]): readonly number[];
}

/** What the manager works with. */
export interface AllocationContext {
  readonly client: ExecutorAllocationClient;
  readonly executors: NameTable;
  /** Virtual time in ms. */
  nowMs(): number;
  /** Whether an executor has blocks of cached RDDs. */
  hasCachedBlocks(executor: number): boolean;
}

/** An attempt that started or ended, and where. */
export interface AllocatedTask extends TaskEvent {
  readonly executor: number;
}

/**
 * The manager. The host hands it the listener events, in order, and calls `schedule` every
 * {@linkcode SCHEDULE_INTERVAL_MS}.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../../spark/conf.ts";
 * import { allocationSettings } from "./allocation_settings.ts";
 * import { ExecutorAllocationManager } from "./executor_allocation_manager.ts";
 * import { NameTable } from "./names.ts";
 *
 * const settings = allocationSettings(SparkConf.from({ "spark.dynamicAllocation.enabled": "true" }, "3.5.1"), 2)!;
 * let nowMs = 0;
 * const totals: number[] = [];
 * const manager = new ExecutorAllocationManager(settings, {
 *   client: { requestTotalExecutors: (total) => totals.push(total), killExecutors: (executors) => executors },
 *   executors: new NameTable(),
 *   nowMs: () => nowMs,
 *   hasCachedBlocks: () => false,
 * });
 * manager.start();
 * manager.stageSubmitted(0, 0, 14); // 7 executors of 2 tasks
 * for (; nowMs < 5000; nowMs += 100) manager.schedule();
 * assertEquals(totals, [0, 1, 3, 7]); // after 1, 2 and 3 s
 * ```
 */
export class ExecutorAllocationManager {
  readonly #settings: AllocationSettings;
  readonly #context: AllocationContext;
  readonly #backlog: TaskBacklog;
  readonly #idle: IdleExecutors;
  #numExecutorsTarget: number;
  #numExecutorsToAdd = 1;
  /** When executors are added; null: nothing waits. */
  #addTimeMs: number | null = null;
  /** Before the first stage and the first timeout the target stays. */
  #isInitializing = true;
  /** Jobs that need each shuffle. */
  readonly #shuffleToActiveJobs = new Map<number, Set<number>>();
  readonly #stageToShuffle = new Map<number, number>();
  readonly #jobToStages = new Map<number, readonly number[]>();

  constructor(settings: AllocationSettings, context: AllocationContext) {
    this.#settings = settings;
    this.#context = context;
    this.#backlog = new TaskBacklog(settings.rules);
    this.#idle = new IdleExecutors(settings, {
      executors: context.executors,
      nowMs: () => context.nowMs(),
      hasCachedBlocks: (executor) => context.hasCachedBlocks(executor),
    });
    this.#numExecutorsTarget = settings.initialExecutors;
  }

  /** The number of executors that is wanted. */
  get numExecutorsTarget(): number {
    return this.#numExecutorsTarget;
  }

  /** Asks for the first executors. */
  start(): void {
    this.#request();
  }

  #request(): void {
    this.#context.client.requestTotalExecutors(this.#numExecutorsTarget);
  }

  /** One round: adjusts the target, removes executors whose time is over. */
  schedule(): void {
    const { allocationTracksAttempts } = this.#settings.rules.scheduler;
    if (!allocationTracksAttempts) this.#updateTarget();
    const timedOut = this.#idle.timedOut();
    if (timedOut.length > 0) this.#isInitializing = false;
    if (allocationTracksAttempts) this.#updateTarget();
    if (timedOut.length > 0) this.#removeExecutors(timedOut);
  }

  /**
   * The earliest time at which a round can do something, if no listener event comes before, in ms; Infinity: none will.
   * A host that skips the rounds before sees the same requests at the same times.
   */
  get nextRoundMs(): number {
    const nowMs = this.#context.nowMs();
    const idleMs = this.#nextRemovalMs(nowMs);
    if (this.#isInitializing) return idleMs;
    const target = this.#numExecutorsTarget;
    const { minExecutors, maxExecutors } = this.#settings;
    const maxNeeded = this.#maxNeeded;
    if (maxNeeded < target) return target > minExecutors || this.#numExecutorsToAdd !== 1 ? nowMs : idleMs;
    if (this.#addTimeMs === null) return idleMs;
    if (this.#addTimeMs > nowMs) return Math.min(idleMs, this.#addTimeMs);
    // Up to 3.0 a round that adds none puts the time of the next one off.
    const matters = !this.#settings.rules.scheduler.addTimerNeedsGrowth || this.#numExecutorsToAdd !== 1 ||
      target < Math.min(maxNeeded, maxExecutors);
    return matters ? nowMs : idleMs;
  }

  /** Since 3.0 executors whose time is over stay due where none may go: then only an event changes that. */
  #nextRemovalMs(nowMs: number): number {
    const timeoutMs = this.#idle.nextTimeoutMs;
    const { allocationTracksAttempts } = this.#settings.rules.scheduler;
    if (timeoutMs > nowMs || this.#isInitializing || !allocationTracksAttempts) return timeoutMs;
    const left = this.#idle.size - this.#idle.pendingRemovals;
    return left > Math.max(this.#settings.minExecutors, this.#numExecutorsTarget) ? timeoutMs : Infinity;
  }

  /** Executors that the waiting and running tasks could use (maxNumExecutorsNeeded). */
  get #maxNeeded(): number {
    const { allocationRatio, tasksPerExecutor, rules } = this.#settings;
    const pendingCopies = this.#backlog.pendingSpeculativeTasks;
    const tasks = this.#backlog.pendingTasks + pendingCopies + this.#backlog.runningTasks;
    const needed = Math.ceil(tasks * allocationRatio / tasksPerExecutor);
    // A copy has to run on another host than its original.
    const needsOther = rules.scheduler.addTimerNeedsGrowth && tasksPerExecutor > 1 &&
      needed === 1 && pendingCopies > 0;
    return needsOther ? needed + 1 : needed;
  }

  #updateTarget(): void {
    if (this.#isInitializing) return;
    const maxNeeded = this.#maxNeeded;
    if (maxNeeded < this.#numExecutorsTarget) {
      const before = this.#numExecutorsTarget;
      this.#numExecutorsTarget = Math.max(maxNeeded, this.#settings.minExecutors);
      this.#numExecutorsToAdd = 1;
      if (this.#numExecutorsTarget !== before) this.#request();
      return;
    }
    const nowMs = this.#context.nowMs();
    if (this.#addTimeMs === null || nowMs < this.#addTimeMs) return;
    const grew = this.#addExecutors(maxNeeded);
    if (grew || !this.#settings.rules.scheduler.addTimerNeedsGrowth) {
      this.#addTimeMs = nowMs + this.#settings.sustainedBacklogTimeoutMs;
    }
  }

  /** Adds 1, 2, 4, ... executors, as long as all of a round's could be asked for. @returns whether the target grew. */
  #addExecutors(maxNeeded: number): boolean {
    const { minExecutors, maxExecutors } = this.#settings;
    const before = this.#numExecutorsTarget;
    if (before >= maxExecutors) {
      this.#numExecutorsToAdd = 1;
      return false;
    }
    const within = (total: number) => Math.max(Math.min(total, maxExecutors), minExecutors);
    const wanted = Math.max(before, this.#idle.size) + this.#numExecutorsToAdd;
    this.#numExecutorsTarget = within(Math.min(wanted, maxNeeded));
    const delta = this.#numExecutorsTarget - before;
    if (delta === 0) {
      this.#numExecutorsToAdd = 1;
      if (!this.#waitsForCopiesAlone) return false;
      this.#numExecutorsTarget = within(maxNeeded + 1);
      this.#request();
      return true;
    }
    this.#request();
    this.#numExecutorsToAdd = delta === this.#numExecutorsToAdd ? this.#numExecutorsToAdd * 2 : 1;
    return delta > 0;
  }

  /** Up to 3.0 copies that wait for another host are noticed here. */
  get #waitsForCopiesAlone(): boolean {
    return !this.#settings.rules.scheduler.addTimerNeedsGrowth &&
      this.#backlog.pendingTasks === 0 && this.#backlog.pendingSpeculativeTasks > 0;
  }

  /** Removes executors, as far as the minimum and the target allow. */
  #removeExecutors(executors: readonly number[]): void {
    let total = this.#idle.size - this.#idle.pendingRemovals;
    const removable: number[] = [];
    for (const executor of executors) {
      if (total - 1 < Math.max(this.#settings.minExecutors, this.#numExecutorsTarget)) continue;
      removable.push(executor);
      total--;
    }
    if (removable.length === 0) return;
    const removed = this.#context.client.killExecutors(removable);
    this.#request();
    for (const executor of removed) this.#idle.killed(executor);
  }

  #onSchedulerBacklogged(): void {
    this.#addTimeMs ??= this.#context.nowMs() + this.#settings.backlogTimeoutMs;
  }

  #onSchedulerQueueEmpty(): void {
    this.#addTimeMs = null;
    this.#numExecutorsToAdd = 1;
  }

  // Listener events

  stageSubmitted(stageId: number, stageAttemptId: number, numTasks: number): void {
    this.#isInitializing = false;
    this.#backlog.stageSubmitted(stageId, stageAttemptId, numTasks);
    this.#onSchedulerBacklogged();
  }

  stageCompleted(stageId: number, stageAttemptId: number): void {
    if (this.#backlog.stageCompleted(stageId, stageAttemptId)) this.#onSchedulerQueueEmpty();
  }

  taskStart(task: AllocatedTask): void {
    this.#backlog.taskStarted(task);
    this.#idle.taskStarted(task.executor);
    if (!this.#backlog.hasPendingTasks) this.#onSchedulerQueueEmpty();
  }

  taskEnd(task: AllocatedTask, reason: TaskEndReason): void {
    const end = reason.reason === "Success" ? "success" : reason.reason === "TaskKilled" ? "killed" : "failed";
    if (end === "success") this.#noteShuffle(task);
    this.#idle.taskEnded(task.executor);
    const waitsAgain = this.#settings.rules.scheduler.allocationTracksAttempts ? end === "failed" : end !== "success";
    // The task will be launched again: there is a backlog before it shows.
    if (waitsAgain && !this.#backlog.hasPendingTasks) this.#onSchedulerBacklogged();
    this.#backlog.taskEnded(task, end);
  }

  speculativeTaskSubmitted(stageId: number, stageAttemptId: number, index: number): void {
    this.#backlog.speculativeTaskSubmitted(stageId, stageAttemptId, index);
    this.#onSchedulerBacklogged();
  }

  executorAdded(executor: number): void {
    this.#idle.add(executor);
  }

  executorRemoved(executor: number): void {
    this.#idle.remove(executor);
  }

  /** A block of a cached RDD was stored in an executor, or is gone. */
  blockUpdated(executor: number): void {
    this.#idle.blocksChanged(executor);
  }

  /** `shuffles`: of the job's map stages, by stage id. */
  jobStart(jobId: number, shuffles: ReadonlyMap<number, number>): void {
    if (this.#settings.shuffleTimeoutMs === null) return;
    let isShared = false;
    for (const [stageId, shuffleId] of shuffles) {
      const jobs = this.#shuffleToActiveJobs.get(shuffleId);
      if (jobs !== undefined) isShared = true;
      this.#shuffleToActiveJobs.set(shuffleId, (jobs ?? new Set()).add(jobId));
      this.#stageToShuffle.set(stageId, shuffleId);
    }
    this.#jobToStages.set(jobId, [...shuffles.keys()]);
    if (isShared) this.#updateActiveShuffles();
  }

  jobEnd(jobId: number): void {
    if (this.#settings.shuffleTimeoutMs === null) return;
    for (const jobs of this.#shuffleToActiveJobs.values()) jobs.delete(jobId);
    this.#updateActiveShuffles();
    for (const stageId of this.#jobToStages.get(jobId) ?? []) this.#stageToShuffle.delete(stageId);
    this.#jobToStages.delete(jobId);
  }

  #updateActiveShuffles(): void {
    this.#idle.activeShufflesChanged((shuffleId) => (this.#shuffleToActiveJobs.get(shuffleId)?.size ?? 0) > 0);
  }

  #noteShuffle(task: AllocatedTask): void {
    const shuffleId = this.#stageToShuffle.get(task.stageId);
    if (shuffleId !== undefined) this.#idle.wroteShuffle(task.executor, shuffleId);
  }
}
