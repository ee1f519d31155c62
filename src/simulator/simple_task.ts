/**
 * Tasks that touch neither cached blocks nor execution memory: all they do is known when they start, so they need one
 * event instead of a process.
 *
 * @module
 */
import { countFetch } from "./shuffle_fetch.ts";
import type { Task } from "./task.ts";
import { computingMs, countInputAndOutput } from "./task_figures.ts";

/**
 * Time from start to result of a task of which nothing depends on what others do meanwhile, with its metrics filled in;
 * null for any other task.
 */
export function simpleTask(task: Task): number | null {
  const { demand, environment, id, metrics } = task;
  const { partition, rdd } = id;
  const { lineage, mapOutputs } = environment;
  if (demand.consumers.length > 0 || demand.broadcastIds.length > 0 || demand.commitMs !== null) return null;
  if (environment.storageLevel(rdd) !== null || lineage.hasCachedInputs(rdd)) return null;
  if (environment.faultsOf(id.demandIndex).length > 0) return null;
  const shuffles = lineage.shuffleInputs(rdd);
  for (const shuffle of shuffles) if (mapOutputs.firstUnavailable(shuffle) !== null) return null;
  const fetch = { bytes: demand.shuffleReadBytes[partition], records: demand.shuffleReadRecords[partition] };
  metrics.executorDeserializeTime = demand.deserializeMs[partition];
  metrics.executorRunTime = countFetch(task, shuffles, fetch) + computingMs(task);
  metrics.resultSerializationTime = demand.resultSerializationMs[partition];
  countInputAndOutput(task);
  task.computeStartMs = task.startMs + metrics.executorDeserializeTime;
  return metrics.executorDeserializeTime + metrics.executorRunTime + metrics.resultSerializationTime;
}
