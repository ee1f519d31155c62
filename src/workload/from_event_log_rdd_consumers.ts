/**
 * The collections of RDD jobs that held execution memory in a stage, told from the operations that made its RDDs.
 *
 * @module
 */
import { wholeBufferBytes } from "../simulator/memory/consumers/sampled_buffer.ts";
import type { Column, ConsumerKind, RddDependency } from "../simulator/workload.ts";
import { shuffledDiskRatio } from "./from_event_log_disk_ratio.ts";
import { median } from "./from_event_log_demands.ts";
import type { ShuffleRecord } from "./from_event_log_lineage.ts";
import type { UnplacedConsumer } from "./from_event_log_sql_consumers.ts";
import type { RddRecord } from "./from_event_log_stages.ts";
import { OUTCOME, type TaskTable } from "./from_event_log_tasks.ts";

/** Operations whose map side combines values (PairRDDFunctions: mapSideCombine). */
const COMBINES =
  /^(reduceByKey|aggregateByKey|foldByKey|combineByKey|combineByKeyWithClassTag|countByKey|countByValue|distinct|countApproxDistinctByKey)$/;
/** Operations whose reduce side collects the values of a key. */
const COLLECTS = /^(groupByKey|groupBy)$/;
/** Operations whose reduce side sorts. */
const SORTS = /^(sortByKey|sortBy|repartitionAndSortWithinPartitions)$/;

/** SortShuffleManager: up to so many reducers, a map side that combines nothing writes one file each and keeps nothing. */
const BYPASS_MERGE_THRESHOLD = 200;

/** What {@linkcode rddConsumers} looks at. */
export interface RddStage {
  readonly tasks: TaskTable;
  /** Rows of the stage's tasks in order of launch. */
  readonly rows: readonly number[];
  readonly rdds: ReadonlyMap<number, RddRecord>;
  readonly dependencies: ReadonlyMap<number, readonly RddDependency[]>;
  readonly shuffles: readonly ShuffleRecord[];
  /** The RDD that is computed: the stage's own, or a cached one. */
  readonly rddId: number;
  /** RDDs at which its computing ends, because they are cached: what they cost is their own. */
  readonly isCached: (rddId: number) => boolean;
  /** The shuffle that the stage writes; null for a result stage. */
  readonly writes: ShuffleRecord | null;
  /** Records that all map tasks of a shuffle wrote. */
  readonly recordsWritten: (shuffle: ShuffleRecord) => number;
  readonly numPartitions: number;
}

/** A collection, and what goes into it by partition. */
interface Found {
  readonly kind: ConsumerKind;
  readonly name: string;
  readonly records: Column;
  /** Distinct keys, by partition; null where they are not known. */
  readonly keys: Column | null;
  readonly parameters: Readonly<Record<string, number>>;
  readBy: number | null;
}

/**
 * The memory consumers of a stage of an RDD job, in the order in which they are filled.
 *
 * The size of a collection is Spark's own estimate of it, which is what peakExecutionMemory records; where it was
 * spilled, what went to disk says how much of it, since it is written as the shuffle was.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rddConsumers } from "./from_event_log_rdd_consumers.ts";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 *
 * const stage = {
 *   tasks: new TaskTable(), rows: [], rdds: new Map(), dependencies: new Map(), shuffles: [], rddId: 0,
 *   isCached: () => false, writes: null, recordsWritten: () => 0, numPartitions: 1,
 * };
 * assertEquals(rddConsumers(stage), []);
 * ```
 */
export function rddConsumers(stage: RddStage): UnplacedConsumer[] {
  const found = readSide(stage);
  for (const sorter of mapSide(stage)) {
    for (const collection of found) collection.readBy ??= found.length;
    found.push(sorter);
  }
  if (found.length === 0) return [];
  const bytes = bytesOf(stage, found);
  if (bytes === null) return [];
  const ratio = diskBytesPerByte(stage.tasks, stage.rows) ??
    shuffledDiskRatio([{ kind: found[0].kind, bytes }], stage.tasks, stage.rows);
  return found.map(({ kind, name, records, keys, parameters, readBy }, i) => ({
    kind,
    name,
    tungsten: false,
    absentIn: null,
    records,
    bytes: bytes.map((whole, p) => Math.round(whole * shareOf(found, i, p))),
    keys,
    diskBytesPerByte: ratio,
    parameters,
    readBy,
    toTheEnd: false,
  }));
}

