/** Block ids and read locks (org.apache.spark.storage.BlockInfoManager). Nobody waits for a lock: the host does that. */
import { addEvictable, unpark } from "./eviction";
import { allocate, release } from "./heap";
import {
  BLOCK_INFO_BYTES, BlockInfo, DECLARED, executor, memoryOf, NO_RDD, PARKED, RDD_SHIFT, RddRecord, STORED,
} from "./layout";
import { rddRecord } from "./rdd_table";
import { BAD_BLOCK, BLOCK_IN_USE, BLOCK_NOT_FOUND, BLOCK_NOT_LOCKED, OUT_OF_MEMORY } from "./status";

const FIRST_CAPACITY: u32 = 64;
/** Most blocks of an executor: their table fills a segment of 512 MiB, their entries 2 GiB. */
const MAX_CAPACITY: u32 = 1 << 26;

/** How far the number of the next free id is shifted, clear of the flags of a word. */
const FREE_SHIFT: u64 = 37;

/** Gives the executor its first table of blocks; false when memory is out. */
export function createBlockTable(): bool {
  executor.blocks = allocate(FIRST_CAPACITY * BLOCK_INFO_BYTES);
  executor.blockCapacity = FIRST_CAPACITY;
  return executor.blocks != 0;
}

/** Gives the table back. */
export function releaseBlockTable(): void {
  release(executor.blocks, executor.blockCapacity * BLOCK_INFO_BYTES);
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
  executor.block(id).word = DECLARED | <u64>record << RDD_SHIFT;
  return id;
}

@inline
function takeId(): u32 {
  const free = executor.freeBlock;
  if (free == 0) return executor.blockEnd++;
  executor.freeBlock = <u32>(executor.block(free - 1).word >> FREE_SHIFT);
  return free - 1;
}

/** Takes a block id back. */
export function forgetBlock(id: u32): i64 {
  const block = executor.block(id);
  const word = block.word;
  if ((word & DECLARED) == 0) return BAD_BLOCK;
  if (BlockInfo.isKnown(word)) return BLOCK_IN_USE;
  RddRecord.at(BlockInfo.rddOf(word)).blocks--;
  block.word = <u64>executor.freeBlock << FREE_SHIFT;
  executor.freeBlock = id + 1;
  return 0;
}

/** Locks a block for reading, so that it is not evicted: 1, or 0 when it is not known. */
@inline
export function lockForReading(id: u32): i64 {
  const word = executor.block(id).word;
  if (!BlockInfo.isKnown(word)) return (word & DECLARED) != 0 ? 0 : BAD_BLOCK;
  const entry = BlockInfo.entryOf(word);
  if (entry.readers++ == 0 && (word & STORED) != 0) {
    const mode = BlockInfo.modeOf(word);
    addEvictable(memoryOf(mode), mode, BlockInfo.rddOf(word), -entry.size);
  }
  return 1;
}

/** Releases a read lock: 0 or a status. */
@inline
export function unlock(id: u32): i64 {
  const word = executor.block(id).word;
  if (!BlockInfo.isKnown(word)) return (word & DECLARED) != 0 ? BLOCK_NOT_FOUND : BAD_BLOCK;
  const entry = BlockInfo.entryOf(word);
  if (entry.readers == 0) return BLOCK_NOT_LOCKED;
  if (--entry.readers == 0) {
    const mode = BlockInfo.modeOf(word);
    if ((word & STORED) != 0) addEvictable(memoryOf(mode), mode, BlockInfo.rddOf(word), entry.size);
    if ((word & PARKED) != 0) unpark(memoryOf(mode), entry);
  }
  return 0;
}

/** Doubles the table. */
function growBlockTable(): bool {
  const old = executor.blocks;
  const bytes = executor.blockCapacity * BLOCK_INFO_BYTES;
  if (executor.blockCapacity == MAX_CAPACITY) return false;
  const table = allocate(2 * bytes);
  if (table == 0) return false;
  memory.copy(table, old, bytes);
  release(old, bytes);
  executor.blocks = table;
  executor.blockCapacity <<= 1;
  return true;
}
