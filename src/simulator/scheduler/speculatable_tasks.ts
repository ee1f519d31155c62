/**
 * Tasks of a set that may get a second copy, and in what order they are offered
 * (TaskSetManager.speculatableTasks, dequeueSpeculativeTask, pendingSpeculatableTasks).
 *
 * @module
 */
import { type IntSet, newIntSet } from "./hash_set_order.ts";
import type { ScalaCollections } from "./hash_set_order.ts";
import { ANY, NO_EXECUTOR, NO_PREF, NODE_LOCAL, PROCESS_LOCAL, type TaskLocations } from "./task_location.ts";

/** A task and the locality at which it is taken. */
export interface Dequeued {
  readonly index: number;
  readonly locality: number;
}

/** Speculatable tasks up to 2.4: a set that is searched in the order of Scala's HashSet, nearest locality first. */
export class SpeculatableTasks {
  readonly #tasks: IntSet;
  readonly #locations: TaskLocations | null;

  constructor(collections: ScalaCollections, locations: TaskLocations | null) {
    this.#tasks = newIntSet(collections);
    this.#locations = locations;
  }

  get size(): number {
    return this.#tasks.size;
  }

  has(index: number): boolean {
    return this.#tasks.has(index);
  }

  add(index: number): void {
    this.#tasks.add(index);
  }

  delete(index: number): void {
    this.#tasks.delete(index);
  }

  #prefers(index: number, of: readonly number[], wanted: number): boolean {
    const start = this.#locations === null ? 0 : this.#locations.start(index);
    const end = this.#locations === null ? 0 : this.#locations.start(index + 1);
    for (let i = start; i < end; i++) if (of[i] === wanted) return true;
    return false;
  }

  #hasNoPreference(index: number): boolean {
    return this.#locations === null ||
      this.#locations.start(index) === this.#locations.start(index + 1);
  }

  /** Takes the first task that fits the offer, or null. `mayRun`: no attempt of it has been on that host. */
  dequeue(
    offer: { executor: number; host: number; maxLocality: number },
    tests: {
      isSuccessful: (index: number) => boolean;
      mayRun: (index: number) => boolean;
    },
  ): Dequeued | null {
    for (const index of this.#tasks.toArray()) {
      if (tests.isSuccessful(index)) this.#tasks.delete(index);
    }
    const candidates = this.#tasks.toArray().filter(tests.mayRun);
    const executors = this.#locations?.executors ?? [];
    const hosts = this.#locations?.hosts ?? [];
    const { executor, host, maxLocality } = offer;
    const take = (fits: (index: number) => boolean, locality: number) => {
      const index = candidates.find(fits);
      if (index === undefined) return null;
      this.#tasks.delete(index);
      return { index, locality };
    };
    const local = executor === NO_EXECUTOR ? null : take(
      (index) => this.#prefers(index, executors, executor),
      PROCESS_LOCAL,
    );
    if (local !== null) return local;
    if (maxLocality >= NODE_LOCAL) {
      const found = take((index) => this.#prefers(index, hosts, host), NODE_LOCAL);
      if (found !== null) return found;
    }
    if (maxLocality >= NO_PREF) {
      const found = take((index) => this.#hasNoPreference(index), PROCESS_LOCAL);
      if (found !== null) return found;
    }
    return maxLocality >= ANY ? take(() => true, ANY) : null;
  }
}
