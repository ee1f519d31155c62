/** Block ids and read locks (org.apache.spark.storage.BlockInfoManager). Nobody waits for a lock: the host does that. */
import { addEvictable, unpark } from "./eviction";
import { allocate, release } from "./heap";
import { BlockInfo, DECLARED, Executor, KNOWN, LOCKED, MemoryEntry, OF_RDD, PARKED, RddRecord, STORED } from "./layout";
import { rddRecord } from "./rdd_table";
import { BLOCK_IN_USE, BLOCK_NOT_FOUND, BLOCK_NOT_LOCKED, OUT_OF_MEMORY } from "./status";

const FIRST_CAPACITY: u32 = 64;
/** Most blocks of an executor: their entries fill a segment of 1 GiB. */
const MAX_CAPACITY: u32 = 1 << 26;
const ENTRY_SHIFT: u32 = 4;
const INFO_SHIFT: u32 = 3;

/** Gives an executor its first tables of blocks; false when memory is out. */
export function createBlockTables(executor: Executor): bool {
  executor.entries = allocate(FIRST_CAPACITY << ENTRY_SHIFT);
  executor.infos = allocate(FIRST_CAPACITY << INFO_SHIFT);
  executor.blockCapacity = FIRST_CAPACITY;
  return executor.entries != 0 && executor.infos != 0;
}

/** Gives the tables back. */
export function releaseBlockTables(executor: Executor): void {
  release(executor.entries, executor.blockCapacity << ENTRY_SHIFT);
  release(executor.infos, executor.blockCapacity << INFO_SHIFT);
}

/** Hands out a block id, of the RDD `rdd` unless that is negative. */
export function declareBlock(executor: Executor, rdd: i32): i64 {
  if (executor.freeBlock == 0 && executor.blockEnd == executor.blockCapacity && !growBlockTables(executor)) {
    return OUT_OF_MEMORY;
  }
  let record: usize = 0;
  if (rdd >= 0) {
    record = rddRecord(executor, rdd);
    if (record == 0) return OUT_OF_MEMORY;
    RddRecord.at(record).blocks++;
  }
  const block = takeId(executor);
  executor.entry(block).word = DECLARED | (rdd >= 0 ? OF_RDD : 0);
  const info = executor.info(block);
  info.rdd = record;
  info.readers = 0;
  return block;
}

@inline
function takeId(executor: Executor): u32 {
  const free = executor.freeBlock;
  if (free == 0) return executor.blockEnd++;
  executor.freeBlock = executor.info(free - 1).readers;
  return free - 1;
}

/** Takes a block id back. */
export function forgetBlock(executor: Executor, block: u32): i64 {
  const entry = executor.entry(block);
  if (entry.has(KNOWN)) return BLOCK_IN_USE;
  const info = executor.info(block);
  if (entry.has(OF_RDD)) RddRecord.at(info.rdd).blocks--;
  entry.word = 0;
  info.readers = executor.freeBlock;
  executor.freeBlock = block + 1;
  return 0;
}

/** Locks a block for reading, so that it is not evicted: 1, or 0 when it is not known. */
@inline
export function lockForReading(executor: Executor, block: u32): i64 {
  const entry = executor.entry(block);
  if (!entry.has(KNOWN)) return 0;
  const info = executor.info(block);
  if (info.readers++ == 0) {
    entry.word |= LOCKED;
    if (entry.has(STORED)) addEvictable(executor, executor.memory(entry.mode), entry, -entry.size);
  }
  return 1;
}

/** Releases a read lock: 0 or a status. */
@inline
export function unlock(executor: Executor, block: u32): i64 {
  const entry = executor.entry(block);
  if (!entry.has(KNOWN)) return BLOCK_NOT_FOUND;
  const info = executor.info(block);
  if (info.readers == 0) return BLOCK_NOT_LOCKED;
  if (--info.readers == 0) {
    entry.word &= ~LOCKED;
    if (entry.has(STORED)) {
      const memory = executor.memory(entry.mode);
      addEvictable(executor, memory, entry, entry.size);
      if (entry.has(PARKED)) unpark(memory, entry);
    }
  }
  return 0;
}

/** Forgets that a block is known, after it has left memory (BlockInfoManager.removeBlock). */
@inline
export function removeInfo(executor: Executor, entry: MemoryEntry, info: BlockInfo): void {
  entry.word &= ~(KNOWN | LOCKED);
  info.readers = 0;
}

/** Doubles both tables and leads the links to the new one. */
function growBlockTables(executor: Executor): bool {
  const old = executor.entries;
  const capacity = executor.blockCapacity;
  if (capacity == MAX_CAPACITY) return false;
  const entries = allocate(capacity << (ENTRY_SHIFT + 1));
  if (entries == 0) return false;
  const infos = allocate(capacity << (INFO_SHIFT + 1));
  if (infos == 0) {
    release(entries, capacity << (ENTRY_SHIFT + 1));
    return false;
  }
  memory.copy(entries, old, capacity << ENTRY_SHIFT);
  memory.copy(infos, executor.infos, capacity << INFO_SHIFT);
  for (let mode = 0; mode < 2; mode++) {
    relocate(executor.memory(mode).entries, old, entries, capacity);
    relocate(executor.memory(mode).parked, old, entries, capacity);
  }
  release(old, capacity << ENTRY_SHIFT);
  release(executor.infos, capacity << INFO_SHIFT);
  executor.entries = entries;
  executor.infos = infos;
  executor.blockCapacity = capacity << 1;
  return true;
}

/** Leads one list's links from the old table to the copy: the end's, then those of each entry. */
function relocate(end: MemoryEntry, old: usize, moved: usize, capacity: u32): void {
  const bytes = <usize>(capacity << ENTRY_SHIFT);
  let entry = end;
  do {
    if (entry.older - old < bytes) entry.older += moved - old;
    if (entry.newer - old < bytes) entry.newer += moved - old;
    entry = MemoryEntry.at(entry.newer);
  } while (entry != end);
}
