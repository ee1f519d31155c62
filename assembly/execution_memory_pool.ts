/**
 * Execution memory shared among tasks (org.apache.spark.memory.ExecutionMemoryPool): of N active tasks each gets at
 * most 1/N of the pool, and waits until it has 1/2N.
 */
import { logFailed, logGranted, logOverRelease, logWaitsOn, logWoken, reserveEvents } from "./event_log";
import { ACTIVE, Executor, ModeMemory, RULE_HOST_WAKES, TaskRecord, WaitingAcquire } from "./layout";
import { ASSERTION_FAILED, FIRST_TICKET, INTERRUPTED, INVALID_NUMBER_OF_BYTES, NOT_WAITING, OUT_OF_MEMORY, TASK_NOT_ACTIVE } from "./status";
import { findTask, taskRecord } from "./task_table";
import { maxExecutionPoolSize, maybeGrowExecutionPool } from "./unified_memory_manager";
import { addWaiting, indexOfTicket, removeWaiting, reserveWaiting, waitingAt } from "./wait_queue";

/** How the pool is named in an over-release event. */
const EXECUTION: i32 = 1;

/** An evaluation of a request: it waits. Below every status, above every ticket. */
const WAITS: i64 = -2048;

/** Most active tasks and bytes for which the product of the two cannot overflow. */
const FEW_TASKS: i64 = 512;
const FEW_BYTES: i64 = 1 << 53;

/**
 * Acquires execution memory for a task.
 *
 * @returns the bytes granted, FIRST_TICKET minus the ticket when the task waits, or a status
 */
export function acquireExecutionMemory(executor: Executor, mode: i32, numBytes: i64, taskAttemptId: i64): i64 {
  if (numBytes <= 0) return numBytes == 0 ? INVALID_NUMBER_OF_BYTES : ASSERTION_FAILED;
  const memory = executor.memory(mode);
  const task = taskRecord(executor, taskAttemptId);
  if (changetype<usize>(task) == 0) return OUT_OF_MEMORY;
  if (!task.isActive(mode)) {
    task.flags |= ACTIVE << mode;
    memory.activeTasks++;
    executor.notified = 1;
  }
  let granted = evaluate(executor, memory, numBytes, task);
  if (granted == WAITS) granted = FIRST_TICKET - addWaiting(executor, numBytes, taskAttemptId, mode);
  return granted;
}

/** Makes sure that an acquire that has to wait can be kept; false when memory is out. */
@inline
export function reserveForAcquire(executor: Executor): bool {
  return reserveWaiting(executor) && reserveEvents(executor.numEntries, executor.numWaiting + 1);
}

/** One turn of the loop of ExecutionMemoryPool.acquireMemory: grants, WAITS, or a status. */
@inline
function evaluate(executor: Executor, memory: ModeMemory, numBytes: i64, task: TaskRecord): i64 {
  const execution = memory.execution;
  const current = task.execution(memory.mode);
  const grown = maybeGrowExecutionPool(executor, memory, numBytes - execution.memoryFree);
  if (grown < 0) return grown;
  const maxPoolSize = maxExecutionPoolSize(executor, memory);
  const numActiveTasks = <i64>memory.activeTasks;
  const wanted = current + numBytes;
  let granted = numBytes;
  // all of it, when it is free and the task stays within its share: numBytes + current <= maxPoolSize / N
  if (
    numBytes > execution.memoryFree || numActiveTasks > FEW_TASKS || wanted > FEW_BYTES || wanted * numActiveTasks > maxPoolSize
  ) {
    const maxMemoryPerTask = maxPoolSize / numActiveTasks;
    const minMemoryPerTask = execution.poolSize / (2 * numActiveTasks);
    granted = min(min(numBytes, max(<i64>0, maxMemoryPerTask - current)), execution.memoryFree);
    if (granted < numBytes && current + granted < minMemoryPerTask) return WAITS;
  }
  task.setExecution(memory.mode, current + granted);
  execution.memoryUsed += granted;
  return granted;
}

