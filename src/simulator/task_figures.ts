/**
 * Figures of a task that follow from its demand alone.
 *
 * @module
 */
import type { Task } from "./task.ts";

/** Computing time of this attempt: copies on other executors may be faster, slow hosts slower. */
export function computingMs(task: Task): number {
  const { demand, executor, id } = task;
  const ms = id.speculative && demand.speculativeComputeMs !== null
    ? demand.speculativeComputeMs[id.partition]
    : demand.computeMs[id.partition];
  return ms * task.environment.slowness(executor.host);
}

/** What the task reads from and writes to outside of Spark, and writes for a shuffle, as metrics. */
export function countInputAndOutput(task: Task): void {
  const { demand, metrics } = task;
  const { partition, shuffle } = task.id;
  metrics.inputBytes += demand.inputBytes[partition];
  metrics.inputRecords += demand.inputRecords[partition];
  metrics.outputBytes += demand.outputBytes[partition];
  metrics.outputRecords += demand.outputRecords[partition];
  if (shuffle === null) return;
  metrics.shuffleBytesWritten += demand.shuffleWriteBytes[partition];
  metrics.shuffleRecordsWritten += demand.shuffleWriteRecords[partition];
}
