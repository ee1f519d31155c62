/**
 * The access order of the blocks in memory, and eviction (MemoryStore.entries, evictBlocksToFreeSpace).
 *
 * Spark keeps one access order for both memory modes and walks past entries that it cannot evict. Here each mode has
 * its own order, the bytes that can be evicted are kept as a sum per mode and RDD, so that an eviction that must fail
 * fails at once, and a locked entry that the walk meets at the eldest end is parked, so that no walk meets it again.
 */
import { beginEvicted, endEvicted, evictedBetween, evictedHead, logEvicted, writeEvicted } from "./event_log";
import { freeEntries, freeEntry, takeEntry } from "./entries";
import {
  BlockInfo, DECLARED, ENTRY, Entry, executor, memoryOf, ModeMemory, PARKED, RDD, RDD_SHIFT, RddRecord, STORED,
  STORED_OFF_HEAP_SHIFT, UNKNOWN, USE_DISK,
} from "./layout";
import { DROP_FAILED } from "./status";
import { releaseStorageMemory } from "./storage_memory_pool";

/** What a block's word keeps when it is evicted and stays known. */
const KNOWN_STILL: u64 = UNKNOWN | ENTRY;
/** In readersAndRdd: the walk has to look closer, because the block is locked or stays known. */
const UNUSUAL: u64 = 0xffffffff | <u64>USE_DISK << 32;

/** Makes a block in memory the youngest of its mode. */
@inline
export function touch(block: BlockInfo, word: u64): void {
  const entry = BlockInfo.entryOf(word);
  entry.unlink();
  if ((word & PARKED) != 0) block.word = word & ~PARKED;
  entry.linkNewest(memoryOf(BlockInfo.modeOf(word)).entries);
}

/** Adds bytes of an RDD's block to what eviction can free, or takes them off. */
@inline
export function addEvictable(memory: ModeMemory, mode: i32, rdd: usize, bytes: i64): void {
  memory.evictable += bytes;
  RddRecord.addEvictable(rdd, mode, bytes);
}

/**
 * Puts a block that is not in memory there, as the youngest; if it is not known, there must be an entry for it.
 * `putFlags`: PUT_ bits.
 */
@inline
export function addEntry(memory: ModeMemory, mode: i32, id: u32, size: i64, putFlags: i32): void {
  const block = executor.block(id);
  let word = block.word & KNOWN_STILL;
  if (!BlockInfo.isKnown(word)) word |= takeEntry(id).address;
  block.word = word | <u64>mode << STORED_OFF_HEAP_SHIFT | STORED;
  const rdd = BlockInfo.rddOf(word);
  const entry = BlockInfo.entryOf(word);
  entry.size = size;
  entry.rdd = rdd | putFlags;
  entry.linkNewest(memory.entries);
  executor.numEntries++;
  if (entry.readers == 0) addEvictable(memory, mode, rdd, size);
}

/** Takes a block that is not locked out of memory, and it is no longer known. */
export function removeEntry(block: BlockInfo): void {
  const word = block.word;
  const entry = BlockInfo.entryOf(word);
  const size = entry.size;
  const mode = BlockInfo.modeOf(word);
  const memory = memoryOf(mode);
  entry.unlink();
  freeEntry(entry);
  addEvictable(memory, mode, BlockInfo.rddOf(word), -size);
  block.word = word & UNKNOWN;
  releaseStorageMemory(memory, mode, size);
  executor.numEntries--;
}

/**
 * Evicts blocks, eldest first, until `space` bytes are freed; locked blocks and those of the RDD `exceptRdd` (0: none)
 * are passed over. Evicts nothing when that does not give enough (MemoryStore.evictBlocksToFreeSpace).
 *
 * The sums say in advance that the walk will succeed, so victims are dropped as they are met. This part drops from the
 * eldest end as long as no entry is passed over, which is nearly always all; evictCarefully does the rest.
 *
 * @returns the bytes freed, at least `space`, or 0, or DROP_FAILED
 */
export function evictBlocksToFreeSpace(mode: i32, space: i64, exceptRdd: usize): i64 {
  return evict(memoryOf(mode), mode, space, exceptRdd);
}

