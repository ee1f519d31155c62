/**
 * Events for the tests of the charts.
 *
 * @module
 */
import { emptyMetrics } from "../../src/simulator/task.ts";
import type { PoolState, SparkEvent, StageInfo, TaskEnd, TaskMetrics } from "../../src/spark/events.ts";
import { STORAGE_LEVELS } from "../../src/spark/storage_level.ts";

export const METRICS: TaskMetrics = { ...emptyMetrics(), resultSize: 1000 };

/** A successful task, changed by `overrides`. */
export function taskEnd(overrides: Partial<TaskEnd> = {}): TaskEnd {
  return {
    kind: "taskEnd",
    stageId: 0,
    stageAttemptId: 0,
    taskId: 0,
    index: 0,
    attempt: 0,
    partitionId: 0,
    launchTime: 1000,
    executorId: "1",
    host: "a",
    locality: "ANY",
    speculative: false,
    taskType: "ResultTask",
    reason: { reason: "Success" },
    gettingResultTime: 0,
    finishTime: 2000,
    failed: false,
    killed: false,
    metrics: METRICS,
    accumulables: [],
    ...overrides,
  };
}

export function memoryState(
  time: number,
  pools: Partial<PoolState>,
): SparkEvent {
  const onHeap = {
    storagePoolSize: 500,
    storageMemoryUsed: 0,
    unrollMemoryUsed: 0,
    executionPoolSize: 500,
    executionMemoryUsed: 0,
    ...pools,
  };
  return {
    kind: "memoryState",
    time,
    executorId: "1",
    onHeap,
    offHeap: null,
  };
}

export function blockUpdated(
  blockId: string,
  memorySize: number,
  options: { executorId?: string; diskSize?: number; time?: number } = {},
): SparkEvent {
  const { executorId = "1", diskSize = 0, time = null } = options;
  return {
    kind: "blockUpdated",
    executorId,
    blockId,
    storageLevel: {
      ...STORAGE_LEVELS.MEMORY_AND_DISK,
      useMemory: memorySize > 0,
      useDisk: diskSize > 0,
    },
    memorySize,
    diskSize,
    time,
  };
}

export function stageInfo(overrides: Partial<StageInfo> = {}): StageInfo {
  return {
    stageId: 0,
    attemptId: 0,
    name: "count at Job.scala:1",
    numTasks: 4,
    rddInfos: [],
    parentIds: [],
    details: "",
    submissionTime: 1000,
    completionTime: null,
    failureReason: null,
    resourceProfileId: 0,
    isShufflePushEnabled: null,
    accumulables: [],
    ...overrides,
  };
}
