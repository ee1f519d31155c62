/**
 * The task attempts of an event log in typed columns: about 150 bytes an attempt, so that a million of them are held
 * without objects.
 *
 * @module
 */
import type { TaskEnd, TaskEndReason, TaskLocality } from "../spark/events.ts";

/** How an attempt ended, as the `outcome` column holds it. */
export const OUTCOME = Object.freeze({
  success: 0,
  exception: 1,
  killed: 2,
  fetchFailed: 3,
  executorLost: 4,
  resultLost: 5,
  other: 6,
});

const OUTCOME_OF: Readonly<Record<TaskEndReason["reason"], number>> = {
  Success: OUTCOME.success,
  ExceptionFailure: OUTCOME.exception,
  TaskKilled: OUTCOME.killed,
  FetchFailed: OUTCOME.fetchFailed,
  ExecutorLostFailure: OUTCOME.executorLost,
  TaskResultLost: OUTCOME.resultLost,
  TaskCommitDenied: OUTCOME.other,
  UnknownReason: OUTCOME.other,
  Resubmitted: OUTCOME.other,
};

/** Localities, as the `locality` column holds them. */
export const LOCALITIES: readonly TaskLocality[] = [
  "PROCESS_LOCAL",
  "NODE_LOCAL",
  "NO_PREF",
  "RACK_LOCAL",
  "ANY",
];

/** Where an attempt belongs, by dense indexes that the caller gives out. */
export interface TaskPlace {
  /** Index of the stage attempt. */
  readonly stage: number;
  readonly executor: number;
  readonly host: number;
}

const INITIAL_CAPACITY = 256;

type Column = Float64Array | Int32Array | Uint8Array;

/**
 * Columns over task attempts, in the order in which they ended. Times in ms, sizes in bytes; -1 in a metric column
 * means "not recorded" (lost executors write no metrics).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 *
 * const tasks = new TaskTable();
 * assertEquals([tasks.length, tasks.partition.length > 0], [0, true]);
 * ```
 */
export class TaskTable {
  length = 0;
  /** Index of the stage attempt. */
  stage = new Int32Array(INITIAL_CAPACITY);
  /** RDD partition; the index in the task set where the log has no partition (before 3.3). */
  partition = new Int32Array(INITIAL_CAPACITY);
  attempt = new Int32Array(INITIAL_CAPACITY);
  executor = new Int32Array(INITIAL_CAPACITY);
  host = new Int32Array(INITIAL_CAPACITY);
  outcome = new Uint8Array(INITIAL_CAPACITY);
  locality = new Uint8Array(INITIAL_CAPACITY);
  speculative = new Uint8Array(INITIAL_CAPACITY);
  launchTime = new Float64Array(INITIAL_CAPACITY);
  durationMs = new Int32Array(INITIAL_CAPACITY);
  /** 0 when the result was sent directly. */
  gettingResult = new Uint8Array(INITIAL_CAPACITY);
  runMs = new Int32Array(INITIAL_CAPACITY);
  deserializeMs = new Int32Array(INITIAL_CAPACITY);
  gcMs = new Int32Array(INITIAL_CAPACITY);
  resultSerializationMs = new Int32Array(INITIAL_CAPACITY);
  fetchWaitMs = new Int32Array(INITIAL_CAPACITY);
  shuffleWriteMs = new Int32Array(INITIAL_CAPACITY);
  resultSize = new Float64Array(INITIAL_CAPACITY);
  memorySpilled = new Float64Array(INITIAL_CAPACITY);
  diskSpilled = new Float64Array(INITIAL_CAPACITY);
  peakMemory = new Float64Array(INITIAL_CAPACITY);
  inputBytes = new Float64Array(INITIAL_CAPACITY);
  inputRecords = new Float64Array(INITIAL_CAPACITY);
  outputBytes = new Float64Array(INITIAL_CAPACITY);
  outputRecords = new Float64Array(INITIAL_CAPACITY);
  shuffleReadBytes = new Float64Array(INITIAL_CAPACITY);
  shuffleReadRecords = new Float64Array(INITIAL_CAPACITY);
  shuffleWriteBytes = new Float64Array(INITIAL_CAPACITY);
  shuffleWriteRecords = new Float64Array(INITIAL_CAPACITY);

  /** Adds the attempt that ended; returns its row. */
  append(end: TaskEnd, place: TaskPlace): number {
    const i = this.length++;
    if (i === this.stage.length) this.#grow();
    this.stage[i] = place.stage;
    this.executor[i] = place.executor;
    this.host[i] = place.host;
    this.partition[i] = end.partitionId;
    this.attempt[i] = end.attempt;
    this.outcome[i] = OUTCOME_OF[end.reason.reason];
    this.locality[i] = Math.max(0, LOCALITIES.indexOf(end.locality));
    this.speculative[i] = end.speculative ? 1 : 0;
    this.launchTime[i] = end.launchTime;
    this.durationMs[i] = Math.max(0, end.finishTime - end.launchTime);
    this.gettingResult[i] = end.gettingResultTime > 0 ? 1 : 0;
    this.#metrics(i, end);
    return i;
  }

  #metrics(i: number, end: TaskEnd): void {
    const m = end.metrics;
    this.runMs[i] = m?.executorRunTime ?? -1;
    this.deserializeMs[i] = m?.executorDeserializeTime ?? -1;
    this.gcMs[i] = m?.jvmGcTime ?? -1;
    this.resultSerializationMs[i] = m?.resultSerializationTime ?? -1;
    this.fetchWaitMs[i] = m?.shuffleFetchWaitTime ?? -1;
    this.shuffleWriteMs[i] = m === null ? -1 : Math.round(m.shuffleWriteTimeNs / 1e6);
    this.resultSize[i] = m?.resultSize ?? -1;
    this.memorySpilled[i] = m?.memoryBytesSpilled ?? -1;
    this.diskSpilled[i] = m?.diskBytesSpilled ?? -1;
    this.peakMemory[i] = m?.peakExecutionMemory ?? -1;
    this.inputBytes[i] = m?.inputBytes ?? -1;
    this.inputRecords[i] = m?.inputRecords ?? -1;
    this.outputBytes[i] = m?.outputBytes ?? -1;
    this.outputRecords[i] = m?.outputRecords ?? -1;
    this.shuffleReadBytes[i] = m === null ? -1 : m.shuffleRemoteBytesRead + m.shuffleLocalBytesRead;
    this.shuffleReadRecords[i] = m?.shuffleRecordsRead ?? -1;
    this.shuffleWriteBytes[i] = m?.shuffleBytesWritten ?? -1;
    this.shuffleWriteRecords[i] = m?.shuffleRecordsWritten ?? -1;
  }

  /** Half as much again, column by column, so that old and new columns are not all held at once. */
  #grow(): void {
    const capacity = Math.ceil(this.stage.length * 1.5);
    const columns = this as unknown as Record<string, Column | number>;
    for (const name of Object.keys(columns)) {
      const old = columns[name];
      if (typeof old === "number") continue;
      const grown = old instanceof Float64Array
        ? new Float64Array(capacity)
        : old instanceof Int32Array
        ? new Int32Array(capacity)
        : new Uint8Array(capacity);
      grown.set(old);
      columns[name] = grown;
    }
  }
}
