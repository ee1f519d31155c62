/**
 * Tasks that wait to be launched, by where they prefer to run (TaskSetManager's pending lists, PendingTasksByLocality).
 *
 * @module
 */
import { KeyOrder } from "./hash_map_order.ts";
import type { ScalaCollections } from "./hash_set_order.ts";
import type { NameTable } from "./names.ts";
import { NO_EXECUTOR, type TaskLocations } from "./task_location.ts";

/** Lists of task indices by executor or by host, which iterate in the order of Scala's HashMap by name. */
export class PendingLists {
  readonly #lists: (number[] | undefined)[] = [];
  readonly #order: KeyOrder;
  readonly #names: NameTable;
  /** Keys of the lists found empty in a walk. */
  readonly #exhausted: number[] = [];
  readonly #hasTask: (key: number) => boolean;

  /** `endsWithPending`: the list's last task is to be launched; it takes those that are not off the end. */
  constructor(
    collections: ScalaCollections,
    names: NameTable,
    endsWithPending: (list: number[]) => boolean,
  ) {
    this.#order = new KeyOrder(collections);
    this.#names = names;
    this.#hasTask = (key) => {
      if (endsWithPending(this.#lists[key]!)) return true;
      this.#exhausted.push(key);
      return false;
    };
  }

  add(key: number, index: number): void {
    const list = this.#lists[key];
    if (list !== undefined) {
      list.push(index);
      return;
    }
    while (this.#lists.length <= key) this.#lists.push(undefined);
    this.#lists[key] = [index];
    this.#order.add(key, this.#names.hashOf(key));
  }

  get(key: number): number[] | undefined {
    return this.#lists[key];
  }

  /** A key with a list, empty or not, for which `test` holds. */
  hasKey(test: (key: number) => boolean): boolean {
    return this.#order.some(test);
  }

  /**
   * Some list has a task to be launched. Lists that turn out to have none are dropped: the walk ends at the first task, in
   * Scala's order, and which lists are gone afterwards decides what locality levels there are.
   */
  hasTask(): boolean {
    const found = this.#order.some(this.#hasTask);
    const exhausted = this.#exhausted;
    if (exhausted.length > 0) {
      for (const key of exhausted) {
        this.#order.delete(key);
        this.#lists[key] = undefined;
      }
      exhausted.length = 0;
    }
    return found;
  }
}

/** The lists of one task set. All are stacks: what is added last is tried first; tasks launched elsewhere go lazily. */
export class PendingTasks {
  readonly forExecutor: PendingLists;
  readonly forHost: PendingLists;
  readonly noPrefs: number[] = [];
  readonly all: number[] = [];

  constructor(
    collections: ScalaCollections,
    names: { readonly executors: NameTable; readonly hosts: NameTable },
    endsWithPending: (list: number[]) => boolean,
  ) {
    this.forExecutor = new PendingLists(collections, names.executors, endsWithPending);
    this.forHost = new PendingLists(collections, names.hosts, endsWithPending);
  }

  /** Puts a task on the lists of its preferred locations, or on the list without preference, and on the list of all. */
  add(index: number, locations: TaskLocations | null): void {
    const start = locations === null ? 0 : locations.start(index);
    const end = locations === null ? 0 : locations.start(index + 1);
    for (let i = start; i < end; i++) {
      const executor = locations!.executors[i];
      if (executor !== NO_EXECUTOR) this.forExecutor.add(executor, index);
      this.forHost.add(locations!.hosts[i], index);
    }
    if (start === end) this.noPrefs.push(index);
    this.all.push(index);
  }
}
