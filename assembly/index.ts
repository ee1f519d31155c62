/** The kernel's exports, and nothing else: each checks its arguments and calls one function. The ABI is in README.md. */
import * as batch from "./batch";
import * as blockInfoManager from "./block_info_manager";
import { clearEvents, reserveEvents } from "./event_log";
import * as executionPool from "./execution_memory_pool";
import * as executors from "./executors";
import { setLimit } from "./heap";
import { executor, MAX_BYTES, memoryOf, rddOf, RULE_HOST_WAKES } from "./layout";
import * as memoryStore from "./memory_store";
import { BAD_ARGUMENT, BAD_BLOCK, BAD_EXECUTOR, BAD_RANGE, OUT_OF_MEMORY } from "./status";
import { releaseAllStorageMemory as releaseAll, releaseStorageMemory as releaseStorage } from "./storage_memory_pool";
import { acquireStorageMemory as acquireStorage } from "./unified_memory_manager";
import * as state from "./state";
import * as unrolling from "./unrolling";

export { ABI_VERSION, OPERATION_BYTES } from "./layout";
export {
  RULE_REQUIRES_EXECUTION_MEMORY, RULE_BORROWS_WHOLE_REQUEST, RULE_EVICTED_BYTES_STAY_IN_STORAGE, RULE_NO_OFF_HEAP_STORAGE,
  RULE_UNMANAGED_MEMORY, RULE_HOST_WAKES,
} from "./layout";
export {
  ASSERTION_FAILED, INVALID_NUMBER_OF_BYTES, REQUIREMENT_FAILED, BLOCK_ALREADY_PRESENT, BLOCK_NOT_IN_MEMORY, BLOCK_NOT_FOUND,
  BLOCK_NOT_LOCKED, DROP_FAILED, TRANSFER_FAILED, BLOCK_NOT_SERIALIZED, BLOCK_NOT_DESERIALIZED, TASK_NOT_ACTIVE, INTERRUPTED,
  EXECUTION_MEMORY_REQUIRED, BAD_EXECUTOR, BAD_BLOCK, BAD_ARGUMENT, BLOCK_IN_USE, OUT_OF_MEMORY, NOT_WAITING, BAD_RANGE, NEGATIVE_ANSWER,
  FIRST_TICKET, REMOVE_LOCKED,
} from "./status";
export {
  EVENT_LOG, EVENT_LOG_FIRST, EVENT_LOG_NEXT, EVENT_BYTES, EVENT_MODE, EVENT_OPERATION, EVENT_SUBJECT, EVENT_VALUE,
  EVENT_EVICTED, EVENT_WOKEN, EVENT_GRANTED, EVENT_WAITS_ON, EVENT_FAILED, EVENT_STORAGE_OVER_RELEASE,
  EVENT_EXECUTION_OVER_RELEASE, EVENT_HELD, EVENT_ANSWER,
} from "./event_log";
export {
  OPERATION_CODE, OPERATION_MODE, OPERATION_FLAGS, OPERATION_SUBJECT, OPERATION_AMOUNT, OP_PUT_BYTES, OP_GET, OP_REMOVE, OP_LOCK_FOR_READING, OP_UNLOCK, OP_ACQUIRE_STORAGE_MEMORY,
  OP_RELEASE_STORAGE_MEMORY, OP_RESERVE_UNROLL_MEMORY, OP_RELEASE_UNROLL_MEMORY, OP_ACQUIRE_EXECUTION_MEMORY,
  OP_RELEASE_EXECUTION_MEMORY, OP_RELEASE_ALL_EXECUTION_MEMORY, OP_SET_TASK_CONTEXT, OP_CONTAINS, OP_GET_SIZE, OP_GET_OR_PUT,
  OP_CLEAR, OP_RELEASE_ALL_STORAGE_MEMORY, WAS_IN_MEMORY, MAX_BATCH,
} from "./batch";
export { UNROLL_RESULT } from "./unrolling";
export { STATE_NUMBERS, STATE_ADDRESS } from "./state";

/** Begins an operation: 0, or a status. The events of the operation before are gone. */
function begin(handle: i32): i32 {
  clearEvents();
  if (!executors.select(handle)) return BAD_EXECUTOR;
  executor.notified = 0;
  return 0;
}

/** Begins an operation after which there may be one more block in memory, or one more acquire that waits. */
function beginGrowing(handle: i32): i32 {
  const status = begin(handle);
  return status == 0 && !reserveEvents() ? OUT_OF_MEMORY : status;
}

