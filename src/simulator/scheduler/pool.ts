/**
 * The root pool: task sets in the order in which they are offered resources (org.apache.spark.scheduler.Pool with
 * FIFOSchedulingAlgorithm).
 *
 * @module
 */
import type { TaskSetManager } from "./task_set_manager.ts";

/** Task sets by job, then by stage; equal ones in the order of submission. */
export class FifoPool {
  /** In the order of submission: executor loss and speculation walk it. */
  readonly #queue: TaskSetManager[] = [];
  #sorted: TaskSetManager[] | null = null;

  add(manager: TaskSetManager): void {
    this.#queue.push(manager);
    this.#sorted = null;
  }

  /** Removes it; nothing when it is not there. */
  remove(manager: TaskSetManager): void {
    const at = this.#queue.indexOf(manager);
    if (at < 0) return;
    this.#queue.splice(at, 1);
    this.#sorted = null;
  }

  /** A copy in the order of submission: what is done to them may remove them. */
  inSubmissionOrder(): TaskSetManager[] {
    return this.#queue.slice();
  }

  /** FIFO order; valid until the pool changes. */
  sorted(): readonly TaskSetManager[] {
    this.#sorted ??= this.#queue.slice().sort((a, b) =>
      a.taskSet.priority - b.taskSet.priority || a.stageId - b.stageId
    );
    return this.#sorted;
  }
}
