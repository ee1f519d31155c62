/**
 * The executors of the instance. A handle is a place in a table and a count of how often that place was used before,
 * so that the handle of a destroyed executor is recognized.
 */
import { createBlockTables, releaseBlockTables } from "./block_info_manager";
import { reserveEvents } from "./event_log";
import { allocate, release } from "./heap";
import {
  ALL_RULES, EXECUTOR_BYTES, Executor, MAX_BYTES, ModeMemory, NO_TASK, OFF_HEAP, ON_HEAP, RULE_REQUIRES_EXECUTION_MEMORY,
} from "./layout";
import { createRddTable, releaseRddTable } from "./rdd_table";
import { BAD_ARGUMENT, EXECUTION_MEMORY_REQUIRED, OUT_OF_MEMORY } from "./status";
import { createTaskTable, releaseTaskTable } from "./task_table";
import { createWaitQueue, releaseWaitQueue } from "./wait_queue";

/** Places in the low bits of a handle, uses in the bits above. */
const PLACE_BITS: u32 = 20;
const PLACES: u32 = 1 << PLACE_BITS;
const USES_BITS: u32 = 11;
const USES_MASK: u32 = (1 << USES_BITS) - 1;

/**
 * ExecutorSlot (8 bytes)
 *
 * | offset | field   | type | meaning                                                                 |
 * | -----: | ------- | ---- | ----------------------------------------------------------------------- |
 * |      0 | address | u32  | of the Executor; 0 when the place is free                               |
 * |      4 | uses    | u32  | how often the place was given back; of a free place also, from bit 11 on, the next free place plus 1 |
 */
@unmanaged
class ExecutorSlot {
  address!: u32;
  uses!: u32;

  @inline
  static at(place: u32): ExecutorSlot {
    return changetype<ExecutorSlot>(table + (<usize>place << 3));
  }
}

const FIRST_CAPACITY: u32 = 64;

let table: usize = 0;
let capacity: u32 = 0;
/** Places used so far. */
let end: u32 = 0;
/** The place that was given back last, plus 1. */
let freePlace: u32 = 0;

/** The living executor with this handle, or 0. */
@inline
export function executorOf(handle: i32): Executor {
  const place = <u32>handle & (PLACES - 1);
  if (place >= end) return Executor.at(0);
  const executor = Executor.at(ExecutorSlot.at(place).address);
  if (changetype<usize>(executor) == 0 || executor.handle != handle) return Executor.at(0);
  return executor;
}

/** Makes an executor and gives its handle, or a status. */
export function createExecutor(
  maxHeapMemory: i64, onHeapStorageRegionSize: i64, maxOffHeapMemory: i64, offHeapStorageRegionSize: i64, rules: i32,
): i32 {
  if (!fits(maxHeapMemory, onHeapStorageRegionSize) || !fits(maxOffHeapMemory, offHeapStorageRegionSize)) return BAD_ARGUMENT;
  if ((rules & ~ALL_RULES) != 0) return BAD_ARGUMENT;
  if ((rules & RULE_REQUIRES_EXECUTION_MEMORY) != 0 && maxHeapMemory == onHeapStorageRegionSize) {
    return EXECUTION_MEMORY_REQUIRED;
  }
  if (freePlace == 0 && end == capacity && !growTable()) return OUT_OF_MEMORY;
  const executor = newExecutor();
  if (changetype<usize>(executor) == 0) return OUT_OF_MEMORY;
  executor.rules = rules;
  initialize(executor.memory(ON_HEAP), ON_HEAP, maxHeapMemory, onHeapStorageRegionSize);
  initialize(executor.memory(OFF_HEAP), OFF_HEAP, maxOffHeapMemory, offHeapStorageRegionSize);
  const place = takePlace();
  const slot = ExecutorSlot.at(place);
  slot.address = <u32>changetype<usize>(executor);
  executor.handle = <i32>(place | slot.uses << PLACE_BITS);
  return executor.handle;
}

/** Gives an executor's memory back; its handle is no longer valid. */
export function destroyExecutor(executor: Executor): void {
  const place = <u32>executor.handle & (PLACES - 1);
  const slot = ExecutorSlot.at(place);
  slot.address = 0;
  slot.uses = ((slot.uses + 1) & USES_MASK) | freePlace << USES_BITS;
  freePlace = place + 1;
  freeTables(executor);
}

@inline
function fits(maxMemory: i64, storageRegionSize: i64): bool {
  return maxMemory >= 0 && maxMemory <= MAX_BYTES && storageRegionSize >= 0 && storageRegionSize <= maxMemory;
}

function takePlace(): u32 {
  if (freePlace == 0) return end++;
  const place = freePlace - 1;
  const slot = ExecutorSlot.at(place);
  freePlace = slot.uses >> USES_BITS;
  slot.uses &= USES_MASK;
  return place;
}

/** An executor with its tables and nothing in them, or 0 when memory is out. */
function newExecutor(): Executor {
  const executor = Executor.at(allocate(EXECUTOR_BYTES));
  if (changetype<usize>(executor) == 0) return executor;
  memory.fill(changetype<usize>(executor), 0, EXECUTOR_BYTES);
  executor.dropsBeforeFailure = -1;
  executor.taskContext = NO_TASK;
  if (
    createBlockTables(executor) && createTaskTable(executor) && createRddTable(executor) && createWaitQueue(executor) &&
    reserveEvents(0, 0)
  ) return executor;
  freeTables(executor);
  return Executor.at(0);
}

/** MemoryManager's constructor: storage has its region, execution the rest. */
function initialize(memory: ModeMemory, mode: i32, maxMemory: i64, storageRegionSize: i64): void {
  memory.mode = mode;
  memory.maxMemory = maxMemory;
  memory.storageRegionSize = storageRegionSize;
  memory.storagePoolSize = storageRegionSize;
  memory.executionPoolSize = maxMemory - storageRegionSize;
  memory.entries.makeEmptyList();
  memory.parked.makeEmptyList();
}

function freeTables(executor: Executor): void {
  releaseBlockTables(executor);
  releaseTaskTable(executor);
  releaseRddTable(executor);
  releaseWaitQueue(executor);
  release(changetype<usize>(executor), EXECUTOR_BYTES);
}

function growTable(): bool {
  const wanted = capacity == 0 ? FIRST_CAPACITY : capacity << 1;
  if (wanted > PLACES) return false;
  const segment = allocate(wanted << 3);
  if (segment == 0) return false;
  memory.fill(segment, 0, <usize>(wanted << 3));
  memory.copy(segment, table, <usize>(capacity << 3));
  release(table, capacity << 3);
  table = segment;
  capacity = wanted;
  return true;
}
