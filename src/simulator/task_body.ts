/**
 * What a task does on its executor, from the first byte to the serialized result (Executor.TaskRunner.run,
 * ResultTask and ShuffleMapTask, Spark 2.4.0).
 *
 * @module
 */
import { computeInputs, readCachedPartition } from "./cached_partition.ts";
import { compute } from "./compute.ts";
import { consumerActivities } from "./consumer_activities.ts";
import type { Activity, Process, StepOutcome, TaskFailure } from "./process.ts";
import { fetchFailed, fetchShuffles } from "./shuffle_fetch.ts";
import type { Task } from "./task.ts";
import { computingMs, countInputAndOutput } from "./task_figures.ts";
import type { Fault } from "./workload.ts";

type TaskException = Extract<Fault, { kind: "taskException" }>;

/** Runs a task; ends with null for a result, or with why there is none. */
export function* runTask(task: Task): Process<TaskFailure | null> {
  const { demand, environment, metrics } = task;
  const { partition, rdd } = task.id;
  yield demand.deserializeMs[partition] + readBroadcasts(task);
  task.computeStartMs = environment.now();
  metrics.executorDeserializeTime = task.computeStartMs - task.startMs;
  const fault = faultOf(task);
  const shuffles = environment.lineage.shuffleInputs(rdd);
  if (fault?.kind === "fetchFailure" && shuffles.length > 0) return fetchFailed(task, shuffles[0], 0, null);
  if (environment.storageLevel(rdd) !== null) {
    const failure = yield* readCachedPartition(task, rdd, partition);
    if (failure !== null) return failure;
  } else {
    // The demand's own figures count.
    if (environment.lineage.hasCachedInputs(rdd)) {
      const failure = yield* computeInputs(task, rdd, partition);
      if (failure !== null) return failure;
    }
    const fetched = fetchOwn(task, shuffles);
    if (typeof fetched !== "number") return fetched;
    if (fetched > 0) yield fetched;
  }
  const activities: Activity[] = consumerActivities(task, demand.consumers, partition);
  if (fault?.kind === "taskException") activities.push(new Throw(fault));
  const failure = (yield compute(task, computingMs(task), activities)) as TaskFailure | null;
  if (failure !== null) return failure;
  countInputAndOutput(task);
  if (demand.commitMs !== null) {
    const denied = yield* commitOutput(task, demand.commitMs[partition]);
    if (denied !== null) return denied;
  }
  metrics.executorRunTime = environment.now() - task.computeStartMs;
  metrics.resultSerializationTime = demand.resultSerializationMs[partition];
  if (metrics.resultSerializationTime > 0) yield metrics.resultSerializationTime;
  return null;
}

/** Fetches what the stage reads from shuffles, where no RDD below has figures of its own. */
function fetchOwn(task: Task, shuffles: readonly number[]): number | TaskFailure {
  const { demand, environment } = task;
  const { rdd, partition } = task.id;
  if (environment.workload.rdds[rdd].shuffleReadBytes !== null && environment.lineage.hasCachedInputs(rdd)) return 0;
  const fetch = { bytes: demand.shuffleReadBytes[partition], records: demand.shuffleReadRecords[partition] };
  return fetchShuffles(task, shuffles, fetch);
}

/** Commits the output of a task that the driver allows to (SparkHadoopMapRedUtil.commitTask). */
function* commitOutput(task: Task, commitMs: number): Process<TaskFailure | null> {
  const { environment, id } = task;
  yield environment.cost.messageMs;
  const allowed = environment.canCommit(task);
  yield environment.cost.messageMs;
  if (allowed) {
    yield commitMs;
    return null;
  }
  const { stageId: jobId, partition: partitionId, attemptNumber } = id;
  return { reason: { reason: "TaskCommitDenied", jobId, partitionId, attemptNumber } };
}

function readBroadcasts(task: Task): number {
  const { demand, environment, executor } = task;
  let ms = 0;
  for (const id of demand.broadcastIds) ms += environment.broadcasts.read(id, executor, task.id.tid);
  return ms;
}

/** What is to go wrong in this attempt. */
function faultOf(task: Task): Fault | null {
  const { demandIndex, partition, attemptNumber } = task.id;
  const faults = task.environment.faultsOf(demandIndex);
  if (faults.length === 0) return null;
  for (const fault of faults) {
    if (fault.kind !== "taskException" && fault.kind !== "fetchFailure") continue;
    const attempt = fault.kind === "fetchFailure" ? task.id.stageAttemptId : attemptNumber;
    if (fault.partition === partition && attempt < fault.attempts) return fault;
  }
  return null;
}

/** The user's code throws. */
class Throw implements Activity {
  next = 0;
  readonly #fault: TaskException;

  constructor(fault: TaskException) {
    this.#fault = fault;
    this.next = fault.atFraction;
  }

  step(): StepOutcome {
    const { className, description } = this.#fault;
    const fullStackTrace = `${className}: ${description}`;
    return { reason: { reason: "ExceptionFailure", className, description, fullStackTrace } };
  }

  resume(): StepOutcome {
    throw new Error("an exception never waits");
  }
}
