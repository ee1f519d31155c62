/**
 * Delay scheduling: which locality levels a task set has, and how far from its preference it may launch now
 * (TaskSetManager.getAllowedLocalityLevel, computeValidLocalityLevels, recomputeLocality).
 *
 * @module
 */
import type { PendingTasks } from "./pending_tasks.ts";
import type { SchedulerSettings } from "./settings.ts";
import { ANY, NO_PREF, NODE_LOCAL, PROCESS_LOCAL, RACK_LOCAL } from "./task_location.ts";

/** Which executors and hosts are there. */
export interface AliveExecutors {
  isExecutorAlive(executor: number): boolean;
  hasExecutorsAliveOnHost(host: number): boolean;
}

/** The locality levels of one task set and its timer. */
export class DelayScheduling {
  /** Levels that make sense for the set's preferences and the executors there are, nearest first. */
  levels: number[];
  readonly #pending: PendingTasks;
  readonly #alive: AliveExecutors;
  readonly #settings: SchedulerSettings;
  /** Index in `levels` of the level that is allowed now. */
  #current = 0;
  /** When a task was last launched at the level, or the wait there began. */
  #lastResetMs: number;

  constructor(
    pending: PendingTasks,
    alive: AliveExecutors,
    options: { readonly settings: SchedulerSettings; readonly nowMs: number },
  ) {
    this.#pending = pending;
    this.#alive = alive;
    this.#settings = options.settings;
    this.#lastResetMs = options.nowMs;
    this.levels = this.#validLevels();
  }

  #validLevels(): number[] {
    const levels: number[] = [];
    const { forExecutor, forHost, noPrefs } = this.#pending;
    if (forExecutor.hasKey((key) => this.#alive.isExecutorAlive(key))) {
      levels.push(PROCESS_LOCAL);
    }
    if (forHost.hasKey((key) => this.#alive.hasExecutorsAliveOnHost(key))) {
      levels.push(NODE_LOCAL);
    }
    if (noPrefs.length > 0) levels.push(NO_PREF);
    levels.push(ANY);
    return levels;
  }

  #waitMs(level: number): number {
    const waits = this.#settings.localityWaitMs;
    switch (level) {
      case PROCESS_LOCAL:
        return waits.process;
      case NODE_LOCAL:
        return waits.node;
      case RACK_LOCAL:
        return waits.rack;
      default:
        return 0;
    }
  }

  #hasTasksAt(level: number): boolean {
    switch (level) {
      case PROCESS_LOCAL:
        return this.#pending.forExecutor.hasTask();
      case NODE_LOCAL:
        return this.#pending.forHost.hasTask();
      default:
        return this.#pending.noPrefs.length > 0;
    }
  }

  /** The farthest level at which a task may be launched now; moves on when a level has no task or its wait is over. */
  allowedLevel(nowMs: number): number {
    const levels = this.levels;
    while (this.#current < levels.length - 1) {
      const waitMs = this.#waitMs(levels[this.#current]);
      if (!this.#hasTasksAt(levels[this.#current])) {
        this.#lastResetMs = nowMs;
      } else if (nowMs - this.#lastResetMs >= waitMs) {
        this.#lastResetMs += waitMs;
      } else {
        return levels[this.#current];
      }
      this.#current++;
    }
    return levels[this.#current];
  }

  /** Starts the wait anew, at the level of `locality` unless it is null. */
  resetTimer(locality: number | null, nowMs: number): void {
    this.#lastResetMs = nowMs;
    if (locality !== null) this.#current = this.#indexOf(locality);
  }

  /** First level that is as far as `locality`, or farther. */
  #indexOf(locality: number): number {
    let index = 0;
    while (locality > this.levels[index]) index++;
    return index;
  }

  /** Finds the levels anew after executors came or went. */
  recompute(): void {
    const before = this.#current;
    const levelBefore = this.levels[before];
    const levelsBefore = this.levels;
    this.levels = this.#validLevels();
    this.#current = this.#indexOf(levelBefore);
    if (
      this.#settings.rules.scheduler.localityReturnsToNewLevel && this.#current > before
    ) {
      const added = this.levels.find((level) => !levelsBefore.includes(level));
      if (added !== undefined) this.#current = this.#indexOf(added);
    }
  }
}
