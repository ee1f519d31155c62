/**
 * Execution memory shared among tasks (org.apache.spark.memory.ExecutionMemoryPool): of N active tasks each gets at
 * most 1/N of the pool, and waits until it has 1/2N.
 */
import {
  EVENT_EXECUTION_OVER_RELEASE, logFailed, logGranted, logNegativeAnswer, logOverRelease, logWaitsOn, logWoken,
} from "./event_log";
import { ACTIVE, executor, memoryOf, ModeMemory, OFF_HEAP, ON_HEAP, TaskRecord } from "./layout";
import {
  ASSERTION_FAILED, FIRST_TICKET, INTERRUPTED, INVALID_NUMBER_OF_BYTES, NOT_WAITING, OUT_OF_MEMORY, TASK_NOT_ACTIVE,
} from "./status";
import { findTask, taskRecord } from "./task_table";
import { maxExecutionPoolSize, maybeGrowExecutionPool } from "./unified_memory_manager";
import { addWaiting, indexOfTicket, removeWaiting, reserveWaiting, waitingAt } from "./wait_queue";

/** What an evaluation of a request gives instead of a grant: it waits, or NO_GRANT plus a status. */
const NO_GRANT: i64 = i64.MIN_VALUE + 64;
const WAITS: i64 = NO_GRANT;

/** Most active tasks and bytes for which the product of the two cannot overflow. */
const FEW_TASKS: i64 = 512;
const FEW_BYTES: i64 = 1 << 53;

/**
 * Acquires execution memory for a task.
 *
 * @returns the bytes granted, FIRST_TICKET minus the ticket when the task waits, or a status
 */
export function acquireExecutionMemory(mode: i32, numBytes: i64, taskAttemptId: i64): i64 {
  return acquire(memoryOf(mode), mode, numBytes, taskAttemptId);
}

/** The same, for a place that is worth its own copy. */
@inline
export function acquire(memory: ModeMemory, mode: i32, numBytes: i64, taskAttemptId: i64): i64 {
  if (numBytes <= 0) return numBytes == 0 ? INVALID_NUMBER_OF_BYTES : ASSERTION_FAILED;
  if (!reserveWaiting()) return OUT_OF_MEMORY;
  const task = taskRecord(taskAttemptId);
  if (!task.exists) return OUT_OF_MEMORY;
  if (!task.isActive(mode)) {
    task.flags |= ACTIVE << mode;
    memory.activeTasks++;
    executor.notified = 1;
  }
  const granted = evaluate(memory, mode, numBytes, task);
  return granted >= 0 ? granted : notGranted(granted, mode, numBytes, taskAttemptId);
}

/** The answer of an acquire that is not simply granted. */
function notGranted(evaluation: i64, mode: i32, numBytes: i64, taskAttemptId: i64): i64 {
  if (evaluation == WAITS) return FIRST_TICKET - addWaiting(numBytes, taskAttemptId, mode);
  return evaluation < NO_GRANT ? evaluation - NO_GRANT : logNegativeAnswer(evaluation);
}

/**
 * One turn of the loop of ExecutionMemoryPool.acquireMemory: the bytes granted, WAITS, or NO_GRANT plus a status. The
 * grant is below 0 when more is used than the pool has, after a release of less than nothing.
 */
@inline
function evaluate(memory: ModeMemory, mode: i32, numBytes: i64, task: TaskRecord): i64 {
  const execution = memory.execution;
  let free = execution.memoryFree;
  if (numBytes > free) {
    const grown = maybeGrowExecutionPool(memory, mode, numBytes - free);
    if (grown < 0) return NO_GRANT + grown;
    free = execution.memoryFree;
  }
  const current = task.execution(mode);
  const maxPoolSize = maxExecutionPoolSize(memory);
  const numActiveTasks = memory.activeTasks;
  const wanted = current + numBytes;
  let granted = numBytes;
  // all of it, when it is free and the task stays within its share: numBytes + current <= maxPoolSize / N
  if (
    numBytes > free || numActiveTasks > FEW_TASKS || wanted > FEW_BYTES || wanted * numActiveTasks > maxPoolSize
  ) {
    const maxMemoryPerTask = maxPoolSize / numActiveTasks;
    const minMemoryPerTask = execution.poolSize / (2 * numActiveTasks);
    granted = min(min(numBytes, max(<i64>0, maxMemoryPerTask - current)), free);
    if (granted < numBytes && current + granted < minMemoryPerTask) return WAITS;
  }
  task.setExecution(mode, current + granted);
  execution.memoryUsed += granted;
  return granted;
}

