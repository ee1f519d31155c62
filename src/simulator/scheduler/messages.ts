/**
 * Texts of the task set manager's messages, as the versions word them.
 *
 * @module
 */
import { bytesToString } from "../../spark/sizes.ts";
import type { SparkRules } from "../../spark/versions.ts";

/**
 * Why a stage is aborted for its results (TaskSetManager.canFetchMoreResults).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { resultsTooLarge } from "./messages.ts";
 * import { rulesFor } from "../../spark/versions.ts";
 *
 * assertEquals(
 *   resultsTooLarge({ count: 3, totalBytes: 1746, maxResultSize: 1745 }, rulesFor("2.4.0")),
 *   "Total size of serialized results of 3 tasks (1746.0 B) is bigger than spark.driver.maxResultSize (1745.0 B)",
 * );
 * ```
 */
export function resultsTooLarge(
  sizes: { count: number; totalBytes: number; maxResultSize: number },
  rules: SparkRules,
): string {
  const shown = (bytes: number) => bytesToString(bytes, rules.texts.unitStyle);
  return `Total size of serialized results of ${sizes.count} tasks (${
    shown(sizes.totalBytes)
  }) is bigger than spark.driver.maxResultSize (${shown(sizes.maxResultSize)})`;
}

/** How a message names an attempt. */
export interface AttemptName {
  readonly index: number;
  readonly attempt: number;
  /** `stage.attempt` */
  readonly taskSetId: string;
  readonly tid: number;
  readonly host: string;
  readonly executorId: string;
}

/** "Lost task ...", the failure that an abort quotes (TaskSetManager.handleFailedTask). */
export function lostTask(
  task: AttemptName,
  error: string,
  rules: SparkRules,
): string {
  const where = {
    host: `, ${task.host})`,
    hostExecutor: `, ${task.host}, executor ${task.executorId})`,
    separate: `) (${task.host} executor ${task.executorId})`,
  }[rules.scheduler.lostTaskText];
  return `Lost task ${task.index}.${task.attempt} in stage ${task.taskSetId} (TID ${task.tid}${where}: ${error}`;
}

/** A partition failed too often. */
export function failedTooOften(
  task: AttemptName,
  maxTaskFailures: number,
  lastFailure: string,
): string {
  return `Task ${task.index} in stage ${task.taskSetId} failed ${maxTaskFailures} times, ` +
    `most recent failure: ${lastFailure}\nDriver stacktrace:`;
}

/** A result cannot be serialized. */
export function notSerializableResult(
  task: AttemptName,
  description: string,
  rules: SparkRules,
): string {
  const prefix = rules.scheduler.lostTaskText === "separate" ? "task" : "Task";
  return `${prefix} ${task.index}.${task.attempt} in stage ${task.taskSetId} ` +
    `(TID ${task.tid}) had a not serializable result: ${description}`;
}

/** An output file exists already. */
export function outputFileExists(
  task: AttemptName,
  description: string,
): string {
  return `Task ${task.index}.${task.attempt} in stage ${task.taskSetId} ` +
    `(TID ${task.tid}) can not write to output file: ${description}`;
}