/** Begins an operation on a block. */
function beginBlock(handle: i32, block: i32): i32 {
  const status = begin(handle);
  return status == 0 && !executor.isDeclared(block) ? BAD_BLOCK : status;
}

/** Begins an operation that may put a block in memory. */
function beginPut(handle: i32, block: i32): i32 {
  const status = beginGrowing(handle);
  return status == 0 && !executor.isDeclared(block) ? BAD_BLOCK : status;
}

/** Ends an operation that may have released execution memory or registered a task, `waiting` acquires having waited. */
function end(waiting: u32): void {
  if (executor.notified != 0 && !executor.follows(RULE_HOST_WAKES)) executionPool.wakeWaiting(waiting);
}

/** Whether a host's number of bytes is whole and no larger than Spark's Long; it then saturates to one. */
@inline
function isBytes(value: f64): bool {
  return trunc(value) == value && abs(value) <= 9223372036854775808.0;
}

/** Whether a host's number is a task attempt id, or the -1 of a thread without a task. */
@inline
function isTask(value: f64): bool {
  return trunc(value) == value && value >= -1 && value <= <f64>MAX_BYTES;
}

@inline
function isMode(mode: i32): bool {
  return (mode & ~1) == 0;
}

@inline
function isPutFlags(flags: i32): bool {
  return (flags & ~3) == 0;
}

// --- executors ---------------------------------------------------------------------------------------------------

export function createExecutor(
  maxHeapMemory: f64, onHeapStorageRegionSize: f64, maxOffHeapMemory: f64, offHeapStorageRegionSize: f64, rules: i32,
): i32 {
  if (!isBytes(maxHeapMemory) || !isBytes(onHeapStorageRegionSize)) return BAD_ARGUMENT;
  if (!isBytes(maxOffHeapMemory) || !isBytes(offHeapStorageRegionSize)) return BAD_ARGUMENT;
  return executors.createExecutor(
    <i64>maxHeapMemory, <i64>onHeapStorageRegionSize, <i64>maxOffHeapMemory, <i64>offHeapStorageRegionSize, rules,
  );
}

export function destroyExecutor(handle: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  executors.destroyExecutor();
  return 0;
}

/** Limits the linear memory to so many bytes; it never shrinks. */
export function setMemoryLimit(bytes: f64): i32 {
  if (!isBytes(bytes) || bytes < 0) return BAD_ARGUMENT;
  setLimit(min(<i64>bytes, 1 << 32));
  return 0;
}

export function setUnmanagedMemory(handle: i32, mode: i32, bytes: f64): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  if (!isMode(mode) || !isBytes(bytes) || bytes < 0 || bytes > <f64>MAX_BYTES) return BAD_ARGUMENT;
  memoryOf(mode).unmanagedMemory = <i64>bytes;
  return 0;
}

/** After so many further drops the host's handler fails; -1: it works. */
export function setDropFailure(handle: i32, afterDrops: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  if (afterDrops < -1) return BAD_ARGUMENT;
  executor.dropsBeforeFailure = afterDrops;
  return 0;
}

/** Whether every evicted block stays known, whatever its level. */
export function setKeepsDropped(handle: i32, keeps: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  executor.keepsDropped = i32(keeps != 0);
  return 0;
}

// --- blocks ------------------------------------------------------------------------------------------------------

export function declareBlock(handle: i32, rdd: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  return rdd < -1 ? BAD_ARGUMENT : <i32>blockInfoManager.declareBlock(rdd);
}

export function forgetBlock(handle: i32, block: i32): i32 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <i32>blockInfoManager.forgetBlock(block);
}

export function lockForReading(handle: i32, block: i32): i32 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <i32>blockInfoManager.lockForReading(block);
}

export function unlock(handle: i32, block: i32): i32 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <i32>blockInfoManager.unlock(block);
}

export function putBytes(handle: i32, block: i32, size: f64, mode: i32, putFlags: i32): i32 {
  const status = beginPut(handle, block);
  if (status < 0) return status;
  if (!isBytes(size) || !isMode(mode) || !isPutFlags(putFlags)) return BAD_ARGUMENT;
  return <i32>memoryStore.putBytes(block, <i64>size, mode, putFlags);
}

export function get(handle: i32, block: i32): i32 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <i32>memoryStore.get(block);
}

export function getBytes(handle: i32, block: i32): i32 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <i32>memoryStore.getBytes(block);
}

export function getValues(handle: i32, block: i32): i32 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <i32>memoryStore.getValues(block);
}

