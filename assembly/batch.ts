/**
 * Many operations of one executor in one call: operations in memory, outcomes out.
 *
 * Operation (16 bytes)
 *
 * | offset | field   | type | meaning                                                                   |
 * | -----: | ------- | ---- | ------------------------------------------------------------------------- |
 * |      0 | code    | u8   | one of the OP_ constants                                                  |
 * |      1 | mode    | u8   | memory mode                                                               |
 * |      2 | flags   | u16  | of a put: PUT_ bits                                                       |
 * |      4 | subject | i32  | block id, or task attempt id                                              |
 * |      8 | bytes   | f64  | a whole number                                                            |
 *
 * Outcome (16 bytes)
 *
 * | offset | field  | type | meaning                                                                    |
 * | -----: | ------ | ---- | -------------------------------------------------------------------------- |
 * |      0 | answer | f64  | what the single call would answer                                          |
 * |      8 | events | u32  | records in the event log after the operation                               |
 */
import { lockForReading, unlock } from "./block_info_manager";
import { clearEvents, eventCount, hasRoom } from "./event_log";
import {
  acquireExecutionMemory, releaseAllExecutionMemoryForTask, releaseExecutionMemory, reserveForAcquire, wakeWaiting,
} from "./execution_memory_pool";
import { allocate, release } from "./heap";
import { Executor, NO_TASK, PUT_DESERIALIZED, PUT_USE_DISK, RULE_HOST_WAKES } from "./layout";
import { clear, contains, get, getSize, putBytes, rddOf, releaseAllStorageMemory, remove } from "./memory_store";
import { BAD_ARGUMENT, BAD_BLOCK, OUT_OF_MEMORY } from "./status";
import { releaseStorageMemory } from "./storage_memory_pool";
import { acquireStorageMemory } from "./unified_memory_manager";
import { releaseUnrollMemory, reserveUnrollMemory } from "./unrolling";

@unmanaged
class Operation {
  code!: u8;
  mode!: u8;
  flags!: u16;
  subject!: i32;
  bytes!: f64;
}

@unmanaged
class Outcome {
  answer!: f64;
  events!: u32;
  reserved!: u32;
}

export const OPERATION_BYTES: i32 = offsetof<Operation>();
export const OPERATION_CODE: i32 = offsetof<Operation>("code");
export const OPERATION_MODE: i32 = offsetof<Operation>("mode");
export const OPERATION_FLAGS: i32 = offsetof<Operation>("flags");
export const OPERATION_SUBJECT: i32 = offsetof<Operation>("subject");
export const OPERATION_AMOUNT: i32 = offsetof<Operation>("bytes");
export const OUTCOME_BYTES: i32 = offsetof<Outcome>();
export const OUTCOME_ANSWER: i32 = offsetof<Outcome>("answer");
export const OUTCOME_EVENTS: i32 = offsetof<Outcome>("events");

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

let buffer: usize = 0;
let bufferCapacity: u32 = 0;

/** The address of a buffer for `count` operations, the outcomes right behind them; 0 when memory is out. */
export function batchBuffer(count: u32): usize {
  if (count <= bufferCapacity) return buffer;
  const segment = allocate(count * (OPERATION_BYTES + OUTCOME_BYTES));
  if (segment == 0) return 0;
  release(buffer, bufferCapacity * (OPERATION_BYTES + OUTCOME_BYTES));
  buffer = segment;
  bufferCapacity = count;
  return segment;
}

/** How many operations the buffer holds; its outcomes begin behind so many. */
export function batchCapacity(): u32 {
  return bufferCapacity;
}

/**
 * Runs the first `count` operations of the buffer on an executor, and gives the number that were run: fewer when the
 * event log may not hold what the next one causes, or when the host decides in which order the woken tasks go on.
 */
