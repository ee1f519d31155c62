/**
 * A plain model of Spark's unified memory manager and block store, written for reading, after the rules and not after
 * the kernel: maps instead of records, sums taken anew, one access order, victims selected and then dropped.
 *
 * It offers the kernel's interface, so that the recorded traces run over both, and the fuzzer compares the two.
 */

import {
  type ExecutorMemory,
  type ExecutorMemoryOptions,
  MemoryError,
  type MemoryEventVisitor,
  type MemoryMode,
  type MemoryState,
  OFF_HEAP,
  ON_HEAP,
  PutFlags,
  type Unrolling,
  type UnrollResult,
  type UnrollSettings,
  type UnrollValues,
  WAITING,
} from "../../src/kernel.ts";
import { BlockStore } from "./block_store.ts";
import { assertThat, divide, ModeMemory } from "./mode_memory.ts";

interface WaitingAcquire {
  readonly ticket: number;
  readonly numBytes: number;
  readonly task: number;
  readonly mode: MemoryMode;
}

type Event = (visitor: MemoryEventVisitor) => void;

/** One executor's memory, in the model. */
export class MemoryModel implements ExecutorMemory {
  waitingTicket = -1;
  notified = false;
  readonly #modes: readonly [ModeMemory, ModeMemory];
  readonly #store = new BlockStore();
  readonly #options: ExecutorMemoryOptions;
  #waiting: WaitingAcquire[] = [];
  #nextTicket = 0;
  #events: Event[] = [];
  #dropsBeforeFailure: number | null = null;
  #keepsDropped = false;

