/**
 * Blocks in storage memory and on disk, followed through the block updates of a run.
 *
 * @module
 */
import type { BlockStatus, BlockUpdated, EventSource, SimulationEvent } from "../spark/events.ts";

/** What became of the blocks of one RDD. */
export interface RddBlocks {
  readonly rddId: number;
  /** Distinct partitions that were ever stored. */
  readonly partitions: number;
  /** Bytes that those partitions take, each at its last known size. */
  readonly bytes: number;
  /** The largest of them. */
  readonly maxBytes: number;
  readonly evicted: number;
}

interface Block {
  memory: number;
  disk: number;
}

/** Storage of one executor. */
export interface ExecutorBlocks {
  /** Bytes of all blocks in memory now, broadcasts and task results included. */
  memoryBytes: number;
  peakBytes: number;
  evictions: number;
}

interface ExecutorState extends ExecutorBlocks {
  broadcastBytes: number;
  /** RDD blocks by RDD and block id. */
  rdds: Map<number, Map<string, Block>>;
  /** Broadcast pieces, task results, streams. */
  others: Map<string, Block>;
}

const RDD_BLOCK = /^rdd_(\d+)_\d+$/;

/** The RDD of a block, or null for blocks of other kinds (org.apache.spark.storage.RDDBlockId). */
export function rddOfBlock(blockId: string): number | null {
  if (!blockId.startsWith("rdd_")) return null;
  const match = RDD_BLOCK.exec(blockId);
  return match === null ? null : Number(match[1]);
}

/** What a block update meant. */
export type BlockChange = "stored" | "evicted" | "other";

/**
 * Follows blocks.
 *
 * In a log, a block that memory pressure drops is reported with Use Memory false and the freed size as Memory Size
 * (BlockManager.reportBlockStatus); one that is removed otherwise is reported with sizes of 0 or, on unpersist, not at
 * all. Simulated runs say evictions themselves, so there updates only move the state.
 */
export class BlockFold {
  /** There was at least one update. */
  recorded = false;
  /** RDD blocks that came to an executor where they were not. */
  stored = 0;
  evicted = 0;
  bytesEvicted = 0;
  droppedToDisk = 0;
  /** RDD blocks that were lost with their executors. */
  lost = 0;
  /** The most bytes of broadcast variables that one executor held at a time. */
  broadcastPeak = 0;
  /** Evictions of blocks of which no update had said that they were in memory. */
  unseen = 0;
  readonly #simulated: boolean;
  /** The source has block updates, so what tasks record is not needed. */
  #byUpdates = false;
  readonly #executors = new Map<string, ExecutorState>();
  readonly #sizes = new Map<number, Map<string, number>>();
  readonly #evictions = new Map<number, number>();

  constructor(source: EventSource) {
    this.#simulated = source === "simulated";
  }

  /** Takes a block update. */
  updated(event: BlockUpdated): BlockChange {
    this.recorded = true;
    this.#byUpdates = true;
    return this.#changed(event);
  }

