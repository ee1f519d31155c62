/**
 * Adaptive execution's merging of small shuffle partitions, for settings under which the recorded merging no longer
 * holds.
 *
 * @module
 */
import { Prng } from "../prng.ts";
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
  /** Merged up to this size in any case. Bytes. */
  readonly minBytes: number;
}

/** Before 3.2 the least size was that of an empty block. */
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
    minBytes: hasParallelismFirst ? conf.getSizeAsBytes(`${prefix}.minPartitionSize`) : LEAST_BYTES,
  };
}

/**
 * The shares of the tasks that read merged partitions: neighbours are merged while together they stay below a target,
 * the mean that gives every core a task but no more than the advisory size (ShufflePartitionsUtil.coalescePartitions).
 *
 * @param sizes Bytes of each partition, of all shuffles that are read together.
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
export function coalescedShares(sizes: ArrayLike<number>, coalescing: Coalescing): Float64Array {
  let total = 0;
  for (let i = 0; i < sizes.length; i++) total += sizes[i];
  if (total === 0) return Float64Array.of(1);
  const mean = Math.max(Math.ceil(total / Math.max(1, coalescing.minPartitions)), LEAST_BYTES);
  const target = Math.max(Math.min(mean, coalescing.advisoryBytes), coalescing.minBytes);
  const shares: number[] = [];
  let merged = 0;
  for (let i = 0; i < sizes.length; i++) {
    if (merged > 0 && merged + sizes[i] > target) {
      shares.push(merged / total);
      merged = 0;
    }
    merged += sizes[i];
  }
  if (merged > 0) shares.push(merged / total);
  return Float64Array.from(shares);
}

/** An exchange's partitions whose sizes differ by chance. */
export interface PartitionSpread {
  /** Bytes of all. */
  readonly total: number;
  readonly partitions: number;
  /** Standard deviation of a partition's size, in sizes. */
  readonly deviation: number;
  readonly seed: number;
}

/** Draws of sizes, an odd number. */
const DRAWS = 101;

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
 * const tasks = (deviation: number) =>
 *   likelyShares({ total: 80e6, partitions: 32, deviation, seed: 1 }, coalescing).length;
 * assertEquals([tasks(0), tasks(0.04)], [4, 5]);
 * ```
 */
export function likelyShares(spread: PartitionSpread, coalescing: Coalescing): Float64Array {
  const prng = new Prng(spread.seed);
  const draws = Array.from({ length: DRAWS }, () => coalescedShares(drawSizes(spread, prng), coalescing));
  draws.sort((a, b) => a.length - b.length);
  return draws[(DRAWS - 1) / 2];
}

function drawSizes({ total, partitions, deviation }: PartitionSpread, prng: Prng): Float64Array {
  const sizes = new Float64Array(partitions).map(() => Math.max(0, 1 + deviation * prng.normal()));
  let sum = 0;
  for (const size of sizes) sum += size;
  return sum === 0 ? sizes : sizes.map((size) => size * total / sum);
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
