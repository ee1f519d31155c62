/**
 * The attempts of each task of a set (TaskSetManager.taskAttempts, taskInfos).
 *
 * @module
 */
import { mapKeyOrder } from "./hash_map_order.ts";
import type { ScalaCollections } from "./hash_set_order.ts";
import type { TaskInfos } from "./task_infos.ts";

/** Who has run what: chains of attempts by task, newest first, in the columns of TaskInfos. */
export class TaskAttempts {
  readonly #infos: TaskInfos;
  readonly #collections: ScalaCollections;
  /** Newest attempt of each task, -1 for none. */
  readonly #newest: Int32Array;
  readonly #count: Int32Array;
  /** All task ids in the order of launching. */
  readonly #tids: number[] = [];

  constructor(infos: TaskInfos, collections: ScalaCollections, numTasks: number) {
    this.#infos = infos;
    this.#collections = collections;
    this.#newest = new Int32Array(numTasks).fill(-1);
    this.#count = new Int32Array(numTasks);
  }

  /** Adds an attempt. */
  add(tid: number, index: number): void {
    this.#infos.attempt[tid] = this.#count[index]++;
    this.#infos.previous[tid] = this.#newest[index];
    this.#newest[index] = tid;
    this.#tids.push(tid);
  }

  /** The newest attempt of a task, -1 for none; those before it are chained by TaskInfos.previous. */
  newest(index: number): number {
    return this.#newest[index];
  }

  /** An attempt of the task runs or ran on a host. */
  hasAttemptOnHost(index: number, host: number): boolean {
    const { previous, host: hosts } = this.#infos;
    for (let tid = this.#newest[index]; tid >= 0; tid = previous[tid]) {
      if (hosts[tid] === host) return true;
    }
    return false;
  }

  /** Attempts that were launched on an executor, in the order of Scala's HashMap by task id. */
  onExecutor(executor: number): number[] {
    const on = (tid: number) => this.#infos.executor[tid] === executor;
    const launched = this.#tids.filter(on);
    return launched.length < 2 ? launched : mapKeyOrder(this.#collections, this.#tids).filter(on);
  }
}
