/**
 * Messages of cached blocks: stored, refused, unrolled, evicted.
 *
 * @module
 */
import { BYTE_UNITS } from "../../spark/sizes.ts";
import {
  BLOCK,
  BYTES,
  inUnitOf,
  kind,
  mebibytes,
  type MessageKind,
  type MessageValues,
  printed,
  re,
  type Reading,
  SIZE,
} from "./message_kind.ts";
import { blockValues, CACHE_SETTINGS } from "./block_values.ts";

const FIT_THE_CACHE = [
  "More memory for the executor, or fewer cores to it, so that fewer partitions are cached and computed at once",
  "MEMORY_AND_DISK instead of MEMORY_ONLY: what does not fit is read back from disk instead of computed again",
  "A serialized level (MEMORY_ONLY_SER, with Kryo): two to five times smaller, and slower to read",
  "More, smaller partitions (repartition), so that one fits",
];

function numberOf(values: MessageValues | null, name: string): number | null {
  const value = values?.[name];
  return typeof value === "number" ? value : null;
}

/** "Not enough space to cache": the step of unrolling that failed. */
function unrollStopped(block: string, computed: string): Reading {
  const size = printed(computed);
  const needed = size.bytes * 1.5;
  return {
    values: { ...blockValues(block), computedBytes: size.bytes, neededBytes: Math.round(needed) },
    arithmetic: [
      `unrolling goes on with 1.5 times what is there: ${computed} x 1.5 = ${inUnitOf(needed, computed)} were needed ` +
      `for the next step`,
    ],
  };
}

/** "Memory use = blocks + scratch": what was free, and what the refused step asked for. */
function memoryUse(
  [, blocks, scratch, tasks, total, limit]: readonly string[],
  refused: MessageValues | null,
): Reading {
  const used = printed(blocks).bytes + printed(scratch).bytes;
  const free = Math.max(0, printed(limit).bytes - used);
  const arithmetic = [
    `${blocks} of blocks + ${scratch} held for unrolling by ${tasks} task(s) = ${total}`,
    `${limit} - ${total} = ${inUnitOf(free, limit)} free`,
  ];
  const values: Record<string, number | string | null> = {
    blocksBytes: printed(blocks).bytes,
    unrollBytes: printed(scratch).bytes,
    unrollingTasks: Number(tasks),
    storageLimitBytes: printed(limit).bytes,
    freeBytes: Math.round(free),
    perTaskUnrollBytes: Number(tasks) > 0 ? Math.round(printed(scratch).bytes / Number(tasks)) : null,
  };
  if (Number(tasks) > 1) {
    arithmetic.push(`${scratch} / ${tasks} tasks = ${inUnitOf(printed(scratch).bytes / Number(tasks), scratch)} each`);
  }
  const computed = numberOf(refused, "computedBytes");
  if (computed !== null && Number(tasks) === 1) {
    const next = computed * 1.5 - printed(scratch).bytes;
    values.nextRequestBytes = Math.round(next);
    arithmetic.push(
      `the next request was ${inUnitOf(computed, limit)} x 1.5 - ${scratch} held = ${inUnitOf(next, limit)}, ` +
        `more than what was free`,
    );
  }
  return {
    values,
    arithmetic,
    meaning:
      "The storage limit is the executor's unified memory less what execution uses at that moment, so it changes.",
  };
}

function requiredSpace([, block, required, limit]: readonly string[]): Reading {
  const threshold = Number(required) === BYTE_UNITS.MiB;
  return {
    values: { ...blockValues(block), requiredBytes: Number(required), limitBytes: Number(limit) },
    arithmetic: [
      `${required} bytes (${mebibytes(Number(required))}) > ${limit} bytes (${mebibytes(Number(limit))}): ` +
      `refused at once, nothing is evicted for it`,
    ],
    meaning: threshold
      ? "The required 1048576 bytes are the first reservation of unrolling (spark.storage.unrollMemoryThreshold), not " +
        "the block's size: execution has taken nearly all of the memory."
      : "Even an empty store would be too small for this block as long as execution holds what it holds.",
  };
}

