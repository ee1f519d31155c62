/**
 * One executor's memory in the kernel.
 *
 * @module
 */
import type { EventReader } from "./event_reader.ts";
import type { KernelInstance } from "./instance.ts";
import { MemoryError } from "./memory_error.ts";
import {
  type KernelExecutorMemory,
  type MemoryEventVisitor,
  type MemoryMode,
  type MemoryState,
  NO_RDD,
  type Unrolling,
  type UnrollResult,
  type UnrollSettings,
  type UnrollValues,
  WAITING,
} from "./types.ts";

/** Java's Long.MAX_VALUE as the kernel's numbers saturate to it: everything that there is. */
const ALL_BYTES = 2 ** 63;

/** The calls of an executor as calls of the kernel's exports. */
export class ExecutorInKernel implements KernelExecutorMemory {
  readonly handle: number;
  waitingTicket = -1;
  readonly #kernel: KernelInstance;
  readonly #events: EventReader;
  /** Why the last operation evicts, where it does: the block or the task for which it makes space; -1: not that. */
  #causeBlock = -1;
  #causeTask = -1;

  constructor(kernel: KernelInstance, events: EventReader, handle: number) {
    this.#kernel = kernel;
    this.#events = events;
    this.handle = handle;
  }

  declareBlock(rddId: number = NO_RDD): number {
    return this.#checked(this.#kernel.call.declareBlock(this.handle, rddId));
  }

  forgetBlock(blockId: number): void {
    this.#checked(this.#kernel.call.forgetBlock(this.handle, blockId));
  }

  acquireExecutionMemory(numBytes: number, taskAttemptId: number, mode: MemoryMode): number {
    this.#causedByTask(taskAttemptId);
    const answer = this.#kernel.call.acquireExecutionMemory(this.handle, numBytes, taskAttemptId, mode);
    if (answer >= 0) return answer;
    if (answer > this.#kernel.firstTicket) this.#fail(answer);
    this.waitingTicket = this.#kernel.firstTicket - answer;
    return WAITING;
  }

  releaseExecutionMemory(numBytes: number, taskAttemptId: number, mode: MemoryMode): void {
    this.#checked(this.#kernel.call.releaseExecutionMemory(this.handle, numBytes, taskAttemptId, mode));
  }

  releaseAllExecutionMemoryForTask(taskAttemptId: number): number {
    return this.#checked(this.#kernel.call.releaseAllExecutionMemoryForTask(this.handle, taskAttemptId));
  }

  executionMemoryUsageForTask(taskAttemptId: number, mode: MemoryMode): number {
    return this.#number(this.#kernel.call.executionMemoryUsageForTask(this.handle, taskAttemptId, mode));
  }

  cancel(ticket: number): boolean {
    return this.#checked(this.#kernel.call.cancel(this.handle, ticket)) === 1;
  }

  waitingTickets(): number[] {
    const tickets: number[] = [];
    for (let ticket; (ticket = this.#kernel.call.waitingTicket(this.handle, tickets.length)) >= 0;) {
      tickets.push(ticket);
    }
    return tickets;
  }

  get notified(): boolean {
    return this.#checked(this.#kernel.call.notified(this.handle)) === 1;
  }

  wake(ticket: number): void {
    this.#checked(this.#kernel.call.wake(this.handle, ticket));
  }

  acquireStorageMemory(blockId: number, numBytes: number, mode: MemoryMode): boolean {
    this.#causedByBlock(blockId);
    return this.#checked(this.#kernel.call.acquireStorageMemory(this.handle, blockId, numBytes, mode)) === 1;
  }

  /** Unroll memory is storage memory (UnifiedMemoryManager.acquireUnrollMemory). */
  acquireUnrollMemory(blockId: number, numBytes: number, mode: MemoryMode): boolean {
    return this.acquireStorageMemory(blockId, numBytes, mode);
  }

  releaseStorageMemory(numBytes: number, mode: MemoryMode): void {
    this.#checked(this.#kernel.call.releaseStorageMemory(this.handle, numBytes, mode));
  }

  releaseUnrollMemory(numBytes: number, mode: MemoryMode): void {
    this.releaseStorageMemory(numBytes, mode);
  }

  releaseAllStorageMemory(): void {
    this.#checked(this.#kernel.call.releaseAllStorageMemory(this.handle));
  }

  reserveUnrollMemoryForTask(blockId: number, numBytes: number, taskAttemptId: number, mode: MemoryMode): boolean {
    this.#causedByBlock(blockId);
    const { call } = this.#kernel;
    return this.#checked(call.reserveUnrollMemory(this.handle, blockId, numBytes, taskAttemptId, mode)) === 1;
  }

  releaseUnrollMemoryForTask(taskAttemptId: number, mode: MemoryMode, numBytes: number = ALL_BYTES): void {
    this.#checked(this.#kernel.call.releaseUnrollMemory(this.handle, numBytes, taskAttemptId, mode));
  }

  unrollMemoryForTask(taskAttemptId: number, mode: MemoryMode): number {
    return this.#number(this.#kernel.call.unrollMemoryForTask(this.handle, taskAttemptId, mode));
  }

  putBytes(blockId: number, size: number, mode: MemoryMode, putFlags = 0): boolean {
    this.#causedByBlock(blockId);
    return this.#checked(this.#kernel.call.putBytes(this.handle, blockId, size, mode, putFlags)) === 1;
  }

  putIterator(
    blockId: number,
    taskAttemptId: number,
    mode: MemoryMode,
    settings: UnrollSettings,
    values: UnrollValues,
    putFlags = 0,
  ): UnrollResult {
    this.#causedByBlock(blockId);
    const stored = this.#checked(this.#kernel.call.putIterator(
      this.handle,
      blockId,
      taskAttemptId,
      mode,
      settings.memoryThreshold,
      settings.checkPeriod,
      settings.growthFactor,
      values.elementCount,
      values.elementBytes,
      values.preciseSize ?? -1,
      putFlags,
    ));
    const result = this.#kernel.constant("UNROLL_RESULT");
    return {
      stored: stored === 1,
      bytes: this.#kernel.f64[result >> 3],
      elementsUnrolled: this.#kernel.i32[(result + 8) >> 2],
    };
  }

