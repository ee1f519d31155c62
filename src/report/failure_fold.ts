/**
 * Failed and killed tasks of a run, by kind.
 *
 * @module
 */
import type { TaskEnd } from "../spark/events.ts";
import type { FailureGroup } from "./run_facts.ts";

/** Kinds that are kept apart at most; a message is cut to so many characters. */
export const MAX_GROUPS = 64;
/** See {@linkcode MAX_GROUPS}. */
export const MAX_MESSAGE = 4000;

/** Counts a key, as long as there are not too many different ones. */
export function count(counts: Map<string, number>, key: string): void {
  if (counts.size >= MAX_GROUPS && !counts.has(key)) return;
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Groups failures by exception and message. */
export class FailureFold {
  /** Kill reasons with their counts. */
  readonly kills = new Map<string, number>();
  /** Tasks that failed because their executor was lost, by executor. */
  readonly tasksLost = new Map<string, number>();
  /** Tasks that ended with an OutOfMemoryError, of the JVM or of Spark's memory manager. */
  oomTasks = 0;
  readonly #groups = new Map<string, FailureGroup>();

  /** Kinds of failures, in the order in which they came. */
  get groups(): FailureGroup[] {
    return [...this.#groups.values()];
  }

  /** Takes the end of a task that did not succeed. */
  taskEnd(event: TaskEnd): void {
    const { reason } = event;
    if (reason.reason === "TaskKilled") return count(this.kills, reason.killReason.slice(0, MAX_MESSAGE));
    let className = "";
    let message = "";
    switch (reason.reason) {
      case "ExceptionFailure":
        className = reason.className;
        message = reason.description;
        if (/OutOfMemoryError$/.test(className)) this.oomTasks++;
        break;
      case "FetchFailed":
        message = reason.message;
        break;
      case "ExecutorLostFailure":
        message = reason.lossReason ?? "";
        this.tasksLost.set(reason.executorId, (this.tasksLost.get(reason.executorId) ?? 0) + 1);
        break;
    }
    const group = this.#group(reason.reason, className, message);
    if (group === null) return;
    group.count++;
    group.stageIds.add(event.stageId);
    group.executorIds.add(event.executorId);
  }

  #group(reason: FailureGroup["reason"], className: string, message: string): FailureGroup | null {
    // Messages of one kind differ in numbers and addresses.
    const key = `${reason} ${className} ${message.split("\n", 1)[0].slice(0, 200).replace(/\d+/g, "#")}`;
    let group = this.#groups.get(key);
    if (group === undefined) {
      if (this.#groups.size >= MAX_GROUPS) return null;
      group = {
        reason,
        className,
        message: message.slice(0, MAX_MESSAGE),
        count: 0,
        stageIds: new Set(),
        executorIds: new Set(),
      };
      this.#groups.set(key, group);
    }
    return group;
  }
}