/** The same, for a place that is worth its own copy. */
@inline
export function evict(memory: ModeMemory, mode: i32, space: i64, exceptRdd: usize): i64 {
  let evictable = memory.evictable;
  if (exceptRdd != 0) evictable -= RddRecord.evictable(exceptRdd, mode);
  if (space > evictable) return 0;
  if (isUnusual(memory)) return evictCarefully(mode, space, exceptRdd);

  const head = evictedHead(mode);
  const firstEvent = beginEvicted();
  const eldest = Entry.at(memory.entries.newer);
  let place = firstEvent;
  let freed: i64 = 0;
  let entry = eldest;
  let last = memory.entries;
  do {
    const newerAndBlock = entry.newerAndBlock;
    const readersAndRdd = entry.readersAndRdd;
    const id = <u32>(newerAndBlock >> 32);
    const rdd = <usize>((readersAndRdd & RDD) >> RDD_SHIFT);
    if ((readersAndRdd & UNUSUAL) != 0 || rdd == exceptRdd) break;
    const size = entry.size;
    freed += size;
    RddRecord.addEvictable(rdd, mode, -size);
    // written without reading it: the block is the one that was used longest ago, and in no cache
    executor.block(id).word = (readersAndRdd & RDD) | DECLARED;
    place = writeEvicted(place, head, id, size);
    last = entry;
    entry = Entry.at(<usize>newerAndBlock);
  } while (freed < space);
  if (last != memory.entries) {
    freeEntries(eldest, last);
    entry.linkNewerThan(memory.entries);
    endEvicted(place);
    executor.numEntries -= evictedBetween(firstEvent, place);
    memory.evictable -= freed;
    memory.storageMemoryUsed -= freed;
  }
  return freed >= space ? freed : freed + evictCarefully(mode, space - freed, exceptRdd);
}

/**
 * Whether an eviction needs care beyond its walk: the host's handler is to fail, every dropped block stays known, or
 * less is used than the blocks in memory have, because too much was released.
 */
@inline
function isUnusual(memory: ModeMemory): bool {
  return executor.dropsBeforeFailure >= 0 || executor.keepsDropped != 0 || memory.storageMemoryUsed < memory.evictable;
}

/**
 * Evicts blocks when the sums have said that there are enough. The order is mended where it was cut: at entries that
 * stay, and at the end.
 *
 * @returns the bytes freed, or DROP_FAILED when the host's handler fails; then the blocks dropped before stay dropped,
 * and the failing one is the youngest, because dropping begins by reading it
 */
function evictCarefully(mode: i32, space: i64, exceptRdd: usize): i64 {
  const memory = memoryOf(mode);
  let freed: i64 = 0;
  // the youngest entry so far that stays
  let kept = memory.entries;
  let entry = Entry.at(kept.newer);
  while (freed < space) {
    const newer = Entry.at(entry.newer);
    if (entry.readers != 0 && kept == memory.entries) {
      park(memory, entry);
    } else if (entry.readers != 0 || entry.rddRecord == exceptRdd) {
      entry.linkNewerThan(kept);
      kept = entry;
    } else {
      if (executor.dropsBeforeFailure == 0) break;
      if (executor.dropsBeforeFailure > 0) executor.dropsBeforeFailure--;
      freed += entry.size;
      drop(memory, mode, entry);
    }
    entry = newer;
  }
  entry.linkNewerThan(kept);
  if (freed >= space) return freed;
  const block = executor.block(entry.block);
  touch(block, block.word);
  return DROP_FAILED;
}

/** Drops one block from memory; it stays known when its level uses disk. The walk mends the order that it leaves. */
function drop(memory: ModeMemory, mode: i32, entry: Entry): void {
  const block = executor.block(entry.block);
  const size = entry.size;
  addEvictable(memory, mode, entry.rddRecord, -size);
  executor.numEntries--;
  logEvicted(entry.block, mode, size);
  if ((entry.rdd & USE_DISK) != 0 || executor.keepsDropped != 0) {
    block.word &= KNOWN_STILL;
  } else {
    block.word &= UNKNOWN;
    freeEntry(entry);
  }
  releaseStorageMemory(memory, mode, size);
}

/** Makes a locked entry that is the eldest of all the youngest of the parked ones; the walk mends the order it leaves. */
function park(memory: ModeMemory, entry: Entry): void {
  executor.block(entry.block).word |= PARKED;
  entry.linkNewest(memory.parked);
}

/**
 * Brings a parked entry back, and with it the parked ones that are younger: all of them are older than the entries
 * that never left.
 */
export function unpark(memory: ModeMemory, entry: Entry): void {
  const parked = memory.parked;
  const entries = memory.entries;
  const youngest = Entry.at(parked.older);
  // the parked list keeps what is older than `entry`
  parked.linkNewerThan(Entry.at(entry.older));
  // the rest goes before the eldest entry
  const eldest = Entry.at(entries.newer);
  entry.linkNewerThan(entries);
  eldest.linkNewerThan(youngest);
  for (let moved = entry; moved != eldest; moved = Entry.at(moved.newer)) executor.block(moved.block).word &= ~PARKED;
}
