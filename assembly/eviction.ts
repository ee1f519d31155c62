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
  BlockInfo, ENTRY, Entry, executor, LOCKED, memoryOf, ModeMemory, PARKED, RddRecord, STORED, UNKNOWN, USE_DISK,
} from "./layout";
import { DROP_FAILED } from "./status";
import { releaseStorageMemory } from "./storage_memory_pool";

/** What a block's word keeps when it is evicted and stays known. */
const KNOWN_STILL: u64 = UNKNOWN | ENTRY;
/** What it keeps when it is put in memory again. */
const BEFORE_PUT: u64 = KNOWN_STILL | LOCKED;

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
 * `flags`: STORED_OFF_HEAP, DESERIALIZED, USE_DISK.
 */
@inline
export function addEntry(memory: ModeMemory, mode: i32, id: u32, size: i64, flags: u64): void {
  const block = executor.block(id);
  let word = block.word & BEFORE_PUT;
  if (!BlockInfo.isKnown(word)) word |= takeEntry(id).address;
  block.word = word | flags | STORED;
  const entry = BlockInfo.entryOf(word);
  entry.size = size;
  entry.linkNewest(memory.entries);
  executor.numEntries++;
  if ((word & LOCKED) == 0) addEvictable(memory, mode, BlockInfo.rddOf(word), size);
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
    const id = <u32>(newerAndBlock >> 32);
    const block = executor.block(id);
    const word = block.word;
    const rdd = BlockInfo.rddOf(word);
    if ((word & (LOCKED | USE_DISK)) != 0 || rdd == exceptRdd) break;
    const size = entry.size;
    freed += size;
    RddRecord.addEvictable(rdd, mode, -size);
    block.word = word & UNKNOWN;
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
    const block = executor.block(entry.block);
    const word = block.word;
    if ((word & LOCKED) != 0 && kept == memory.entries) {
      park(memory, block, entry);
    } else if ((word & LOCKED) != 0 || BlockInfo.rddOf(word) == exceptRdd) {
      entry.linkNewerThan(kept);
      kept = entry;
    } else {
      if (executor.dropsBeforeFailure == 0) break;
      if (executor.dropsBeforeFailure > 0) executor.dropsBeforeFailure--;
      freed += entry.size;
      drop(memory, mode, block, entry);
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
function drop(memory: ModeMemory, mode: i32, block: BlockInfo, entry: Entry): void {
  const word = block.word;
  const size = entry.size;
  addEvictable(memory, mode, BlockInfo.rddOf(word), -size);
  executor.numEntries--;
  logEvicted(entry.block, mode, size);
  if ((word & USE_DISK) != 0 || executor.keepsDropped != 0) {
    block.word = word & KNOWN_STILL;
  } else {
    block.word = word & UNKNOWN;
    freeEntry(entry);
  }
  releaseStorageMemory(memory, mode, size);
}

/** Makes a locked entry that is the eldest of all the youngest of the parked ones; the walk mends the order it leaves. */
function park(memory: ModeMemory, block: BlockInfo, entry: Entry): void {
  block.word |= PARKED;
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
