/**
 * The kernel's exports as the host sees them; assembly/README.md says what each does.
 *
 * @module
 */

/** A constant that the kernel exports: a status, an event kind, an offset, an address. */
export interface KernelConstant {
  readonly value: number;
}

/** The functions of the kernel. `handle` is an executor's; answers below 0 are statuses. */
export interface KernelFunctions {
  createExecutor(
    maxHeap: number,
    regionOnHeap: number,
    maxOffHeap: number,
    regionOffHeap: number,
    rules: number,
  ): number;
  destroyExecutor(handle: number): number;
  setMemoryLimit(bytes: number): number;
  setUnmanagedMemory(handle: number, mode: number, bytes: number): number;
  setDropFailure(handle: number, afterDrops: number): number;
  setKeepsDropped(handle: number, keeps: number): number;
  declareBlock(handle: number, rdd: number): number;
  forgetBlock(handle: number, block: number): number;
  lockForReading(handle: number, block: number): number;
  unlock(handle: number, block: number): number;
  putBytes(handle: number, block: number, size: number, mode: number, putFlags: number): number;
  get(handle: number, block: number): number;
  getBytes(handle: number, block: number): number;
  getValues(handle: number, block: number): number;
  getSize(handle: number, block: number): number;
  contains(handle: number, block: number): number;
  remove(handle: number, block: number): number;
  clear(handle: number): number;
  acquireStorageMemory(handle: number, block: number, numBytes: number, mode: number): number;
  releaseStorageMemory(handle: number, numBytes: number, mode: number): number;
  releaseAllStorageMemory(handle: number): number;
  reserveUnrollMemory(handle: number, block: number, numBytes: number, task: number, mode: number): number;
  releaseUnrollMemory(handle: number, numBytes: number, task: number, mode: number): number;
  putIterator(
    handle: number,
    block: number,
    task: number,
    mode: number,
    threshold: number,
    checkPeriod: number,
    growthFactor: number,
    elements: number,
    elementBytes: number,
    preciseSize: number,
    putFlags: number,
  ): number;
  finishUnroll(
    handle: number,
    block: number,
    task: number,
    mode: number,
    reserved: number,
    size: number,
    putFlags: number,
  ): number;
  acquireExecutionMemory(handle: number, numBytes: number, task: number, mode: number): number;
  releaseExecutionMemory(handle: number, numBytes: number, task: number, mode: number): number;
  releaseAllExecutionMemoryForTask(handle: number, task: number): number;
  cancel(handle: number, ticket: number): number;
  wake(handle: number, ticket: number): number;
  batchBuffer(count: number): number;
  batchCapacity(): number;
  runBatch(handle: number, count: number): number;
  notified(handle: number): number;
  stateNumber(handle: number, i: number): number;
  readState(handle: number): number;
  nextBlock(handle: number, mode: number, block: number): number;
  sizeOf(handle: number, block: number): number;
  readersOf(handle: number, block: number): number;
  executionMemoryUsageForTask(handle: number, task: number, mode: number): number;
  unrollMemoryForTask(handle: number, task: number, mode: number): number;
  taskFlags(handle: number, task: number): number;
  waitingTicket(handle: number, i: number): number;
}
