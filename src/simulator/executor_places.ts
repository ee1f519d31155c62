/**
 * The places of a cluster for executors that come and go.
 *
 * @module
 */
import type { ExecutorSpec } from "./workload.ts";

/** An executor with a place of its own until it goes. */
export type PlacedExecutor = Pick<ExecutorSpec, "id" | "host" | "cores" | "maxOnHeapMemory" | "maxOffHeapMemory">;

/**
 * Executors of so many cores that can run all of a stage's tasks at once.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { executorsFor } from "./executor_places.ts";
 *
 * assertEquals(executorsFor(12, { cores: 5, taskCpus: 2 }), 6);
 * ```
 */
export function executorsFor(tasks: number, { cores, taskCpus }: { cores: number; taskCpus: number }): number {
  return Math.ceil(tasks / Math.max(1, Math.floor(cores / taskCpus)));
}

/**
 * Places by their executors' ids. New executors take the first free place and the next number: clusters count from 0
 * (standalone) or 1 (YARN, Kubernetes), which the ids of the places tell.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ExecutorPlaces } from "./executor_places.ts";
 * import { emptyWorkload } from "./workload.ts";
 *
 * const places = new ExecutorPlaces(emptyWorkload("one place").cluster.executors);
 * assertEquals([places.take()?.id, places.take()], ["0", null]);
 * places.free("0");
 * assertEquals(places.take()?.id, "1");
 * ```
 */
export class ExecutorPlaces {
  readonly #places: readonly ExecutorSpec[];
  /** Indices of free places, the first to be taken last. */
  readonly #free: number[];
  readonly #placeOf = new Map<string, number>();
  #nextId: number;

  constructor(places: readonly ExecutorSpec[]) {
    this.#places = places;
    this.#free = places.map((_, i) => places.length - 1 - i);
    const numbers = places.map(({ id }) => Number(id)).filter((id) => Number.isSafeInteger(id) && id >= 0);
    this.#nextId = numbers.reduce((least, id) => Math.min(least, id), numbers[0] ?? 0);
  }

  /** Places that are taken. */
  get taken(): number {
    return this.#placeOf.size;
  }

  /** Takes a place for a new executor; null when there is none. */
  take(): PlacedExecutor | null {
    const place = this.#free.pop();
    if (place === undefined) return null;
    const { host, cores, maxOnHeapMemory, maxOffHeapMemory } = this.#places[place];
    const id = String(this.#nextId++);
    this.#placeOf.set(id, place);
    return { id, host, cores, maxOnHeapMemory, maxOffHeapMemory };
  }

  /** The executor is gone. */
  free(id: string): void {
    const place = this.#placeOf.get(id);
    if (place === undefined) return;
    this.#placeOf.delete(id);
    this.#free.push(place);
    this.#free.sort((a, b) => b - a);
  }
}
