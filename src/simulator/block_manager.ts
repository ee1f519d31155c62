/**
 * One executor's block manager (org.apache.spark.storage.BlockManager, Spark 2.4.0): which blocks it has in memory and
 * on disk, what happens to a block that leaves memory, and what it tells the master and the listeners.
 *
 * The pools, the order of the blocks and the choice of victims are the kernel's (src/kernel.ts); this is what stands
 * around them.
 *
 * @module
 */
import {
  type ExecutorMemory,
  type MemoryEventVisitor,
  type MemoryMode,
  NO_TASK,
  OFF_HEAP,
  ON_HEAP,
  PutFlags,
  type UnrollSettings,
} from "../kernel/types.ts";
import { INT_MAX } from "../spark/conf_entry.ts";
import type { BlockStatus, EventSink } from "../spark/events.ts";
import { STORAGE_LEVELS, type StorageLevel } from "../spark/storage_level.ts";
import type { SparkRules } from "../spark/versions.ts";
import type { BlockManagerMaster } from "./block_manager_master.ts";
import { nextLook } from "./unroll_looks.ts";
import type { CostModel } from "./cost_model.ts";

/** One block of one executor. */
export interface BlockEntry {
  /** Id over all executors, given by the master. */
  readonly block: number;
  /** The kernel's id in this executor. */
  readonly local: number;
  readonly name: string;
  /** Dense index of the RDD, NO_RDD for others. */
  readonly rdd: number;
  readonly level: StorageLevel;
  /** In memory; 0 when it is not. */
  memoryBytes: number;
  /** On disk; 0 when it is not. */
  diskBytes: number;
  /** What it takes on disk when it is written there. */
  readonly diskSize: number;
}

/** Where a block was found. */
export type LocalHit = "memory" | "disk" | null;

/** The rules of the version that a block manager follows. */
export type BlockRules = Pick<SparkRules["memory"], "locksBlocks" | "transfersUnrollMemory" | "freesConsumedUnroll">;

/** What a block manager is told when it is made. */
export interface BlockManagerOptions {
  /** Dense index of the executor. */
  readonly executor: number;
  readonly executorId: string;
  readonly memory: ExecutorMemory;
  readonly master: BlockManagerMaster;
  readonly sink: EventSink;
  readonly cost: CostModel;
  readonly unroll: UnrollSettings;
  readonly rules: BlockRules;
  /** The clock, ms. */
  readonly now: () => number;
  /** A waiting acquire of execution memory has ended: bytes granted. */
  readonly onGranted: (ticket: number, granted: number) => void;
}

/** The memory mode that blocks of a level are stored in (StorageLevel.memoryMode). */
export function memoryModeOf(level: StorageLevel): MemoryMode {
  return level.useOffHeap ? OFF_HEAP : ON_HEAP;
}

interface Eviction {
  readonly local: number;
  readonly bytes: number;
  readonly mode: MemoryMode;
  readonly forBlock: number;
  readonly forTask: number;
}

/** The blocks of one executor. */
export class BlockManager {
  readonly executor: number;
  readonly executorId: string;
  readonly memory: ExecutorMemory;
  readonly unrollSettings: UnrollSettings;
  readonly rules: BlockRules;
  readonly #master: BlockManagerMaster;
  readonly #sink: EventSink;
  readonly #cost: CostModel;
  readonly #now: () => number;
  readonly #onGranted: (ticket: number, granted: number) => void;
  readonly #entries = new Map<number, BlockEntry>();
  readonly #byLocal: (BlockEntry | undefined)[] = [];
  /** Blocks that a task computes and stores, with those who wait for it. */
  readonly #writes = new Map<number, (() => void)[]>();
  /** Blocks whose removal waits for their readers or writer. */
  readonly #removals = new Set<number>();
  readonly #evicted: Eviction[] = [];
  readonly #grants: number[] = [];
  readonly #visitor: MemoryEventVisitor;
  #ioMs = 0;
  /** Where the task that runs notes the blocks it changes (TaskMetrics.updatedBlockStatuses); null: nowhere. */
  recorder: BlockStatus[] | null = null;
  /** The same for all tasks of this executor, by task attempt id. */
  readonly recorders: Map<number, BlockStatus[]> = new Map<number, BlockStatus[]>();

