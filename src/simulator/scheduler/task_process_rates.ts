/**
 * How fast tasks get through their records, for efficiency-aware speculation
 * (TaskSetManager.TaskProcessRateCalculator, since 3.4, SPARK-32170).
 *
 * @module
 */

/** TaskSchedulerImpl.getTaskProcessRate: records a second, 0 where one of the figures is 0. */
export function taskProcessRate(records: number, runTimeMs: number): number {
  return runTimeMs > 0 && records > 0 ? records / (runTimeMs / 1000) : 0;
}

/**
 * The rates of one task set. An executor tells no run time of a task that runs (Executor.reportHeartBeat, 3.4.4 to 4.2.0: executorRunTime
 * is set at its end), so that in Spark, and in simulations, a running task has the rate 0; recorded events can have others.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TaskProcessRates } from "./task_process_rates.ts";
 *
 * const rates = new TaskProcessRates();
 * assertEquals(rates.isInefficient(7, 0.75), true); // nothing known yet
 * rates.taskFinished(1, 1000, 2000); // 500 records a second
 * rates.update(7, 400);
 * assertEquals(rates.isInefficient(7, 0.75), false);
 * rates.update(7, 300);
 * assertEquals(rates.isInefficient(7, 0.75), true);
 * ```
 */
export class TaskProcessRates {
  #totalRecords = 0;
  #totalRunTimeMs = 0;
  #average = Number.MAX_VALUE;
  readonly #running = new Map<number, number>();

  /** A task succeeded having read `records` (shuffle and input) in `runTimeMs`. */
  taskFinished(tid: number, records: number, runTimeMs: number): void {
    this.#totalRecords += records;
    this.#totalRunTimeMs += runTimeMs;
    if (this.#totalRecords > 0 && this.#totalRunTimeMs > 0) {
      this.#average = taskProcessRate(this.#totalRecords, this.#totalRunTimeMs);
    }
    this.#running.delete(tid);
  }

  /** A heartbeat told the rate of a running task. */
  update(tid: number, rate: number): void {
    this.#running.set(tid, rate);
  }

  /** The running task is slower than `multiplier` times the average of the finished ones. */
  isInefficient(tid: number, multiplier: number): boolean {
    return (this.#running.get(tid) ?? 0) < this.#average * multiplier;
  }
}
