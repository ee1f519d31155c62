/**
 * Adaptive execution's merging of small shuffle partitions, for settings under which the recorded merging no longer
 * holds.
 *
 * @module
 */
import { Prng } from "../prng.ts";
import { mapStatus } from "../simulator/scheduler/map_status.ts";
import type { SparkConf } from "../spark/conf.ts";

/** What decides how partitions are merged. */
export interface Coalescing {
  /** Partitions that an exchange of Spark SQL writes. */
  readonly planned: number;
  /** Whether they are merged at all. */
  readonly enabled: boolean;
  /** Merging stops where fewer tasks would be left. */
  readonly minPartitions: number;
  /** No larger than this, unless one partition alone is. Bytes; 0 before 3.0, which does not merge. */
  readonly advisoryBytes: number;
  /** Merged up to this size in any case, beyond the target too. Bytes; 0 before 3.2. */
  readonly minBytes: number;
}

/** No target is smaller, so that nothing but empty partitions is one task. Bytes. */
const LEAST_BYTES = 16;

/**
 * How an application merges shuffle partitions (CoalesceShufflePartitions since 3.0; SQLConf.numShufflePartitions).
 *
 * @param cores All executors' cores, the parallelism where spark.default.parallelism does not say.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { coalescingOf } from "./coalesced_partitions.ts";
 *
 * const { planned, minPartitions } = coalescingOf(SparkConf.from({}, "3.5.9"), 4);
 * assertEquals([planned, minPartitions], [200, 4]);
 * ```
 */
export function coalescingOf(conf: SparkConf, cores: number): Coalescing {
  const prefix = "spark.sql.adaptive.coalescePartitions";
  const shufflePartitions = conf.getInt("spark.sql.shuffle.partitions");
  const enabled = conf.reads(`${prefix}.enabled`) && conf.getBoolean("spark.sql.adaptive.enabled") &&
    conf.getBoolean(`${prefix}.enabled`);
  const hasParallelismFirst = conf.reads(`${prefix}.parallelismFirst`);
  const parallelism = conf.getIntOption("spark.default.parallelism") ?? cores;
  const parallelismFirst = !hasParallelismFirst || conf.getBoolean(`${prefix}.parallelismFirst`);
  return {
    planned: enabled ? conf.getIntOption(`${prefix}.initialPartitionNum`) ?? shufflePartitions : shufflePartitions,
    enabled,
    minPartitions: conf.getIntOption(`${prefix}.minPartitionNum`) ?? (parallelismFirst ? parallelism : 1),
    advisoryBytes: conf.getSizeAsBytesOption("spark.sql.adaptive.advisoryPartitionSizeInBytes") ?? 0,
    minBytes: hasParallelismFirst ? conf.getSizeAsBytes(`${prefix}.minPartitionSize`) : 0,
  };
}

/**
 * The shares of the tasks that read merged partitions: neighbours are merged while together they stay below a target,
 * the mean that gives every core a task but no more than the advisory size (ShufflePartitionsUtil.coalescePartitions).
 *
 * @param sizes Bytes of each partition, of all shuffles that are read together, as the driver knows them.
 * @param bytes The true ones, of which the shares are.
 * @returns Each task's share of the whole; the shares add up to 1. Empty tasks are left out, but for the only one.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { coalescedShares, coalescingOf } from "./coalesced_partitions.ts";
 *
 * const MiB = 1 << 20;
 * const coalescing = coalescingOf(SparkConf.from({}, "3.5.9"), 2);
 * const shares = coalescedShares([6 * MiB, 3 * MiB, 2 * MiB, 1 * MiB], coalescing);
 * assertEquals([...shares], [0.5, 0.5]);
 * ```
 */
export function coalescedShares(
  sizes: ArrayLike<number>,
  coalescing: Coalescing,
  bytes: ArrayLike<number> = sizes,
): Float64Array {
  let total = 0;
  let allBytes = 0;
  for (let i = 0; i < sizes.length; i++) {
    total += sizes[i];
    allBytes += bytes[i];
  }
  if (total === 0) return Float64Array.of(1);
  const mean = Math.max(Math.ceil(total / Math.max(1, coalescing.minPartitions)), LEAST_BYTES);
  const target = Math.max(Math.min(mean, coalescing.advisoryBytes), coalescing.minBytes);
  return Float64Array.from(mergeNeighbours(sizes, target, coalescing.minBytes), ([start, end]) => {
    let read = 0;
    for (let i = start; i < end; i++) read += bytes[i];
    return read / allBytes;
  });
}

/**
 * Runs of neighbours, [start, end): a run ends where the next partition would take it over the target. One that is then
 * still below the least size goes on with its smaller neighbour, and the last one is added to the run before it (since
 * 3.2, which has a least size: ShufflePartitionsUtil.coalescePartitions).
 */
function mergeNeighbours(sizes: ArrayLike<number>, target: number, minBytes: number): [number, number][] {
  const runs: [number, number][] = [];
  let start = 0;
  let merged = 0;
  let before = 0;
  for (let i = 0; i < sizes.length; i++) {
    const isFull = i > start && merged + sizes[i] > target;
    const isSmall = merged < minBytes;
    if (!isFull || (isSmall && !(before > 0 && before < sizes[i]))) {
      merged += sizes[i];
      continue;
    }
    if (isSmall) {
      runs[runs.length - 1][1] = i;
      before += merged;
    } else {
      if (merged > 0) runs.push([start, i]);
      before = merged;
    }
    start = i;
    merged = sizes[i];
  }
  if (merged < minBytes && before > 0) runs[runs.length - 1][1] = sizes.length;
  else if (merged > 0) runs.push([start, sizes.length]);
  return runs;
}

