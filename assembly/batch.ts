/**
 * Many operations of one executor in one call: operations in memory, answers in their place.
 */
import { lockForReading, unlock } from "./block_info_manager";
import {
  beginOperations, clearEvents, hasRoom, reserveBatchEvents, setRunningOperation,
} from "./event_log";
import { acquire, releaseAllExecutionMemoryForTask, releaseFrom, wakeWaiting } from "./execution_memory_pool";
import { allocate, release } from "./heap";
import {
  executor, memoryOf, NO_TASK, OFF_HEAP, offHeap, ON_HEAP, onHeap, Operation, OPERATION_BYTES, PUT_DESERIALIZED, PUT_USE_DISK,
  rddOf, RULE_HOST_WAKES,
} from "./layout";
import { clear, contains, get, getSize, put, remove } from "./memory_store";
import { BAD_ARGUMENT, BAD_BLOCK, OUT_OF_MEMORY } from "./status";
import { releaseAllStorageMemory, releaseStorageMemory } from "./storage_memory_pool";
import { acquireStorageMemory } from "./unified_memory_manager";
import { releaseUnrollMemory, reserveUnrollMemory } from "./unrolling";

export const OPERATION_CODE: i32 = offsetof<Operation>("code");
export const OPERATION_MODE: i32 = offsetof<Operation>("mode");
export const OPERATION_FLAGS: i32 = offsetof<Operation>("flags");
export const OPERATION_SUBJECT: i32 = offsetof<Operation>("subject");
export const OPERATION_AMOUNT: i32 = offsetof<Operation>("bytes");

// subject is a block
export const OP_PUT_BYTES: i32 = 0;
export const OP_GET: i32 = 1;
export const OP_REMOVE: i32 = 2;
export const OP_LOCK_FOR_READING: i32 = 3;
export const OP_UNLOCK: i32 = 4;
export const OP_ACQUIRE_STORAGE_MEMORY: i32 = 5;
/** subject is not used. */
export const OP_RELEASE_STORAGE_MEMORY: i32 = 6;
/** For the task of OP_SET_TASK_CONTEXT. */
export const OP_RESERVE_UNROLL_MEMORY: i32 = 7;
/** For the task of OP_SET_TASK_CONTEXT; subject is not used. */
export const OP_RELEASE_UNROLL_MEMORY: i32 = 8;
// subject is a task attempt id
export const OP_ACQUIRE_EXECUTION_MEMORY: i32 = 9;
export const OP_RELEASE_EXECUTION_MEMORY: i32 = 10;
export const OP_RELEASE_ALL_EXECUTION_MEMORY: i32 = 11;
/** Sets the task that the unroll operations after it mean; a batch begins with none (-1). */
export const OP_SET_TASK_CONTEXT: i32 = 12;
// subject is a block
export const OP_CONTAINS: i32 = 13;
export const OP_GET_SIZE: i32 = 14;
/** Reads the block or, when it is not in memory, puts it. Answers 2 when it was there, else as a put. */
export const OP_GET_OR_PUT: i32 = 15;
// subject is not used
export const OP_CLEAR: i32 = 16;
export const OP_RELEASE_ALL_STORAGE_MEMORY: i32 = 17;

/** Answer of OP_GET_OR_PUT when the block was in memory. */
export const WAS_IN_MEMORY: i32 = 2;

/** Most operations of one batch. */
export const MAX_BATCH: i32 = 65536;

/** Acquires that waited when the running operation began, at a fixed place: a local would be saved around every call. */
const WAITING: usize = memory.data(4, 4);

let buffer: usize = 0;
let bufferCapacity: u32 = 0;

/** The address of a buffer for `count` operations; 0 when memory is out. */
export function batchBuffer(count: u32): usize {
  if (count <= bufferCapacity) return buffer;
  const segment = allocate(count * OPERATION_BYTES);
  if (segment == 0) return 0;
  release(buffer, bufferCapacity * OPERATION_BYTES);
  buffer = segment;
  bufferCapacity = count;
  return segment;
}

/** How many operations the buffer holds. */
export function batchCapacity(): u32 {
  return bufferCapacity;
}

/**
 * Runs the first `count` operations of the buffer on the resident executor, and gives the number that were run: fewer
 * when the event log may not hold what the next one causes, or when the host decides in which order woken tasks go on.
 */
export function runBatch(count: u32): i32 {
  clearEvents();
  if (!reserveBatchEvents(count)) return OUT_OF_MEMORY;
  executor.taskContext = NO_TASK;
  beginOperations(buffer);
  const end = buffer + <usize>count * OPERATION_BYTES;
  let operation = buffer;
  for (; operation < end; operation += OPERATION_BYTES) {
    setRunningOperation(operation);
    if (executor.numWaiting != 0 && !mayRunWhileWaiting()) break;
    store<f64>(operation, <f64>run(operation), offsetof<Operation>("bytes"));
    if (load<u32>(WAITING) != 0 && !wakeWaitingOnes()) {
      operation += OPERATION_BYTES;
      break;
    }
  }
  return <i32>((operation - buffer) / OPERATION_BYTES);
}

/** Prepares an operation while acquires wait; false when the event log may not hold what it causes. */
function mayRunWhileWaiting(): bool {
  store<u32>(WAITING, executor.numWaiting);
  executor.notified = 0;
  return hasRoom();
}

/** Wakes the acquires that waited before the operation when it says so; false when the host is to do that. */
function wakeWaitingOnes(): bool {
  const waiting = load<u32>(WAITING);
  store<u32>(WAITING, 0);
  if (executor.notified == 0) return true;
  if (executor.follows(RULE_HOST_WAKES)) return false;
  wakeWaiting(waiting);
  return true;
}

