/**
 * Decides which attempt of a task may commit its output (org.apache.spark.scheduler.OutputCommitCoordinator).
 *
 * @module
 */
import type { TaskEndReason } from "../../spark/events.ts";

/** An attempt of a task: attempt of the stage, attempt of the task. */
export interface TaskIdentifier {
  readonly stageAttempt: number;
  readonly taskAttempt: number;
}

/** One stage: who holds each partition's permission, and who failed. */
class StageState {
  readonly authorized = new Map<number, TaskIdentifier>();
  readonly #failures = new Map<number, TaskIdentifier[]>();

  hasFailed(partition: number, attempt: TaskIdentifier): boolean {
    return this.#failures.get(partition)?.some((failed) => isSame(failed, attempt)) ?? false;
  }

  noteFailure(partition: number, attempt: TaskIdentifier): void {
    const failures = this.#failures.get(partition);
    if (failures === undefined) this.#failures.set(partition, [attempt]);
    else failures.push(attempt);
  }
}

function isSame(a: TaskIdentifier, b: TaskIdentifier): boolean {
  return a.stageAttempt === b.stageAttempt && a.taskAttempt === b.taskAttempt;
}

/**
 * First come, first served: once an attempt has the permission for a partition, every other is denied, until that attempt
 * fails or the stage ends.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { OutputCommitCoordinator } from "./output_commit_coordinator.ts";
 *
 * const coordinator = new OutputCommitCoordinator();
 * coordinator.stageStart(3);
 * const first = { stageAttempt: 0, taskAttempt: 0 };
 * const second = { stageAttempt: 0, taskAttempt: 1 };
 * assertEquals(coordinator.canCommit(3, 7, first), true);
 * assertEquals(coordinator.canCommit(3, 7, second), false);
 * coordinator.taskCompleted(3, 7, { ...first, reason: { reason: "TaskResultLost" } });
 * assertEquals(coordinator.canCommit(3, 7, second), true);
 * ```
 */
export class OutputCommitCoordinator {
  readonly #stages = new Map<number, StageState>();

  /** A stage is submitted; what an earlier attempt of it was granted stays. */
  stageStart(stageId: number): void {
    if (!this.#stages.has(stageId)) {
      this.#stages.set(stageId, new StageState());
    }
  }

  /** A stage ended for good: nobody may commit any more. */
  stageEnd(stageId: number): void {
    this.#stages.delete(stageId);
  }

  /** Whether an attempt may commit its partition now. A denied task ends with TaskCommitDenied. */
  canCommit(
    stageId: number,
    partition: number,
    attempt: TaskIdentifier,
  ): boolean {
    const state = this.#stages.get(stageId);
    if (state === undefined || state.hasFailed(partition, attempt)) {
      return false;
    }
    if (state.authorized.has(partition)) return false;
    state.authorized.set(partition, attempt);
    return true;
  }

  /** A task ended: a failure gives its permission back, and it gets none any more. */
  taskCompleted(
    stageId: number,
    partition: number,
    end: TaskIdentifier & { readonly reason: TaskEndReason },
  ): void {
    const { reason } = end.reason;
    if (reason === "Success" || reason === "TaskCommitDenied") return;
    const state = this.#stages.get(stageId);
    if (state === undefined) return;
    const { stageAttempt, taskAttempt } = end;
    const attempt = { stageAttempt, taskAttempt };
    state.noteFailure(partition, attempt);
    const holder = state.authorized.get(partition);
    if (holder !== undefined && isSame(holder, attempt)) {
      state.authorized.delete(partition);
    }
  }
}