export function getSize(handle: i32, block: i32): f64 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <f64>memoryStore.getSize(block);
}

export function contains(handle: i32, block: i32): i32 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <i32>memoryStore.contains(block);
}

export function remove(handle: i32, block: i32): i32 {
  const status = beginBlock(handle, block);
  return status < 0 ? status : <i32>memoryStore.remove(block);
}

export function clear(handle: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  memoryStore.clear();
  return 0;
}

// --- storage and unroll memory -----------------------------------------------------------------------------------

export function acquireStorageMemory(handle: i32, block: i32, numBytes: f64, mode: i32): i32 {
  const status = beginBlock(handle, block);
  if (status < 0) return status;
  if (!isBytes(numBytes) || !isMode(mode)) return BAD_ARGUMENT;
  return <i32>acquireStorage(mode, <i64>numBytes, rddOf(executor.block(block).word));
}

export function releaseStorageMemory(handle: i32, numBytes: f64, mode: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  if (!isBytes(numBytes) || !isMode(mode) || !memoryOf(mode).storage.canRelease(<i64>numBytes)) return BAD_ARGUMENT;
  releaseStorage(memoryOf(mode), mode, <i64>numBytes);
  return 0;
}

export function releaseAllStorageMemory(handle: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  releaseAll();
  return 0;
}

export function reserveUnrollMemory(handle: i32, block: i32, numBytes: f64, taskAttemptId: f64, mode: i32): i32 {
  const status = beginBlock(handle, block);
  if (status < 0) return status;
  if (!isBytes(numBytes) || !isTask(taskAttemptId) || !isMode(mode)) return BAD_ARGUMENT;
  return <i32>unrolling.reserveUnrollMemory(block, <i64>numBytes, <i64>taskAttemptId, mode);
}

export function releaseUnrollMemory(handle: i32, numBytes: f64, taskAttemptId: f64, mode: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  if (!isBytes(numBytes) || !isTask(taskAttemptId) || !isMode(mode)) return BAD_ARGUMENT;
  unrolling.releaseUnrollMemory(<i64>numBytes, <i64>taskAttemptId, mode);
  return 0;
}

export function putIterator(
  handle: i32, block: i32, taskAttemptId: f64, mode: i32, threshold: f64, checkPeriod: i32, growthFactor: f64,
  elements: i32, elementBytes: f64, preciseSize: f64, putFlags: i32,
): i32 {
  const status = beginPut(handle, block);
  if (status < 0) return status;
  if (!isTask(taskAttemptId) || !isMode(mode) || !isPutFlags(putFlags) || !isBytes(threshold)) return BAD_ARGUMENT;
  if (checkPeriod < 1 || growthFactor != growthFactor || elements < 0) return BAD_ARGUMENT;
  if (!isBytes(elementBytes) || elementBytes < 0 || !isBytes(preciseSize)) return BAD_ARGUMENT;
  return <i32>unrolling.putIterator(
    block, <i64>taskAttemptId, mode, <i64>threshold, checkPeriod, growthFactor, elements, <i64>elementBytes,
    <i64>preciseSize, putFlags,
  );
}

export function finishUnroll(
  handle: i32, block: i32, taskAttemptId: f64, mode: i32, reserved: f64, size: f64, putFlags: i32,
): i32 {
  const status = beginPut(handle, block);
  if (status < 0) return status;
  if (!isTask(taskAttemptId) || !isMode(mode) || !isPutFlags(putFlags)) return BAD_ARGUMENT;
  if (!isBytes(reserved) || reserved < 0 || !isBytes(size) || size < 0) return BAD_ARGUMENT;
  return <i32>unrolling.finishUnroll(block, <i64>taskAttemptId, mode, <i64>reserved, <i64>size, putFlags);
}

// --- execution memory --------------------------------------------------------------------------------------------

export function acquireExecutionMemory(handle: i32, numBytes: f64, taskAttemptId: f64, mode: i32): f64 {
  const status = beginGrowing(handle);
  if (status < 0) return status;
  if (!isBytes(numBytes) || !isTask(taskAttemptId) || !isMode(mode)) return BAD_ARGUMENT;
  const waiting = executor.numWaiting;
  const answer = executionPool.acquireExecutionMemory(mode, <i64>numBytes, <i64>taskAttemptId);
  end(waiting);
  return <f64>answer;
}

