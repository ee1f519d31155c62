/**
 * Fetching shuffle blocks in a reduce task (ShuffleBlockFetcherIterator, Spark 2.4.0): what is local is read from disk,
 * the rest comes over the network; a missing or dead source is a FetchFailed.
 *
 * @module
 */
import type { TaskEndReason } from "../spark/events.ts";
import type { TaskFailure } from "./process.ts";
import type { Task } from "./task.ts";

/** What reducers know of the map outputs of one shuffle. */
export interface MapOutputs {
  /** Number of map outputs. */
  numMaps(shuffle: number): number;
  /** Share of the shuffle's bytes that lies on an executor, 0 to 1. */
  shareOn(shuffle: number, executor: number): number;
  /** Map outputs on an executor. */
  countOn(shuffle: number, executor: number): number;
  /** The first output that cannot be fetched: not registered (executor null), or on a dead executor; null when all can. */
  firstUnavailable(shuffle: number): { readonly map: number; readonly executor: number | null } | null;
}

/** Bytes and records that a task reads from its shuffles. */
export interface FetchDemand {
  readonly bytes: number;
  readonly records: number;
}

/**
 * Fetches from the shuffles (dense indexes); the bytes are shared out evenly between them. Gives how long that takes, ms,
 * or why the task fails.
 */
export function fetchShuffles(
  task: Task,
  shuffles: readonly number[],
  demand: FetchDemand,
): number | TaskFailure {
  const { mapOutputs } = task.environment;
  for (const shuffle of shuffles) {
    const unavailable = mapOutputs.firstUnavailable(shuffle);
    if (unavailable !== null) return fetchFailed(task, shuffle, unavailable.map, unavailable.executor);
  }
  return countFetch(task, shuffles, demand);
}

/** What reading the shuffles adds to the task's metrics. Returns how long it takes, ms. */
export function countFetch(task: Task, shuffles: readonly number[], demand: FetchDemand): number {
  if (shuffles.length === 0) return 0;
  const { metrics, executor, environment } = task;
  const { cost, mapOutputs } = environment;
  const bytes = demand.bytes / shuffles.length;
  let local = 0;
  for (const shuffle of shuffles) {
    local += Math.round(bytes * mapOutputs.shareOn(shuffle, executor.index));
    const here = mapOutputs.countOn(shuffle, executor.index);
    metrics.shuffleLocalBlocksFetched += here;
    metrics.shuffleRemoteBlocksFetched += mapOutputs.numMaps(shuffle) - here;
  }
  local = Math.min(local, demand.bytes);
  const remote = demand.bytes - local;
  metrics.shuffleLocalBytesRead += local;
  metrics.shuffleRemoteBytesRead += remote;
  metrics.shuffleRecordsRead += demand.records;
  const waitMs = remote > 0 ? cost.messageMs + remote / cost.networkBytesPerMs : 0;
  metrics.shuffleFetchWaitTime += waitMs;
  return waitMs + local / cost.diskBytesPerMs;
}

/** The failure of a task that found a map output gone. */
export function fetchFailed(task: Task, shuffle: number, map: number, executor: number | null): TaskFailure {
  const { workload, executors } = task.environment;
  const shuffleId = workload.shuffles[shuffle].id;
  const source = executor === null ? null : executors[executor];
  const message = source === null
    ? `org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location for shuffle ${shuffleId}`
    : `org.apache.spark.shuffle.FetchFailedException: Failed to connect to ${source.host}`;
  const reason: TaskEndReason = {
    reason: "FetchFailed",
    executorId: source?.id ?? null,
    host: source?.host ?? null,
    shuffleId,
    mapId: map,
    mapIndex: map,
    reduceId: task.id.partition,
    message,
  };
  return { reason };
}
