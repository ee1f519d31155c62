/**
 * Where tasks prefer to run (org.apache.spark.scheduler.TaskLocation, TaskLocality).
 *
 * @module
 */
import type { TaskLocality } from "../../spark/events.ts";

/** TaskLocality's values in order: a smaller one is nearer. */
export const LOCALITIES: readonly TaskLocality[] = [
  "PROCESS_LOCAL",
  "NODE_LOCAL",
  "NO_PREF",
  "RACK_LOCAL",
  "ANY",
];
/** In the executor that has the block. */
export const PROCESS_LOCAL = 0;
/** On the host. */
export const NODE_LOCAL = 1;
/** The task has no preference. */
export const NO_PREF = 2;
/** In the rack: Spark knows racks on YARN alone, and without a topology there is none. */
export const RACK_LOCAL = 3;
/** Anywhere. */
export const ANY = 4;

/** No executor: the location is a host. */
export const NO_EXECUTOR = -1;

/**
 * The preferred locations of the tasks of a set, task by task: pairs of executor and host in two arrays, with the
 * offset of each task's first pair.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { NO_EXECUTOR, TaskLocations } from "./task_location.ts";
 *
 * const locations = new TaskLocations(2);
 * locations.add(7, 3); // task 0: the cached block in executor 7 on host 3
 * locations.nextTask();
 * locations.add(NO_EXECUTOR, 4); // task 1: host 4
 * locations.nextTask();
 * assertEquals([locations.start(1), locations.start(2)], [1, 2]);
 * assertEquals(locations.hosts[locations.start(1)], 4);
 * ```
 */
export class TaskLocations {
  /** Executor of a location, or {@linkcode NO_EXECUTOR}. */
  readonly executors: number[] = [];
  /** Host of a location. */
  readonly hosts: number[] = [];
  readonly #starts: Int32Array;
  #tasks = 0;

  constructor(numTasks: number) {
    this.#starts = new Int32Array(numTasks + 1);
  }

  /** Adds a location to the current task. */
  add(executor: number, host: number): void {
    this.executors.push(executor);
    this.hosts.push(host);
  }

  /** Ends the current task's list. */
  nextTask(): void {
    this.#tasks++;
    this.#starts[this.#tasks] = this.executors.length;
  }

  /** Offset of the task's first location; `start(task + 1)` is the end. */
  start(task: number): number {
    return this.#starts[task];
  }

  /** No task has a location. */
  get isEmpty(): boolean {
    return this.executors.length === 0;
  }
}
