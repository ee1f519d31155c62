/**
 * Which task of a set is launched next on an offered executor (TaskSetManager.dequeueTask).
 *
 * @module
 */
import type { SparkRules } from "../../spark/versions.ts";
import type { NameTable } from "./names.ts";
import { PendingTasks } from "./pending_tasks.ts";
import { SpeculatableTasks } from "./speculatable_tasks.ts";
import type { TaskAttempts } from "./task_attempts.ts";
import { ANY, NO_PREF, NODE_LOCAL, PROCESS_LOCAL, type TaskLocations } from "./task_location.ts";

/** What the queue sees of the tasks, by index. */
export interface TaskStates {
  /** Attempts that run. */
  readonly copiesRunning: Int32Array;
  /** 1 when an attempt has succeeded. */
  readonly successful: Uint8Array;
  readonly attempts: TaskAttempts;
}

/** Tasks that wait for their first launch or for the next one, and tasks that may get a second copy. */
export class LaunchQueue {
  readonly pending: PendingTasks;
  /** What the last dequeue took, besides the index. */
  takenLocality = ANY;
  takenIsCopy = false;
  readonly #states: TaskStates;
  readonly #locations: TaskLocations | null;
  readonly #speculatable: SpeculatableTasks;
  /** Second copies wait here since 3.0; null before. */
  readonly #copies: PendingTasks | null;

  constructor(
    states: TaskStates,
    locations: TaskLocations | null,
    context: { readonly rules: SparkRules; readonly executors: NameTable; readonly hosts: NameTable },
  ) {
    const { hashOrder, copiesWaitByLocality } = context.rules.scheduler;
    this.#states = states;
    this.#locations = locations;
    const endsWithPending = (list: number[]) => this.#endsWithPending(list);
    const lists = () => new PendingTasks(hashOrder, context, endsWithPending);
    this.pending = lists();
    this.#copies = copiesWaitByLocality ? lists() : null;
    this.#speculatable = new SpeculatableTasks(hashOrder, locations);
  }

  /** Some list has an entry; the task may have been launched from another list meanwhile. */
  get hasEntries(): boolean {
    return this.pending.all.length > 0 || (this.#copies !== null && this.#copies.all.length > 0);
  }

  /** Puts a task on the lists. */
  add(index: number): void {
    this.pending.add(index, this.#locations);
  }

  /** Lets a running task have a second copy. */
  addCopy(index: number): void {
    this.#copies?.add(index, this.#locations);
    this.#speculatable.add(index);
  }

  /** The task waits for its second copy. */
  isSpeculatable(index: number): boolean {
    return this.#speculatable.has(index);
  }

  /** The list's last task waits; those behind it that do not are taken off. */
  #endsWithPending(list: number[]): boolean {
    const { copiesRunning, successful } = this.#states;
    while (list.length > 0) {
      const index = list[list.length - 1];
      if (copiesRunning[index] === 0 && successful[index] === 0) return true;
      list.pop();
    }
    return false;
  }

  /** Takes a task that may run on the executor at `maxLocality` or nearer, pending ones before copies; -1 for none. */
  dequeue(executor: number, host: number, maxLocality: number): number {
    this.takenIsCopy = false;
    const index = this.#dequeueFrom(this.pending, executor, host, maxLocality);
    if (index >= 0 || this.#speculatable.size === 0) return index;
    this.takenIsCopy = true;
    return this.#copies === null
      ? this.#dequeueSpeculatable(executor, host, maxLocality)
      : this.#dequeueFrom(this.#copies, executor, host, maxLocality);
  }

  #dequeueFrom(
    lists: PendingTasks,
    executor: number,
    host: number,
    maxLocality: number,
  ): number {
    let index = this.#takeFrom(lists.forExecutor.get(executor), host);
    this.takenLocality = PROCESS_LOCAL;
    if (index < 0 && maxLocality >= NODE_LOCAL) {
      index = this.#takeFrom(lists.forHost.get(host), host);
      if (index >= 0) this.takenLocality = NODE_LOCAL;
    }
    // A task without preference counts as process-local.
    if (index < 0 && maxLocality >= NO_PREF) {
      index = this.#takeFrom(lists.noPrefs, host);
    }
    if (index < 0 && maxLocality >= ANY) {
      index = this.#takeFrom(lists.all, host);
      this.takenLocality = ANY;
    }
    return index;
  }

  /** Takes the last task of a list that needs a launch, dropping those that do not; -1 when there is none. */
  #takeFrom(list: number[] | undefined, host: number): number {
    if (list === undefined) return -1;
    const { copiesRunning, successful, attempts } = this.#states;
    const isCopy = this.takenIsCopy;
    for (let offset = list.length - 1; offset >= 0; offset--) {
      const index = list[offset];
      if (isCopy && attempts.hasAttemptOnHost(index, host)) continue;
      if (offset === list.length - 1) list.pop();
      else list.splice(offset, 1);
      if (successful[index] !== 0) continue;
      const running = copiesRunning[index];
      if (running === 0 || (isCopy && running === 1)) {
        if (isCopy) this.#speculatable.delete(index);
        return index;
      }
    }
    return -1;
  }

  #dequeueSpeculatable(
    executor: number,
    host: number,
    maxLocality: number,
  ): number {
    const { successful, attempts } = this.#states;
    const taken = this.#speculatable.dequeue({ executor, host, maxLocality }, {
      isSuccessful: (index) => successful[index] !== 0,
      mayRun: (index) => !attempts.hasAttemptOnHost(index, host),
    });
    if (taken === null) return -1;
    this.takenLocality = taken.locality;
    return taken.index;
  }
}