/** The bytes that a task holds in one mode (getMemoryUsageForTask). */
export function executionMemoryUsageForTask(mode: i32, taskAttemptId: i64): i64 {
  const task = findTask(taskAttemptId);
  return task.exists ? task.execution(mode) : 0;
}

/**
 * Releases execution memory and wakes the waiting tasks, whatever was released. Clamped at what the task holds; a
 * task that is left with nothing is no longer active. A negative size is not refused and adds.
 */
export function releaseExecutionMemory(mode: i32, numBytes: i64, taskAttemptId: i64): void {
  releaseFrom(memoryOf(mode), mode, numBytes, taskAttemptId);
}

/** The same, for a place that is worth its own copy. */
@inline
export function releaseFrom(memory: ModeMemory, mode: i32, numBytes: i64, taskAttemptId: i64): void {
  executor.notified = 1;
  const task = findTask(taskAttemptId);
  const active = task.exists && task.isActive(mode);
  const held = active ? task.execution(mode) : 0;
  if (held < numBytes) logOverRelease(EVENT_EXECUTION_OVER_RELEASE, mode, numBytes, held);
  if (!active) return;
  const released = min(held, numBytes);
  memory.executionMemoryUsed -= released;
  task.setExecution(mode, held - released);
  if (held > released) return;
  task.flags &= ~(ACTIVE << mode);
  memory.activeTasks--;
}

/** Releases all execution memory of a task in both modes and gives its bytes (releaseAllExecutionMemoryForTask). */
export function releaseAllExecutionMemoryForTask(taskAttemptId: i64): i64 {
  const released = releaseAll(ON_HEAP, taskAttemptId) + releaseAll(OFF_HEAP, taskAttemptId);
  return released >= 0 ? released : logNegativeAnswer(released);
}

function releaseAll(mode: i32, taskAttemptId: i64): i64 {
  const held = executionMemoryUsageForTask(mode, taskAttemptId);
  releaseExecutionMemory(mode, held, taskAttemptId);
  return held;
}

/**
 * Evaluates the first `count` waiting acquires again, first come first. Spark's notifyAll wakes all of them, and the
 * JVM does not define the order in which they get the lock.
 */
export function wakeWaiting(count: u32): void {
  let i: u32 = 0;
  for (; count > 0; count--) i += u32(!evaluateWaiting(i));
}

/** Evaluates the acquire that waits under a ticket again. */
export function wake(ticket: i32): i64 {
  const i = indexOfTicket(ticket);
  if (i < 0) return NOT_WAITING;
  evaluateWaiting(i);
  return 0;
}

/** Gives up a waiting acquire, as when its thread is interrupted; its task stays active. 1, or 0 when none waits. */
export function cancel(ticket: i32): i64 {
  const i = indexOfTicket(ticket);
  if (i < 0) return 0;
  const waiting = waitingAt(i);
  logWoken(ticket, waiting.mode, waiting.task);
  logFailed(INTERRUPTED, waiting.mode);
  removeWaiting(i);
  return 1;
}

/** Evaluates the waiting acquire at a place again; true when it waits no longer. */
function evaluateWaiting(i: u32): bool {
  const waiting = waitingAt(i);
  const ticket = waiting.ticket;
  const mode = waiting.mode;
  logWoken(ticket, mode, waiting.task);
  const task = findTask(waiting.task);
  // released meanwhile: memoryForTask has no such key any more
  const active = task.exists && task.isActive(mode);
  const granted = active ? evaluate(memoryOf(mode), mode, waiting.numBytes, task) : NO_GRANT + TASK_NOT_ACTIVE;
  if (granted == WAITS) {
    logWaitsOn(ticket, mode);
    return false;
  }
  if (granted < NO_GRANT) logFailed(<i32>(granted - NO_GRANT), mode);
  else logGranted(ticket, mode, granted);
  removeWaiting(i);
  return true;
}
