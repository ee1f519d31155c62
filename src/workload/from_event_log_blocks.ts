/**
 * Sizes of cached blocks and broadcasts, as block updates report them.
 *
 * @module
 */
import type { BlockStatus } from "../spark/events.ts";

const DRIVER = "driver";

/** Sizes of an RDD's blocks by partition, in each form; absent where never reported. Bytes. */
export interface RddBlockSizes {
  /** In memory, as objects. */
  readonly deserialized: Map<number, number>;
  /** In memory, as bytes (on or off heap). */
  readonly serialized: Map<number, number>;
  readonly disk: Map<number, number>;
}

/** A broadcast variable that was seen. */
export interface BroadcastRecord {
  readonly id: number;
  /** Size by piece, serialized and compressed. */
  readonly pieces: Map<number, number>;
  /** Stage attempts (by index) that ran on an executor when it fetched a piece. */
  readonly readers: Set<number>;
  /** The next job when executors were told to drop it, and none fetched it again; null for never. */
  removedBeforeJob: number | null;
}

/**
 * Collects block updates (SparkListenerBlockUpdated, or TaskMetrics' updated blocks).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { STORAGE_LEVELS } from "../spark/storage_level.ts";
 * import { BlockTable } from "./from_event_log_blocks.ts";
 *
 * const blocks = new BlockTable();
 * const storageLevel = STORAGE_LEVELS.MEMORY_ONLY;
 * blocks.update({ blockId: "rdd_3_1", storageLevel, memorySize: 100, diskSize: 0 });
 * assertEquals(blocks.rdds.get(3)?.deserialized.get(1), 100);
 * ```
 */
export class BlockTable {
  readonly rdds = new Map<number, RddBlockSizes>();
  readonly broadcasts = new Map<number, BroadcastRecord>();
  /** Pieces that executors hold, by executor and block. */
  readonly #held = new Set<string>();
  #nextJobId = 0;

  /** A job starts: what is removed from now on goes before the next one. */
  jobStart(jobId: number): void {
    this.#nextJobId = Math.max(this.#nextJobId, jobId + 1);
  }

  /** Whether any update of an RDD block was seen, so that sizes are observed and not inferred. */
  get recorded(): boolean {
    return this.rdds.size > 0;
  }

  /**
   * Takes one update. Returns the broadcast when an executor got a piece of it. A drop reports use of memory as false and as size
   * what was freed (BlockManager.dropFromMemory), so its memory size is in the form that the block had.
   */
  update(status: BlockStatus, executorId = ""): BroadcastRecord | null {
    const { blockId } = status;
    if (blockId.startsWith("rdd_")) {
      this.#rddBlock(status);
      return null;
    }
    const piece = /^broadcast_(\d+)_piece(\d+)$/.exec(blockId);
    if (piece === null) return null;
    const broadcast = this.broadcast(Number(piece[1]));
    const size = Math.max(status.memorySize, status.diskSize);
    const known = broadcast.pieces.get(Number(piece[2])) ?? 0;
    broadcast.pieces.set(Number(piece[2]), Math.max(known, size));
    const change = this.#pieceChange(status, executorId);
    // The driver keeps its pieces when executors drop theirs, and what it has need not be fetched.
    if (executorId !== DRIVER && change === "got") broadcast.removedBeforeJob = null;
    else if (executorId !== DRIVER && change === "removed") broadcast.removedBeforeJob = this.#nextJobId;
    return change === "got" ? broadcast : null;
  }

  /**
   * What an update says of a piece. One that goes is reported with the state that it had: in memory once more, or on disk with
   * nothing in memory (BlockManager.removeBlockInternal).
   */
  #pieceChange({ blockId, storageLevel, memorySize }: BlockStatus, executorId: string): "got" | "dropped" | "removed" {
    const key = `${executorId} ${blockId}`;
    if (!this.#held.has(key)) {
      this.#held.add(key);
      return "got";
    }
    if (storageLevel.useDisk && memorySize > 0) return "dropped";
    this.#held.delete(key);
    return "removed";
  }

  broadcast(id: number): BroadcastRecord {
    let record = this.broadcasts.get(id);
    if (record === undefined) {
      record = { id, pieces: new Map(), readers: new Set(), removedBeforeJob: null };
      this.broadcasts.set(id, record);
    }
    return record;
  }

  #rddBlock({ blockId, storageLevel, memorySize, diskSize }: BlockStatus) {
    const match = /^rdd_(\d+)_(\d+)$/.exec(blockId);
    if (match === null) return;
    const rddId = Number(match[1]);
    const partition = Number(match[2]);
    let sizes = this.rdds.get(rddId);
    if (sizes === undefined) {
      sizes = {
        deserialized: new Map(),
        serialized: new Map(),
        disk: new Map(),
      };
      this.rdds.set(rddId, sizes);
    }
    if (storageLevel.useMemory && memorySize > 0) {
      const form = storageLevel.deserialized ? sizes.deserialized : sizes.serialized;
      form.set(partition, memorySize);
    }
    if (storageLevel.useDisk && diskSize > 0) sizes.disk.set(partition, diskSize);
  }
}
