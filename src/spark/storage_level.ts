/**
 * Spark's storage levels (org.apache.spark.storage.StorageLevel).
 *
 * @module
 */
import { InputError } from "../errors.ts";

/** How a cached partition is kept: the five fields that Spark writes to event logs. */
export interface StorageLevel {
  /** Written to disk where it is not, or no longer, in memory. */
  readonly useDisk: boolean;
  /** Kept in memory. */
  readonly useMemory: boolean;
  /** In off-heap memory. */
  readonly useOffHeap: boolean;
  /** Objects rather than serialized bytes. */
  readonly deserialized: boolean;
  /** Number of executors that hold a copy; at least 1. */
  readonly replication: number;
}

function level(
  useDisk: boolean,
  useMemory: boolean,
  useOffHeap: boolean,
  deserialized: boolean,
  replication = 1,
): StorageLevel {
  return Object.freeze({
    useDisk,
    useMemory,
    useOffHeap,
    deserialized,
    replication,
  });
}

/** The named constants of org.apache.spark.storage.StorageLevel, Spark 2.4.0 (DISK_ONLY_3: 3.1). */
export const STORAGE_LEVELS: Readonly<Record<string, StorageLevel>> = Object
  .freeze({
    NONE: level(false, false, false, false),
    DISK_ONLY: level(true, false, false, false),
    DISK_ONLY_2: level(true, false, false, false, 2),
    DISK_ONLY_3: level(true, false, false, false, 3),
    MEMORY_ONLY: level(false, true, false, true),
    MEMORY_ONLY_2: level(false, true, false, true, 2),
    MEMORY_ONLY_SER: level(false, true, false, false),
    MEMORY_ONLY_SER_2: level(false, true, false, false, 2),
    MEMORY_AND_DISK: level(true, true, false, true),
    MEMORY_AND_DISK_2: level(true, true, false, true, 2),
    MEMORY_AND_DISK_SER: level(true, true, false, false),
    MEMORY_AND_DISK_SER_2: level(true, true, false, false, 2),
    OFF_HEAP: level(true, true, true, false),
  });

/**
 * The level with Spark's name.
 *
 * @throws {InputError} `storage_level.unknown` when Spark has no such constant.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseStorageLevel } from "./storage_level.ts";
 *
 * assertEquals(parseStorageLevel("OFF_HEAP").useOffHeap, true);
 * ```
 */
export function parseStorageLevel(name: string): StorageLevel {
  const found = Object.hasOwn(STORAGE_LEVELS, name) ? STORAGE_LEVELS[name] : undefined;
  if (found === undefined) {
    throw new InputError(
      "storage_level.unknown",
      `Cannot use storage level ${name}: must be one of ${Object.keys(STORAGE_LEVELS).join(", ")}`,
      { parameters: { name } },
    );
  }
  return found;
}

/**
 * Spark's name for a level, or its five fields in words when it is none of the constants.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { STORAGE_LEVELS, storageLevelName } from "./storage_level.ts";
 *
 * assertEquals(storageLevelName(STORAGE_LEVELS.MEMORY_AND_DISK_SER), "MEMORY_AND_DISK_SER");
 * ```
 */
export function storageLevelName(storageLevel: StorageLevel): string {
  for (const [name, constant] of Object.entries(STORAGE_LEVELS)) {
    if (
      constant.useDisk === storageLevel.useDisk &&
      constant.useMemory === storageLevel.useMemory &&
      constant.useOffHeap === storageLevel.useOffHeap &&
      constant.deserialized === storageLevel.deserialized &&
      constant.replication === storageLevel.replication
    ) return name;
  }
  const { useDisk, useMemory, useOffHeap, deserialized, replication } = storageLevel;
  return `StorageLevel(disk=${useDisk}, memory=${useMemory}, offHeap=${useOffHeap}, ` +
    `deserialized=${deserialized}, ${replication} replicas)`;
}
