/**
 * The access order of the blocks in memory, and eviction (MemoryStore.entries, evictBlocksToFreeSpace).
 *
 * Spark keeps one access order for both memory modes and walks past entries that it cannot evict. Here each mode has
 * its own order, the bytes that can be evicted are kept as a sum per mode and RDD, so that an eviction that must fail
 * fails at once, and a locked entry that the walk meets at the eldest end is parked, so that no walk meets it again.
 */
import {
  DECLARED, DESERIALIZED, Executor, KNOWN, LOCKED, MemoryEntry, ModeMemory, OF_RDD, PARKED, RddRecord, SIZE_SHIFT, STORED,
  USE_DISK,
} from "./layout";
import { logEvicted } from "./event_log";
import { releaseStorageMemory } from "./storage_memory_pool";
import { DROP_FAILED } from "./status";

/** What stays of an entry's word when the block leaves memory and memory only. */
const NOT_IN_MEMORY: i64 = DECLARED | OF_RDD | LOCKED | KNOWN;

/** Makes the block the youngest of its mode. */
@inline
export function touch(executor: Executor, entry: MemoryEntry): void {
  entry.unlink();
  if (entry.has(PARKED)) entry.word &= ~PARKED;
  entry.linkNewest(executor.memory(entry.mode).entries);
}

/** Adds the entry's bytes to what eviction can free, or takes them off. */
@inline
export function addEvictable(executor: Executor, memory: ModeMemory, entry: MemoryEntry, bytes: i64): void {
  memory.evictable += bytes;
  if (entry.has(OF_RDD)) RddRecord.addEvictable(executor.infoOf(entry).rdd, memory.mode, bytes);
}

/** Puts a block that is not in memory there, as the youngest. `flags`: STORED_OFF_HEAP, DESERIALIZED, USE_DISK. */
@inline
export function addEntry(executor: Executor, memory: ModeMemory, entry: MemoryEntry, size: i64, flags: i64): void {
  const word = (entry.word & NOT_IN_MEMORY) | (size << SIZE_SHIFT) | flags | STORED | KNOWN;
  entry.word = word;
  entry.linkNewest(memory.entries);
  executor.numEntries++;
  if ((word & LOCKED) == 0) addEvictable(executor, memory, entry, size);
}

/** Takes a block out of memory and releases its storage memory; whether it stays known is up to the caller. */
@inline
export function removeEntry(executor: Executor, memory: ModeMemory, entry: MemoryEntry): void {
  const size = entry.size;
  entry.unlink();
  if (!entry.has(LOCKED)) addEvictable(executor, memory, entry, -size);
  entry.word &= NOT_IN_MEMORY;
  releaseStorageMemory(executor, memory, size);
  executor.numEntries--;
}

/**
 * Evicts blocks, eldest first, until `space` bytes are freed; locked blocks and those of the RDD `exceptRdd` (0: none)
 * are passed over. Evicts nothing when that does not give enough.
 *
 * The sums say in advance that the walk will succeed, so victims are dropped as they are met.
 *
 * @returns the bytes freed, at least `space`, or 0, or DROP_FAILED when the host's handler fails; then the blocks
 * dropped before stay dropped, and the failing one is the youngest, because dropping begins by reading it.
 */
export function evictBlocksToFreeSpace(executor: Executor, memory: ModeMemory, space: i64, exceptRdd: usize): i64 {
  let evictable = memory.evictable;
  if (exceptRdd != 0) evictable -= RddRecord.evictable(exceptRdd, memory.mode);
  if (space > evictable) return 0;
  const end = memory.entries;
  let freed: i64 = 0;
  let entry = MemoryEntry.at(end.newer);
  while (freed < space) {
    const newer = MemoryEntry.at(entry.newer);
    if (entry.has(LOCKED)) {
      if (entry.older == changetype<usize>(end)) park(memory, entry);
    } else if (exceptRdd == 0 || !entry.has(OF_RDD) || executor.infoOf(entry).rdd != exceptRdd) {
      if (executor.dropsBeforeFailure >= 0 && executor.dropsBeforeFailure-- == 0) {
        executor.dropsBeforeFailure = 0;
        touch(executor, entry);
        return DROP_FAILED;
      }
      freed += entry.size;
      drop(executor, memory, entry);
    }
    entry = newer;
  }
  return freed;
}

@inline
function drop(executor: Executor, memory: ModeMemory, entry: MemoryEntry): void {
  const size = entry.size;
  const stays = executor.keepsDropped != 0 || entry.has(USE_DISK);
  removeEntry(executor, memory, entry);
  if (!stays) entry.word &= ~KNOWN;
  logEvicted(executor.blockOf(entry), memory.mode, size);
}

/** Moves a locked entry that is the eldest of all to the parked ones, of which it is the youngest. */
function park(memory: ModeMemory, entry: MemoryEntry): void {
  entry.unlink();
  entry.word |= PARKED;
  entry.linkNewest(memory.parked);
}

/**
 * Brings a parked entry back, and with it the parked ones that are younger: all of them are older than the entries
 * that never left.
 */
export function unpark(memory: ModeMemory, entry: MemoryEntry): void {
  const parked = memory.parked;
  const entries = memory.entries;
  const youngest = MemoryEntry.at(parked.older);
  // the parked list keeps what is older than `entry`
  const kept = entry.older;
  MemoryEntry.at(kept).newer = changetype<usize>(parked);
  parked.older = kept;
  // the rest goes before the eldest entry
  const eldest = MemoryEntry.at(entries.newer);
  entries.newer = changetype<usize>(entry);
  entry.older = changetype<usize>(entries);
  youngest.newer = changetype<usize>(eldest);
  eldest.older = changetype<usize>(youngest);
  for (let moved = entry; moved != eldest; moved = MemoryEntry.at(moved.newer)) moved.word &= ~PARKED;
}