/** The kinds of messages about storing and evicting blocks. */
export const STORAGE_MESSAGES: readonly MessageKind[] = [
  kind({
    code: "storage.stored",
    title: "a block was stored in memory",
    severity: "information",
    printedBy: "MemoryStore",
    anchor: "in memory (estimated size",
    pattern: re`Block ${BLOCK} stored as (bytes|values) in memory \(estimated size ${SIZE}, free ${SIZE}\)`,
    meaning:
      "'values' are objects with an estimated size, 'bytes' are serialized. 'free' is the unified memory less all blocks; " +
      "memory that execution uses is not taken off, so it can be less in truth.",
    settings: CACHE_SETTINGS,
    read: ([, block, form, size, free]) => ({
      values: { ...blockValues(block), form, sizeBytes: printed(size).bytes, freeBytes: printed(free).bytes },
    }),
  }),
  kind({
    code: "storage.requiredSpace",
    title: "a block cannot fit the memory that execution has left",
    severity: "slow",
    printedBy: "UnifiedMemoryManager",
    since: "1.6",
    anchor: "exceeds our memory limit",
    pattern:
      re`Will not store ${BLOCK} as the required space \(${BYTES} bytes\) exceeds our memory limit \(${BYTES} bytes\)`,
    meaning:
      "A block is refused at once when it is larger than the unified memory less what execution uses. From 4.1 on " +
      "unmanaged memory is taken off, too, and named behind it.",
    settings: CACHE_SETTINGS,
    remedies: FIT_THE_CACHE,
    read: requiredSpace,
  }),
  kind({
    code: "storage.initialReservation",
    title: "not even the first reservation for a block was granted",
    severity: "slow",
    printedBy: "MemoryStore",
    anchor: "Failed to reserve initial memory threshold",
    pattern: re`Failed to reserve initial memory threshold of ${SIZE} for computing block ${BLOCK} in memory`,
    meaning:
      "A partition that is cached value by value first reserves spark.storage.unrollMemoryThreshold (1 MiB). When " +
      "execution and blocks that cannot be evicted leave less, the partition is not cached; the task goes on.",
    settings: ["spark.storage.unrollMemoryThreshold", ...CACHE_SETTINGS],
    remedies: FIT_THE_CACHE,
    read: ([, threshold, block]) => ({
      values: { ...blockValues(block), thresholdBytes: printed(threshold).bytes, reservation: "refused" },
      arithmetic: [`less than ${threshold} could be had by borrowing and by evicting blocks of other RDDs`],
    }),
  }),
  kind({
    code: "storage.notEnoughSpace",
    title: "a partition did not fit the memory and is not cached",
    severity: "slow",
    printedBy: "MemoryStore",
    anchor: "Not enough space to cache",
    pattern: re`Not enough space to cache ${BLOCK} in memory! \(computed ${SIZE} so far\)`,
    meaning:
      "A partition is unrolled value by value; every 16 values, when it has outgrown its reservation, half as much " +
      "again is reserved. That was refused: blocks of the same RDD and blocks in use are not evicted for it. The task goes on " +
      "with what it has; MEMORY_ONLY partitions are computed again by every job that reads them. 384.0 B is the size of an empty " +
      "vector: nothing had been read when it stopped.",
    settings: CACHE_SETTINGS,
    remedies: FIT_THE_CACHE,
    read: ([, block, computed]) => unrollStopped(block, computed),
  }),
  kind({
    code: "storage.memoryUse",
    title: "how full the memory was when a partition did not fit",
    severity: "slow",
    printedBy: "MemoryStore",
    anchor: "(scratch space shared across",
    pattern:
      re`Memory use = ${SIZE} \(blocks\) \+ ${SIZE} \(scratch space shared across (\d+) (?:tasks|thread)\(s\)\) = ${SIZE}\. Storage limit = ${SIZE}`,
    meaning: "Blocks that are cached and reservations of partitions being unrolled share the storage limit.",
    settings: CACHE_SETTINGS,
    remedies: FIT_THE_CACHE,
    read: (groups, { earlier }) => memoryUse(groups, earlier("storage.notEnoughSpace")),
  }),
  kind({
    code: "storage.toDiskInstead",
    title: "a block that did not fit memory goes to disk",
    severity: "slow",
    printedBy: "BlockManager",
    anchor: "to disk instead.",
    pattern: re`Persisting block ${BLOCK} to disk instead`,
    meaning: "The storage level allows the disk, so the partition is not computed again but read back.",
    settings: CACHE_SETTINGS,
    remedies: FIT_THE_CACHE.slice(0, 1),
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.selectedForDropping",
    title: "blocks are evicted to make room",
    severity: "slow",
    printedBy: "MemoryStore",
    anchor: "selected for dropping",
    pattern: re`(\d+) blocks? selected for dropping \(${SIZE}`,
    meaning:
      "The least recently used blocks of other RDDs go until enough is free, for another block or for execution above " +
      "the storage region. Whole blocks go, so more can be freed than was asked for.",
    settings: CACHE_SETTINGS,
    remedies: [
      "A larger storage region (spark.memory.storageFraction) protects more of the cache from execution",
      ...FIT_THE_CACHE,
    ],
    read: ([, count, size]) => ({
      values: { blocks: Number(count), freedBytes: printed(size).bytes },
      arithmetic: Number(count) > 0
        ? [`${size} / ${count} block(s) = ${inUnitOf(printed(size).bytes / Number(count), size)} a block`]
        : [],
    }),
  }),
  kind({
    code: "storage.afterDropping",
    title: "how much is free after an eviction",
    severity: "information",
    printedBy: "MemoryStore",
    anchor: "After dropping",
    pattern: re`After dropping (\d+) blocks?, free memory is ?${SIZE}`,
    meaning: "Free is the unified memory less the blocks left; execution's use is not taken off.",
    settings: CACHE_SETTINGS,
    read: ([, count, size]) => ({ values: { blocks: Number(count), freeBytes: printed(size).bytes } }),
  }),
  kind({
    code: "storage.dropping",
    title: "one block is evicted",
    severity: "slow",
    printedBy: "BlockManager",
    anchor: "Dropping block",
    pattern: re`Dropping block ${BLOCK} from memory`,
    meaning:
      "With a level that uses the disk it is written there first ('Writing block … to disk'); otherwise it is gone and " +
      "computed again when it is read. taskresult_ and broadcast_ blocks share the memory and can go, too.",
    settings: CACHE_SETTINGS,
    remedies: FIT_THE_CACHE,
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.writingToDisk",
    title: "an evicted block is written to disk",
    severity: "slow",
    printedBy: "BlockManager",
    anchor: "Writing block",
    pattern: re`Writing block ${BLOCK} to disk`,
    meaning:
      "The block's level allows the disk. Reading it later costs a read and, for MEMORY_AND_DISK, deserializing it.",
    settings: CACHE_SETTINGS,
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.putFailed",
    title: "a block could not be stored",
    severity: "slow",
    printedBy: "BlockManager",
    anchor: "Putting block",
    pattern: re`Putting block ${BLOCK} failed(?: due to exception (.{0,300}))?`,
    meaning:
      "Without an exception it did not fit, and the lines before it say why. With one, the computation of the partition " +
      "failed, and that is the cause to look at.",
    settings: CACHE_SETTINGS,
    remedies: FIT_THE_CACHE,
    read: ([, block, exception]) => ({ values: { ...blockValues(block), exception: exception ?? null } }),
  }),
];
