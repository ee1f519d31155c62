/**
 * The tasks of an executor by attempt id: open addressing, each id looked for from its own low bits on, so that the
 * consecutive ids of Spark's tasks meet no collisions. Records of tasks that hold nothing are purged when the table
 * is full; it grows when that does not help.
 */
import { allocate, release } from "./heap";
import { executor, TaskRecord } from "./layout";

const RECORD_SHIFT: usize = 6;
const FIRST_CAPACITY: u32 = 16;

/** Gives the executor its first table; false when memory is out. */
export function createTaskTable(): bool {
  const table = newTable(FIRST_CAPACITY);
  if (table == 0) return false;
  executor.tasks = table;
  executor.taskCapacity = FIRST_CAPACITY;
  executor.taskRecords = 0;
  return true;
}

/** Gives the table back. */
export function releaseTaskTable(): void {
  release(executor.tasks, executor.taskCapacity << <u32>RECORD_SHIFT);
}

/** The task's record, or 0 when it has none. */
@inline
export function findTask(task: i64): TaskRecord {
  const first = at(executor.tasks, <u32>task & (executor.taskCapacity - 1));
  return first.key == task + 2 ? first : search(task);
}

/** The task's record, made when there is none; 0 when memory is out. */
@inline
export function taskRecord(task: i64): TaskRecord {
  const first = at(executor.tasks, <u32>task & (executor.taskCapacity - 1));
  return first.key == task + 2 ? first : searchOrAdd(task);
}

/** Looks for the task's record wherever it may be. */
function search(task: i64): TaskRecord {
  const key = task + 2;
  const mask = executor.taskCapacity - 1;
  let i = <u32>task & mask;
  let record = at(executor.tasks, i);
  while (record.key != key) {
    if (record.key == 0) return TaskRecord.at(0);
    i = (i + 1) & mask;
    record = at(executor.tasks, i);
  }
  return record;
}

function searchOrAdd(task: i64): TaskRecord {
  const found = search(task);
  return found.exists ? found : addTask(task);
}

function addTask(task: i64): TaskRecord {
  // a quarter stays free, so that a search ends soon
  if (executor.taskRecords + 1 > executor.taskCapacity - (executor.taskCapacity >> 2) && !rebuild()) {
    return TaskRecord.at(0);
  }
  const record = freeRecord(executor.tasks, executor.taskCapacity - 1, task);
  record.key = task + 2;
  executor.taskRecords++;
  return record;
}

/** Moves the tasks that hold something to a table of the same size, or of twice the size when they fill half of it. */
function rebuild(): bool {
  const old = executor.tasks;
  const oldCapacity = executor.taskCapacity;
  let live: u32 = 0;
  for (let i: u32 = 0; i < oldCapacity; i++) live += u32(at(old, i).flags != 0);
  const capacity = live > oldCapacity >> 1 ? oldCapacity << 1 : oldCapacity;
  const table = newTable(capacity);
  if (table == 0) return false;
  for (let i: u32 = 0; i < oldCapacity; i++) {
    const record = at(old, i);
    if (record.flags == 0) continue;
    memory.copy(
      changetype<usize>(freeRecord(table, capacity - 1, record.task)), changetype<usize>(record), 1 << RECORD_SHIFT,
    );
  }
  release(old, oldCapacity << <u32>RECORD_SHIFT);
  executor.tasks = table;
  executor.taskCapacity = capacity;
  executor.taskRecords = live;
  return true;
}

/** The record at a place of the table, whether or not it is in use. */
@inline
export function taskAt(i: u32): TaskRecord {
  return at(executor.tasks, i);
}

@inline
function at(table: usize, i: u32): TaskRecord {
  return TaskRecord.at(table + (<usize>i << RECORD_SHIFT));
}

/** The first free record on the task's way. */
function freeRecord(table: usize, mask: u32, task: i64): TaskRecord {
  let i = <u32>task & mask;
  while (at(table, i).key != 0) i = (i + 1) & mask;
  return at(table, i);
}

function newTable(capacity: u32): usize {
  const bytes = capacity << <u32>RECORD_SHIFT;
  const table = allocate(bytes);
  if (table != 0) memory.fill(table, 0, bytes);
  return table;
}
