/**
 * Which executor has which block (org.apache.spark.storage.BlockManagerMasterEndpoint, Spark 2.4.0).
 *
 * @module
 */
import { NO_RDD } from "../kernel/types.ts";
import type { Rdd } from "./workload.ts";

/** What is asked of an RDD: one that is never persisted (null) has no blocks. */
type CacheableRdd = Pick<Rdd, "id" | "numPartitions"> & Partial<Pick<Rdd, "storageLevel">>;

function numBlocks({ numPartitions, storageLevel }: CacheableRdd): number {
  return storageLevel === null ? 0 : numPartitions;
}

const NO_LOCATIONS: readonly number[] = Object.freeze([]);

/**
 * Block ids over all executors: those of cached RDDs are fixed by RDD and partition, others are handed out.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { BlockManagerMaster } from "./block_manager_master.ts";
 *
 * const master = new BlockManagerMaster([{ id: 4, numPartitions: 3 }]);
 * const block = master.rddBlock(0, 2);
 * assertEquals(master.nameOf(block), "rdd_4_2");
 * master.stored(block, 7);
 * assertEquals(master.locations(block), [7]);
 * ```
 */
export class BlockManagerMaster {
  readonly #rdds: readonly CacheableRdd[];
  readonly #bases: number[] = [];
  readonly #rddOfBlock: Int32Array;
  readonly #names: string[] = [];
  readonly #freeIds: number[] = [];
  /** Executor + 1 of the first location, 0 for none. */
  readonly #first: Int32Array;
  /** Further locations of RDD blocks, in the order of storing; also all locations of other blocks are here. */
  readonly #more = new Map<number, number[]>();
  readonly #rddBlocks: number;
  /** RDD blocks of each executor. */
  readonly #counts: number[] = [];
  /** By RDD: partitions of which some executor has a block, and the bytes of all their blocks. */
  readonly #cachedPartitions: Int32Array;
  readonly #memoryBytes: Float64Array;
  readonly #diskBytes: Float64Array;
  /** Told of an executor that got or lost an RDD block. */
  blocksChanged: ((executor: number) => void) | null = null;

  constructor(rdds: readonly CacheableRdd[]) {
    this.#rdds = rdds;
    let next = 0;
    for (const rdd of rdds) {
      this.#bases.push(next);
      next += numBlocks(rdd);
    }
    this.#rddBlocks = next;
    this.#first = new Int32Array(next);
    this.#rddOfBlock = new Int32Array(next);
    this.#cachedPartitions = new Int32Array(rdds.length);
    this.#memoryBytes = new Float64Array(rdds.length);
    this.#diskBytes = new Float64Array(rdds.length);
    for (const [i, rdd] of rdds.entries()) {
      this.#rddOfBlock.fill(i, this.#bases[i], this.#bases[i] + numBlocks(rdd));
    }
  }

  /** Id of a partition's block; `rdd` is the dense index of one that is persisted. */
  rddBlock(rdd: number, partition: number): number {
    return this.#bases[rdd] + partition;
  }

  /** A new id for a block with this name that belongs to no RDD. */
  newBlock(name: string): number {
    const id = this.#freeIds.pop() ?? this.#names.length;
    this.#names[id] = name;
    return this.#rddBlocks + id;
  }

  /** Gives back an id of `newBlock`. */
  freeBlock(block: number): void {
    this.#freeIds.push(block - this.#rddBlocks);
  }

  /** Dense index of the block's RDD, NO_RDD when it belongs to none. */
  rddOf(block: number): number {
    return block < this.#rddBlocks ? this.#rddOfBlock[block] : NO_RDD;
  }

  /** Spark's name of a block. */
  nameOf(block: number): string {
    if (block >= this.#rddBlocks) return this.#names[block - this.#rddBlocks];
    const rdd = this.#rddOfBlock[block];
    return `rdd_${this.#rdds[rdd].id}_${block - this.#bases[rdd]}`;
  }

  /** An executor has the block, in memory or on disk. */
  stored(block: number, executor: number): void {
    if (block >= this.#rddBlocks || this.#has(block, executor)) return;
    if (this.#first[block] === 0) {
      this.#first[block] = executor + 1;
      this.#cachedPartitions[this.#rddOfBlock[block]]++;
    } else {
      const more = this.#more.get(block);
      if (more === undefined) this.#more.set(block, [executor]);
      else more.push(executor);
    }
    this.#count(executor, 1);
  }

  /** The executor has it no more. */
  removed(block: number, executor: number): void {
    if (block >= this.#rddBlocks || !this.#has(block, executor)) return;
    const more = this.#more.get(block);
    if (this.#first[block] === executor + 1) this.#first[block] = more === undefined ? 0 : more.shift()! + 1;
    else more!.splice(more!.indexOf(executor), 1);
    if (more !== undefined && more.length === 0) this.#more.delete(block);
    if (this.#first[block] === 0) this.#cachedPartitions[this.#rddOfBlock[block]]--;
    this.#count(executor, -1);
  }

  /** A block of an executor takes so many bytes more, or less. */
  resized(block: number, memoryBytes: number, diskBytes: number): void {
    if (block >= this.#rddBlocks) return;
    const rdd = this.#rddOfBlock[block];
    this.#memoryBytes[rdd] += memoryBytes;
    this.#diskBytes[rdd] += diskBytes;
  }

  /** What is cached of an RDD (dense index), over all executors. */
  cachedOf(rdd: number): { readonly partitions: number; readonly memorySize: number; readonly diskSize: number } {
    return {
      partitions: this.#cachedPartitions[rdd],
      memorySize: this.#memoryBytes[rdd],
      diskSize: this.#diskBytes[rdd],
    };
  }

  /** Whether an executor has blocks of cached RDDs (BlockManagerMaster.hasCachedBlocks). */
  hasCachedBlocks(executor: number): boolean {
    return (this.#counts[executor] ?? 0) > 0;
  }

  #has(block: number, executor: number): boolean {
    return this.#first[block] === executor + 1 || this.#more.get(block)?.includes(executor) === true;
  }

  #count(executor: number, change: number): void {
    this.#counts[executor] = (this.#counts[executor] ?? 0) + change;
    this.blocksChanged?.(executor);
  }

  /** Executors that have the block, in the order in which they stored it. */
  locations(block: number): readonly number[] {
    const first = this.#first[block];
    if (first === 0) return NO_LOCATIONS;
    const more = this.#more.get(block);
    return more === undefined ? [first - 1] : [first - 1, ...more];
  }

  /** Whether some executor has the block. */
  isStored(block: number): boolean {
    return this.#first[block] !== 0;
  }
}