/** The bytes that a task holds in one mode (getMemoryUsageForTask). */
export function executionMemoryUsageForTask(executor: Executor, mode: i32, taskAttemptId: i64): i64 {
  const task = findTask(executor, taskAttemptId);
  return changetype<usize>(task) == 0 ? 0 : task.execution(mode);
}

/**
 * Releases execution memory and wakes the waiting tasks, whatever was released. Clamped at what the task holds; a
 * task that is left with nothing is no longer active. A negative size is not refused and adds.
 */
export function releaseExecutionMemory(executor: Executor, mode: i32, numBytes: i64, taskAttemptId: i64): void {
  executor.notified = 1;
  const memory = executor.memory(mode);
  const task = findTask(executor, taskAttemptId);
  const active = changetype<usize>(task) != 0 && task.isActive(mode);
  const held = active ? task.execution(mode) : 0;
  let released = numBytes;
  if (held < numBytes) {
    logOverRelease(EXECUTION, mode, numBytes, held, executor.numEntries, executor.numWaiting);
    released = held;
  }
  if (!active) return;
  memory.executionMemoryUsed -= released;
  task.setExecution(mode, held - released);
  if (held > released) return;
  task.flags &= ~(ACTIVE << mode);
  memory.activeTasks--;
}

/** Releases all execution memory of a task in both modes and gives its bytes (releaseAllExecutionMemoryForTask). */
export function releaseAllExecutionMemoryForTask(executor: Executor, taskAttemptId: i64): i64 {
  const onHeap = executionMemoryUsageForTask(executor, 0, taskAttemptId);
  releaseExecutionMemory(executor, 0, onHeap, taskAttemptId);
  const offHeap = executionMemoryUsageForTask(executor, 1, taskAttemptId);
  releaseExecutionMemory(executor, 1, offHeap, taskAttemptId);
  return onHeap + offHeap;
}

/**
 * Evaluates the first `count` waiting acquires again, first come first. Spark's notifyAll wakes all of them, and the
 * JVM does not define the order in which they get the lock.
 */
export function wakeWaiting(executor: Executor, count: u32): void {
  let i: u32 = 0;
  for (; count > 0; count--) i += u32(!evaluateWaiting(executor, i));
}

/** Evaluates the acquire that waits under a ticket again. */
export function wake(executor: Executor, ticket: i32): i64 {
  const i = indexOfTicket(executor, ticket);
  if (i < 0) return NOT_WAITING;
  evaluateWaiting(executor, i);
  return 0;
}

/** Gives up a waiting acquire, as when its thread is interrupted; its task stays active. 1, or 0 when none waits. */
export function cancel(executor: Executor, ticket: i32): i64 {
  const i = indexOfTicket(executor, ticket);
  if (i < 0) return 0;
  const waiting = waitingAt(executor, i);
  logWoken(ticket, waiting.mode, waiting.task);
  logFailed(INTERRUPTED, waiting.mode);
  removeWaiting(executor, i);
  return 1;
}

/** Evaluates the waiting acquire at a place again; true when it waits no longer. */
function evaluateWaiting(executor: Executor, i: u32): bool {
  const waiting = waitingAt(executor, i);
  const ticket = waiting.ticket;
  const mode = waiting.mode;
  logWoken(ticket, mode, waiting.task);
  const task = findTask(executor, waiting.task);
  // released meanwhile: memoryForTask has no such key any more
  const active = changetype<usize>(task) != 0 && task.isActive(mode);
  const granted = active ? evaluate(executor, executor.memory(mode), waiting.numBytes, task) : TASK_NOT_ACTIVE;
  if (granted == WAITS) {
    logWaitsOn(ticket, mode);
    return false;
  }
  if (granted < 0) logFailed(<i32>granted, mode);
  else logGranted(ticket, mode, granted);
  removeWaiting(executor, i);
  return true;
}
