/**
 * Task sets in the order in which they are offered resources: first come first served, or by the shares of pools
 * (org.apache.spark.scheduler.Pool, SchedulableBuilder, SchedulingAlgorithm).
 *
 * @module
 */
import type { TaskSetManager } from "./task_set_manager.ts";

/** A `<pool>` of the file that spark.scheduler.allocation.file names. */
export interface PoolSettings {
  /** Jobs name it with spark.scheduler.pool. */
  readonly name: string;
  /** Among the task sets of the pool. */
  readonly schedulingMode: "FIFO" | "FAIR";
  /** Cores that it gets before pools that have theirs. */
  readonly minShare: number;
  /** Its share against other pools. */
  readonly weight: number;
}

/** The pool of jobs without spark.scheduler.pool. */
export const DEFAULT_POOL = "default";

/** Task sets that have not finished. */
export interface TaskSetPool {
  add(manager: TaskSetManager): void;
  /** Removes it; nothing when it is not there. */
  remove(manager: TaskSetManager): void;
  /** A copy in the order in which executor loss and speculation go through them: what is done may remove them. */
  all(): TaskSetManager[];
  /** In the order of offers; valid until the pool changes or a task starts or ends. */
  sorted(): readonly TaskSetManager[];
}

/** The pools that settings ask for: null for first come first served. */
export function taskSetPool(fairPools: readonly PoolSettings[] | null): TaskSetPool {
  return fairPools === null ? new FifoPool() : new FairPools(fairPools);
}

/** Task sets in the order of submission. */
abstract class TaskSetQueue implements TaskSetPool {
  protected readonly queue: TaskSetManager[] = [];

  add(manager: TaskSetManager): void {
    this.queue.push(manager);
    this.changed();
  }

  remove(manager: TaskSetManager): void {
    const at = this.queue.indexOf(manager);
    if (at < 0) return;
    this.queue.splice(at, 1);
    this.changed();
  }

  all(): TaskSetManager[] {
    return this.queue.slice();
  }

  get isEmpty(): boolean {
    return this.queue.length === 0;
  }

  /** Attempts of its task sets that run. */
  get runningTasks(): number {
    let sum = 0;
    for (const manager of this.queue) sum += manager.runningTasks.size;
    return sum;
  }

  abstract sorted(): readonly TaskSetManager[];

  /** The queue has changed. */
  protected changed(): void {}
}

/** Task sets by job, then by stage; equal ones in the order of submission (FIFOSchedulingAlgorithm). */
class FifoPool extends TaskSetQueue {
  #sorted: TaskSetManager[] | null = null;

  protected override changed(): void {
    this.#sorted = null;
  }

  sorted(): readonly TaskSetManager[] {
    this.#sorted ??= this.queue.slice().sort((a, b) =>
      a.taskSet.priority - b.taskSet.priority || a.stageId - b.stageId
    );
    return this.#sorted;
  }
}

/** Task sets by their running tasks (FairSchedulingAlgorithm; each has weight 1). */
class FairPool extends TaskSetQueue {
  sorted(): readonly TaskSetManager[] {
    if (this.queue.length < 2) return this.queue;
    return this.queue.slice().sort((a, b) =>
      a.runningTasks.size - b.runningTasks.size || compareNames(`TaskSet_${a.taskSet.id}`, `TaskSet_${b.taskSet.id}`)
    );
  }
}

/** A pool below the root, and where it stands. */
interface SharedPool {
  readonly settings: PoolSettings;
  readonly tasks: TaskSetQueue;
  /** Attempts that run, as of the last look. */
  runningTasks: number;
}

/** Pools that share the cores (spark.scheduler.mode FAIR): FairSchedulableBuilder. */
class FairPools implements TaskSetPool {
  /** In the order of creation. */
  readonly #pools: SharedPool[] = [];

  constructor(pools: readonly PoolSettings[]) {
    for (const settings of pools) this.#create(settings);
  }

  #create(settings: PoolSettings): SharedPool {
    const tasks = settings.schedulingMode === "FAIR" ? new FairPool() : new FifoPool();
    const pool = { settings, tasks, runningTasks: 0 };
    this.#pools.push(pool);
    return pool;
  }

  #find(name: string): SharedPool | undefined {
    return this.#pools.find((pool) => pool.settings.name === name);
  }

  add(manager: TaskSetManager): void {
    const name = manager.taskSet.pool ?? DEFAULT_POOL;
    const pool = this.#find(name) ?? this.#create(newPool(name));
    pool.tasks.add(manager);
  }

  remove(manager: TaskSetManager): void {
    this.#find(manager.taskSet.pool ?? DEFAULT_POOL)!.tasks.remove(manager);
  }

  all(): TaskSetManager[] {
    return this.#pools.flatMap(({ tasks }) => tasks.all());
  }

  sorted(): readonly TaskSetManager[] {
    const pools = this.#pools.filter(({ tasks }) => !tasks.isEmpty);
    if (pools.length === 1) return pools[0].tasks.sorted();
    for (const pool of pools) pool.runningTasks = pool.tasks.runningTasks;
    return pools.sort(compareShares).flatMap(({ tasks }) => tasks.sorted());
  }
}

/** A pool that no file describes. */
export function newPool(name: string): PoolSettings {
  return { name, schedulingMode: "FIFO", minShare: 0, weight: 1 };
}

/** Pools below their minimum first; those by how far below, the others by running tasks for their weight; then by name. */
function compareShares(a: SharedPool, b: SharedPool): number {
  const aNeedy = a.runningTasks < a.settings.minShare;
  const bNeedy = b.runningTasks < b.settings.minShare;
  if (aNeedy !== bNeedy) return aNeedy ? -1 : 1;
  const order = aNeedy
    ? compareDoubles(minShareRatio(a), minShareRatio(b))
    : compareDoubles(a.runningTasks / a.settings.weight, b.runningTasks / b.settings.weight);
  return order || compareNames(a.settings.name, b.settings.name);
}

function minShareRatio({ runningTasks, settings }: SharedPool): number {
  return runningTasks / Math.max(settings.minShare, 1);
}

/** java.lang.Double.compare: -0.0 below 0.0, and NaN (no task at weight 0) above all. */
function compareDoubles(a: number, b: number): number {
  if (a < b) return -1;
  if (a > b) return 1;
  const rank = (x: number) => Number.isNaN(x) ? 1 : Object.is(x, -0) ? -1 : 0;
  return a === b && a !== 0 ? 0 : rank(a) - rank(b);
}

/** By UTF-16 code units, as String.compareTo. */
function compareNames(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