/** Runs one operation. */
@inline
function run(operation: usize): i64 {
  const head = load<u64>(operation);
  switch (<u32>head & 0xff) {
    case OP_GET: return executor.hasRecord(<u32>(head >> 32)) ? get(<u32>(head >> 32)) : BAD_BLOCK;
    case OP_GET_OR_PUT: {
      if (!executor.hasRecord(<u32>(head >> 32))) return BAD_BLOCK;
      const found = get(<u32>(head >> 32));
      if (found != 0) return found == 1 ? WAS_IN_MEMORY : found;
    }
    // falls through to the put
    case OP_PUT_BYTES: {
      const id = <u32>(head >> 32);
      if (!executor.hasRecord(id)) return BAD_BLOCK;
      const bytes = load<i64>(operation, offsetof<Operation>("bytes"));
      const flags = <i32>(head >> 16) & (PUT_DESERIALIZED | PUT_USE_DISK);
      const mode = <u32>head >> 8 & 0xff;
      if (mode == ON_HEAP) return put(onHeap, ON_HEAP, id, bytes, flags);
      return mode == OFF_HEAP ? put(offHeap, OFF_HEAP, id, bytes, flags) : BAD_ARGUMENT;
    }
    case OP_ACQUIRE_EXECUTION_MEMORY: {
      const task = <i32>(head >> 32);
      if (task < <i32>NO_TASK) return BAD_ARGUMENT;
      const bytes = load<i64>(operation, offsetof<Operation>("bytes"));
      const mode = <u32>head >> 8 & 0xff;
      return mode > 1 ? <i64>BAD_ARGUMENT : acquire(memoryOf(mode), mode, bytes, task);
    }
    case OP_RELEASE_EXECUTION_MEMORY: {
      const task = <i32>(head >> 32);
      const mode = <u32>head >> 8 & 0xff;
      if (task < <i32>NO_TASK || mode > 1) return BAD_ARGUMENT;
      const bytes = load<i64>(operation, offsetof<Operation>("bytes"));
      if (!memoryOf(mode).execution.canRelease(bytes)) return BAD_ARGUMENT;
      releaseFrom(memoryOf(mode), mode, bytes, task);
      return 0;
    }
    case OP_REMOVE: return executor.hasRecord(<u32>(head >> 32)) ? remove(<u32>(head >> 32)) : BAD_BLOCK;
    case OP_LOCK_FOR_READING: {
      return executor.hasRecord(<u32>(head >> 32)) ? lockForReading(<u32>(head >> 32)) : BAD_BLOCK;
    }
    case OP_UNLOCK: return executor.hasRecord(<u32>(head >> 32)) ? unlock(<u32>(head >> 32)) : BAD_BLOCK;
    case OP_CONTAINS: return executor.hasRecord(<u32>(head >> 32)) ? contains(<u32>(head >> 32)) : BAD_BLOCK;
    case OP_GET_SIZE: return executor.hasRecord(<u32>(head >> 32)) ? getSize(<u32>(head >> 32)) : BAD_BLOCK;
    case OP_ACQUIRE_STORAGE_MEMORY: return acquireStorageFor(head, load<i64>(operation, offsetof<Operation>("bytes")));
    case OP_RELEASE_STORAGE_MEMORY: return releaseStorageFrom(head, load<i64>(operation, offsetof<Operation>("bytes")));
    case OP_RELEASE_ALL_STORAGE_MEMORY: {
      releaseAllStorageMemory();
      return 0;
    }
    case OP_RESERVE_UNROLL_MEMORY: return reserveUnrollFor(head, load<i64>(operation, offsetof<Operation>("bytes")));
    case OP_RELEASE_UNROLL_MEMORY: return releaseUnrollFrom(head, load<i64>(operation, offsetof<Operation>("bytes")));
    case OP_CLEAR: {
      clear();
      return 0;
    }
    case OP_RELEASE_ALL_EXECUTION_MEMORY: {
      const task = <i32>(head >> 32);
      return task < <i32>NO_TASK ? <i64>BAD_ARGUMENT : releaseAllExecutionMemoryForTask(task);
    }
    case OP_SET_TASK_CONTEXT: {
      const task = <i32>(head >> 32);
      if (task < <i32>NO_TASK) return BAD_ARGUMENT;
      executor.taskContext = task;
      return 0;
    }
    default: return BAD_ARGUMENT;
  }
}

function acquireStorageFor(head: u64, bytes: i64): i64 {
  const mode = <u32>head >> 8 & 0xff;
  const id = <u32>(head >> 32);
  if (mode > 1) return BAD_ARGUMENT;
  if (!executor.isDeclared(id)) return BAD_BLOCK;
  return acquireStorageMemory(mode, bytes, rddOf(executor.block(id).word));
}

function releaseStorageFrom(head: u64, bytes: i64): i64 {
  const mode = <u32>head >> 8 & 0xff;
  if (mode > 1 || !memoryOf(mode).storage.canRelease(bytes)) return BAD_ARGUMENT;
  releaseStorageMemory(memoryOf(mode), mode, bytes);
  return 0;
}

function reserveUnrollFor(head: u64, bytes: i64): i64 {
  const mode = <u32>head >> 8 & 0xff;
  const id = <u32>(head >> 32);
  if (mode > 1) return BAD_ARGUMENT;
  if (!executor.isDeclared(id)) return BAD_BLOCK;
  return reserveUnrollMemory(id, bytes, executor.taskContext, mode);
}

function releaseUnrollFrom(head: u64, bytes: i64): i64 {
  const mode = <u32>head >> 8 & 0xff;
  if (mode > 1) return BAD_ARGUMENT;
  releaseUnrollMemory(bytes, executor.taskContext, mode);
  return 0;
}
