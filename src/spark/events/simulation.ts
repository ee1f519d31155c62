/**
 * What a simulated run tells beyond Spark's own events.
 *
 * @module
 */
import type { EventOf } from "./event_of.ts";

/**
 * Something of the memory manager or the result path that Spark decides but does not write to an event log.
 * Only simulated runs have these; the event-log writer leaves them out.
 */
export type SimulationEvent =
  | {
    readonly kind: "blockEvicted";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
    readonly memorySize: number;
    readonly offHeap: boolean;
    /** It went to disk. */
    readonly droppedToDisk: boolean;
    /** For a block to be stored or unrolled, or for a task's execution memory. */
    readonly forBlockId: string | null;
    readonly forTaskId: number | null;
  }
  | {
    /** A block that is on disk was read and put into memory too, of which Spark writes no update (BlockManager.maybeCacheDiskValuesInMemory). */
    readonly kind: "blockReadBack";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
    readonly memorySize: number;
    readonly offHeap: boolean;
  }
  | {
    /** A block whose RDD was unpersisted while tasks wrote or read it is gone, now that they let go of it; Spark writes no update. */
    readonly kind: "blockRemoved";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
  }
  | {
    readonly kind: "putRefused";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
    readonly numBytes: number;
    readonly taskId: number | null;
    readonly toDisk: boolean;
  }
  | {
    readonly kind: "cacheRead";
    readonly time: number;
    readonly executorId: string;
    readonly blockId: string;
    readonly taskId: number;
    readonly from: "memory" | "disk" | "remoteMemory" | "remoteDisk" | "miss";
    readonly numBytes: number;
  }
  | {
    readonly kind: "memoryWait";
    readonly time: number;
    readonly executorId: string;
    readonly taskId: number;
    readonly numBytes: number;
    readonly waitMs: number;
  }
  | {
    readonly kind: "spill";
    readonly time: number;
    readonly executorId: string;
    readonly taskId: number;
    readonly consumer: string;
    readonly memoryBytes: number;
    readonly diskBytes: number;
    /** The consumer that asked; equal to `consumer` when it spilled itself. */
    readonly trigger: string;
  }
  | {
    readonly kind: "outOfMemory";
    readonly time: number;
    readonly executorId: string;
    readonly taskId: number;
    readonly consumer: string;
    readonly requested: number;
    readonly granted: number;
  }
  | {
    readonly kind: "taskResult";
    readonly time: number;
    readonly executorId: string;
    readonly taskId: number;
    readonly stageId: number;
    readonly stageAttemptId: number;
    readonly path: "direct" | "indirect" | "dropped" | "lost";
    readonly numBytes: number;
  }
  | {
    /** The pools of an executor after a change, for charts; bytes. */
    readonly kind: "memoryState";
    readonly time: number;
    readonly executorId: string;
    readonly onHeap: PoolState;
    readonly offHeap: PoolState | null;
  };

/** The two pools of one memory mode, in bytes. */
export interface PoolState {
  /** StorageMemoryPool.poolSize. */
  readonly storagePoolSize: number;
  /** Of these, taken by blocks and by unrolling (StorageMemoryPool.memoryUsed). */
  readonly storageMemoryUsed: number;
  /** Of these, taken by blocks that are being unrolled (MemoryStore.currentUnrollMemory). */
  readonly unrollMemoryUsed: number;
  /** ExecutionMemoryPool.poolSize. */
  readonly executionPoolSize: number;
  /** Of these, taken by tasks (ExecutionMemoryPool.memoryUsed). */
  readonly executionMemoryUsed: number;
}

/** A warning about the input or about the limits of an answer; counted by code. */
export interface SourceWarning extends EventOf<"warning"> {
  /** Stable identifier, `area.what`. */
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
  /** How many times, 1 unless the source has counted them. */
  readonly count: number;
}
