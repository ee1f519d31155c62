/**
 * Which task of an event log found which cached partition, and which computed it.
 *
 * Spark writes no such fact. It adds a found block's size to the task's input bytes and its elements to the input
 * records (RDD.getOrCompute); a computed one adds nothing. So input bytes tell, apart from what is read from files.
 *
 * @module
 */
import { parentRange } from "../simulator/lineage.ts";
import type { RddDependency } from "../simulator/workload.ts";
import type { RddBlockSizes } from "./from_event_log_blocks.ts";
import type { RddRecord, StageAttempt } from "./from_event_log_stages.ts";
import { LOCALITIES, OUTCOME, type TaskTable } from "./from_event_log_tasks.ts";

/** Partitions that tasks computed, as parallel columns. */
export interface Computed {
  readonly rddId: number[];
  readonly partition: number[];
  /** Row of the task. */
  readonly row: number[];
}

/** A partition of a cached RDD. */
export interface CachedPartition {
  readonly rddId: number;
  readonly partition: number;
}

/** What finding blocks told about them, by RDD and partition. */
export interface FoundSizes {
  /** Input bytes of tasks that ran where the block is: its size in the form it is stored in. */
  readonly local: Map<number, Map<number, number>>;
  /** Input bytes of tasks elsewhere: its serialized size. */
  readonly remote: Map<number, Map<number, number>>;
  /** Most elements that a task read of it. */
  readonly elements: Map<number, Map<number, number>>;
}

/** What {@linkcode CacheUse} needs to know of the log. */
export interface CacheUseInput {
  readonly tasks: TaskTable;
  readonly rdds: ReadonlyMap<number, RddRecord>;
  readonly dependencies: ReadonlyMap<number, readonly RddDependency[]>;
  readonly blocks: ReadonlyMap<number, RddBlockSizes>;
}

/** More cached inputs of one task than this are not told apart: all are taken as found when it read any. */
const MAX_SUBSET_INPUTS = 12;

/** Above the partitions that an RDD can have. */
const MAX_PARTITIONS = 2 ** 26;

const PROCESS_LOCAL = LOCALITIES.indexOf("PROCESS_LOCAL");

/**
 * Walks the log's stage attempts in the order in which they ran.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 * import { CacheUse } from "./from_event_log_cache_use.ts";
 *
 * const use = new CacheUse({ tasks: new TaskTable(), rdds: new Map(), dependencies: new Map(), blocks: new Map() });
 * assertEquals([use.hits, use.misses], [0, 0]);
 * ```
 */
export class CacheUse {
  readonly computed: Computed = { rddId: [], partition: [], row: [] };
  readonly found: FoundSizes = { local: new Map(), remote: new Map(), elements: new Map() };
  hits = 0;
  misses = 0;
  readonly #input: CacheUseInput;
  readonly #materialized = new Set<number>();
  /** Input bytes of the task that computed a partition first, where it reads files. */
  readonly #fileBytes = new Map<number, number>();

  constructor(input: CacheUseInput) {
    this.#input = input;
  }

  /**
   * Classifies the successful tasks (rows in order of launch) of one attempt. Returns by row how many cached
   * partitions it computed; absent for rows whose stage reads none.
   */
  stage(attempt: StageAttempt, rows: readonly number[], jobId: number): Map<number, number> {
    const computedByRow = new Map<number, number>();
    const own = attempt.stage.rddIds[0];
    if (own === undefined || !attempt.stage.rddIds.some((id) => this.isCached(id, jobId))) return computedByRow;
    for (const row of rows) {
      if (this.#input.tasks.outcome[row] !== OUTCOME.success) continue;
      const missed = this.#task(own, row, jobId);
      computedByRow.set(row, missed.length);
      for (const { rddId, partition } of missed) {
        this.computed.rddId.push(rddId);
        this.computed.partition.push(partition);
        this.computed.row.push(row);
        this.#materialized.add(keyOf(rddId, partition));
      }
    }
    return computedByRow;
  }

  /** Whether persist() was in force for the RDD when the job was submitted. */
  isCached(rddId: number, jobId: number): boolean {
    let cached = false;
    for (const { jobId: since, level } of this.#input.rdds.get(rddId)?.levels ?? []) {
      if (since <= jobId) cached = level.useMemory || level.useDisk;
    }
    return cached;
  }

  /** The cached partitions that a partition is computed from, itself included, nearest first. */
  nearestCached(rddId: number, partition: number, jobId: number): CachedPartition[] {
    const found: CachedPartition[] = [];
    const seen = new Set<number>();
    const stack: CachedPartition[] = [{ rddId, partition }];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      const key = keyOf(at.rddId, at.partition);
      if (seen.has(key)) continue;
      seen.add(key);
      if (this.isCached(at.rddId, jobId)) found.push(at);
      else this.#parents(at, stack);
    }
    return found;
  }