  beginUnroll(blockId: number, taskAttemptId: number, mode: MemoryMode, settings: UnrollSettings): Unrolling {
    if (this.contains(blockId)) throw new MemoryError("BLOCK_ALREADY_PRESENT");
    return new BlockUnrolling(this, blockId, taskAttemptId, mode, settings);
  }

  /** Turns a reservation of unroll memory into the stored block. */
  finishUnroll(
    blockId: number,
    taskAttemptId: number,
    mode: MemoryMode,
    reserved: number,
    size: number,
    putFlags: number,
  ): boolean {
    this.#causedByBlock(blockId);
    const { call } = this.#kernel;
    return this.#checked(call.finishUnroll(this.handle, blockId, taskAttemptId, mode, reserved, size, putFlags)) === 1;
  }

  get(blockId: number): boolean {
    return this.#checked(this.#kernel.call.get(this.handle, blockId)) === 1;
  }

  getBytes(blockId: number): boolean {
    return this.#checked(this.#kernel.call.getBytes(this.handle, blockId)) === 1;
  }

  getValues(blockId: number): boolean {
    return this.#checked(this.#kernel.call.getValues(this.handle, blockId)) === 1;
  }

  getSize(blockId: number): number {
    return this.#checked(this.#kernel.call.getSize(this.handle, blockId));
  }

  contains(blockId: number): boolean {
    return this.#checked(this.#kernel.call.contains(this.handle, blockId)) === 1;
  }

  remove(blockId: number): "removed" | "absent" | "locked" {
    const answer = this.#checked(this.#kernel.call.remove(this.handle, blockId));
    return answer === 1 ? "removed" : answer === 0 ? "absent" : "locked";
  }

  lockForReading(blockId: number): boolean {
    return this.#checked(this.#kernel.call.lockForReading(this.handle, blockId)) === 1;
  }

  unlock(blockId: number): void {
    this.#checked(this.#kernel.call.unlock(this.handle, blockId));
  }

  clear(): void {
    this.#checked(this.#kernel.call.clear(this.handle));
  }

  setUnmanagedMemory(mode: MemoryMode, bytes: number): void {
    this.#checked(this.#kernel.call.setUnmanagedMemory(this.handle, mode, bytes));
  }

  setDropFailure(afterDrops: number | null): void {
    this.#checked(this.#kernel.call.setDropFailure(this.handle, afterDrops ?? -1));
  }

  /** Whether every evicted block stays known to `lockForReading`, whatever its storage level. */
  setKeepsDropped(keeps: boolean): void {
    this.#checked(this.#kernel.call.setKeepsDropped(this.handle, keeps ? 1 : 0));
  }

  storagePoolSize(mode: MemoryMode): number {
    return this.#stateNumber(4 * mode);
  }

  storageMemoryUsed(mode: MemoryMode): number {
    return this.#stateNumber(4 * mode + 1);
  }

  executionPoolSize(mode: MemoryMode): number {
    return this.#stateNumber(4 * mode + 2);
  }

  executionMemoryUsed(mode: MemoryMode): number {
    return this.#stateNumber(4 * mode + 3);
  }

  activeTasks(mode: MemoryMode): number {
    return this.#stateNumber(9 + mode);
  }

