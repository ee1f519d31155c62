/**
 * Which running tasks are slow enough for a second copy (TaskSetManager.checkSpeculatableTasks).
 *
 * @module
 */
import type { SparkRules } from "../../spark/versions.ts";
import type { SpeculationSettings } from "./settings.ts";
import { SuccessfulTaskDurations } from "./successful_task_durations.ts";
import { TaskProcessRates } from "./task_process_rates.ts";

/** A task that runs. */
export interface RunningTask {
  readonly tid: number;
  readonly runTimeMs: number;
}

/** What one task set knows about how long its tasks take. */
export class Speculation {
  readonly #settings: SpeculationSettings;
  readonly #rules: SparkRules;
  readonly #numTasks: number;
  readonly #durations = new SuccessfulTaskDurations();
  readonly #processRates: TaskProcessRates | null;

  constructor(
    settings: SpeculationSettings,
    rules: SparkRules,
    numTasks: number,
  ) {
    this.#settings = settings;
    this.#rules = rules;
    this.#numTasks = numTasks;
    this.#processRates = settings.efficiency === null ? null : new TaskProcessRates();
  }

  /** A partition was completed in so long. */
  noteDuration(durationMs: number): void {
    this.#durations.insert(durationMs);
  }

  /** An attempt succeeded having read so many records. */
  noteProgress(
    tid: number,
    progress: { readonly records: number; readonly runTimeMs: number },
  ): void {
    this.#processRates?.taskFinished(tid, progress.records, progress.runTimeMs);
  }

  /** A heartbeat told how fast a running attempt gets through its records. */
  updateProcessRate(tid: number, recordsPerSecond: number): void {
    this.#processRates?.update(tid, recordsPerSecond);
  }

  /**
   * The test for slow tasks at this moment; null when it is too early to tell: not enough tasks have finished, or the set
   * has one task alone and no fixed threshold.
   */
  slowTest(tasksSuccessful: number): ((task: RunningTask) => boolean) | null {
    const { quantile, multiplier, minTaskRuntimeMs, slotsPerExecutor } = this.#settings;
    const fixedMs = this.#rules.scheduler.copiesWaitByLocality ? this.#settings.taskDurationThresholdMs ?? 0 : 0;
    if (this.#numTasks === 1 && fixedMs <= 0) return null;
    if (this.#enoughFinished(quantile, tasksSuccessful)) {
      const thresholdMs = Math.max(multiplier * this.#typicalMs(), minTaskRuntimeMs);
      return (task) => task.runTimeMs > thresholdMs && this.#isInefficient(task, thresholdMs);
    }
    if (fixedMs > 0 && this.#numTasks <= slotsPerExecutor) {
      return (task) => task.runTimeMs > fixedMs;
    }
    return null;
  }

  #typicalMs(): number {
    switch (this.#rules.scheduler.typicalDuration) {
      case "upperMedian":
        return this.#durations.upperMedian();
      case "meanOfMiddle":
        return this.#durations.meanOfMiddle();
      case "afterHalf":
        return this.#durations.afterHalf();
    }
  }

  #enoughFinished(quantile: number, tasksSuccessful: number): boolean {
    const needed = Math.max(Math.floor(quantile * this.#numTasks), 1);
    return this.#rules.scheduler.copiesWaitByLocality ? this.#durations.size >= needed : tasksSuccessful >= needed;
  }

  #isInefficient(task: RunningTask, thresholdMs: number): boolean {
    const { efficiency } = this.#settings;
    if (efficiency === null || this.#processRates === null) return true;
    return task.runTimeMs > efficiency.longRunTaskFactor * thresholdMs ||
      this.#processRates.isInefficient(task.tid, efficiency.processRateMultiplier);
  }
}
