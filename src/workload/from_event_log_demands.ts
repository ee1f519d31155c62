/**
 * What the tasks of a stage demand, from the attempts that succeeded.
 *
 * @module
 */
import { DEFAULT_COST_MODEL } from "../simulator/cost_model.ts";
import type { Column, StageDemand } from "../simulator/workload.ts";
import type { StageRecord } from "./from_event_log_stages.ts";
import { OUTCOME, type TaskTable } from "./from_event_log_tasks.ts";

/** Everything a demand is made from. */
export interface DemandInput {
  readonly tasks: TaskTable;
  readonly stage: StageRecord;
  /** Rows of all attempts of the stages that compute the same thing, in order of launch. */
  readonly rows: readonly number[];
  readonly numPartitions: number;
  /** Time of a row that was spent computing cached partitions, by row; absent: none. */
  readonly cachedComputeMs: ReadonlyMap<number, number>;
  /** All of the stage's shuffles are read by cached RDDs below it: what is fetched is theirs. */
  readonly shuffleIsCached: boolean;
  /** Bytes of blocks that a row found in the cache, by row: not input from outside. */
  readonly cachedInputBytes: ReadonlyMap<number, number>;
}

/** A demand without what other parts of the reconstruction add. */
export type BareDemand = Omit<StageDemand, "consumers" | "broadcastIds" | "serializedTaskBytes">;

/** What came out, with what had to be filled in. */
export interface DemandResult {
  readonly demand: BareDemand;
  /** Partitions of which no attempt succeeded; their figures are the median of the others. */
  readonly filled: ReadonlySet<number>;
}

/** Share of a task's time that spilling can have taken, at most. */
const MAX_SPILL_SHARE = 0.75;

/** A slower original makes a copy start: Spark's speculation.multiplier. Its own end was not seen. */
const KILLED_ORIGINAL_FACTOR = 2;

/**
 * Builds the columns. A partition's figures are those of its first success: later ones are re-runs after a loss. Times
 * never include waiting for fetched blocks.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 * import { demandOf } from "./from_event_log_demands.ts";
 *
 * const stage = { stageId: 0, jobId: 0, name: "count", details: "", numTasks: 2, rddIds: [0], parentIds: [] };
 * const { demand, filled } = demandOf({
 *   tasks: new TaskTable(), stage, rows: [], numPartitions: 2, cachedComputeMs: new Map(), shuffleIsCached: false,
 *   cachedInputBytes: new Map(),
 * });
 * assertEquals([demand.computeMs, filled], [new Float64Array(2), new Set([0, 1])]);
 * ```
 */
export function demandOf(input: DemandInput): DemandResult {
  const { tasks, stage } = input;
  const rowOf = successes(input);
  const column = (value: (row: number) => number): Column => fill(rowOf, value);
  const shuffle = (values: Float64Array) => column((row) => input.shuffleIsCached ? 0 : known(values[row]));
  const demand: BareDemand = {
    name: stage.name,
    details: stage.details,
    recordedStageId: stage.stageId < 0 ? null : stage.stageId,
    computeMs: column((row) => netComputeMs(input, row)),
    deserializeMs: column((row) => known(tasks.deserializeMs[row])),
    resultSerializationMs: column((row) => known(tasks.resultSerializationMs[row])),
    speculativeComputeMs: speculativeCompute(input, rowOf),
    commitMs: null,
    resultBytes: column((row) => known(tasks.resultSize[row])),
    valueBytes: null,
    inputBytes: column((row) => Math.max(0, tasks.inputBytes[row] - (input.cachedInputBytes.get(row) ?? 0))),
    inputRecords: column((row) => input.cachedInputBytes.has(row) ? 0 : known(tasks.inputRecords[row])),
    outputBytes: column((row) => known(tasks.outputBytes[row])),
    outputRecords: column((row) => known(tasks.outputRecords[row])),
    shuffleReadBytes: shuffle(tasks.shuffleReadBytes),
    shuffleReadRecords: shuffle(tasks.shuffleReadRecords),
    shuffleWriteBytes: column((row) => known(tasks.shuffleWriteBytes[row])),
    shuffleWriteRecords: column((row) => known(tasks.shuffleWriteRecords[row])),
  };
  return {
    demand: withOriginals(input, rowOf, demand),
    filled: new Set(Array.from(rowOf.keys()).filter((partition) => rowOf[partition] < 0)),
  };
}

