/**
 * How many tasks wait and run, as dynamic allocation counts them from listener events
 * (org.apache.spark.ExecutorAllocationManager.ExecutorAllocationListener).
 *
 * @module
 */
import type { SparkRules } from "../../spark/versions.ts";

/** What is known of a stage (up to 2.4) or of a stage attempt. */
interface StageTasks {
  /** null: not submitted, or completed. */
  numTasks: number | null;
  running: number;
  /** Indices launched, apart from copies. */
  launched: Set<number> | null;
  /** Copies asked for: their number, or since 3.4 the indices that wait. */
  copiesAsked: number;
  copiesPending: Set<number> | null;
  /** Indices of which a copy was launched (2.4) or runs. */
  copiesLaunched: Set<number> | null;
}

/** Key of an entry: stages have fewer attempts than this. */
const ATTEMPTS = 1 << 20;

/** A launch or an end of an attempt. */
export interface TaskEvent {
  readonly stageId: number;
  readonly stageAttemptId: number;
  readonly index: number;
  readonly speculative: boolean;
}

/** The counts. */
export class TaskBacklog {
  readonly #rules: SparkRules;
  readonly #stages = new Map<number, StageTasks>();

  constructor(rules: SparkRules) {
    this.#rules = rules;
  }

  get #byAttempt(): boolean {
    return this.#rules.scheduler.allocationTracksAttempts;
  }

  #key(stageId: number, stageAttemptId: number): number {
    return this.#byAttempt ? stageId * ATTEMPTS + stageAttemptId : stageId;
  }

  #entry(stageId: number, stageAttemptId: number): StageTasks {
    const key = this.#key(stageId, stageAttemptId);
    let entry = this.#stages.get(key);
    if (entry === undefined) {
      entry = {
        numTasks: null,
        running: 0,
        launched: null,
        copiesAsked: 0,
        copiesPending: null,
        copiesLaunched: null,
      };
      this.#stages.set(key, entry);
    }
    return entry;
  }

  stageSubmitted(stageId: number, stageAttemptId: number, numTasks: number): void {
    const entry = this.#entry(stageId, stageAttemptId);
    entry.numTasks = numTasks;
    if (!this.#byAttempt) entry.running = 0;
  }

  /** @returns whether nothing is left that tasks could wait for. */
  stageCompleted(stageId: number, stageAttemptId: number): boolean {
    const key = this.#key(stageId, stageAttemptId);
    const entry = this.#stages.get(key);
    if (entry !== undefined) {
      entry.numTasks = null;
      entry.launched = null;
      entry.copiesAsked = 0;
      entry.copiesPending = null;
      entry.copiesLaunched = null;
      // Zombie attempts go on running: since 3.0 they are counted until they end.
      if (!this.#byAttempt) entry.running = 0;
      this.#dropUnused(key, entry);
    }
    for (const { numTasks, copiesAsked, copiesPending, copiesLaunched } of this.#stages.values()) {
      if (numTasks !== null || copiesAsked > 0 || copiesPending !== null) return false;
      if (this.#rules.scheduler.copiesCountByIndex && copiesLaunched !== null) return false;
    }
    return true;
  }

  #dropUnused(key: number, entry: StageTasks): void {
    if (entry.numTasks === null && entry.running === 0 && entry.launched === null) {
      if (entry.copiesPending === null && entry.copiesLaunched === null) this.#stages.delete(key);
    }
  }

  taskStarted(task: TaskEvent): void {
    const entry = this.#entry(task.stageId, task.stageAttemptId);
    if (this.#byAttempt || entry.numTasks !== null) entry.running++;
    if (!task.speculative) {
      entry.launched ??= new Set();
      entry.launched.add(task.index);
      return;
    }
    entry.copiesLaunched ??= new Set();
    entry.copiesLaunched.add(task.index);
    entry.copiesPending?.delete(task.index);
  }

  /** `end`: success, intentional kill, or a failure after which the task is launched again. */
  taskEnded(task: TaskEvent, end: "success" | "killed" | "failed"): void {
    const key = this.#key(task.stageId, task.stageAttemptId);
    const entry = this.#stages.get(key);
    if (entry === undefined) return;
    // Up to 2.4 the ends of an older attempt's tasks count for the stage, too, so that it can fall below 0.
    if (this.#byAttempt ? entry.running > 0 : entry.numTasks !== null) entry.running--;
    if (this.#byAttempt) this.#endSince30(task, entry, end);
    else if (end !== "success") {
      (task.speculative ? entry.copiesLaunched : entry.launched)?.delete(task.index);
    }
    this.#dropUnused(key, entry);
  }

  #endSince30(
    task: TaskEvent,
    entry: StageTasks,
    end: "success" | "killed" | "failed",
  ): void {
    if (task.speculative) {
      entry.copiesLaunched?.delete(task.index);
      if (entry.copiesAsked > 0) entry.copiesAsked--;
    }
    if (end === "success") entry.copiesPending?.delete(task.index);
    // A killed task has been completed by its copy: it does not wait again (SPARK-30511).
    else if (end === "failed" && !task.speculative) entry.launched?.delete(task.index);
  }

  speculativeTaskSubmitted(stageId: number, stageAttemptId: number, index: number): void {
    const entry = this.#entry(stageId, stageAttemptId);
    if (this.#rules.scheduler.copiesCountByIndex) {
      entry.copiesPending ??= new Set();
      entry.copiesPending.add(index);
    } else entry.copiesAsked++;
  }

  /** Tasks that wait for their launch, copies apart. */
  get pendingTasks(): number {
    let pending = 0;
    for (const entry of this.#stages.values()) pending += this.#pendingOf(entry);
    return pending;
  }

  #pendingOf({ numTasks, launched }: StageTasks): number {
    if (numTasks === null && !this.#byAttempt) return 0;
    return (numTasks ?? 0) - (launched?.size ?? 0);
  }

  /** Copies that wait for their launch. */
  get pendingSpeculativeTasks(): number {
    let pending = 0;
    for (const entry of this.#stages.values()) pending += this.#pendingCopiesOf(entry);
    return pending;
  }

  #pendingCopiesOf({ copiesAsked, copiesPending, copiesLaunched }: StageTasks): number {
    if (this.#rules.scheduler.copiesCountByIndex) return copiesPending?.size ?? 0;
    return copiesAsked === 0 ? 0 : copiesAsked - (copiesLaunched?.size ?? 0);
  }

  /** Something waits. */
  get hasPendingTasks(): boolean {
    if (!this.#byAttempt) return this.pendingTasks + this.pendingSpeculativeTasks !== 0;
    for (const entry of this.#stages.values()) {
      if (this.#pendingOf(entry) > 0 || this.#pendingCopiesOf(entry) > 0) return true;
    }
    return false;
  }

  /** Tasks that run. */
  get runningTasks(): number {
    let running = 0;
    for (const entry of this.#stages.values()) running += entry.running;
    return running;
  }
}
