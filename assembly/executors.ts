/**
 * The executors of the instance. A handle is a place in a table and a count of how often that place was used before,
 * so that the handle of a destroyed executor is recognized.
 *
 * One executor is resident: its record has been moved from its home to the fixed address where operations expect it.
 */
import { createBlockTable, releaseBlockTable } from "./block_info_manager";
import { createEntries, releaseEntries } from "./entries";
import { reserveEvents } from "./event_log";
import { allocate, release } from "./heap";
import {
  ALL_RULES, EXECUTOR_BYTES, executor, Executor, MAX_BYTES, memoryOf, NO_TASK, OFF_HEAP, ON_HEAP,
  RULE_REQUIRES_EXECUTION_MEMORY,
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
 * | offset | field | type | meaning                                                                               |
 * | -----: | ----- | ---- | ------------------------------------------------------------------------------------- |
 * |      0 | home  | u32  | address of the Executor's home; 0 when the place is free                              |
 * |      4 | uses  | u32  | how often the place was given back; of a free place also, from bit 11 on, the next free place plus 1 |
 */
@unmanaged
class ExecutorSlot {
  home!: usize;
  uses!: u32;

  @inline
  static at(place: u32): ExecutorSlot {
    return changetype<ExecutorSlot>(table + (<usize>place << 3));
  }
}

const FIRST_CAPACITY: u32 = 64;
/** The handle in the resident record when no executor is resident. */
const NOBODY: i32 = -1;

let table: usize = 0;
let capacity: u32 = 0;
/** Places used so far. */
let end: u32 = 0;
/** The place that was given back last, plus 1. */
let freePlace: u32 = 0;

executor.handle = NOBODY;

/** Makes the executor with this handle resident; false when there is none. */
@inline
export function select(handle: i32): bool {
  return executor.handle == handle ? handle != NOBODY : bringHome(handle);
}

/** Exchanges the resident executor for another. */
function bringHome(handle: i32): bool {
  const place = <u32>handle & (PLACES - 1);
  if (handle < 0 || place >= end) return false;
  const home = ExecutorSlot.at(place).home;
  if (home == 0 || Executor.at(home).handle != handle) return false;
  sendHome();
  copyRecord(changetype<usize>(executor), home);
  return true;
}

/** Moves the resident executor's record to its home. */
function sendHome(): void {
  if (executor.handle != NOBODY) copyRecord(executor.home, changetype<usize>(executor));
}

/** Copies an Executor; memory.copy would leave the module, which costs more than this. */
function copyRecord(to: usize, from: usize): void {
  for (const last = from + EXECUTOR_BYTES; from < last; from += 32, to += 32) {
    store<u64>(to, load<u64>(from));
    store<u64>(to, load<u64>(from, 8), 8);
    store<u64>(to, load<u64>(from, 16), 16);
    store<u64>(to, load<u64>(from, 24), 24);
  }
}

/** Makes an executor, which is then resident, and gives its handle, or a status. */
export function createExecutor(
  maxHeapMemory: i64, onHeapStorageRegionSize: i64, maxOffHeapMemory: i64, offHeapStorageRegionSize: i64, rules: i32,
): i32 {
  if (!fits(maxHeapMemory, onHeapStorageRegionSize) || !fits(maxOffHeapMemory, offHeapStorageRegionSize)) return BAD_ARGUMENT;
  if ((rules & ~ALL_RULES) != 0) return BAD_ARGUMENT;
  if ((rules & RULE_REQUIRES_EXECUTION_MEMORY) != 0 && maxHeapMemory == onHeapStorageRegionSize) {
    return EXECUTION_MEMORY_REQUIRED;
  }
  if (!reserveEvents() || (freePlace == 0 && end == capacity && !growTable())) return OUT_OF_MEMORY;
  const home = allocate(EXECUTOR_BYTES);
  if (home == 0) return OUT_OF_MEMORY;
  sendHome();
  memory.fill(changetype<usize>(executor), 0, EXECUTOR_BYTES);
  executor.home = home;
  if (!createBlockTable() || !createEntries() || !createTaskTable() || !createRddTable() || !createWaitQueue()) {
    discard();
    return OUT_OF_MEMORY;
  }
  executor.rules = rules;
  executor.dropsBeforeFailure = -1;
  executor.taskContext = NO_TASK;
  initialize(ON_HEAP, maxHeapMemory, onHeapStorageRegionSize);
  initialize(OFF_HEAP, maxOffHeapMemory, offHeapStorageRegionSize);
  const place = takePlace();
  const slot = ExecutorSlot.at(place);
  slot.home = home;
  executor.handle = <i32>(place | slot.uses << PLACE_BITS);
  return executor.handle;
}

/** Gives the resident executor's memory back; its handle is no longer valid. */
export function destroyExecutor(): void {
  const place = <u32>executor.handle & (PLACES - 1);
  const slot = ExecutorSlot.at(place);
  slot.home = 0;
  slot.uses = ((slot.uses + 1) & USES_MASK) | freePlace << USES_BITS;
  freePlace = place + 1;
  discard();
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

/** MemoryManager's constructor: storage has its region, execution the rest. */
function initialize(mode: i32, maxMemory: i64, storageRegionSize: i64): void {
  const memory = memoryOf(mode);
  memory.maxMemory = maxMemory;
  memory.storageRegionSize = storageRegionSize;
  memory.storagePoolSize = storageRegionSize;
  memory.executionPoolSize = maxMemory - storageRegionSize;
  memory.entries.makeEmptyList();
  memory.parked.makeEmptyList();
}

/** Gives back whatever the resident record has; nobody is resident then. */
function discard(): void {
  releaseBlockTable();
  releaseEntries();
  releaseTaskTable();
  releaseRddTable();
  releaseWaitQueue();
  release(executor.home, EXECUTOR_BYTES);
  executor.handle = NOBODY;
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
