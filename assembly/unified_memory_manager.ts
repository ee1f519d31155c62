/**
 * The border between storage and execution memory (org.apache.spark.memory.UnifiedMemoryManager, with the acquiring
 * half of StorageMemoryPool). Rules are those of 2.4.0; what other versions do differently hangs on a rule bit.
 */
import { evict, evictBlocksToFreeSpace } from "./eviction";
import {
  executor, MAX_BYTES, memoryOf, ModeMemory, OFF_HEAP, RULE_BORROWS_WHOLE_REQUEST, RULE_EVICTED_BYTES_STAY_IN_STORAGE,
  RULE_NO_OFF_HEAP_STORAGE, RULE_UNMANAGED_MEMORY,
} from "./layout";
import { ASSERTION_FAILED, REQUIREMENT_FAILED } from "./status";

/** The most that storage can ever have beside what execution uses now (maxOnHeapStorageMemory, maxOffHeapStorageMemory). */
@inline
function maxStorageMemory(memory: ModeMemory): i64 {
  const limit = memory.maxMemory - memory.executionMemoryUsed;
  if (!executor.follows(RULE_UNMANAGED_MEMORY)) return limit;
  return max(<i64>0, limit - memory.unmanagedMemory);
}

/** The most that execution can have (computeMaxExecutionPoolSize): all but the storage that is used inside its region. */
@inline
export function maxExecutionPoolSize(memory: ModeMemory): i64 {
  const limit = memory.maxMemory - min(memory.storageMemoryUsed, memory.storageRegionSize);
  if (!executor.follows(RULE_UNMANAGED_MEMORY)) return limit;
  return max(<i64>0, limit - memory.unmanagedMemory);
}

/**
 * Storage memory for a block, or for unrolling one: borrows free execution memory, then evicts
 * (UnifiedMemoryManager.acquireStorageMemory, StorageMemoryPool.acquireMemory).
 *
 * What was borrowed stays with storage also when the request then fails.
 *
 * @param exceptRdd address of the RddRecord of the block for which memory is acquired, 0 when it is of no RDD
 * @returns 1 granted, 0 refused, or a status
 */
export function acquireStorageMemory(mode: i32, numBytes: i64, exceptRdd: usize): i64 {
  return acquireStorage(memoryOf(mode), mode, numBytes, exceptRdd);
}

/** The same, for a place that is worth its own copy. */
@inline
export function acquireStorage(memory: ModeMemory, mode: i32, numBytes: i64, exceptRdd: usize): i64 {
  // no memory is larger than MAX_BYTES
  if (<u64>numBytes > <u64>MAX_BYTES) return numBytes < 0 ? ASSERTION_FAILED : 0;
  if (numBytes > maxStorageMemory(memory)) return 0;
  if (mode == OFF_HEAP && executor.follows(RULE_NO_OFF_HEAP_STORAGE)) return 0;
  const storage = memory.storage;
  let free = storage.memoryFree;
  if (numBytes > free) {
    const execution = memory.execution;
    const lacking = executor.follows(RULE_BORROWS_WHOLE_REQUEST) ? numBytes : numBytes - free;
    const borrowed = min(execution.memoryFree, lacking);
    // of what decrementPoolSize requires, only this can be amiss: more is used than the pool has
    if (borrowed < 0) return REQUIREMENT_FAILED;
    execution.moveTo(storage, borrowed);
    free += borrowed;
    if (free < 0) return ASSERTION_FAILED;
    if (numBytes > free) {
      const freed = evict(memory, mode, numBytes - free, exceptRdd);
      if (freed < 0) return freed;
      if (numBytes > storage.memoryFree) return 0;
    }
  }
  storage.memoryUsed += numBytes;
  return 1;
}

/**
 * Lets the execution pool grow by what a request lacks: by free storage memory, and by evicting storage above its
 * region (maybeGrowExecutionPool). Whole blocks are evicted, so that more than is lacking can move.
 *
 * @returns 0 or a status
 */
@inline
export function maybeGrowExecutionPool(memory: ModeMemory, mode: i32, extraMemoryNeeded: i64): i64 {
  if (extraMemoryNeeded <= 0) return 0;
  const storage = memory.storage;
  const reclaimable = max(storage.memoryFree, storage.poolSize - memory.storageRegionSize);
  if (reclaimable <= 0) return 0;
  // StorageMemoryPool.freeSpaceToShrinkPool
  const space = min(extraMemoryNeeded, reclaimable);
  let reclaimed = min(space, storage.memoryFree);
  if (space > reclaimed) {
    const evicted = evictBlocksToFreeSpace(mode, space - reclaimed, 0);
    if (evicted < 0) return evicted;
    if (!executor.follows(RULE_EVICTED_BYTES_STAY_IN_STORAGE)) reclaimed += evicted;
    if (!storage.canShrinkBy(reclaimed)) return REQUIREMENT_FAILED;
  }
  storage.moveTo(memory.execution, reclaimed);
  return 0;
}