  constructor(options: BlockManagerOptions) {
    this.executor = options.executor;
    this.executorId = options.executorId;
    this.memory = options.memory;
    this.unrollSettings = options.unroll;
    this.rules = options.rules;
    this.#master = options.master;
    this.#sink = options.sink;
    this.#cost = options.cost;
    this.#now = options.now;
    this.#onGranted = options.onGranted;
    this.#visitor = {
      evicted: (local, bytes, mode, forBlock, forTask) =>
        void this.#evicted.push({ local, bytes, mode, forBlock, forTask }),
      granted: (ticket, granted) => void this.#grants.push(ticket, granted),
    };
  }

  /** The block's entry, while it is in memory, on disk, or being put. */
  entry(block: number): BlockEntry | undefined {
    return this.#entries.get(block);
  }

  /** Entries of the blocks that are in memory or on disk. */
  entries(): IterableIterator<BlockEntry> {
    return this.#entries.values();
  }

  /** Disk time of the calls since the last look, ms: what the calling task waited for. */
  takeIoMs(): number {
    const ms = this.#ioMs;
    if (ms > 0) this.#ioMs = 0;
    return ms;
  }

  /** Handles what the last call of the kernel left: victims are dropped, woken tasks told. */
  settle(): void {
    if (!this.memory.hasEvents) return;
    this.memory.drain(this.#visitor);
    if (this.#evicted.length > 0) { for (const eviction of this.#evicted.splice(0)) this.#dropped(eviction); }
    if (this.#grants.length === 0) return;
    const grants = this.#grants.splice(0);
    for (let i = 0; i < grants.length; i += 2) {
      this.#onGranted(grants[i], grants[i + 1]);
    }
  }

  /** Whether a task of this executor has the block's write lock. */
  isWritten(block: number): boolean {
    return this.#writes.has(block);
  }

  /** Asks to be called when the block's writer is done; false when it has none. */
  waitForWriter(block: number, resume: () => void): boolean {
    const waiting = this.#writes.get(block);
    if (waiting === undefined) return false;
    waiting.push(resume);
    return true;
  }

  /** Takes the write lock of a block that nobody writes (BlockInfoManager.lockNewBlockForWriting). */
  beginWrite(block: number): void {
    this.#writes.set(block, []);
  }

  /** The block is stored, or will not be. */
  endWrite(block: number): void {
    const waiting = this.#writes.get(block);
    if (waiting === undefined) return;
    this.#writes.delete(block);
    this.#removeLater(block);
    for (const resume of waiting) resume();
  }

  /** Looks a block up and pins it when it is here (getLocalValues, lockForReading); a hit in memory makes it the youngest. */
  readLocal(block: number): LocalHit {
    const entry = this.#entries.get(block);
    if (entry === undefined) return null;
    if (this.memory.contains(entry.local)) {
      this.lockForReading(entry);
      this.memory.get(entry.local);
      return "memory";
    }
    if (entry.diskBytes > 0) {
      this.#ioMs += entry.diskBytes / this.#cost.diskBytesPerMs;
      return "disk";
    }
    return null;
  }

  /**
   * Pins a block in memory, so that it is not evicted while it is read; false when it is not there. In 1.6 nothing is pinned:
   * a block that is evicted meanwhile is read on from what the reader has of it.
   */
  lockForReading(entry: BlockEntry): boolean {
    return this.rules.locksBlocks && this.memory.lockForReading(entry.local);
  }

  /** Another executor reads the block: it becomes the youngest here. Gives what travels, in bytes. */
  readForRemote(block: number): number {
    const entry = this.#entries.get(block);
    if (entry === undefined) return 0;
    if (this.memory.contains(entry.local)) this.memory.get(entry.local);
    else this.#ioMs += entry.diskBytes / this.#cost.diskBytesPerMs;
    return entry.diskSize;
  }

  /** Ends a read that `readLocal` began in memory. */
  unlock(block: number): void {
    const entry = this.#entries.get(block);
    if (entry === undefined || !this.rules.locksBlocks) return;
    this.memory.unlock(entry.local);
    this.#removeLater(block);
  }

  /** The entry under which a block is about to be put (doPut); an entry that is there already is taken. */
  prepare(block: number, level: StorageLevel, diskSize: number): BlockEntry {
    const found = this.#entries.get(block);
    if (found !== undefined) return found;
    const rdd = this.#master.rddOf(block);
    const local = this.memory.declareBlock(rdd);
    const name = this.#master.nameOf(block);
    const entry: BlockEntry = {
      block,
      local,
      name,
      rdd,
      level,
      memoryBytes: 0,
      diskBytes: 0,
      diskSize,
    };
    this.#entries.set(block, entry);
    this.#byLocal[local] = entry;
    return entry;
  }

  /** Kernel flags of a block of this level. */
  putFlags(level: StorageLevel): number {
    return (level.deserialized ? PutFlags.DESERIALIZED : 0) +
      (level.useDisk ? PutFlags.USE_DISK : 0);
  }

  /** The block is in memory now: the kernel holds `bytes` for it. */
  storedInMemory(entry: BlockEntry, bytes: number, tell = true): void {
    this.#resize(entry, bytes, entry.diskBytes);
    this.#master.stored(entry.block, this.executor);
    this.#record(this.recorder, entry);
    if (tell) {
      this.#report(entry, entry.level.useMemory, bytes, entry.diskBytes);
    }
  }

  /** A block that is on disk is in memory again, which Spark tells nobody (maybeCacheDiskValuesInMemory). */
  readBack(entry: BlockEntry, bytes: number): void {
    this.#resize(entry, bytes, entry.diskBytes);
    this.#master.stored(entry.block, this.executor);
  }

  /** Writes a block that found no room in memory to disk. */
  storeOnDisk(entry: BlockEntry): void {
    this.#writeToDisk(entry);
    this.#master.stored(entry.block, this.executor);
    this.#record(this.recorder, entry);
    this.#report(entry, false, 0, entry.diskBytes);
  }

  /** Forgets a block whose put failed. */
  abandon(entry: BlockEntry): void {
    if (!this.memory.contains(entry.local) && entry.diskBytes === 0) {
      this.#forget(entry);
    }
  }

  /** Stores bytes of known size (doPutBytes): memory first, else disk when the level allows. False when neither took it. */
  putBytes(
    block: number,
    size: number,
    level: StorageLevel,
    tell = true,
  ): boolean {
    const entry = this.prepare(block, level, size);
    if (level.useMemory) {
      const stored = this.memory.putBytes(
        entry.local,
        size,
        memoryModeOf(level),
        this.putFlags(level),
      );
      this.settle();
      if (stored) {
        this.storedInMemory(entry, size, tell);
        return true;
      }
      this.refused(entry, size, null);
    }
    if (level.useDisk) {
      this.storeOnDisk(entry);
      return true;
    }
    this.#forget(entry);
    return false;
  }

  /** Stores one object whose size is known (putSingle of a broadcast value): unrolled as a single element. */
  putSingle(
    block: number,
    size: number,
    level: StorageLevel,
    taskAttemptId: number,
    diskSize: number,
  ): boolean {
    const entry = this.prepare(block, level, diskSize);
    if (this.unrollWhole(entry, taskAttemptId, { memory: size, elements: 1 })) {
      this.storedInMemory(entry, size, false);
      return true;
    }
    this.refused(entry, size, taskAttemptId);
    if (level.useDisk) {
      this.#writeToDisk(entry);
      this.#record(this.recorder, entry);
      return true;
    }
    this.#forget(entry);
    return false;
  }

  /**
   * Unrolls values that are all there (MemoryStore.putIteratorAsValues). False when memory has no room: then what was
   * reserved on the way is free again.
   */
  unrollWhole(
    entry: BlockEntry,
    taskAttemptId: number,
    sizes: { readonly memory: number; readonly elements: number },
  ): boolean {
    const mode = memoryModeOf(entry.level);
    // So many as the kernel counts to; larger elements in place of more.
    const elements = Math.min(sizes.elements, INT_MAX);
    const values = {
      elementCount: elements,
      elementBytes: Math.trunc(sizes.memory / elements),
      preciseSize: sizes.memory,
    };
    const flags = this.putFlags(entry.level);
    if (!this.rules.transfersUnrollMemory) return this.#unrollPending(entry, taskAttemptId, { ...sizes, elements });
    const result = this.memory.putIterator(entry.local, taskAttemptId, mode, this.unrollSettings, values, flags);
    this.settle();
    if (result.stored) return true;
    this.memory.releaseUnrollMemoryForTask(taskAttemptId, mode, result.bytes);
    this.settle();
    return false;
  }

  /** The same in 1.6 (MemoryStore.unrollSafely and tryToPut): what a failure on the way leaves reserved stays the task's. */
  #unrollPending(
    entry: BlockEntry,
    taskAttemptId: number,
    { memory, elements }: { readonly memory: number; readonly elements: number },
  ): boolean {
    const mode = memoryModeOf(entry.level);
    const unrolling = this.memory.beginUnroll(entry.local, taskAttemptId, mode, this.unrollSettings);
    const looks = { elements, elementBytes: memory / elements, checkPeriod: this.unrollSettings.checkPeriod };
    let element = nextLook(0, unrolling.reservedBytes, looks);
    while (unrolling.keepUnrolling && element < elements) {
      unrolling.check(Math.trunc((element + 1) * looks.elementBytes));
      element = nextLook(element + looks.checkPeriod, unrolling.reservedBytes, looks);
    }
    this.settle();
    return unrolling.keepUnrolling && this.putPending(entry, taskAttemptId, unrolling.reservedBytes, memory);
  }

  /** Frees what was reserved for a block and stores it (MemoryStore.tryToPut, 1.6); false when there is no room. */
  putPending(entry: BlockEntry, taskAttemptId: number, reservedBytes: number, size: number): boolean {
    const mode = memoryModeOf(entry.level);
    // Spark does both under one lock: what waits for memory is told afterwards.
    this.memory.releaseUnrollMemoryForTask(taskAttemptId, mode, reservedBytes);
    const stored = this.memory.putBytes(entry.local, size, mode, this.putFlags(entry.level));
    this.settle();
    return stored;
  }

  /** Stores values that another executor sends as bytes (saveDeserializedValuesToMemoryStore of a replica). */
  putValues(
    block: number,
    sizes: { readonly memory: number; readonly disk: number; readonly elements: number },
    level: StorageLevel,
  ): boolean {
    const entry = this.prepare(block, level, sizes.disk);
    if (this.unrollWhole(entry, NO_TASK, sizes)) {
      this.storedInMemory(entry, sizes.memory);
      return true;
    }
    this.refused(entry, sizes.memory, null);
    if (level.useDisk) this.storeOnDisk(entry);
    else this.#forget(entry);
    return level.useDisk;
  }

  /** Says that a block found no room in memory ("Not enough space to cache ..."). */
  refused(entry: BlockEntry, numBytes: number, taskId: number | null): void {
    this.#sink.event({
      kind: "putRefused",
      time: this.#now(),
      executorId: this.executorId,
      blockId: entry.name,
      numBytes,
      taskId,
      toDisk: entry.level.useDisk,
    });
  }

  /**
   * Removes an RDD's blocks, also those that tasks compute now: these have their write locks, and go once they are stored and let
   * go of (BlockManager.removeRdd takes them from blockInfoManager.entries and waits for each lock, 2.4.0). `rdd` is a dense index.
   */
  removeRdd(rdd: number): void {
    // In 1.6 a block becomes known when it is put: one that is computed now is not found, and stays.
    const known = [...this.#entries.keys()].filter((block) => this.rules.locksBlocks || !this.#writes.has(block));
    const blocks = new Set([...known, ...(this.rules.locksBlocks ? this.#writes.keys() : [])]);
    const own = [...blocks].filter((block) => this.#master.rddOf(block) === rdd);
    for (const block of own.sort((a, b) => a - b)) this.removeBlock(block);
  }

  /**
   * Removes a block from memory and disk (removeBlock); no eviction. While a task writes it or tasks read it the removal waits for
   * them, as for the write lock in BlockInfoManager.lockForWriting.
   *
   * @returns whether it is gone
   */
  removeBlock(block: number, tell = false): boolean {
    if (this.#writes.has(block)) {
      this.#removals.add(block);
      return false;
    }
    const entry = this.#entries.get(block);
    if (entry === undefined) return false;
    // The kernel also knows blocks that it dropped to disk.
    if (this.memory.remove(entry.local) === "locked") {
      this.#removals.add(block);
      return false;
    }
    this.settle();
    const { memoryBytes, diskBytes } = entry;
    this.#resize(entry, 0, 0);
    this.#forget(entry);
    this.#master.removed(block, this.executor);
    if (tell) this.#report(entry, false, memoryBytes, 0, diskBytes);
    return true;
  }

  /** A lock of the block was given back: a removal that waits for it is tried again. */
  #removeLater(block: number): void {
    if (!this.#removals.delete(block) || !this.removeBlock(block)) return;
    const blockId = this.#master.nameOf(block);
    this.#sink.event({ kind: "blockRemoved", time: this.#now(), executorId: this.executorId, blockId });
  }

  /** Everything is gone: the executor was lost. */
  lose(): void {
    for (const entry of this.#entries.values()) {
      this.#resize(entry, 0, 0);
      this.#master.removed(entry.block, this.executor);
    }
    this.#entries.clear();
    this.#removals.clear();
    this.#writes.clear();
    this.#byLocal.length = 0;
  }

  #dropped({ local, bytes, mode, forBlock, forTask }: Eviction): void {
    const entry = this.#byLocal[local];
    if (entry === undefined) return;
    const writes = entry.level.useDisk && entry.diskBytes === 0;
    if (writes) this.#writeToDisk(entry);
    this.#resize(entry, 0, entry.diskBytes);
    this.#sink.event({
      kind: "blockEvicted",
      time: this.#now(),
      executorId: this.executorId,
      blockId: entry.name,
      memorySize: bytes,
      offHeap: mode === OFF_HEAP,
      droppedToDisk: writes,
      forBlockId: forBlock < 0 ? null : this.#byLocal[forBlock]?.name ?? null,
      forTaskId: forTask < 0 ? null : forTask,
    });
    // A task that waited for memory makes room when another one gives some back.
    this.#record(this.recorders.get(forTask) ?? this.recorder, entry);
    this.#report(entry, false, bytes, entry.diskBytes);
    if (entry.diskBytes === 0) {
      this.#forget(entry);
      this.#master.removed(entry.block, this.executor);
    }
  }

  #writeToDisk(entry: BlockEntry): void {
    this.#resize(entry, entry.memoryBytes, entry.diskSize > 0 ? entry.diskSize : 1);
    this.#ioMs += entry.diskBytes / this.#cost.diskBytesPerMs;
    if (entry.level.deserialized) {
      this.#ioMs += entry.diskBytes / this.#cost.serializationBytesPerMs;
    }
  }

  #resize(entry: BlockEntry, memoryBytes: number, diskBytes: number): void {
    this.#master.resized(entry.block, memoryBytes - entry.memoryBytes, diskBytes - entry.diskBytes);
    entry.memoryBytes = memoryBytes;
    entry.diskBytes = diskBytes;
  }

  #forget(entry: BlockEntry): void {
    this.#entries.delete(entry.block);
    this.#byLocal[entry.local] = undefined;
    this.memory.forgetBlock(entry.local);
  }

  /** What has become of a block, for the task that did it (addUpdatedBlockStatusToTaskMetrics). */
  #record(recorder: BlockStatus[] | null, { name, level, memoryBytes, diskBytes }: BlockEntry): void {
    if (recorder === null) return;
    const useMemory = memoryBytes > 0;
    recorder.push({
      blockId: name,
      storageLevel: {
        useDisk: diskBytes > 0,
        useMemory,
        useOffHeap: useMemory && level.useOffHeap,
        deserialized: useMemory && level.deserialized,
        replication: level.replication,
      },
      memorySize: memoryBytes,
      diskSize: diskBytes,
    });
  }

  /** SparkListenerBlockUpdated, for the blocks that are told to the master: not broadcast values. */
  #report(
    entry: BlockEntry,
    useMemory: boolean,
    memorySize: number,
    diskSize: number,
    freedDisk = 0,
  ): void {
    const { level } = entry;
    const useDisk = diskSize > 0;
    const valid = useMemory || useDisk;
    this.#sink.event({
      kind: "blockUpdated",
      time: this.#now(),
      executorId: this.executorId,
      blockId: entry.name,
      storageLevel: valid
        ? {
          useDisk,
          useMemory,
          useOffHeap: useMemory && level.useOffHeap,
          deserialized: useMemory && level.deserialized,
          replication: level.replication,
        }
        : STORAGE_LEVELS.NONE,
      memorySize,
      diskSize: useDisk ? diskSize : freedDisk,
    });
  }
}