/** Row of the success that counts of each partition, -1 where there is none. */
function successes({ tasks, rows, numPartitions }: DemandInput): Int32Array {
  const rowOf = new Int32Array(numPartitions).fill(-1);
  for (const row of rows) {
    const partition = tasks.partition[row];
    if (partition >= numPartitions || tasks.outcome[row] !== OUTCOME.success) continue;
    if (tasks.runMs[row] < 0 || rowOf[partition] >= 0) continue;
    rowOf[partition] = row;
  }
  return rowOf;
}

/** Run time without fetch waits, spilling, and what cached partitions cost that the task had to compute. */
function netComputeMs({ tasks, cachedComputeMs }: DemandInput, row: number): number {
  const wait = known(tasks.fetchWaitMs[row]);
  const net = Math.max(0, tasks.runMs[row] - wait - (cachedComputeMs.get(row) ?? 0));
  return net - Math.min(net * MAX_SPILL_SHARE, spillMs(tasks, row));
}

/** What a run of the workload adds for the same spills; no metric tells the real time. */
function spillMs(tasks: TaskTable, row: number): number {
  const { spillBytesPerMs, diskBytesPerMs } = DEFAULT_COST_MODEL;
  return 2 * (known(tasks.memorySpilled[row]) / spillBytesPerMs + known(tasks.diskSpilled[row]) / diskBytesPerMs);
}

function fill(rowOf: Int32Array, value: (row: number) => number): Column {
  const column = new Float64Array(rowOf.length);
  const values: number[] = [];
  for (let p = 0; p < rowOf.length; p++) {
    if (rowOf[p] < 0) continue;
    column[p] = value(rowOf[p]);
    values.push(column[p]);
  }
  if (values.length < rowOf.length && values.length > 0) {
    // Whole as all figures of a log.
    const middle = Math.round(median(values));
    for (let p = 0; p < rowOf.length; p++) if (rowOf[p] < 0) column[p] = middle;
  }
  return column;
}

/** Computing times of the copies that won against a slower original; null when none did. */
function speculativeCompute(input: DemandInput, rowOf: Int32Array): Column | null {
  const { tasks } = input;
  if (!rowOf.some((row) => row >= 0 && tasks.speculative[row] === 1)) return null;
  return fill(rowOf, (row) => netComputeMs(input, row));
}

/**
 * Where a copy won, the original's time is at least what it had run for when it was killed. How much longer it would
 * have taken is not in the log.
 */
function withOriginals(input: DemandInput, rowOf: Int32Array, demand: BareDemand): BareDemand {
  if (demand.speculativeComputeMs === null) return demand;
  const { tasks } = input;
  const computeMs = demand.computeMs.slice();
  for (const row of input.rows) {
    const winner = rowOf[tasks.partition[row]];
    if (winner === undefined || winner < 0 || winner === row || tasks.speculative[winner] === 0) continue;
    if (tasks.speculative[row] === 1 || tasks.outcome[row] !== OUTCOME.killed) continue;
    computeMs[tasks.partition[row]] = tasks.durationMs[row] * KILLED_ORIGINAL_FACTOR;
  }
  return { ...demand, computeMs };
}

function known(value: number): number {
  return Math.max(0, value);
}

/**
 * The middle value, 0 of none.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { median } from "./from_event_log_demands.ts";
 *
 * assertEquals([median([3, 1, 2]), median([1, 3]), median([])], [2, 2, 0]);
 * ```
 */
export function median(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const sorted = Float64Array.from(values).sort();
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