export function releaseExecutionMemory(handle: i32, numBytes: f64, taskAttemptId: f64, mode: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  if (!isBytes(numBytes) || !isTask(taskAttemptId) || !isMode(mode)) return BAD_ARGUMENT;
  if (!memoryOf(mode).execution.canRelease(<i64>numBytes)) return BAD_ARGUMENT;
  executionPool.releaseExecutionMemory(mode, <i64>numBytes, <i64>taskAttemptId);
  end(executor.numWaiting);
  return 0;
}

export function releaseAllExecutionMemoryForTask(handle: i32, taskAttemptId: f64): f64 {
  const status = begin(handle);
  if (status < 0) return status;
  if (!isTask(taskAttemptId)) return BAD_ARGUMENT;
  const released = executionPool.releaseAllExecutionMemoryForTask(<i64>taskAttemptId);
  end(executor.numWaiting);
  return <f64>released;
}

export function cancel(handle: i32, ticket: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  return <i32>executionPool.cancel(ticket);
}

/** With RULE_HOST_WAKES: evaluates one waiting acquire again. */
export function wake(handle: i32, ticket: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  return <i32>executionPool.wake(ticket);
}

// --- batches -----------------------------------------------------------------------------------------------------

/** The address of a buffer for `count` operations, or OUT_OF_MEMORY, or BAD_ARGUMENT. */
export function batchBuffer(count: i32): i32 {
  if (count < 1 || count > batch.MAX_BATCH) return BAD_ARGUMENT;
  const address = batch.batchBuffer(count);
  return address == 0 ? OUT_OF_MEMORY : <i32>address;
}

/** How many operations the buffer holds. */
export function batchCapacity(): i32 {
  return batch.batchCapacity();
}

/** Runs the first `count` operations of the buffer; gives the number that were run, or a status. */
export function runBatch(handle: i32, count: i32): i32 {
  const status = begin(handle);
  if (status < 0) return status;
  if (count < 0 || <u32>count > batch.batchCapacity()) return BAD_RANGE;
  return batch.runBatch(count);
}

// --- looking: what is asked of an executor or a block that there is not is NaN, where the answer is a number of bytes -

export function notified(handle: i32): i32 {
  if (!executors.select(handle)) return BAD_EXECUTOR;
  return executor.notified;
}

export function stateNumber(handle: i32, i: i32): f64 {
  if (!executors.select(handle)) return NaN;
  return <u32>i < <u32>state.STATE_NUMBERS ? <f64>state.stateNumber(i) : NaN;
}

/** Puts the 13 numbers at STATE_ADDRESS. */
export function readState(handle: i32): i32 {
  if (!executors.select(handle)) return BAD_EXECUTOR;
  state.readState();
  return 0;
}

export function nextBlock(handle: i32, mode: i32, block: i32): i32 {
  if (!executors.select(handle)) return BAD_EXECUTOR;
  if (!isMode(mode)) return BAD_ARGUMENT;
  if (block != -1 && !(executor.isDeclared(block) && memoryStore.contains(block) == 1)) return BAD_BLOCK;
  return state.nextBlock(mode, block);
}

export function sizeOf(handle: i32, block: i32): f64 {
  if (!executors.select(handle)) return NaN;
  return executor.isDeclared(block) ? <f64>state.sizeOf(block) : NaN;
}

export function readersOf(handle: i32, block: i32): i32 {
  if (!executors.select(handle)) return BAD_EXECUTOR;
  return executor.isDeclared(block) ? state.readersOf(block) : BAD_BLOCK;
}

export function executionMemoryUsageForTask(handle: i32, taskAttemptId: f64, mode: i32): f64 {
  if (!executors.select(handle)) return NaN;
  if (!isTask(taskAttemptId) || !isMode(mode)) return NaN;
  return <f64>executionPool.executionMemoryUsageForTask(mode, <i64>taskAttemptId);
}

export function unrollMemoryForTask(handle: i32, taskAttemptId: f64, mode: i32): f64 {
  if (!executors.select(handle)) return NaN;
  if (!isTask(taskAttemptId) || !isMode(mode)) return NaN;
  return <f64>unrolling.unrollMemoryForTask(mode, <i64>taskAttemptId);
}

export function taskFlags(handle: i32, taskAttemptId: f64): i32 {
  if (!executors.select(handle)) return BAD_EXECUTOR;
  return isTask(taskAttemptId) ? state.taskFlags(<i64>taskAttemptId) : BAD_ARGUMENT;
}

export function waitingTicket(handle: i32, i: i32): i32 {
  if (!executors.select(handle)) return BAD_EXECUTOR;
  return i < 0 ? BAD_ARGUMENT : state.waitingTicket(i);
}
