/**
 * What is given back to the storage pool (org.apache.spark.memory.StorageMemoryPool). Acquiring, which may evict, is in
 * unified_memory_manager.ts, because eviction gives back itself.
 */
import { EVENT_STORAGE_OVER_RELEASE, logOverRelease } from "./event_log";
import { memoryOf, ModeMemory, OFF_HEAP, ON_HEAP } from "./layout";

/** Releases storage memory, clamped at 0 (StorageMemoryPool.releaseMemory). A negative size is not refused and adds. */
@inline
export function releaseStorageMemory(memory: ModeMemory, mode: i32, size: i64): void {
  const used = memory.storageMemoryUsed;
  memory.storageMemoryUsed = size > used ? overRelease(mode, size, used) : used - size;
}

/** More is released than is used: a warning, and nothing is used any more. */
export function overRelease(mode: i32, size: i64, used: i64): i64 {
  logOverRelease(EVENT_STORAGE_OVER_RELEASE, mode, size, used);
  return 0;
}

/** Zeroes what storage uses, in both modes (MemoryManager.releaseAllStorageMemory). */
export function releaseAllStorageMemory(): void {
  memoryOf(ON_HEAP).storageMemoryUsed = 0;
  memoryOf(OFF_HEAP).storageMemoryUsed = 0;
}