  state(): MemoryState {
    const numbers = this.stateNumbers();
    return {
      onHeapStoragePoolSize: numbers[0],
      onHeapStorageMemoryUsed: numbers[1],
      onHeapExecutionPoolSize: numbers[2],
      onHeapExecutionMemoryUsed: numbers[3],
      offHeapStoragePoolSize: numbers[4],
      offHeapStorageMemoryUsed: numbers[5],
      offHeapExecutionPoolSize: numbers[6],
      offHeapExecutionMemoryUsed: numbers[7],
      entries: numbers[8],
      onHeapActiveTasks: numbers[9],
      offHeapActiveTasks: numbers[10],
      onHeapUnrollMemory: numbers[11],
      offHeapUnrollMemory: numbers[12],
    };
  }

  /** The 13 numbers of `state` in its order; a view that is valid until the next call on the kernel. */
  stateNumbers(): Float64Array {
    this.#checked(this.#kernel.call.readState(this.handle));
    const start = this.#kernel.constant("STATE_ADDRESS") >> 3;
    return this.#kernel.f64.subarray(start, start + this.#kernel.constant("STATE_NUMBERS"));
  }

  blocks(mode: MemoryMode, visit: (blockId: number, size: number, readers: number) => void): void {
    const { call } = this.#kernel;
    for (let block = -1; (block = call.nextBlock(this.handle, mode, block)) >= 0;) {
      visit(block, call.sizeOf(this.handle, block), call.readersOf(this.handle, block));
    }
  }

  /** Whether the task counts as active, and whether it is in the unroll memory map; both may be with 0 bytes. */
  taskFlags(taskAttemptId: number): { active: [boolean, boolean]; unrolls: [boolean, boolean] } {
    const flags = this.#checked(this.#kernel.call.taskFlags(this.handle, taskAttemptId));
    return {
      active: [(flags & 1) !== 0, (flags & 2) !== 0],
      unrolls: [(flags & 4) !== 0, (flags & 8) !== 0],
    };
  }

  get hasEvents(): boolean {
    return !this.#events.isEmpty;
  }

  drain(visitor: MemoryEventVisitor): void {
    if (this.#events.isEmpty) return;
    this.#events.visit({ block: this.#causeBlock, task: this.#causeTask }, visitor);
    this.#events.clear();
  }

  destroy(): void {
    this.#checked(this.#kernel.call.destroyExecutor(this.handle));
  }

  #causedByBlock(blockId: number): void {
    this.#causeBlock = blockId;
    this.#causeTask = -1;
  }

  #causedByTask(taskAttemptId: number): void {
    this.#causeBlock = -1;
    this.#causeTask = taskAttemptId;
  }

  #stateNumber(i: number): number {
    return this.#number(this.#kernel.call.stateNumber(this.handle, i));
  }

  /** A number that was looked up, which may be below 0 after a release of less than nothing. */
  #number(answer: number): number {
    if (Number.isNaN(answer)) throw new MemoryError("BAD_ARGUMENT");
    return answer;
  }

  #checked(answer: number): number {
    if (answer < 0) this.#fail(answer);
    return answer;
  }

  #fail(status: number): never {
    throw new MemoryError(this.#kernel.statusName(status), this.#events.negativeAnswer());
  }
}

/** MemoryStore.putIterator in steps. */
class BlockUnrolling implements Unrolling {
  keepUnrolling: boolean;
  reservedBytes = 0;
  #threshold: number;

  constructor(
    private readonly executor: ExecutorInKernel,
    private readonly blockId: number,
    private readonly taskAttemptId: number,
    private readonly mode: MemoryMode,
    private readonly settings: UnrollSettings,
  ) {
    this.#threshold = settings.memoryThreshold;
    this.keepUnrolling = this.#reserve(settings.memoryThreshold);
  }

  check(estimatedBytes: number): boolean {
    if (!this.keepUnrolling || estimatedBytes < this.#threshold) return this.keepUnrolling;
    const amountToRequest = Math.trunc(estimatedBytes * this.settings.growthFactor - this.#threshold);
    this.keepUnrolling = this.#reserve(amountToRequest);
    this.#threshold += amountToRequest;
    return this.keepUnrolling;
  }

  finish(preciseSize: number, putFlags = 0): boolean {
    if (!this.keepUnrolling) return false;
    const { executor, blockId, taskAttemptId, mode } = this;
    this.keepUnrolling = executor.finishUnroll(
      blockId,
      taskAttemptId,
      mode,
      this.reservedBytes,
      preciseSize,
      putFlags,
    );
    if (this.keepUnrolling) this.reservedBytes = 0;
    return this.keepUnrolling;
  }

  #reserve(numBytes: number): boolean {
    const { executor, blockId, taskAttemptId, mode } = this;
    const reserved = executor.reserveUnrollMemoryForTask(blockId, numBytes, taskAttemptId, mode);
    if (reserved) this.reservedBytes += numBytes;
    return reserved;
  }
}
