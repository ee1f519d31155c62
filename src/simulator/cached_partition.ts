/**
 * Reading a partition of a cached RDD: from this executor's memory or disk, from another executor, or by computing and
 * storing it (RDD.getOrCompute and BlockManager.getOrElseUpdate, Spark 2.4.0).
 *
 * @module
 */
import type { StorageLevel } from "../spark/storage_level.ts";
import { type BlockEntry, memoryModeOf } from "./block_manager.ts";
import { compute } from "./compute.ts";
import { consumerActivities } from "./consumer_activities.ts";
import { fetchShuffles } from "./shuffle_fetch.ts";
import { type Activity, type Process, type TaskFailure, WAIT } from "./process.ts";
import type { Task } from "./task.ts";
import { ReleaseUnroll, UnrollActivity } from "./unrolling.ts";
import type { Column, Rdd } from "./workload.ts";

/** Sizes of one partition in the forms it can take, bytes. */
export interface PartitionSizes {
  /** In memory at the given level. */
  readonly memory: number;
  /** On disk, and over the network. */
  readonly disk: number;
  readonly elements: number;
}

/** What a partition measures at a level. Where only one form is known it stands for the others. */
export function partitionSizes(rdd: Rdd, partition: number, level: StorageLevel): PartitionSizes {
  const serialized = at(rdd.serializedBytes, partition) ?? at(rdd.diskBytes, partition) ??
    at(rdd.deserializedBytes, partition) ?? 0;
  const objects = at(rdd.deserializedBytes, partition) ?? serialized;
  return {
    memory: Math.round(level.deserialized && !rdd.alwaysSerialized ? objects : serialized),
    disk: Math.round(at(rdd.diskBytes, partition) ?? serialized),
    elements: Math.max(1, Math.round(at(rdd.elements, partition) ?? 1)),
  };
}

function at(column: Column | null, partition: number): number | null {
  if (column === null) return null;
  const value = column[partition];
  return value >= 0 ? value : null;
}

/** The partition's data, from the cache or computed; pinned until the task lets go of it. */
export function* readCachedPartition(task: Task, rdd: number, partition: number): Process<TaskFailure | null> {
  const { environment, executor, metrics } = task;
  const { blocks } = executor;
  const block = environment.master.rddBlock(rdd, partition);
  const asked = environment.storageLevel(rdd);
  // While another task of the executor computes and stores the block its readers wait (BlockInfoManager.lockForReading).
  while (blocks.waitForWriter(block, () => environment.resumeReader(task))) {
    yield WAIT;
    task.waitingSinceMs = -1;
  }
  // Unpersisted meanwhile: the block stays until those who wait for it have read it too.
  const level = environment.storageLevel(rdd) ?? (blocks.entry(block) === undefined ? null : asked);
  if (level === null) return yield* computeInputs(task, rdd, partition);
  const sizes = partitionSizes(environment.workload.rdds[rdd], partition, level);
  const hit = blocks.readLocal(block);
  if (hit === "memory") {
    task.locks.push(block);
    metrics.inputBytes += sizes.memory;
    metrics.inputRecords += sizes.elements;
    said(task, block, "memory", sizes.memory);
    return null;
  }
  if (hit === "disk") return yield* readFromDisk(task, block, sizes);
  const source = environment.master.locations(block).find((index) =>
    index !== executor.index && environment.executors[index].alive
  );
  if (source !== undefined) return yield* readRemote(task, block, source, sizes);
  said(task, block, "miss", sizes.memory);
  task.beginWrite(block);
  const failure = yield* computeAndStore(task, rdd, partition, level, sizes);
  task.endWrite();
  return failure;
}

function said(
  task: Task,
  block: number,
  from: "memory" | "disk" | "remoteMemory" | "remoteDisk" | "miss",
  numBytes: number,
): void {
  const { environment, executor } = task;
  environment.sink.event({
    kind: "cacheRead",
    time: environment.now(),
    executorId: executor.id,
    blockId: environment.master.nameOf(block),
    taskId: task.id.tid,
    from,
    numBytes,
  });
}

/** Another executor has it: its serialized form travels and is not kept here (getRemoteValues). */
function* readRemote(task: Task, block: number, source: number, sizes: PartitionSizes): Process<null> {
  const { environment, metrics } = task;
  const blocks = environment.executors[source].blocks;
  const inMemory = (blocks.entry(block)?.memoryBytes ?? 0) > 0;
  blocks.readForRemote(block);
  said(task, block, inMemory ? "remoteMemory" : "remoteDisk", sizes.disk);
  metrics.inputBytes += sizes.disk;
  metrics.inputRecords += sizes.elements;
  yield environment.cost.messageMs + sizes.disk / environment.cost.networkBytesPerMs + blocks.takeIoMs();
  return null;
}

/** It is on this executor's disk: read, and put in memory again when there is room (maybeCacheDiskValuesInMemory). */
function* readFromDisk(task: Task, block: number, sizes: PartitionSizes): Process<null> {
  const { executor, metrics } = task;
  const { blocks } = executor;
  said(task, block, "disk", sizes.disk);
  metrics.inputBytes += sizes.disk;
  metrics.inputRecords += sizes.elements;
  const entry = blocks.entry(block)!;
  if (entry.level.useMemory) cacheFromDisk(task, entry, sizes);
  executor.touch();
  const ms = blocks.takeIoMs();
  if (ms > 0) yield ms;
  return null;
}