/** Share of one of several collections in a task's bytes: by the keys that it holds, or else the records. */
function shareOf(found: readonly Found[], index: number, partition: number): number {
  const weight = ({ keys, records }: Found) => (keys ?? records)[partition];
  const all = found.reduce((sum, collection) => sum + weight(collection), 0);
  return all > 0 ? weight(found[index]) / all : 0;
}

/** Collections that are filled with what is fetched, those deeper in the lineage first. */
function readSide(stage: RddStage): Found[] {
  const found: Found[] = [];
  const records = recordsByShuffle(stage);
  const seen = new Set<number>();
  /** Collects below an RDD; returns the records that it hands on. */
  const visit = (rddId: number): Column => {
    const rdd = stage.rdds.get(rddId);
    const into = new Float64Array(stage.numPartitions);
    if (rdd === undefined || seen.has(rddId) || (rddId !== stage.rddId && stage.isCached(rddId))) return into;
    seen.add(rddId);
    const below = found.length;
    let mapTasks = 1;
    for (const dependency of stage.dependencies.get(rddId) ?? []) {
      const shuffle = dependency.kind === "shuffle" ? stage.shuffles[dependency.shuffleId] : null;
      if (shuffle !== null) mapTasks = stage.rdds.get(shuffle.mapRddId)?.numPartitions ?? 1;
      const from = dependency.kind === "shuffle" ? records.get(dependency.shuffleId) : visit(dependency.rddId);
      from?.forEach((n, p) => into[p] += n);
    }
    const collection = collectionOf(rdd);
    if (collection === null) return into;
    for (const other of found.slice(below)) other.readBy ??= found.length;
    // Values were combined by key in every map task: the same keys are taken to come from each of them.
    const keys = rdd.name === "ShuffledRDD" && COMBINES.test(rdd.scope ?? "")
      ? into.map((n) => Math.max(n > 0 ? 1 : 0, Math.round(n / mapTasks)))
      : null;
    found.push({ ...collection, name: `${rdd.scope ?? rdd.name} (rdd ${rdd.id})`, records: into, keys, readBy: null });
    return keys ?? into;
  };
  visit(stage.rddId);
  return found;
}

/** What an RDD's compute() collects. */
function collectionOf({ name, scope }: RddRecord): Pick<Found, "kind" | "parameters"> | null {
  if (name === "CoGroupedRDD") return { kind: "ExternalAppendOnlyMap", parameters: { keyShare: 0 } };
  if (name !== "ShuffledRDD" || scope === null) return null;
  if (COMBINES.test(scope)) return { kind: "ExternalAppendOnlyMap", parameters: { keyShare: 1 } };
  if (COLLECTS.test(scope)) return { kind: "ExternalAppendOnlyMap", parameters: { keyShare: 0 } };
  if (SORTS.test(scope)) return { kind: "ExternalSorter", parameters: { buffer: 1, read: 1 } };
  return null;
}

/** The sorter of a map side: where values are combined, or with more reducers than are written at once. */
function mapSide(stage: RddStage): Found[] {
  const { writes, rdds, tasks } = stage;
  if (writes === null) return [];
  const reader = [...rdds.values()].find(({ id, name }) =>
    name === "ShuffledRDD" &&
    (stage.dependencies.get(id) ?? []).some((d) => d.kind === "shuffle" && d.shuffleId === writes.id)
  );
  if (reader === undefined || reader.scope === null) return [];
  const combines = COMBINES.test(reader.scope);
  if (!combines && writes.numReducers <= BYPASS_MERGE_THRESHOLD) return [];
  const records = new Float64Array(stage.numPartitions);
  for (const row of stage.rows) {
    if (tasks.outcome[row] === OUTCOME.success) records[tasks.partition[row]] = tasks.shuffleWriteRecords[row];
  }
  const parameters: Record<string, number> = combines ? { keyShare: 1 } : { buffer: 1 };
  return [{
    kind: "ExternalSorter",
    name: `map side of ${reader.scope}`,
    records,
    keys: null,
    parameters,
    readBy: null,
  }];
}

