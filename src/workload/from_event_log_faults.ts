/**
 * Tasks that failed for reasons of their own: exceptions of user code, lost fetches and results.
 *
 * @module
 */
import type { Fault } from "../simulator/workload.ts";
import type { TaskEndReason } from "../spark/events.ts";
import { OUTCOME, type TaskTable } from "./from_event_log_tasks.ts";

/** Exceptions that the memory manager itself raises: the simulation decides about them anew. */
const MEMORY_EXCEPTION = /SparkOutOfMemoryError|Unable to acquire \d+ bytes|Managed memory leak/;

/** Descriptions kept; further failures of the same kind are counted without theirs. */
const MAX_REASONS = 10_000;

/** A partition that failed in every attempt and took its job along would have gone on failing, as far as is known. */
const FOR_EVER = 2 ** 31 - 1;

/**
 * Keeps the reasons of failed attempts by row.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { FailureReasons } from "./from_event_log_faults.ts";
 *
 * const reasons = new FailureReasons();
 * reasons.add(3, { reason: "ExceptionFailure", className: "E", description: "broken", fullStackTrace: "" });
 * assertEquals(reasons.get(3)?.description, "broken");
 * ```
 */
export class FailureReasons {
  readonly #byRow = new Map<number, { readonly className: string; readonly description: string }>();

  add(row: number, reason: TaskEndReason): void {
    if (reason.reason !== "ExceptionFailure" || this.#byRow.size >= MAX_REASONS) return;
    this.#byRow.set(row, { className: reason.className, description: reason.description });
  }

  get(row: number): { readonly className: string; readonly description: string } | undefined {
    return this.#byRow.get(row);
  }
}

/** What {@linkcode taskFaults} looks at: one demand's tasks. */
export interface FaultInput {
  readonly tasks: TaskTable;
  readonly reasons: FailureReasons;
  /** Rows of the demand's tasks in order of launch. */
  readonly rows: readonly number[];
  /** Index into Workload.demands. */
  readonly demand: number;
  /** An executor was lost while the stage ran: failed fetches follow from that. */
  readonly executorsWereLost: boolean;
}

/**
 * Faults of one demand's tasks: by partition, how many attempts failed before one succeeded.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { FailureReasons, taskFaults } from "./from_event_log_faults.ts";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 *
 * const input = { tasks: new TaskTable(), reasons: new FailureReasons(), rows: [], demand: 0, executorsWereLost: false };
 * assertEquals(taskFaults(input), []);
 * ```
 */
export function taskFaults(input: FaultInput): Fault[] {
  const { tasks } = input;
  const byPartition = new Map<number, number[]>();
  const durations: number[] = [];
  for (const row of input.rows) {
    if (tasks.outcome[row] === OUTCOME.success) durations.push(tasks.durationMs[row]);
    const rows = byPartition.get(tasks.partition[row]);
    if (rows === undefined) byPartition.set(tasks.partition[row], [row]);
    else rows.push(row);
  }
  const usualMs = Math.max(1, durations.length === 0 ? 1 : durations.reduce((a, b) => a + b, 0) / durations.length);
  const faults: Fault[] = [];
  for (const [partition, rows] of byPartition) {
    if (rows.every((row) => tasks.outcome[row] === OUTCOME.success)) continue;
    faults.push(...partitionFaults(input, partition, rows, usualMs));
  }
  return faults;
}

function partitionFaults(input: FaultInput, partition: number, rows: readonly number[], usualMs: number): Fault[] {
  const { tasks, reasons, demand } = input;
  const failed = (outcome: number) => rows.filter((row) => tasks.outcome[row] === outcome);
  const faults: Fault[] = [];
  const exceptions = failed(OUTCOME.exception).filter((row) => {
    const reason = reasons.get(row);
    return reason === undefined || !MEMORY_EXCEPTION.test(`${reason.className}: ${reason.description}`);
  });
  if (exceptions.length > 0) {
    const succeeded = rows.some((row) => tasks.outcome[row] === OUTCOME.success);
    const reason = reasons.get(exceptions[0]);
    faults.push({
      kind: "taskException",
      demand,
      partition,
      attempts: succeeded ? exceptions.length : FOR_EVER,
      className: reason?.className ?? "java.lang.Exception",
      description: reason?.description ?? "",
      atFraction: Math.min(1, tasks.durationMs[exceptions[0]] / usualMs),
    });
  }
  const fetchFailed = failed(OUTCOME.fetchFailed);
  if (fetchFailed.length > 0 && !input.executorsWereLost) {
    faults.push({ kind: "fetchFailure", demand, partition, attempts: fetchFailed.length });
  }
  const resultLost = failed(OUTCOME.resultLost);
  if (resultLost.length > 0) faults.push({ kind: "resultLost", demand, partition, attempts: resultLost.length });
  return faults;
}
