/**
 * Messages of cached blocks: stored, refused, unrolled, evicted, written to disk, lost.
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

const CACHE_SETTINGS = [
  "spark.executor.memory",
  "spark.memory.fraction",
  "spark.memory.storageFraction",
  "spark.memory.offHeap.size",
];

const FIT_THE_CACHE = [
  "More memory for the executor, or fewer cores to it, so that fewer partitions are cached and computed at once",
  "MEMORY_AND_DISK instead of MEMORY_ONLY: what does not fit is read back from disk instead of computed again",
  "A serialized level (MEMORY_ONLY_SER, with Kryo): two to five times smaller, and slower to read",
  "More, smaller partitions (repartition), so that one fits",
];

/** What a block's name says: rdd_7_3 is partition 3 of RDD 7. */
function blockValues(block: string): MessageValues {
  const rdd = /^rdd_(\d+)_(\d+)$/.exec(block);
  return rdd === null ? { block } : { block, rddId: Number(rdd[1]), partition: Number(rdd[2]) };
}

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

/** The kinds of messages about blocks. */
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
    code: "storage.dropMissing",
    title: "a block to be evicted was gone already",
    severity: "harmless",
    printedBy: "BlockManager",
    anchor: "could not be dropped from memory as it does not exist",
    pattern: re`Block ${BLOCK} could not be dropped from memory as it does not exist`,
    meaning: "Somebody else removed it at the same time (unpersist, or another eviction).",
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.removeMissing",
    title: "a block to be removed was stored nowhere",
    severity: "harmless",
    printedBy: "BlockManager",
    anchor: "could not be removed as it was not found on disk or in memory",
    pattern: re`Block ${BLOCK} could not be removed as it was not found on disk or in memory`,
    meaning: "Its computation failed or it did not fit, so there is nothing to remove; the cause stands before it.",
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.droppedDebug",
    title: "a block left memory",
    severity: "information",
    printedBy: "MemoryStore",
    anchor: "dropped from memory (free",
    pattern: re`Block ${BLOCK} of size ${BYTES} dropped from memory \(free ${BYTES}\)`,
    meaning: "Its bytes are free again; 'free' is the unified memory less the blocks left, in bytes.",
    read: ([, block, size, free]) => ({
      values: { ...blockValues(block), sizeBytes: Number(size), freeBytes: Number(free) },
    }),
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
  kind({
    code: "storage.found",
    title: "a cached block was read",
    severity: "information",
    printedBy: "BlockManager",
    anchor: "Found block",
    pattern: re`Found block ${BLOCK} (locally|remotely)`,
    meaning: "A cache hit: the partition is not computed. 'remotely' costs a transfer.",
    read: ([, block, where]) => ({ values: { ...blockValues(block), where } }),
  }),
  kind({
    code: "storage.added",
    title: "the driver hears of a block in an executor's memory",
    severity: "information",
    printedBy: "BlockManagerMasterEndpoint",
    anchor: " in memory",
    pattern:
      re`(Added|Removed|Updated) ${BLOCK} (?:in memory on (\S+)|on (\S+) in memory) \((?:current )?size: ${SIZE}`,
    meaning:
      "A taskresult_ block is a result that was too large to travel in a status update; the driver fetches and removes it.",
    settings: ["spark.task.maxDirectResultSize"],
    read: ([, what, block, on, from, size], { conf }) => addedBlock(what, block, on ?? from, size, conf),
  }),
  kind({
    code: "storage.addedOnDisk",
    title: "the driver hears of a block on an executor's disk",
    severity: "information",
    printedBy: "BlockManagerMasterEndpoint",
    anchor: "on disk",
    pattern: re`(Added|Removed|Updated) ${BLOCK} (?:on disk on (\S+)|on (\S+) on disk) \((?:current )?size: ${SIZE}`,
    meaning: "The block did not fit memory, was evicted to disk, or its level is DISK_ONLY.",
    settings: CACHE_SETTINGS,
    read: ([, what, block, on, from, size]) => ({
      values: { ...blockValues(block), what: what.toLowerCase(), executor: on ?? from, sizeBytes: printed(size).bytes },
    }),
  }),
  kind({
    code: "storage.readingBroadcast",
    title: "an executor fetches a broadcast",
    severity: "information",
    printedBy: "TorrentBroadcast",
    anchor: "Started reading broadcast variable",
    pattern: re`Started reading broadcast variable (\d+)(?: with (\d+) pieces \(estimated total size ${SIZE}\))?`,
    meaning:
      "Once an executor; its pieces and its value are blocks in the storage memory, where they share the room with cached RDDs.",
    settings: ["spark.broadcast.blockSize"],
    read: ([, id, pieces, size]) => ({
      values: {
        broadcastId: Number(id),
        pieces: pieces === undefined ? null : Number(pieces),
        totalBytes: size === undefined ? null : printed(size).bytes,
      },
    }),
  }),
  kind({
    code: "storage.noReplicas",
    title: "the last copy of a cached block is lost",
    severity: "slow",
    printedBy: "BlockManagerMasterEndpoint",
    anchor: "No more replicas available for",
    pattern: re`No more replicas available for ${BLOCK}`,
    meaning:
      "An executor with cached partitions has gone (killed, idle, or out of memory). They are computed again when needed.",
    settings: [
      "spark.dynamicAllocation.cachedExecutorIdleTimeout",
      "spark.storage.replication.proactive",
      "spark.executor.memoryOverhead",
    ],
    remedies: [
      "Find out why the executor went: its exit code or the cluster manager's message comes just before",
      "With dynamic allocation, raise spark.dynamicAllocation.cachedExecutorIdleTimeout",
    ],
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.underReplicated",
    title: "a block has fewer copies than its level asks for",
    severity: "slow",
    printedBy: "BlockManager",
    anchor: "replicated to only",
    pattern: re`Block ${BLOCK} replicated to only (\d+) peer\(s\) instead of (\d+) peers`,
    meaning: "There are fewer other executors than the level asks for, or they had no room.",
    settings: ["spark.executor.instances"],
    remedies: ["Use a level without _2, or more executors"],
    read: ([, block, got, wanted]) => ({
      values: { ...blockValues(block), peers: Number(got), wanted: Number(wanted) },
    }),
  }),
  kind({
    code: "storage.exists",
    title: "a block is there already",
    severity: "harmless",
    printedBy: "BlockManager",
    anchor: "already exists on this machine; not re-adding it",
    pattern: re`Block ${BLOCK} already exists on this machine; not re-adding it`,
    meaning: "Two tasks computed the same partition, for example after a retry; the first copy is kept.",
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.locks",
    title: "a task left blocks locked",
    severity: "harmless",
    printedBy: "Executor",
    since: "2.0",
    anchor: "block locks were not released",
    pattern: /(\d+) block locks? were not released by/,
    meaning:
      "The task did not read a cached partition to its end (limit, take, zip). The locks are released now; while held " +
      "they kept the blocks from being evicted.",
    settings: ["spark.storage.exceptionOnPinLeak"],
    read: ([, count]) => ({ values: { locks: Number(count) } }),
  }),
  kind({
    code: "storage.blockMissing",
    title: "a block that is used is not there",
    severity: "failure",
    printedBy: "BlockInfoManager",
    anchor: "Block ",
    pattern: re`(?:IllegalStateException|SparkException): Block ${BLOCK} (not found|does not exist)`,
    meaning:
      "A bug or a lost executor: somebody unlocks or reads a block that was removed. Up to 3.2 the text is 'not found', " +
      "from 3.3 'does not exist'.",
    remedies: ["Look for the executor's loss or an unpersist just before it; retry the job"],
    read: ([, block, words]) => ({ values: { ...blockValues(block), words } }),
  }),
  kind({
    code: "storage.fetchRemote",
    title: "a block could not be fetched from another executor",
    severity: "slow",
    printedBy: "BlockManager",
    anchor: "Failed to fetch remote block",
    pattern: re`Failed to fetch remote block ${BLOCK}`,
    meaning:
      "Other copies are tried, else the partition is computed again. The other executor may be gone, or in a long garbage collection.",
    settings: ["spark.network.timeout", "spark.executor.memory"],
    remedies: ["Look whether that executor was lost or short of memory"],
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.twoGigabytes",
    title: "a block of 2 GiB or more",
    severity: "failure",
    printedBy: "FileChannelImpl",
    since: "1.0",
    until: "2.3",
    anchor: "Size exceeds Integer.MAX_VALUE",
    pattern: /Size exceeds Integer\.MAX_VALUE/,
    meaning: "Before 2.4 no cached, shuffled or fetched block could reach 2 GiB (SPARK-6235).",
    settings: ["spark.sql.shuffle.partitions"],
    remedies: ["More partitions, so that each stays well below 2 GiB", "Spark 2.4 or later"],
  }),
  kind({
    code: "storage.checkpointMissing",
    title: "a checkpoint of local blocks is lost",
    severity: "failure",
    printedBy: "LocalCheckpointRDD",
    anchor: "Checkpoint block",
    pattern: re`Checkpoint block ${BLOCK} not found`,
    meaning: "localCheckpoint() keeps its only copy in executors; one of them is gone, and the lineage was cut.",
    settings: ["spark.dynamicAllocation.enabled"],
    remedies: ["Use checkpoint() with a reliable folder, or a level with two copies"],
    read: ([, block]) => ({ values: blockValues(block) }),
  }),
  kind({
    code: "storage.overRelease",
    title: "more storage memory was released than was held",
    severity: "harmless",
    printedBy: "StorageMemoryPool",
    anchor: "of storage memory when we only have",
    pattern: re`Attempted to release ${BYTES} bytes of storage memory when we only have ${BYTES} bytes`,
    meaning: "The bookkeeping is set to 0. A bug in Spark, not in the job.",
    read: ([, size, held]) => ({ values: { releasedBytes: Number(size), heldBytes: Number(held) } }),
  }),
  kind({
    code: "storage.cleared",
    title: "the block store was emptied",
    severity: "information",
    printedBy: "MemoryStore",
    anchor: "MemoryStore cleared",
    pattern: /MemoryStore cleared/,
    meaning: "The executor or the application shuts down.",
  }),
];

function addedBlock(
  what: string,
  block: string,
  executor: string,
  size: string,
  conf: { getSizeAsBytesOption(key: string): number | null },
): Reading {
  const bytes = printed(size).bytes;
  const values = { ...blockValues(block), what: what.toLowerCase(), executor, sizeBytes: bytes };
  if (!block.startsWith("taskresult_")) return { values };
  const limit = conf.getSizeAsBytesOption("spark.task.maxDirectResultSize") ?? BYTE_UNITS.MiB;
  return {
    values: { ...values, path: "indirect", maxDirectResultSize: limit },
    arithmetic: [
      `${size} = ${bytes} bytes > spark.task.maxDirectResultSize of ${limit} bytes: by way of the block manager`,
    ],
  };
}
