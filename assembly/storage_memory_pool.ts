/**
 * What is given back to the storage pool (org.apache.spark.memory.StorageMemoryPool). Acquiring, which may evict, is in
 * unified_memory_manager.ts, because eviction gives back itself.
 */
import { logOverRelease } from "./event_log";
import { Executor, ModeMemory } from "./layout";

/** How the pool is named in an over-release event. */
const STORAGE: i32 = 0;

/** Releases storage memory, clamped at 0 (StorageMemoryPool.releaseMemory). A negative size is not refused and adds. */
@inline
export function releaseStorageMemory(executor: Executor, memory: ModeMemory, size: i64): void {
  const used = memory.storageMemoryUsed;
  if (size > used) {
    logOverRelease(STORAGE, memory.mode, size, used, executor.numEntries, executor.numWaiting);
    memory.storageMemoryUsed = 0;
  } else {
    memory.storageMemoryUsed = used - size;
  }
}