/** Records that each task fetched of each shuffle: the whole is recorded, and is split as the shuffles were written. */
function recordsByShuffle(stage: RddStage): Map<number, Column> {
  const { tasks } = stage;
  const fetched = new Float64Array(stage.numPartitions);
  for (const row of stage.rows) {
    if (tasks.outcome[row] === OUTCOME.success) {
      fetched[tasks.partition[row]] = Math.max(0, tasks.shuffleReadRecords[row]);
    }
  }
  const read = shufflesRead(stage);
  const written = new Map([...read].map((id) => [id, stage.recordsWritten(stage.shuffles[id])]));
  const all = [...written.values()].reduce((a, b) => a + b, 0);
  return new Map([...read].map((id) => {
    const share = all > 0 ? written.get(id)! / all : 1 / read.size;
    return [id, fetched.map((n) => Math.round(n * share))];
  }));
}

/**
 * The shuffles that computing the RDD reads itself, not by way of a cached one.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { shufflesRead } from "./from_event_log_rdd_consumers.ts";
 *
 * const dependencies = new Map([[3, [{ kind: "shuffle" as const, shuffleId: 9 }]]]);
 * assertEquals([...shufflesRead({ rddId: 3, dependencies, isCached: () => false })], [9]);
 * ```
 */
export function shufflesRead(
  { rddId, dependencies, isCached }: Pick<RddStage, "rddId" | "dependencies" | "isCached">,
): Set<number> {
  const read = new Set<number>();
  const seen = new Set<number>();
  const stack = [rddId];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (seen.has(id) || (id !== rddId && isCached(id))) continue;
    seen.add(id);
    for (const dependency of dependencies.get(id) ?? []) {
      if (dependency.kind === "shuffle") read.add(dependency.shuffleId);
      else stack.push(dependency.rddId);
    }
  }
  return read;
}

/** Estimated bytes of all collections of a task, by partition; null when no task recorded a peak. */
function bytesOf(stage: RddStage, found: readonly Found[]): Column | null {
  const { tasks } = stage;
  const column = new Float64Array(stage.numPartitions).fill(-1);
  for (const row of stage.rows) {
    if (tasks.outcome[row] !== OUTCOME.success || tasks.peakMemory[row] <= 0) continue;
    column[tasks.partition[row]] = wholeBytes(tasks, row, found);
  }
  const known = [...column].filter((bytes) => bytes >= 0);
  if (known.length === 0) return null;
  return column.map((bytes) => bytes >= 0 ? bytes : median(known));
}

/**
 * What a task's collections would have measured unspilled: the share of its shuffle data that a spilled one wrote is
 * the share of it that was spilled. With several collections the data is not one's own, so only the peak counts.
 */
function wholeBytes(tasks: TaskTable, row: number, found: readonly Found[]): number {
  const memoryBytesSpilled = tasks.memorySpilled[row];
  const peakMemory = tasks.peakMemory[row];
  if (memoryBytesSpilled <= 0) return peakMemory;
  const written = tasks.diskSpilled[row];
  const whole = Math.max(tasks.shuffleReadBytes[row], tasks.shuffleWriteBytes[row]);
  const known = found.length === 1 && written > 0 && whole > 0;
  if (!known) return Math.max(peakMemory, memoryBytesSpilled);
  const share = Math.min(1, written / whole);
  const [{ parameters, records }] = found;
  const bytes = parameters.buffer === 1
    ? wholeBufferBytes({ records: records[tasks.partition[row]], share, memoryBytesSpilled, peakMemory })
    : memoryBytesSpilled / share;
  return Math.max(peakMemory, bytes);
}

/**
 * What a byte in memory became on disk in tasks that spilled; null when none did.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { diskBytesPerByte } from "./from_event_log_rdd_consumers.ts";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 *
 * assertEquals(diskBytesPerByte(new TaskTable(), []), null);
 * ```
 */
export function diskBytesPerByte(tasks: TaskTable, rows: readonly number[]): number | null {
  let memory = 0;
  let disk = 0;
  for (const row of rows) {
    if (tasks.outcome[row] !== OUTCOME.success || tasks.memorySpilled[row] <= 0) continue;
    memory += tasks.memorySpilled[row];
    disk += tasks.diskSpilled[row];
  }
  return memory > 0 ? disk / memory : null;
}