function cacheFromDisk(task: Task, entry: BlockEntry, sizes: PartitionSizes): void {
  const { blocks } = task.executor;
  const { level } = entry;
  const stored = level.deserialized
    ? blocks.unrollWhole(entry, task.id.tid, sizes)
    : blocks.memory.putBytes(entry.local, sizes.memory, memoryModeOf(level), blocks.putFlags(level));
  blocks.settle();
  if (!stored) return blocks.refused(entry, sizes.memory, task.id.tid);
  blocks.readBack(entry, sizes.memory);
  const { environment, executor } = task;
  environment.sink.event({
    kind: "blockReadBack",
    time: environment.now(),
    executorId: executor.id,
    blockId: entry.name,
    memorySize: sizes.memory,
    offHeap: level.useOffHeap,
  });
  if (blocks.lockForReading(entry)) task.locks.push(entry.block);
}

/** What computing a partition reads: cached partitions below it, and shuffles. */
export function* computeInputs(task: Task, rdd: number, partition: number): Process<TaskFailure | null> {
  const { lineage, workload } = task.environment;
  for (const input of lineage.cachedInputs(rdd, partition)) {
    const failure = yield* readCachedPartition(task, input.rdd, input.partition);
    if (failure !== null) return failure;
  }
  const { shuffleReadBytes, shuffleReadRecords, inputBytes } = workload.rdds[rdd];
  task.metrics.inputBytes += at(inputBytes, partition) ?? 0;
  const demand = { bytes: at(shuffleReadBytes, partition) ?? 0, records: at(shuffleReadRecords, partition) ?? 0 };
  const fetched = fetchShuffles(task, lineage.shuffleInputs(rdd), demand);
  if (typeof fetched !== "number") return fetched;
  if (fetched > 0) yield fetched;
  return null;
}

function* computeAndStore(
  task: Task,
  rdd: number,
  partition: number,
  level: StorageLevel,
  sizes: PartitionSizes,
): Process<TaskFailure | null> {
  const { environment, executor } = task;
  const { blocks } = executor;
  const { computeMs, consumers } = environment.workload.rdds[rdd];
  const pinned = task.locks.length;
  const failure = yield* computeInputs(task, rdd, partition);
  if (failure !== null) return failure;
  const entry = blocks.prepare(environment.master.rddBlock(rdd, partition), level, sizes.disk);
  const unroll = level.useMemory
    ? new UnrollActivity(executor, entry, task.id.tid, memoryModeOf(level), {
      elements: sizes.elements,
      bytes: sizes.memory,
    })
    : null;
  const activities: Activity[] = consumerActivities(task, consumers, partition);
  if (unroll !== null) activities.push(unroll);
  const failed = (yield compute(task, at(computeMs, partition) ?? 0, activities)) as TaskFailure | null;
  task.unlock(pinned);
  if (failed !== null) {
    blocks.abandon(entry);
    return failed;
  }
  if (unroll !== null && unroll.keepUnrolling && unroll.finish(sizes.memory, blocks.putFlags(level))) {
    blocks.storedInMemory(entry, sizes.memory);
    executor.touch();
    yield* replicate(task, entry, level, sizes);
    // The task reads what it has stored under the lock that it has (in 1.6 the values that it has at hand).
    if (blocks.rules.locksBlocks && blocks.readLocal(entry.block) === "memory") task.locks.push(entry.block);
    return null;
  }
  return yield* storeElsewhere(task, entry, level, sizes, unroll);
}

/** Memory had no room: to disk when the level allows, else the task goes on with what it has unrolled. */
function* storeElsewhere(
  task: Task,
  entry: BlockEntry,
  level: StorageLevel,
  sizes: PartitionSizes,
  unroll: UnrollActivity | null,
): Process<TaskFailure | null> {
  const { blocks, memory } = task.executor;
  if (unroll !== null) blocks.refused(entry, sizes.memory, task.id.tid);
  if (!level.useDisk) {
    // The unrolled part stays reserved until the task has consumed it, at the latest until its end.
    if (unroll !== null && unroll.reservedBytes > 0 && blocks.rules.freesConsumedUnroll) {
      task.unrolled.push(
        new ReleaseUnroll(task, unroll.elementsUnrolled / sizes.elements, unroll.reservedBytes, memoryModeOf(level)),
      );
    }
    blocks.abandon(entry);
    return null;
  }
  if (unroll !== null && blocks.rules.freesConsumedUnroll) {
    memory.releaseUnrollMemoryForTask(task.id.tid, memoryModeOf(level), unroll.reservedBytes);
  }
  blocks.settle();
  blocks.storeOnDisk(entry);
  yield blocks.takeIoMs();
  yield* replicate(task, entry, level, sizes);
  // Unrolled in full and refused at the end: 1.6 has the values at hand (CacheManager.putInBlockManager).
  if (unroll !== null && unroll.keepUnrolling && !blocks.rules.transfersUnrollMemory) return null;
  blocks.readLocal(entry.block);
  if (level.useMemory) cacheFromDisk(task, entry, sizes);
  task.executor.touch();
  yield blocks.takeIoMs();
  return null;
}

/** Copies of the block on other executors (BlockManager.replicate with RandomBlockReplicationPolicy). */
function* replicate(task: Task, entry: BlockEntry, level: StorageLevel, sizes: PartitionSizes): Process<null> {
  if (level.replication <= 1) return null;
  const { environment, executor } = task;
  const peers = environment.executors.filter((peer) => peer.alive && peer !== executor);
  for (let copies = level.replication - 1; copies > 0 && peers.length > 0; copies--) {
    const [peer] = peers.splice(environment.random(peers.length), 1);
    yield environment.cost.messageMs + sizes.disk / environment.cost.networkBytesPerMs;
    if (!peer.alive || peer.blocks.isWritten(entry.block) || peer.blocks.entry(entry.block) !== undefined) continue;
    if (level.useMemory && level.deserialized) peer.blocks.putValues(entry.block, sizes, level);
    else peer.blocks.putBytes(entry.block, sizes.memory, level);
    peer.touch();
  }
  return null;
}