  /**
   * Takes a block's state as a task recorded it (TaskMetrics.updatedBlockStatuses), on the executor that ran the task: where a log
   * has no block updates, it has the blocks that tasks stored and evicted, before Spark 2.3 or with
   * spark.taskMetrics.trackUpdatedBlockStatuses.
   */
  updatedByTask(executorId: string, block: BlockStatus): BlockChange {
    if (this.#byUpdates) return "other";
    this.recorded = true;
    const old = this.#find(executorId, block.blockId);
    // The size that an eviction freed is not recorded here; a block that is not there any more was dropped.
    const dropped = !block.storageLevel.useMemory && old !== null && old.memory > 0;
    return this.#changed({
      ...block,
      kind: "blockUpdated",
      executorId,
      memorySize: dropped ? old.memory : block.memorySize,
      time: null,
    });
  }

  #find(executorId: string, blockId: string): Block | null {
    const executor = this.#executors.get(executorId);
    const rddId = rddOfBlock(blockId);
    const blocks = rddId === null ? executor?.others : executor?.rdds.get(rddId);
    return blocks?.get(blockId) ?? null;
  }

  #changed(event: BlockUpdated): BlockChange {
    const executor = this.#executor(event.executorId);
    const rddId = rddOfBlock(event.blockId);
    const memory = event.storageLevel.useMemory ? event.memorySize : 0;
    const disk = event.storageLevel.useDisk ? event.diskSize : 0;
    const blocks = rddId === null ? executor.others : this.#rddBlocks(executor, rddId);
    const old = blocks.get(event.blockId);
    this.#setMemory(executor, memory - (old?.memory ?? 0));
    if (event.blockId.startsWith("broadcast_")) this.#setBroadcast(executor, event, memory - (old?.memory ?? 0));
    if (memory === 0 && disk === 0) blocks.delete(event.blockId);
    else blocks.set(event.blockId, { memory, disk });
    if (rddId === null) return "other";
    if (memory > 0 || disk > 0) this.#size(rddId, event.blockId, Math.max(memory, disk));
    if (!event.storageLevel.useMemory && event.memorySize > 0) {
      if (!this.#simulated) {
        if (old === undefined || old.memory === 0) this.unseen++;
        this.#evict(executor, rddId, event.memorySize, disk > 0);
      }
      return "evicted";
    }
    if (old === undefined && (memory > 0 || disk > 0)) {
      this.stored++;
      return "stored";
    }
    return "other";
  }

  /** Takes an eviction of a simulated run. */
  evictedInSimulation(event: Extract<SimulationEvent, { kind: "blockEvicted" }>): void {
    const rddId = rddOfBlock(event.blockId);
    if (rddId === null) return;
    const executor = this.#executor(event.executorId);
    const block = this.#rddBlocks(executor, rddId).get(event.blockId);
    if (block !== undefined) {
      this.#setMemory(executor, -block.memory);
      block.memory = 0;
    }
    this.#evict(executor, rddId, event.memorySize, event.droppedToDisk);
  }

  /** Takes a block that came back from disk to memory, of which Spark writes no update. */
  readBack(executorId: string, blockId: string, memorySize: number): void {
    const rddId = rddOfBlock(blockId);
    if (rddId === null) return;
    const executor = this.#executor(executorId);
    // Of an RDD that was unpersisted while a task stored the block: it goes with that task's lock.
    const block = this.#rddBlocks(executor, rddId).get(blockId);
    if (block === undefined) return;
    this.#setMemory(executor, memorySize - block.memory);
    block.memory = memorySize;
  }

  /** Takes the end of a block that was stored although its RDD had been unpersisted. */
  removedInSimulation(executorId: string, blockId: string): void {
    const rddId = rddOfBlock(blockId);
    if (rddId === null) return;
    const executor = this.#executor(executorId);
    const blocks = this.#rddBlocks(executor, rddId);
    this.#setMemory(executor, -(blocks.get(blockId)?.memory ?? 0));
    blocks.delete(blockId);
  }

  /** An RDD was unpersisted: its blocks are gone everywhere, without updates. */
  unpersisted(rddId: number): void {
    for (const executor of this.#executors.values()) {
      for (const { memory } of executor.rdds.get(rddId)?.values() ?? []) this.#setMemory(executor, -memory);
      executor.rdds.delete(rddId);
    }
  }

  /** An executor is gone, and its blocks with it; its peak stays. */
  executorGone(executorId: string): void {
    const executor = this.#executors.get(executorId);
    if (executor === undefined) return;
    for (const blocks of executor.rdds.values()) this.lost += blocks.size;
    executor.rdds.clear();
    executor.others.clear();
    executor.broadcastBytes = 0;
    executor.memoryBytes = 0;
  }

  /** An executor's storage, or null when it never had a block. */
  ofExecutor(executorId: string): ExecutorBlocks | null {
    return this.#executors.get(executorId) ?? null;
  }

  /** RDD blocks that are there now. */
  now(): { memoryBlocks: number; memoryBytes: number; diskBlocks: number; diskBytes: number } {
    const sum = { memoryBlocks: 0, memoryBytes: 0, diskBlocks: 0, diskBytes: 0 };
    for (const { rdds } of this.#executors.values()) {
      for (const blocks of rdds.values()) {
        for (const { memory, disk } of blocks.values()) {
          if (memory > 0) sum.memoryBlocks++;
          if (disk > 0) sum.diskBlocks++;
          sum.memoryBytes += memory;
          sum.diskBytes += disk;
        }
      }
    }
    return sum;
  }

  /** What became of each RDD's blocks. */
  rdds(): RddBlocks[] {
    return [...this.#sizes].map(([rddId, sizes]) => ({
      rddId,
      partitions: sizes.size,
      bytes: [...sizes.values()].reduce((a, b) => a + b, 0),
      maxBytes: [...sizes.values()].reduce((a, b) => Math.max(a, b), 0),
      evicted: this.#evictions.get(rddId) ?? 0,
    }));
  }

  #evict(executor: ExecutorState, rddId: number, bytes: number, toDisk: boolean): void {
    this.evicted++;
    this.bytesEvicted += bytes;
    if (toDisk) this.droppedToDisk++;
    executor.evictions++;
    this.#evictions.set(rddId, (this.#evictions.get(rddId) ?? 0) + 1);
  }

  #setMemory(executor: ExecutorState, change: number): void {
    executor.memoryBytes += change;
    if (executor.memoryBytes > executor.peakBytes) executor.peakBytes = executor.memoryBytes;
  }

  #setBroadcast(executor: ExecutorState, { executorId }: BlockUpdated, change: number): void {
    executor.broadcastBytes += change;
    if (executorId !== "driver" && executor.broadcastBytes > this.broadcastPeak) {
      this.broadcastPeak = executor.broadcastBytes;
    }
  }

  #size(rddId: number, blockId: string, bytes: number): void {
    let sizes = this.#sizes.get(rddId);
    if (sizes === undefined) this.#sizes.set(rddId, sizes = new Map());
    sizes.set(blockId, bytes);
  }

  #rddBlocks(executor: ExecutorState, rddId: number): Map<string, Block> {
    let blocks = executor.rdds.get(rddId);
    if (blocks === undefined) executor.rdds.set(rddId, blocks = new Map());
    return blocks;
  }

  #executor(executorId: string): ExecutorState {
    let executor = this.#executors.get(executorId);
    if (executor === undefined) {
      executor = { memoryBytes: 0, broadcastBytes: 0, peakBytes: 0, evictions: 0, rdds: new Map(), others: new Map() };
      this.#executors.set(executorId, executor);
    }
    return executor;
  }
}
