/** Block ids and read locks (org.apache.spark.storage.BlockInfoManager). Nobody waits for a lock: the host does that. */
import { addEvictable, unpark } from "./eviction";
import { allocate, release } from "./heap";
import {
  Block, BLOCK_BYTES, DECLARED, executor, KNOWN, LOCKED, memoryOf, NO_RDD, PARKED, RddRecord, SIZE_SHIFT, STORED,
} from "./layout";
import { rddRecord } from "./rdd_table";
import { BAD_BLOCK, BLOCK_IN_USE, BLOCK_NOT_FOUND, BLOCK_NOT_LOCKED, OUT_OF_MEMORY } from "./status";

const FIRST_CAPACITY: u32 = 64;
/** Most blocks of an executor: they fill a segment of 2 GiB. */
const MAX_CAPACITY: u32 = 1 << 26;

/** Gives the executor its first table of blocks; false when memory is out. */
export function createBlockTable(): bool {
  executor.blocks = allocate(FIRST_CAPACITY * BLOCK_BYTES);
  executor.blockCapacity = FIRST_CAPACITY;
  return executor.blocks != 0;
}

/** Gives the table back. */
export function releaseBlockTable(): void {
  release(executor.blocks, executor.blockCapacity * BLOCK_BYTES);
}

/** Hands out a block id, of the RDD `rdd` unless that is negative. */
export function declareBlock(rdd: i32): i64 {
  if (executor.freeBlock == 0 && executor.blockEnd == executor.blockCapacity && !growBlockTable()) {
    return OUT_OF_MEMORY;
  }
  const record = rdd >= 0 ? rddRecord(rdd) : NO_RDD;
  if (record == 0) return OUT_OF_MEMORY;
  RddRecord.at(record).blocks++;
  const id = takeId();
  const block = executor.block(id);
  block.word = DECLARED;
  block.rdd = record;
  block.readers = 0;
  return id;
}

@inline
function takeId(): u32 {
  const free = executor.freeBlock;
  if (free == 0) return executor.blockEnd++;
  executor.freeBlock = executor.block(free - 1).readers;
  return free - 1;
}

/** Takes a block id back. */
export function forgetBlock(id: u32): i64 {
  const block = executor.block(id);
  if ((block.word & DECLARED) == 0) return BAD_BLOCK;
  if ((block.word & KNOWN) != 0) return BLOCK_IN_USE;
  RddRecord.at(block.rdd).blocks--;
  block.word = 0;
  block.readers = executor.freeBlock;
  executor.freeBlock = id + 1;
  return 0;
}

/** Locks a block for reading, so that it is not evicted: 1, or 0 when it is not known. */
@inline
export function lockForReading(id: u32): i64 {
  const block = executor.block(id);
  const word = block.word;
  if ((word & KNOWN) == 0) return (word & DECLARED) != 0 ? 0 : BAD_BLOCK;
  if (block.readers++ == 0) {
    block.word = word | LOCKED;
    const mode = Block.modeOf(word);
    if ((word & STORED) != 0) addEvictable(memoryOf(mode), mode, block, -(word >> SIZE_SHIFT));
  }
  return 1;
}

/** Releases a read lock: 0 or a status. */
@inline
export function unlock(id: u32): i64 {
  const block = executor.block(id);
  const word = block.word;
  if ((word & KNOWN) == 0) return (word & DECLARED) != 0 ? BLOCK_NOT_FOUND : BAD_BLOCK;
  if (block.readers == 0) return BLOCK_NOT_LOCKED;
  if (--block.readers == 0) {
    block.word = word & ~LOCKED;
    const mode = Block.modeOf(word);
    if ((word & STORED) != 0) addEvictable(memoryOf(mode), mode, block, word >> SIZE_SHIFT);
    if ((word & PARKED) != 0) unpark(memoryOf(mode), block);
  }
  return 0;
}

/** Doubles the table and leads the links to the new one. */
function growBlockTable(): bool {
  const old = executor.blocks;
  const bytes = executor.blockCapacity * BLOCK_BYTES;
  if (executor.blockCapacity == MAX_CAPACITY) return false;
  const table = allocate(2 * bytes);
  if (table == 0) return false;
  memory.copy(table, old, bytes);
  for (let mode = 0; mode < 2; mode++) {
    relocate(memoryOf(mode).entries, old, table, bytes);
    relocate(memoryOf(mode).parked, old, table, bytes);
  }
  release(old, bytes);
  executor.blocks = table;
  executor.blockCapacity <<= 1;
  return true;
}

/** Leads one list's links from the old table to the copy: the end's, then those of each entry. */
function relocate(end: Block, old: usize, moved: usize, bytes: u32): void {
  let entry = end;
  do {
    if (entry.older - old < bytes) entry.older += moved - old;
    if (entry.newer - old < bytes) entry.newer += moved - old;
    entry = Block.at(entry.newer);
  } while (entry != end);
}
