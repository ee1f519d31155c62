/**
 * Unroll memory, and storing values one by one (MemoryStore.reserveUnrollMemoryForThisTask, putIterator).
 *
 * UnrollResult (16 bytes), at a fixed place, holds what putIterator answers besides "stored" or not:
 *
 * | offset | field    | type | meaning                                                       |
 * | -----: | -------- | ---- | ------------------------------------------------------------- |
 * |      0 | bytes    | f64  | stored: size of the entry; else the unroll memory kept by the task |
 * |      8 | elements | u32  | elements taken from the iterator                              |
 */
import { reserveEntry } from "./entries";
import { executor, MAX_BYTES, memoryOf, rddOf, STORED, UNROLLS } from "./layout";
import { addBlock } from "./memory_store";
import { BAD_ARGUMENT, BLOCK_ALREADY_PRESENT, OUT_OF_MEMORY, TRANSFER_FAILED } from "./status";
import { releaseStorageMemory } from "./storage_memory_pool";
import { findTask, taskRecord } from "./task_table";
import { acquireStorageMemory } from "./unified_memory_manager";

const RESULT: usize = memory.data(16, 16);
export const UNROLL_RESULT: i32 = <i32>RESULT;

/** With a growth factor below this, the threshold may not outrun the values; then only so many checks are made. */
const LEAST_GROWTH: f64 = 1.001;
const MOST_CHECKS: i64 = 65536;

/** Reserves unroll memory for a task: 1, 0 when it is refused, or a status. */
export function reserveUnrollMemory(block: u32, numBytes: i64, taskAttemptId: i64, mode: i32): i64 {
  const task = taskRecord(taskAttemptId);
  if (!task.exists) return OUT_OF_MEMORY;
  const memory = memoryOf(mode);
  const acquired = acquireStorageMemory(mode, numBytes, rddOf(executor.block(block).word));
  if (acquired != 1) return acquired;
  task.flags |= UNROLLS << mode;
  task.setUnroll(mode, task.unroll(mode) + numBytes);
  memory.unrollMemory += numBytes;
  return 1;
}

/** Releases a task's unroll memory, clamped at what it holds. */
export function releaseUnrollMemory(numBytes: i64, taskAttemptId: i64, mode: i32): void {
  const task = findTask(taskAttemptId);
  if (!task.exists || !task.unrolls(mode)) return;
  const memory = memoryOf(mode);
  let held = task.unroll(mode);
  const released = min(numBytes, held);
  if (released > 0) {
    held -= released;
    task.setUnroll(mode, held);
    memory.unrollMemory -= released;
    releaseStorageMemory(memory, mode, released);
  }
  if (held == 0) task.flags &= ~(UNROLLS << mode);
}

/** The unroll memory that a task holds in one mode. */
export function unrollMemoryForTask(mode: i32, taskAttemptId: i64): i64 {
  const task = findTask(taskAttemptId);
  return task.exists ? task.unroll(mode) : 0;
}

/** One block being unrolled by one task. */
@unmanaged
class Unrolling {
  threshold!: i64;
  reserved!: i64;
  elements!: i64;
}

const UNROLLING: usize = memory.data(24, 16);

/**
 * Stores `elements` values of `elementBytes` each; `preciseSize` is that of the finished entry, negative for their sum.
 *
 * @returns 1 stored, 0 not stored, or a status; UnrollResult says more
 */
export function putIterator(
  block: u32, taskAttemptId: i64, mode: i32, threshold: i64, checkPeriod: i64, growthFactor: f64,
  elements: i64, elementBytes: i64, preciseSize: i64, putFlags: i32,
): i64 {
  if (<f64>elements * <f64>elementBytes > <f64>MAX_BYTES) return BAD_ARGUMENT;
  if (!(growthFactor >= LEAST_GROWTH) && elements / checkPeriod > MOST_CHECKS) return BAD_ARGUMENT;
  if ((executor.block(block).word & STORED) != 0) return BLOCK_ALREADY_PRESENT;
  if (!reserveEntry()) return OUT_OF_MEMORY;
  const unrolling = changetype<Unrolling>(UNROLLING);
  unrolling.threshold = threshold;
  unrolling.reserved = 0;
  unrolling.elements = 0;
  let outcome = reserveUnrollMemory(block, threshold, taskAttemptId, mode);
  if (outcome == 1) {
    unrolling.reserved = threshold;
    outcome = unroll(unrolling, block, taskAttemptId, mode, checkPeriod, growthFactor, elements, elementBytes);
  }
  const size = preciseSize < 0 ? unrolling.elements * elementBytes : preciseSize;
  if (outcome == 1) {
    outcome = finishUnroll(block, taskAttemptId, mode, unrolling.reserved, size, putFlags);
  }
  store<f64>(RESULT, <f64>(outcome == 1 ? size : unrolling.reserved));
  store<u32>(RESULT, <u32>unrolling.elements, 8);
  return outcome;
}

/**
 * Takes the elements, with a look at their size at every `checkPeriod`-th; looks that find less than the threshold are
 * passed over. 1 when all are taken, 0 when memory for more was refused, or a status.
 */
function unroll(
  unrolling: Unrolling, block: u32, taskAttemptId: i64, mode: i32, checkPeriod: i64, growthFactor: f64,
  elements: i64, elementBytes: i64,
): i64 {
  let index: i64 = 0;
  while (index < elements) {
    const currentSize = (index + 1) * elementBytes;
    unrolling.elements = index + 1;
    if (currentSize >= unrolling.threshold) {
      const amountToRequest = <i64>(<f64>currentSize * growthFactor - <f64>unrolling.threshold);
      const reserved = reserveUnrollMemory(block, amountToRequest, taskAttemptId, mode);
      if (reserved != 1) return reserved;
      unrolling.reserved += amountToRequest;
      unrolling.threshold += amountToRequest;
    }
    index = nextCheck(index, checkPeriod, elements, elementBytes, unrolling.threshold);
  }
  unrolling.elements = elements;
  return 1;
}

/** The next element after `index` at which the size is looked at and has reached the threshold; `elements` when none. */
function nextCheck(index: i64, checkPeriod: i64, elements: i64, elementBytes: i64, threshold: i64): i64 {
  if (elementBytes == 0) return elements;
  const reached = (threshold + elementBytes - 1) / elementBytes - 1;
  const next = (max(reached, index + 1) + checkPeriod - 1) / checkPeriod * checkPeriod;
  return min(next, elements);
}

/**
 * Ends unrolling: reserves what the precise size exceeds the reservation by, then turns the reservation into the block.
 *
 * @returns 1, 0 when the rest is refused and the task keeps its reservation, or a status
 */
export function finishUnroll(
  block: u32, taskAttemptId: i64, mode: i32, reserved: i64, size: i64, putFlags: i32,
): i64 {
  const word = executor.block(block).word;
  if ((word & STORED) != 0) return BLOCK_ALREADY_PRESENT;
  if (!reserveEntry()) return OUT_OF_MEMORY;
  let held = reserved;
  if (size > held) {
    const rest = reserveUnrollMemory(block, size - held, taskAttemptId, mode);
    if (rest != 1) return rest;
    held = size;
  }
  releaseUnrollMemory(held, taskAttemptId, mode);
  const acquired = acquireStorageMemory(mode, size, rddOf(word));
  if (acquired == 0) return TRANSFER_FAILED;
  if (acquired == 1) addBlock(block, mode, size, putFlags);
  return acquired;
}
