/**
 * The access order of the blocks in memory, and eviction (MemoryStore.entries, evictBlocksToFreeSpace).
 *
 * Spark keeps one access order for both memory modes and walks past entries that it cannot evict. Here each mode has
 * its own order, the bytes that can be evicted are kept as a sum per mode and RDD, so that an eviction that must fail
 * fails at once, and a locked entry that the walk meets at the eldest end is parked, so that no walk meets it again.
 */
import { beginEvicted, endEvicted, evictedBetween, evictedHead, logEvicted, writeEvicted } from "./event_log";
import {
  Block, DECLARED, executor, KNOWN, LOCKED, memoryOf, ModeMemory, PARKED, RddRecord,
  SIZE_SHIFT, STORED, USE_DISK,
} from "./layout";
import { DROP_FAILED } from "./status";
import { releaseStorageMemory } from "./storage_memory_pool";

/** What a block's word keeps when the block is put in memory again. */
const BEFORE_PUT: i64 = DECLARED | LOCKED | KNOWN;
/** An evicted block whose level uses disk stays known: how far its USE_DISK is from KNOWN. */
const USE_DISK_TO_KNOWN: i64 = 1;

/** Makes a block in memory the youngest of its mode. */
@inline
export function touch(block: Block): void {
  const word = block.word;
  block.unlink();
  if ((word & PARKED) != 0) block.word = word & ~PARKED;
  block.linkNewest(memoryOf(Block.modeOf(word)).entries);
}

/** Adds a block's bytes to what eviction can free, or takes them off. */
@inline
export function addEvictable(memory: ModeMemory, mode: i32, block: Block, bytes: i64): void {
  memory.evictable += bytes;
  RddRecord.addEvictable(block.rdd, mode, bytes);
}

/** Puts a block that is not in memory there, as the youngest. `flags`: STORED_OFF_HEAP, DESERIALIZED, USE_DISK. */
@inline
export function addEntry(memory: ModeMemory, mode: i32, block: Block, size: i64, flags: i64): void {
  const word = (block.word & BEFORE_PUT) | (size << SIZE_SHIFT) | flags | STORED | KNOWN;
  block.word = word;
  block.linkNewest(memory.entries);
  executor.numEntries++;
  if ((word & LOCKED) == 0) addEvictable(memory, mode, block, size);
}

/** Takes a block that is not locked out of memory, and it is no longer known. */
export function removeEntry(block: Block): void {
  const word = block.word;
  const size = word >> SIZE_SHIFT;
  const mode = Block.modeOf(word);
  const memory = memoryOf(mode);
  block.unlink();
  addEvictable(memory, mode, block, -size);
  block.word = DECLARED;
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
  const first = beginEvicted();
  let place = first;
  let freed: i64 = 0;
  let block = Block.at(memory.entries.newer);
  do {
    const word = block.word;
    const newerAndRdd = block.newerAndRdd;
    const rdd = <usize>(newerAndRdd >> 32);
    if ((word & LOCKED) != 0 || rdd == exceptRdd) break;
    const size = word >> SIZE_SHIFT;
    freed += size;
    RddRecord.addEvictable(rdd, mode, -size);
    block.word = DECLARED | (word & USE_DISK) << USE_DISK_TO_KNOWN;
    place = writeEvicted(place, head, executor.idOf(block), size);
    block = Block.at(<usize>newerAndRdd);
  } while (freed < space);
  block.linkNewerThan(memory.entries);
  endEvicted(place);
  executor.numEntries -= evictedBetween(first, place);
  memory.evictable -= freed;
  memory.storageMemoryUsed -= freed;
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
  let block = Block.at(kept.newer);
  while (freed < space) {
    const word = block.word;
    const newer = Block.at(block.newer);
    if ((word & LOCKED) != 0 && kept == memory.entries) {
      park(memory, block);
    } else if ((word & LOCKED) != 0 || block.rdd == exceptRdd) {
      block.linkNewerThan(kept);
      kept = block;
    } else {
      if (executor.dropsBeforeFailure == 0) break;
      if (executor.dropsBeforeFailure > 0) executor.dropsBeforeFailure--;
      const size = word >> SIZE_SHIFT;
      freed += size;
      addEvictable(memory, mode, block, -size);
      block.word = DECLARED | (word & USE_DISK) << USE_DISK_TO_KNOWN | (executor.keepsDropped != 0 ? KNOWN : 0);
      executor.numEntries--;
      logEvicted(executor.idOf(block), mode, size);
      releaseStorageMemory(memory, mode, size);
    }
    block = newer;
  }
  block.linkNewerThan(kept);
  if (freed >= space) return freed;
  touch(block);
  return DROP_FAILED;
}

/** Makes a locked entry that is the eldest of all the youngest of the parked ones; the walk mends the order it leaves. */
function park(memory: ModeMemory, block: Block): void {
  block.word |= PARKED;
  block.linkNewest(memory.parked);
}

/**
 * Brings a parked entry back, and with it the parked ones that are younger: all of them are older than the entries
 * that never left.
 */
export function unpark(memory: ModeMemory, block: Block): void {
  const parked = memory.parked;
  const entries = memory.entries;
  const youngest = Block.at(parked.older);
  // the parked list keeps what is older than `block`
  parked.linkNewerThan(Block.at(block.older));
  // the rest goes before the eldest entry
  const eldest = Block.at(entries.newer);
  block.linkNewerThan(entries);
  eldest.linkNewerThan(youngest);
  for (let moved = block; moved != eldest; moved = Block.at(moved.newer)) moved.word &= ~PARKED;
}