export function runBatch(executor: Executor, count: u32): u32 {
  clearEvents();
  executor.taskContext = NO_TASK;
  let operation = buffer;
  let outcome = buffer + <usize>bufferCapacity * OPERATION_BYTES;
  for (let i: u32 = 0; i < count; i++) {
    if (!hasRoom(executor.numEntries, executor.numWaiting + 1)) return i;
    executor.notified = 0;
    const waiting = executor.numWaiting;
    const answer = run(executor, changetype<Operation>(operation));
    if (executor.notified != 0 && waiting != 0 && !executor.follows(RULE_HOST_WAKES)) wakeWaiting(executor, waiting);
    changetype<Outcome>(outcome).answer = <f64>answer;
    changetype<Outcome>(outcome).events = eventCount();
    operation += OPERATION_BYTES;
    outcome += OUTCOME_BYTES;
    if (executor.notified != 0 && waiting != 0 && executor.follows(RULE_HOST_WAKES)) return i + 1;
  }
  return count;
}

@inline
function run(executor: Executor, operation: Operation): i64 {
  const mode = <i32>operation.mode;
  const subject = operation.subject;
  const bytes = <i64>operation.bytes;
  // not whole, not finite, or no number
  if (<f64>bytes != operation.bytes || mode > 1) return BAD_ARGUMENT;
  switch (<i32>operation.code) {
    case OP_PUT_BYTES: {
      if (!executor.isDeclared(subject)) return BAD_BLOCK;
      return putBytes(executor, subject, bytes, mode, <i32>operation.flags & (PUT_DESERIALIZED | PUT_USE_DISK));
    }
    case OP_GET: return executor.isDeclared(subject) ? get(executor, subject) : BAD_BLOCK;
    case OP_REMOVE: return executor.isDeclared(subject) ? remove(executor, subject) : BAD_BLOCK;
    case OP_LOCK_FOR_READING: return executor.isDeclared(subject) ? lockForReading(executor, subject) : BAD_BLOCK;
    case OP_UNLOCK: return executor.isDeclared(subject) ? unlock(executor, subject) : BAD_BLOCK;
    case OP_ACQUIRE_STORAGE_MEMORY: {
      if (!executor.isDeclared(subject)) return BAD_BLOCK;
      return acquireStorageMemory(executor, executor.memory(mode), bytes, rddOf(executor, subject));
    }
    case OP_RELEASE_STORAGE_MEMORY: {
      releaseStorageMemory(executor, executor.memory(mode), bytes);
      return 0;
    }
    case OP_RESERVE_UNROLL_MEMORY: {
      if (!executor.isDeclared(subject)) return BAD_BLOCK;
      return reserveUnrollMemory(executor, subject, bytes, executor.taskContext, mode);
    }
    case OP_RELEASE_UNROLL_MEMORY: {
      releaseUnrollMemory(executor, bytes, executor.taskContext, mode);
      return 0;
    }
    case OP_ACQUIRE_EXECUTION_MEMORY: {
      if (subject < <i32>NO_TASK) return BAD_ARGUMENT;
      if (!reserveForAcquire(executor)) return OUT_OF_MEMORY;
      return acquireExecutionMemory(executor, mode, bytes, subject);
    }
    case OP_RELEASE_EXECUTION_MEMORY: {
      if (subject < <i32>NO_TASK) return BAD_ARGUMENT;
      releaseExecutionMemory(executor, mode, bytes, subject);
      return 0;
    }
    case OP_RELEASE_ALL_EXECUTION_MEMORY: {
      return subject < <i32>NO_TASK ? <i64>BAD_ARGUMENT : releaseAllExecutionMemoryForTask(executor, subject);
    }
    case OP_SET_TASK_CONTEXT: {
      if (subject < <i32>NO_TASK) return BAD_ARGUMENT;
      executor.taskContext = subject;
      return 0;
    }
    case OP_CONTAINS: return executor.isDeclared(subject) ? contains(executor, subject) : BAD_BLOCK;
    case OP_GET_SIZE: return executor.isDeclared(subject) ? getSize(executor, subject) : BAD_BLOCK;
    case OP_GET_OR_PUT: {
      if (!executor.isDeclared(subject)) return BAD_BLOCK;
      if (get(executor, subject) != 0) return WAS_IN_MEMORY;
      return putBytes(executor, subject, bytes, mode, <i32>operation.flags & (PUT_DESERIALIZED | PUT_USE_DISK));
    }
    case OP_CLEAR: {
      clear(executor);
      return 0;
    }
    case OP_RELEASE_ALL_STORAGE_MEMORY: {
      releaseAllStorageMemory(executor);
      return 0;
    }
    default: return BAD_ARGUMENT;
  }
}