  constructor(options: ExecutorMemoryOptions) {
    this.#options = options;
    this.#modes = [
      new ModeMemory(options.maxHeapMemory, options.onHeapStorageRegionSize),
      new ModeMemory(options.maxOffHeapMemory ?? 0, options.offHeapStorageRegionSize ?? 0),
    ];
    if (options.rules?.refusesEmptyExecutionPool && this.#modes[ON_HEAP].executionPoolSize === 0) {
      throw new MemoryError("EXECUTION_MEMORY_REQUIRED");
    }
  }

  // --- storage memory --------------------------------------------------------------------------------------------

  acquireStorageMemory(blockId: number, numBytes: number, mode: MemoryMode): boolean {
    return this.#operation(blockId, () => this.#acquireStorage(blockId, numBytes, mode));
  }

  acquireUnrollMemory(blockId: number, numBytes: number, mode: MemoryMode): boolean {
    return this.acquireStorageMemory(blockId, numBytes, mode);
  }

  #acquireStorage(blockId: number, numBytes: number, mode: MemoryMode): boolean {
    const memory = this.#modes[mode];
    assertThat(numBytes >= 0);
    if (numBytes > this.#withoutUnmanaged(memory, memory.maxMemory - memory.executionUsed)) return false;
    if (mode === OFF_HEAP && this.#options.rules?.offHeapStorage === false) return false;
    if (numBytes > memory.storageFree) {
      const onlyMissing = this.#options.rules?.borrowsOnlyWhatIsMissing ?? true;
      const wanted = onlyMissing ? numBytes - memory.storageFree : numBytes;
      memory.lendToStorage(Math.min(memory.executionFree, wanted));
    }
    assertThat(memory.storageUsed <= memory.storagePoolSize);
    const numBytesToFree = Math.max(0, numBytes - memory.storageFree);
    if (numBytesToFree > 0) this.#evict(numBytesToFree, mode, blockId, -1);
    if (numBytes > memory.storageFree) return false;
    memory.storageUsed += numBytes;
    return true;
  }

  releaseStorageMemory(numBytes: number, mode: MemoryMode): void {
    this.#begin();
    this.#releaseStorage(numBytes, mode);
  }

  releaseUnrollMemory(numBytes: number, mode: MemoryMode): void {
    this.releaseStorageMemory(numBytes, mode);
  }

  #releaseStorage(numBytes: number, mode: MemoryMode): void {
    const memory = this.#modes[mode];
    const held = memory.storageUsed;
    if (numBytes > held) {
      this.#events.push((visitor) => visitor.overRelease?.(numBytes, held, mode, "storage"));
      memory.storageUsed = 0;
    } else {
      memory.storageUsed -= numBytes;
    }
  }

  releaseAllStorageMemory(): void {
    this.#begin();
    for (const memory of this.#modes) memory.storageUsed = 0;
  }

  /** Evicts blocks for a block or for a task's execution memory; gives the bytes freed. */
  #evict(space: number, mode: MemoryMode, forBlock: number, forTask: number): number {
    const victims = this.#store.victims(space, mode, forBlock < 0 ? null : forBlock);
    if (victims === null) return 0;
    let freed = 0;
    for (const id of victims) {
      const { size, useDisk } = this.#store.entries.get(id)!;
      this.#store.touch(id); // dropping begins by reading the block
      if (this.#dropsBeforeFailure === 0) throw new MemoryError("DROP_FAILED");
      if (this.#dropsBeforeFailure !== null) this.#dropsBeforeFailure--;
      this.#store.entries.delete(id);
      this.#releaseStorage(size, mode);
      if (!useDisk && !this.#keepsDropped) this.#store.readers.delete(id);
      this.#events.push((visitor) => visitor.evicted?.(id, size, mode, forBlock, forTask));
      freed += size;
    }
    return freed;
  }

  /** A limit less the unmanaged memory of 4.1, never below 0. */
  #withoutUnmanaged(memory: ModeMemory, limit: number): number {
    return this.#options.rules?.unmanagedConsumers ? Math.max(0, limit - memory.unmanaged) : limit;
  }

  // --- unrolling -------------------------------------------------------------------------------------------------

  reserveUnrollMemoryForTask(blockId: number, numBytes: number, task: number, mode: MemoryMode): boolean {
    return this.#operation(blockId, () => this.#reserveUnroll(blockId, numBytes, task, mode));
  }

  #reserveUnroll(blockId: number, numBytes: number, task: number, mode: MemoryMode): boolean {
    if (!this.#acquireStorage(blockId, numBytes, mode)) return false;
    const held = this.#modes[mode].unrollForTask;
    held.set(task, (held.get(task) ?? 0) + numBytes);
    return true;
  }

  releaseUnrollMemoryForTask(task: number, mode: MemoryMode, numBytes: number = Infinity): void {
    this.#begin();
    this.#releaseUnroll(task, mode, numBytes);
  }

  #releaseUnroll(task: number, mode: MemoryMode, numBytes: number): void {
    const held = this.#modes[mode].unrollForTask;
    if (!held.has(task)) return;
    const released = Math.min(numBytes, held.get(task)!);
    if (released > 0) {
      held.set(task, held.get(task)! - released);
      this.#releaseStorage(released, mode);
    }
    if (held.get(task) === 0) held.delete(task);
  }

  unrollMemoryForTask(task: number, mode: MemoryMode): number {
    return this.#modes[mode].unrollForTask.get(task) ?? 0;
  }

  putIterator(
    blockId: number,
    task: number,
    mode: MemoryMode,
    settings: UnrollSettings,
    values: UnrollValues,
    putFlags = 0,
  ): UnrollResult {
    return this.#operation(blockId, () => {
      this.#checkAbsent(blockId);
      let threshold = settings.memoryThreshold;
      let reserved = 0;
      let elements = 0;
      let size = 0;
      let keepUnrolling = this.#reserveUnroll(blockId, threshold, task, mode);
      if (keepUnrolling) reserved = threshold;
      for (let i = 0; i < values.elementCount && keepUnrolling; i++) {
        elements++;
        size += values.elementBytes;
        if (i % settings.checkPeriod !== 0 || size < threshold) continue;
        const amount = Math.trunc(size * settings.growthFactor - threshold);
        keepUnrolling = this.#reserveUnroll(blockId, amount, task, mode);
        if (keepUnrolling) reserved += amount;
        threshold += amount;
      }
      const precise = values.preciseSize ?? size;
      const stored = keepUnrolling && this.#finish(blockId, task, mode, reserved, precise, putFlags);
      return { stored, bytes: stored ? precise : reserved, elementsUnrolled: elements };
    });
  }

  #finish(blockId: number, task: number, mode: MemoryMode, reserved: number, size: number, putFlags: number): boolean {
    if (size > reserved && !this.#reserveUnroll(blockId, size - reserved, task, mode)) return false;
    this.#releaseUnroll(task, mode, Math.max(size, reserved));
    if (!this.#acquireStorage(blockId, size, mode)) throw new MemoryError("TRANSFER_FAILED");
    this.#add(blockId, size, mode, putFlags);
    return true;
  }

  /** The end of unrolling in steps of `reserveUnrollMemoryForTask`. */
  finishUnroll(
    blockId: number,
    task: number,
    mode: MemoryMode,
    reserved: number,
    size: number,
    putFlags: number,
  ): boolean {
    return this.#operation(blockId, () => {
      this.#checkAbsent(blockId);
      return this.#finish(blockId, task, mode, reserved, size, putFlags);
    });
  }

  beginUnroll(): Unrolling {
    throw new Error("the model unrolls in one call, or in steps of the caller's");
  }

  // --- execution memory ------------------------------------------------------------------------------------------

  acquireExecutionMemory(numBytes: number, task: number, mode: MemoryMode): number {
    this.#begin();
    assertThat(numBytes >= 0);
    if (numBytes === 0) throw new MemoryError("INVALID_NUMBER_OF_BYTES");
    const before = this.#waiting.length;
    const { memoryForTask } = this.#modes[mode];
    if (!memoryForTask.has(task)) {
      memoryForTask.set(task, 0);
      this.notified = true;
    }
    try {
      const granted = this.#grant(numBytes, task, mode);
      if (granted !== null) return answer(granted);
      this.waitingTicket = this.#nextTicket++;
      this.#waiting.push({ ticket: this.waitingTicket, numBytes, task, mode });
      return WAITING;
    } finally {
      this.#wakeFirst(before);
    }
  }

  /** One evaluation of a request: the bytes granted, or null when the task waits. */
  #grant(numBytes: number, task: number, mode: MemoryMode): number | null {
    const memory = this.#modes[mode];
    const current = memory.memoryForTask.get(task);
    if (current === undefined) throw new MemoryError("TASK_NOT_ACTIVE");
    this.#growExecutionPool(numBytes - memory.executionFree, task, mode);
    const limit = memory.maxMemory - Math.min(memory.storageUsed, memory.storageRegionSize);
    const numTasks = memory.memoryForTask.size;
    const maxShare = divide(this.#withoutUnmanaged(memory, limit), numTasks);
    const minShare = divide(memory.executionPoolSize, 2 * numTasks);
    const granted = Math.min(numBytes, Math.max(0, maxShare - current), memory.executionFree);
    if (granted < numBytes && current + granted < minShare) return null;
    memory.memoryForTask.set(task, current + granted);
    return granted;
  }

  #growExecutionPool(needed: number, task: number, mode: MemoryMode): void {
    const memory = this.#modes[mode];
    const reclaimable = Math.max(memory.storageFree, memory.storagePoolSize - memory.storageRegionSize);
    if (needed <= 0 || reclaimable <= 0) return;
    const space = Math.min(needed, reclaimable);
    const unused = Math.min(space, memory.storageFree);
    const evicted = space > unused ? this.#evict(space - unused, mode, -1, task) : 0;
    const atOnce = this.#options.rules?.evictionReachesExecutionAtOnce ?? true;
    memory.lendToExecution(atOnce ? unused + evicted : unused);
  }

  releaseExecutionMemory(numBytes: number, task: number, mode: MemoryMode): void {
    this.#begin();
    this.#releaseExecution(numBytes, task, mode);
    this.#wakeFirst(this.#waiting.length);
  }

  #releaseExecution(numBytes: number, task: number, mode: MemoryMode): void {
    this.notified = true;
    const { memoryForTask } = this.#modes[mode];
    const held = memoryForTask.get(task) ?? 0;
    if (held < numBytes) {
      this.#events.push((visitor) => visitor.overRelease?.(numBytes, held, mode, "execution"));
    }
    if (!memoryForTask.has(task)) return;
    const left = held - Math.min(held, numBytes);
    if (left > 0) memoryForTask.set(task, left);
    else memoryForTask.delete(task);
  }

  releaseAllExecutionMemoryForTask(task: number): number {
    this.#begin();
    let released = 0;
    for (const mode of [ON_HEAP, OFF_HEAP]) {
      const held = this.executionMemoryUsageForTask(task, mode);
      this.#releaseExecution(held, task, mode);
      released += held;
    }
    this.#wakeFirst(this.#waiting.length);
    return answer(released);
  }

  executionMemoryUsageForTask(task: number, mode: MemoryMode): number {
    return this.#modes[mode].memoryForTask.get(task) ?? 0;
  }

  /** Wakes the acquires that waited before the operation, unless the host does that. */
  #wakeFirst(count: number): void {
    if (!this.notified || this.#options.wakeOrder === "host") return;
    for (const { ticket } of this.#waiting.slice(0, count)) this.#evaluate(ticket);
  }

  wake(ticket: number): void {
    this.#begin();
    if (!this.#waiting.some((waiting) => waiting.ticket === ticket)) throw new MemoryError("NOT_WAITING");
    this.#evaluate(ticket);
  }

  #evaluate(ticket: number): void {
    const { numBytes, task, mode } = this.#waiting.find((waiting) => waiting.ticket === ticket)!;
    let outcome: Event;
    try {
      const granted = this.#grant(numBytes, task, mode);
      if (granted === null) {
        this.#events.push((visitor) => visitor.waitsOn?.(ticket, task));
        return;
      }
      outcome = (visitor) => visitor.granted?.(ticket, granted, task);
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error;
      outcome = (visitor) => visitor.failed?.(ticket, error.status, task);
    }
    this.#events.push(outcome);
    this.#waiting = this.#waiting.filter((waiting) => waiting.ticket !== ticket);
  }

  cancel(ticket: number): boolean {
    this.#begin();
    const found = this.#waiting.find((waiting) => waiting.ticket === ticket);
    if (found === undefined) return false;
    this.#waiting = this.#waiting.filter((waiting) => waiting !== found);
    this.#events.push((visitor) => visitor.failed?.(ticket, "INTERRUPTED", found.task));
    return true;
  }

  waitingTickets(): number[] {
    return this.#waiting.map(({ ticket }) => ticket);
  }

  // --- blocks ----------------------------------------------------------------------------------------------------

  declareBlock(rddId = -1): number {
    this.#begin();
    return this.#store.declare(rddId);
  }

  forgetBlock(blockId: number): void {
    this.#begin();
    this.#store.forget(blockId);
  }

  putBytes(blockId: number, size: number, mode: MemoryMode, putFlags = 0): boolean {
    return this.#operation(blockId, () => {
      this.#checkAbsent(blockId);
      if (!this.#acquireStorage(blockId, size, mode)) return false;
      this.#add(blockId, size, mode, putFlags);
      return true;
    });
  }

  #checkAbsent(blockId: number): void {
    if (this.#store.entries.has(blockId)) throw new MemoryError("BLOCK_ALREADY_PRESENT");
  }

  #add(blockId: number, size: number, mode: MemoryMode, putFlags: number): void {
    const deserialized = (putFlags & PutFlags.DESERIALIZED) !== 0;
    const useDisk = (putFlags & PutFlags.USE_DISK) !== 0;
    this.#store.entries.set(blockId, { size, mode, deserialized, useDisk });
    this.#store.readers.set(blockId, this.#store.readers.get(blockId) ?? 0);
  }

  get(blockId: number): boolean {
    return this.#operation(blockId, () => {
      if (!this.#store.entries.has(blockId)) return false;
      this.#store.touch(blockId);
      return true;
    });
  }

  getBytes(blockId: number): boolean {
    const found = this.get(blockId);
    if (found && this.#store.entries.get(blockId)!.deserialized) throw new MemoryError("BLOCK_NOT_SERIALIZED");
    return found;
  }

  getValues(blockId: number): boolean {
    const found = this.get(blockId);
    if (found && !this.#store.entries.get(blockId)!.deserialized) throw new MemoryError("BLOCK_NOT_DESERIALIZED");
    return found;
  }

  getSize(blockId: number): number {
    if (!this.get(blockId)) throw new MemoryError("BLOCK_NOT_IN_MEMORY");
    return this.#store.entries.get(blockId)!.size;
  }

  contains(blockId: number): boolean {
    return this.#operation(blockId, () => this.#store.entries.has(blockId));
  }

  remove(blockId: number): "removed" | "absent" | "locked" {
    return this.#operation(blockId, () => {
      if (this.#store.isLocked(blockId)) return "locked";
      this.#store.readers.delete(blockId);
      const entry = this.#store.entries.get(blockId);
      if (entry === undefined) return "absent";
      this.#store.entries.delete(blockId);
      this.#releaseStorage(entry.size, entry.mode);
      return "removed";
    });
  }

  lockForReading(blockId: number): boolean {
    return this.#operation(blockId, () => {
      const readers = this.#store.readers.get(blockId);
      if (readers === undefined) return false;
      this.#store.readers.set(blockId, readers + 1);
      return true;
    });
  }

  unlock(blockId: number): void {
    this.#operation(blockId, () => {
      const readers = this.#store.readers.get(blockId);
      if (readers === undefined) throw new MemoryError("BLOCK_NOT_FOUND");
      if (readers === 0) throw new MemoryError("BLOCK_NOT_LOCKED");
      this.#store.readers.set(blockId, readers - 1);
    });
  }

  clear(): void {
    this.#begin();
    this.#store.entries.clear();
    this.#store.readers.clear();
    for (const memory of this.#modes) {
      memory.unrollForTask.clear();
      memory.storageUsed = 0;
    }
  }

  // --- settings, state, events -----------------------------------------------------------------------------------

  setUnmanagedMemory(mode: MemoryMode, bytes: number): void {
    this.#begin();
    this.#modes[mode].unmanaged = bytes;
  }

  setDropFailure(afterDrops: number | null): void {
    this.#begin();
    this.#dropsBeforeFailure = afterDrops;
  }

  setKeepsDropped(keeps: boolean): void {
    this.#begin();
    this.#keepsDropped = keeps;
  }

  storagePoolSize(mode: MemoryMode): number {
    return this.#modes[mode].storagePoolSize;
  }

  storageMemoryUsed(mode: MemoryMode): number {
    return this.#modes[mode].storageUsed;
  }

  executionPoolSize(mode: MemoryMode): number {
    return this.#modes[mode].executionPoolSize;
  }

  executionMemoryUsed(mode: MemoryMode): number {
    return this.#modes[mode].executionUsed;
  }

  activeTasks(mode: MemoryMode): number {
    return this.#modes[mode].memoryForTask.size;
  }

  stateNumbers(): number[] {
    const pools = this.#modes.flatMap((memory) => [
      memory.storagePoolSize,
      memory.storageUsed,
      memory.executionPoolSize,
      memory.executionUsed,
    ]);
    return [
      ...pools,
      this.#store.entries.size,
      ...this.#modes.map((memory) => memory.memoryForTask.size),
      ...this.#modes.map((memory) => memory.unrollUsed),
    ];
  }

  state(): MemoryState {
    throw new Error("the model gives its state as numbers");
  }

  taskFlags(task: number): { active: [boolean, boolean]; unrolls: [boolean, boolean] } {
    const [on, off] = this.#modes;
    return {
      active: [on.memoryForTask.has(task), off.memoryForTask.has(task)],
      unrolls: [on.unrollForTask.has(task), off.unrollForTask.has(task)],
    };
  }

  blocks(mode: MemoryMode, visit: (blockId: number, size: number, readers: number) => void): void {
    for (const [id, entry] of this.#store.entries) {
      if (entry.mode === mode) visit(id, entry.size, this.#store.readers.get(id) ?? 0);
    }
  }

  get hasEvents(): boolean {
    return this.#events.length > 0;
  }

  drain(visitor: MemoryEventVisitor): void {
    for (const event of this.#events) event(visitor);
    this.#events = [];
  }

  destroy(): void {}

  #begin(): void {
    this.#events = [];
    this.notified = false;
  }

  /** An operation on a declared block. */
  #operation<T>(blockId: number, run: () => T): T {
    this.#begin();
    this.#store.checkDeclared(blockId);
    return run();
  }
}

/** A result in bytes; one below 0, after a release of less than nothing, cannot be told from WAITING. */
function answer(bytes: number): number {
  if (bytes < 0) throw new MemoryError("NEGATIVE_ANSWER", bytes);
  return bytes;
}
