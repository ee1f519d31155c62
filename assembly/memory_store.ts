/** The blocks in memory (org.apache.spark.storage.memory.MemoryStore). */
import { removeInfo } from "./block_info_manager";
import { addEntry, removeEntry, touch } from "./eviction";
import { reserveEvents } from "./event_log";
import {
  DECLARED, DESERIALIZED, Executor, KNOWN, LOCKED, ModeMemory, OFF_HEAP, OF_RDD, ON_HEAP, PUT_SHIFT, STORED,
  STORED_OFF_HEAP_SHIFT, TaskRecord, UNROLLS,
} from "./layout";
import { clearEvictable } from "./rdd_table";
import {
  BLOCK_ALREADY_PRESENT, BLOCK_NOT_DESERIALIZED, BLOCK_NOT_IN_MEMORY, BLOCK_NOT_SERIALIZED, OUT_OF_MEMORY, REMOVE_LOCKED,
} from "./status";
import { taskAt } from "./task_table";
import { acquireStorageMemory } from "./unified_memory_manager";

/** The address of the record of a block's RDD, 0 when it is of none. */
@inline
export function rddOf(executor: Executor, block: u32): usize {
  return executor.entry(block).has(OF_RDD) ? executor.info(block).rdd : 0;
}

/** Stores a block of known size: 1, 0 when it does not fit, or a status. */
@inline
export function putBytes(executor: Executor, block: u32, size: i64, mode: i32, putFlags: i32): i64 {
  const entry = executor.entry(block);
  if (entry.has(STORED)) return BLOCK_ALREADY_PRESENT;
  if (!reserveEvents(executor.numEntries + 1, executor.numWaiting)) return OUT_OF_MEMORY;
  const memory = executor.memory(mode);
  const acquired = acquireStorageMemory(executor, memory, size, rddOf(executor, block));
  if (acquired == 1) addEntry(executor, memory, entry, size, entryFlags(mode, putFlags));
  return acquired;
}

/** Where an entry keeps its mode and the flags of its put. */
@inline
export function entryFlags(mode: i32, putFlags: i32): i64 {
  return (<i64>mode << STORED_OFF_HEAP_SHIFT) | (<i64>putFlags << PUT_SHIFT);
}

/** Reads a block, which makes it the youngest: 1, or 0 when it is not in memory. */
@inline
export function get(executor: Executor, block: u32): i64 {
  const entry = executor.entry(block);
  if (!entry.has(STORED)) return 0;
  touch(executor, entry);
  return 1;
}

/** Like `get`, for serialized blocks; the block is read before it is looked at. */
export function getBytes(executor: Executor, block: u32): i64 {
  const found = get(executor, block);
  return found == 1 && executor.entry(block).has(DESERIALIZED) ? BLOCK_NOT_SERIALIZED : found;
}

/** Like `get`, for deserialized blocks. */
export function getValues(executor: Executor, block: u32): i64 {
  const found = get(executor, block);
  return found == 1 && !executor.entry(block).has(DESERIALIZED) ? BLOCK_NOT_DESERIALIZED : found;
}

/** The size of a block in memory, which makes it the youngest. */
export function getSize(executor: Executor, block: u32): i64 {
  return get(executor, block) == 1 ? executor.entry(block).size : BLOCK_NOT_IN_MEMORY;
}

/** Whether a block is in memory. */
@inline
export function contains(executor: Executor, block: u32): i64 {
  return i64(executor.entry(block).has(STORED));
}

/** Removes a block from memory and from what is known: 1 when it was in memory, REMOVE_LOCKED when it is locked. */
@inline
export function remove(executor: Executor, block: u32): i64 {
  const entry = executor.entry(block);
  if (!entry.has(KNOWN)) return 0;
  if (entry.has(LOCKED)) return REMOVE_LOCKED;
  const stored = entry.has(STORED);
  if (stored) removeEntry(executor, executor.memory(entry.mode), entry);
  removeInfo(executor, entry, executor.info(block));
  return i64(stored);
}

/** Empties the store, forgets all locks and unroll reservations and frees the storage memory; pools keep their sizes. */
export function clear(executor: Executor): void {
  for (let block: u32 = 0; block < executor.blockEnd; block++) {
    const entry = executor.entry(block);
    if (!entry.has(KNOWN)) continue;
    entry.word &= DECLARED | OF_RDD;
    executor.info(block).readers = 0;
  }
  clearEvictable(executor);
  for (let i: u32 = 0; i < executor.taskCapacity; i++) forgetUnrolling(taskAt(executor, i));
  clearMode(executor.memory(ON_HEAP));
  clearMode(executor.memory(OFF_HEAP));
  executor.numEntries = 0;
  releaseAllStorageMemory(executor);
}

function clearMode(memory: ModeMemory): void {
  memory.entries.makeEmptyList();
  memory.parked.makeEmptyList();
  memory.evictable = 0;
  memory.unrollMemory = 0;
}

function forgetUnrolling(task: TaskRecord): void {
  task.flags &= ~(UNROLLS | UNROLLS << 1);
  task.setUnroll(ON_HEAP, 0);
  task.setUnroll(OFF_HEAP, 0);
}

/** Zeroes what storage uses, in both modes (MemoryManager.releaseAllStorageMemory). */
export function releaseAllStorageMemory(executor: Executor): void {
  executor.memory(ON_HEAP).storageMemoryUsed = 0;
  executor.memory(OFF_HEAP).storageMemoryUsed = 0;
}