  #parents({ rddId, partition }: CachedPartition, stack: CachedPartition[]): void {
    const { rdds, dependencies } = this.#input;
    const children = rdds.get(rddId)?.numPartitions ?? 0;
    for (const dependency of [...dependencies.get(rddId) ?? []].reverse()) {
      if (dependency.kind !== "narrow") continue;
      const parents = rdds.get(dependency.rddId)?.numPartitions ?? 0;
      const [from, until] = parentRange(dependency, partition, children, parents);
      for (let p = until - 1; p >= from; p--) stack.push({ rddId: dependency.rddId, partition: p });
    }
  }

  #task(own: number, row: number, jobId: number): CachedPartition[] {
    const { tasks } = this.#input;
    const missed: CachedPartition[] = [];
    let open = this.nearestCached(own, tasks.partition[row], jobId);
    let bytes = tasks.inputBytes[row];
    while (open.length > 0) {
      const hit = this.#hits(open, bytes);
      const below: CachedPartition[] = [];
      for (const [i, input] of open.entries()) {
        if (hit[i]) {
          this.hits++;
          if (open.length === 1) this.#found(input, row, bytes);
          bytes -= Math.min(bytes, this.#size(input) ?? 0);
          continue;
        }
        this.misses++;
        missed.push(input);
        this.#fileBytes.set(keyOf(input.rddId, input.partition), bytes);
        const parents: CachedPartition[] = [];
        this.#parents(input, parents);
        for (const parent of parents) below.push(...this.nearestCached(parent.rddId, parent.partition, jobId));
      }
      open = below;
    }
    return missed;
  }

  /** Which of a task's cached inputs it found, from the bytes it read. */
  #hits(inputs: readonly CachedPartition[], bytes: number): boolean[] {
    const known = inputs.map(({ rddId, partition }) => this.#materialized.has(keyOf(rddId, partition)));
    if (bytes <= 0) return inputs.map(() => false);
    if (inputs.length === 1) {
      const [{ rddId, partition }] = inputs;
      const fromFiles = this.#fileBytes.get(keyOf(rddId, partition)) ?? 0;
      return [known[0] && (fromFiles === 0 || bytes !== fromFiles)];
    }
    return this.#subset(inputs, bytes, known) ?? known;
  }

  /** The subset of materialized inputs whose known sizes add up to the bytes read; null when there is none. */
  #subset(inputs: readonly CachedPartition[], bytes: number, known: readonly boolean[]): boolean[] | null {
    if (inputs.length > MAX_SUBSET_INPUTS) return null;
    const sizes = inputs.map((input, i) => known[i] ? this.#size(input) : null);
    for (let mask = (1 << inputs.length) - 1; mask > 0; mask--) {
      let sum = 0;
      let usable = true;
      for (let i = 0; i < inputs.length && usable; i++) {
        if ((mask & (1 << i)) === 0) continue;
        const size = sizes[i];
        if (size === null || size === undefined) usable = false;
        else sum += size;
      }
      if (usable && sum === bytes) return inputs.map((_, i) => (mask & (1 << i)) !== 0);
    }
    return null;
  }

  #size({ rddId, partition }: CachedPartition): number | undefined {
    const sizes = this.#input.blocks.get(rddId);
    return sizes?.deserialized.get(partition) ?? sizes?.serialized.get(partition) ??
      this.found.local.get(rddId)?.get(partition);
  }

  #found({ rddId, partition }: CachedPartition, row: number, bytes: number): void {
    const { tasks } = this.#input;
    const fromFiles = this.#fileBytes.get(keyOf(rddId, partition)) ?? 0;
    const sizes = tasks.locality[row] === PROCESS_LOCAL ? this.found.local : this.found.remote;
    // Files that the task reads as well are added, so the smallest value is the block's; without any, a block read back
    // from disk counts its smaller form there, so the largest is.
    put(sizes, rddId, partition, bytes, fromFiles > 0 ? Math.min : Math.max);
    if (fromFiles === 0) put(this.found.elements, rddId, partition, tasks.inputRecords[row], Math.max);
  }
}

/** One number for a partition of an RDD. */
function keyOf(rddId: number, partition: number): number {
  return rddId * MAX_PARTITIONS + partition;
}

function put(
  into: Map<number, Map<number, number>>,
  rddId: number,
  partition: number,
  value: number,
  choose: (a: number, b: number) => number,
): void {
  let byPartition = into.get(rddId);
  if (byPartition === undefined) into.set(rddId, byPartition = new Map());
  const known = byPartition.get(partition);
  byPartition.set(partition, known === undefined ? value : choose(known, value));
}
