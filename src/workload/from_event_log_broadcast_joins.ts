/**
 * Relations that a stage's tasks joined with after they had been broadcast.
 *
 * @module
 */
import type { ConsumerDemand } from "../simulator/workload.ts";
import { median } from "./from_event_log_demands.ts";
import type { PlanTable } from "./from_event_log_plans.ts";
import type { StageAttempt } from "./from_event_log_stages.ts";
import { OUTCOME, type TaskTable } from "./from_event_log_tasks.ts";

/** What {@linkcode broadcastJoinDemand} looks at. */
export interface BroadcastJoinStage {
  readonly attempts: readonly StageAttempt[];
  readonly plans: PlanTable;
  readonly tasks: TaskTable;
  /** Rows of the stage's tasks. */
  readonly rows: readonly number[];
  readonly numPartitions: number;
}

/**
 * BroadcastHashJoinExec adds the size of its relation to the task's peakExecutionMemory, though it is not held in
 * execution memory: what is left of the recorded peak without the peaks of the other operators. Every task of a stage
 * reads the same relations. null when the stage joins with none.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { broadcastJoinDemand } from "./from_event_log_broadcast_joins.ts";
 * import { PlanTable } from "./from_event_log_plans.ts";
 * import { TaskTable } from "./from_event_log_tasks.ts";
 *
 * const stage = { attempts: [], plans: new PlanTable(), tasks: new TaskTable(), rows: [], numPartitions: 1 };
 * assertEquals(broadcastJoinDemand(stage), null);
 * ```
 */
export function broadcastJoinDemand(stage: BroadcastJoinStage): ConsumerDemand | null {
  const { tasks, rows, numPartitions } = stage;
  if (!joinsBroadcast(stage)) return null;
  const ofOperators = operatorPeaks(stage);
  const sizes = rows.filter((row) => tasks.outcome[row] === OUTCOME.success && tasks.peakMemory[row] > 0)
    .map((row) => tasks.peakMemory[row] - (ofOperators.get(tasks.partition[row]) ?? 0));
  const bytes = sizes.length === 0 ? 0 : median(sizes);
  if (bytes <= 0) return null;
  return {
    kind: "HashedRelation",
    name: "relations of broadcast joins",
    start: 0,
    fillEnd: 0,
    release: 1,
    tungsten: false,
    records: new Float64Array(numPartitions).fill(1),
    bytes: new Float64Array(numPartitions).fill(bytes),
    absentIn: null,
    keys: null,
    diskBytesPerByte: null,
    parameters: { broadcast: 1 },
  };
}

function joinsBroadcast({ attempts, plans }: BroadcastJoinStage): boolean {
  return attempts.some(({ accumulators }) =>
    [...accumulators.keys()].some((id) => plans.metric(id)?.node.nodeName === "BroadcastHashJoin")
  );
}

/** Peaks that the operators of each partition's task recorded themselves. */
function operatorPeaks({ attempts, plans }: BroadcastJoinStage): Map<number, number> {
  const peaks = new Map<number, number>();
  for (const { accumulators } of attempts) {
    for (const [id, { byPartition }] of accumulators) {
      if (plans.metric(id)?.name !== "peak memory") continue;
      for (const [partition, bytes] of byPartition ?? []) peaks.set(partition, (peaks.get(partition) ?? 0) + bytes);
    }
  }
  return peaks;
}
