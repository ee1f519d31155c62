/** The blocks in memory (org.apache.spark.storage.memory.MemoryStore). */
import { freeEntry, reserveEntry } from "./entries";
import { addEntry, removeEntry, touch } from "./eviction";
import {
  BlockInfo, DECLARED, DESERIALIZED, executor, memoryOf, ModeMemory, OFF_HEAP, offHeap, ON_HEAP, onHeap, rddOf, STORED,
  TaskRecord, UNKNOWN, UNROLLS,
} from "./layout";
import { clearEvictable } from "./rdd_table";
import {
  BAD_BLOCK, BLOCK_ALREADY_PRESENT, BLOCK_NOT_DESERIALIZED, BLOCK_NOT_IN_MEMORY, BLOCK_NOT_SERIALIZED, OUT_OF_MEMORY,
  REMOVE_LOCKED,
} from "./status";
import { releaseAllStorageMemory } from "./storage_memory_pool";
import { taskAt } from "./task_table";
import { acquireStorage, acquireStorageMemory } from "./unified_memory_manager";

/** Stores a block of known size: 1, 0 when it does not fit, or a status. `putFlags`: PUT_ bits. */
export function putBytes(id: u32, size: i64, mode: i32, putFlags: i32): i64 {
  return put(memoryOf(mode), mode, id, size, putFlags);
}

/** The same, for a place that is worth its own copy. */
@inline
export function put(memory: ModeMemory, mode: i32, id: u32, size: i64, putFlags: i32): i64 {
  const word = executor.block(id).word;
  if ((word & (DECLARED | STORED)) != DECLARED) return (word & STORED) != 0 ? BLOCK_ALREADY_PRESENT : BAD_BLOCK;
  if (!reserveEntry()) return OUT_OF_MEMORY;
  const acquired = acquireStorage(memory, mode, size, rddOf(word));
  if (acquired == 1) addEntry(memory, mode, id, size, putFlags);
  return acquired;
}

/** Puts a block in memory for which storage memory has been acquired and an entry reserved. */
export function addBlock(id: u32, mode: i32, size: i64, putFlags: i32): void {
  addEntry(memoryOf(mode), mode, id, size, putFlags);
}

/** Reads a block, which makes it the youngest: 1, or 0 when it is not in memory. */
@inline
export function get(id: u32): i64 {
  const block = executor.block(id);
  const word = block.word;
  if ((word & STORED) == 0) return (word & DECLARED) != 0 ? 0 : BAD_BLOCK;
  touch(block, word);
  return 1;
}

/** Like `get`, for serialized blocks; the block is read before it is looked at. */
export function getBytes(id: u32): i64 {
  const found = get(id);
  return found == 1 && isDeserialized(id) ? BLOCK_NOT_SERIALIZED : found;
}

/** Like `get`, for deserialized blocks. */
export function getValues(id: u32): i64 {
  const found = get(id);
  return found == 1 && !isDeserialized(id) ? BLOCK_NOT_DESERIALIZED : found;
}

/** Whether a block in memory is kept as objects. */
function isDeserialized(id: u32): bool {
  return (BlockInfo.entryOf(executor.block(id).word).rdd & DESERIALIZED) != 0;
}

/** The size of a block in memory, which makes it the youngest. */
export function getSize(id: u32): i64 {
  const found = get(id);
  if (found == 1) return BlockInfo.entryOf(executor.block(id).word).size;
  return found == 0 ? BLOCK_NOT_IN_MEMORY : found;
}

/** Whether a block is in memory. */
@inline
export function contains(id: u32): i64 {
  const word = executor.block(id).word;
  if ((word & STORED) == 0) return (word & DECLARED) != 0 ? 0 : BAD_BLOCK;
  return 1;
}

/** Removes a block from memory and from what is known: 1 when it was in memory, REMOVE_LOCKED when it is locked. */
@inline
export function remove(id: u32): i64 {
  const block = executor.block(id);
  const word = block.word;
  if (!BlockInfo.isKnown(word)) return (word & DECLARED) != 0 ? 0 : BAD_BLOCK;
  if (BlockInfo.entryOf(word).readers != 0) return REMOVE_LOCKED;
  if ((word & STORED) != 0) {
    removeEntry(block);
    return 1;
  }
  forget(block);
  return 0;
}

/** Empties the store, forgets all locks and unroll reservations and frees the storage memory; pools keep their sizes. */
export function clear(): void {
  for (let id: u32 = 0; id < executor.blockEnd; id++) {
    const block = executor.block(id);
    if (BlockInfo.isKnown(block.word)) forget(block);
  }
  clearEvictable();
  for (let i: u32 = 0; i < executor.taskCapacity; i++) forgetUnrolling(taskAt(i));
  clearMode(onHeap);
  clearMode(offHeap);
  executor.numEntries = 0;
  releaseAllStorageMemory();
}

/** Makes a known block unknown. */
function forget(block: BlockInfo): void {
  freeEntry(BlockInfo.entryOf(block.word));
  block.word &= UNKNOWN;
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
