/**
 * Messages of blocks: where they are, read, replicated, lost.
 *
 * @module
 */
import { BYTE_UNITS } from "../../spark/sizes.ts";
import { blockValues, CACHE_SETTINGS } from "./block_values.ts";
import { BLOCK, BYTES, kind, type MessageKind, printed, re, type Reading, SIZE } from "./message_kind.ts";

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

/** The kinds of messages about the whereabouts of blocks. */
export const BLOCK_MESSAGES: readonly MessageKind[] = [
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
