/**
 * The arithmetic of a step, for its explanation: what UnifiedMemoryManager and ExecutionMemoryPool (Spark 2.4.0)
 * compute on the way to their answer. The answer itself always comes from the kernel; tests compare the two.
 *
 * @module
 */
import type { LabBlock, LabPools } from "./state.ts";

/** Who goes when space is made, and who is passed over and why. */
export interface EvictionPlan {
  readonly space: number;
  readonly victims: readonly LabBlock[];
  readonly freed: number;
  /** False: the candidates do not suffice, nobody goes. */
  readonly suffices: boolean;
  /** What all candidates together would have freed, when they do not suffice. */
  readonly available: number;
  readonly pinned: readonly LabBlock[];
  readonly sameRdd: readonly LabBlock[];
}

/** MemoryStore.evictBlocksToFreeSpace: eldest first, not locked, not of the stored block's own RDD. */
export function planEviction(
  blocks: readonly LabBlock[],
  space: number,
  forRdd: number | null,
): EvictionPlan {
  const victims: LabBlock[] = [];
  const pinned: LabBlock[] = [];
  const sameRdd: LabBlock[] = [];
  let freed = 0;
  for (const block of blocks) {
    if (freed >= space) break;
    if (forRdd !== null && block.rddId === forRdd) sameRdd.push(block);
    else if (block.readers > 0) pinned.push(block);
    else {
      victims.push(block);
      freed += block.size;
    }
  }
  const suffices = freed >= space;
  return {
    space,
    victims: suffices ? victims : [],
    freed: suffices ? freed : 0,
    suffices,
    available: freed,
    pinned,
    sameRdd,
  };
}

/** One evaluation of a request for execution memory. */
export interface ExecutionPlan {
  readonly free: number;
  readonly missing: number;
  readonly reclaimable: number;
  readonly fromFreeStorage: number;
  readonly eviction: EvictionPlan | null;
  /** The execution pool after it has grown. */
  readonly poolSize: number;
  readonly maxPoolSize: number;
  readonly activeTasks: number;
  readonly held: number;
  readonly maxShare: number;
  readonly minShare: number;
  readonly grant: number;
  readonly waits: boolean;
}

/** UnifiedMemoryManager.acquireExecutionMemory and ExecutionMemoryPool.acquireMemory, once around the loop. */
export function planExecution(
  pools: LabPools,
  taskId: number,
  numBytes: number,
): ExecutionPlan {
  const active = new Set(
    pools.tasks.filter((task) => task.isActive).map(({ id }) => id),
  );
  active.add(taskId);
  const held = pools.tasks.find(({ id }) => id === taskId)?.executionBytes ?? 0;
  const free = pools.executionPoolSize - pools.executionMemoryUsed;
  const storageFree = pools.storagePoolSize - pools.storageMemoryUsed;
  const missing = Math.max(0, numBytes - free);
  const reclaimable = Math.max(
    storageFree,
    pools.storagePoolSize - pools.region,
  );
  const wanted = missing > 0 && reclaimable > 0 ? Math.min(missing, reclaimable) : 0;
  const fromFreeStorage = Math.min(storageFree, wanted);
  const toEvict = wanted - fromFreeStorage;
  const eviction = toEvict > 0 ? planEviction(pools.blocks, toEvict, null) : null;
  const evicted = eviction?.freed ?? 0;
  const poolSize = pools.executionPoolSize + fromFreeStorage + evicted;
  const storageUsed = pools.storageMemoryUsed - evicted;
  const maxPoolSize = pools.max - Math.min(storageUsed, pools.region);
  const maxShare = Math.floor(maxPoolSize / active.size);
  const minShare = Math.floor(poolSize / (2 * active.size));
  const grant = Math.min(
    numBytes,
    Math.max(0, maxShare - held),
    poolSize - pools.executionMemoryUsed,
  );
  return {
    free,
    missing,
    reclaimable,
    fromFreeStorage,
    eviction,
    poolSize,
    maxPoolSize,
    activeTasks: active.size,
    held,
    maxShare,
    minShare,
    grant,
    waits: grant < numBytes && held + grant < minShare,
  };
}

/** A request for storage or unroll memory. */
export interface StoragePlan {
  /** The most that storage can have: all that execution does not use. */
  readonly limit: number;
  readonly free: number;
  readonly borrowed: number;
  readonly eviction: EvictionPlan | null;
  readonly granted: boolean;
  readonly refusedAtOnce: boolean;
}

/** UnifiedMemoryManager.acquireStorageMemory and StorageMemoryPool.acquireMemory. */
export function planStorage(
  pools: LabPools,
  forRdd: number | null,
  numBytes: number,
): StoragePlan {
  const limit = pools.max - pools.executionMemoryUsed;
  const free = pools.storagePoolSize - pools.storageMemoryUsed;
  if (numBytes > limit) {
    const nothing = { borrowed: 0, eviction: null, granted: false };
    return { limit, free, ...nothing, refusedAtOnce: true };
  }
  const executionFree = pools.executionPoolSize - pools.executionMemoryUsed;
  const borrowed = numBytes > free ? Math.min(executionFree, numBytes - free) : 0;
  const toEvict = Math.max(0, numBytes - free - borrowed);
  const eviction = toEvict > 0 ? planEviction(pools.blocks, toEvict, forRdd) : null;
  const granted = numBytes <= free + borrowed + (eviction?.freed ?? 0);
  return { limit, free, borrowed, eviction, granted, refusedAtOnce: false };
}