/** What map tasks of one shuffle write, by task. */
export interface MapWrites {
  readonly bytes: ArrayLike<number>;
  readonly records: ArrayLike<number>;
}

/** An exchange's partitions as far as their sizes are known. */
export interface PartitionSpread {
  readonly partitions: number;
  /** Sizes of the partitions in sizes of the mean one; null where they are not known and differ by chance. */
  readonly sizes: ArrayLike<number> | null;
  /** Standard deviation of a partition's size, in sizes. */
  readonly deviation: number;
  readonly seed: number;
  /** By shuffle that is read. */
  readonly maps: readonly MapWrites[];
}

/** Draws of sizes, an odd number. */
const DRAWS = 101;
/** Blocks that are drawn at most; of large shuffles there are fewer draws. */
const MAX_BLOCKS = 2_000_000;

/**
 * The shares of the tasks that read merged partitions whose sizes are not known: of several draws of sizes the one with
 * the middle number of tasks. That the sizes differ decides: of partitions of exactly equal size four would always fit
 * where four times the mean is the target.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { coalescingOf, likelyShares } from "./coalesced_partitions.ts";
 *
 * const coalescing = coalescingOf(SparkConf.from({}, "3.5.9"), 4);
 * const map = { bytes: [40e6, 40e6], records: [4e6, 4e6] };
 * const tasks = (deviation: number) =>
 *   likelyShares({ partitions: 32, sizes: null, deviation, seed: 1, maps: [map] }, coalescing).length;
 * assertEquals([tasks(0), tasks(0.04)], [4, 5]);
 * ```
 */
export function likelyShares(spread: PartitionSpread, coalescing: Coalescing): Float64Array {
  const prng = new Prng(spread.seed);
  const blocks = spread.maps.reduce((sum, { bytes }) => sum + bytes.length, 0) * spread.partitions;
  const half = Math.max(0, Math.min((DRAWS - 1) / 2, Math.floor(MAX_BLOCKS / Math.max(1, blocks) / 2)));
  const draws = Array.from({ length: 2 * half + 1 }, () => {
    const { bytes, known } = drawSizes(spread, prng);
    return coalescedShares(known, coalescing, bytes);
  });
  draws.sort((a, b) => a.length - b.length);
  return draws[half];
}

/**
 * Sizes of partitions, and what the driver knows of them: the sums of their blocks' sizes in the map outputs' statuses,
 * each to the next power of 1.1 (MapStatus). A block has a number of records that chance makes, whatever the partition's
 * own size is.
 */
function drawSizes({ partitions, sizes, deviation, maps }: PartitionSpread, prng: Prng) {
  const bytes = new Float64Array(partitions);
  const known = new Float64Array(partitions);
  const blocks = new Float64Array(partitions);
  const own = deviationOfPartitions(deviation, partitions, maps);
  const factors = bytes.map((_, p) => sizes === null ? Math.max(0, 1 + own * prng.normal()) : sizes[p]);
  for (const written of maps) {
    for (let map = 0; map < written.bytes.length; map++) {
      const chance = deviationOfBlock(written.records[map], partitions);
      for (let p = 0; p < partitions; p++) {
        const factor = Math.max(0, factors[p] + chance * prng.normal());
        blocks[p] = Math.round(factor * written.bytes[map] / partitions);
        bytes[p] += blocks[p];
      }
      const status = mapStatus(blocks);
      for (let p = 0; p < partitions; p++) known[p] += status.getSizeForBlock(p);
    }
  }
  return { bytes, known };
}

/** Relative deviation of a block's number of records when each of `records` falls into one of the partitions. */
function deviationOfBlock(records: number, partitions: number): number {
  return records <= 0 ? 0 : Math.sqrt((partitions - 1) / records);
}

/** What of a measured deviation the chance of the blocks does not explain: the partitions' own. */
function deviationOfPartitions(deviation: number, partitions: number, maps: readonly MapWrites[]): number {
  let total = 0;
  let variance = 0;
  for (const { bytes, records } of maps) {
    for (let map = 0; map < bytes.length; map++) {
      total += bytes[map];
      variance += (bytes[map] * deviationOfBlock(records[map], partitions)) ** 2;
    }
  }
  return total === 0 ? deviation : Math.sqrt(Math.max(0, deviation ** 2 - variance / total ** 2));
}

/**
 * How much the sizes of an exchange's partitions differ, from what the log's tasks read of them: each read one
 * partition or several neighbours.
 *
 * @param read Bytes that each task read.
 * @param planned Partitions that were written.
 * @returns The standard deviation in sizes of a partition.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { sizeDeviation } from "./coalesced_partitions.ts";
 *
 * assertEquals(sizeDeviation([200, 100, 100], 4), 0);
 * ```
 */
export function sizeDeviation(read: ArrayLike<number>, planned: number): number {
  let total = 0;
  for (let i = 0; i < read.length; i++) total += read[i];
  if (total === 0) return 0;
  let squares = 0;
  for (let i = 0; i < read.length; i++) {
    const sizes = read[i] * planned / total;
    const partitions = Math.max(1, Math.round(sizes));
    squares += (sizes - partitions) ** 2 / partitions;
  }
  return Math.sqrt(squares / read.length);
}
