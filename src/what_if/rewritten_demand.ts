/**
 * What the tasks of a rewritten query's stage demand: the work of the operators that run in it, out of what was
 * recorded of the stages in which they ran.
 *
 * @module
 */
import type { Column, QueryPlan, StageDemand } from "../simulator/workload.ts";
import type { PlannedStage } from "./planned_stages.ts";
import { collectedBytes, type RecordedStages, sumOf } from "./recorded_stages.ts";
import { stageConsumers } from "./rewritten_consumers.ts";
import { EMPTY_RESULT_BYTES, spread, spreadDemand } from "./spread_work.ts";

/** What a map stage writes, all tasks together. */
export interface StageWrites {
  readonly bytes: number;
  readonly records: number;
}

/**
 * What a stage writes to its shuffle: as recorded where the exchange is the plan's own; null for other stages.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { RecordedStages } from "./recorded_stages.ts";
 * import { stageWrites } from "./rewritten_demand.ts";
 *
 * const recorded = new RecordedStages(emptyWorkload("nothing"), { executionId: 0, operators: [] });
 * const output = { kind: "shuffle" as const, exchange: null, rows: 1000, bytes: 24000 };
 * const stage = { operators: [], reads: [], broadcasts: [], sorts: [], output, changed: true, readsLocally: false };
 * assertEquals(stageWrites(stage, { recorded, compression: 0.5 }), { bytes: 12000, records: 1000 });
 * ```
 */
export function stageWrites(
  stage: PlannedStage,
  { recorded, compression }: { readonly recorded: RecordedStages; readonly compression: number },
): StageWrites | null {
  const { output } = stage;
  if (output.kind !== "shuffle") return null;
  if (output.exchange !== null) {
    const { shuffleWriteBytes, shuffleWriteRecords } = recorded.demands[recorded.writerOf(output.exchange)!];
    return { bytes: sumOf(shuffleWriteBytes), records: sumOf(shuffleWriteRecords) };
  }
  // A broadcast's rows were compressed in the results of the tasks that collected them.
  const collected = recorded.collected(stage);
  const bytes = collected === null ? output.bytes * compression : collectedBytes(collected);
  return { bytes: Math.round(bytes), records: output.rows };
}

/** What {@linkcode stageDemand} goes by. */
export interface DemandContext {
  readonly query: QueryPlan;
  /** All of the query. */
  readonly stages: readonly PlannedStage[];
  readonly recorded: RecordedStages;
  /** Of each task in the stage's rows. */
  readonly shares: Column;
  readonly writes: StageWrites | null;
  /** Demands of the stages that it reads. */
  readonly reads: readonly StageDemand[];
  /** What a byte of rows becomes, compressed. */
  readonly compression: number;
  /** Broadcasts that no recorded stage read. */
  readonly newBroadcasts: readonly number[];
}

/**
 * Bytes of the rows that a stage collects for a broadcast, compressed: what it wrote to a shuffle, what it reads of one,
 * or what its columns come to.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { RecordedStages } from "./recorded_stages.ts";
 * import { broadcastRowBytes } from "./rewritten_demand.ts";
 *
 * const recorded = new RecordedStages(emptyWorkload("nothing"), { executionId: 0, operators: [] });
 * const output = { kind: "broadcast" as const, exchange: null, rows: 1000, bytes: 24000 };
 * const stage = { operators: [], reads: [], broadcasts: [], sorts: [], output, changed: true, readsLocally: false };
 * assertEquals(broadcastRowBytes(stage, { recorded, reads: [], compression: 0.5 }), 12000);
 * ```
 */
export function broadcastRowBytes(
  stage: PlannedStage,
  { recorded, reads, compression }: Pick<DemandContext, "recorded" | "reads" | "compression">,
): number {
  if (stage.output.kind !== "broadcast") return 0;
  const read = sumOf(reads.map(({ shuffleWriteBytes }) => sumOf(shuffleWriteBytes)));
  if (stage.operators.length === 0 && read > 0) return read;
  return Math.round(recorded.writtenBytes(stage) ?? stage.output.bytes * compression);
}

/** Results of tasks that collect rows for a broadcast which was none before; null for other stages. */
function newBroadcastResults(stage: PlannedStage, context: DemandContext): Column | null {
  if (stage.output.kind !== "broadcast" || stage.output.exchange !== null) return null;
  return spread(Float64Array.of(broadcastRowBytes(stage, context)), context.shares).map((bytes) =>
    bytes + EMPTY_RESULT_BYTES
  );
}

/**
 * The demand of a stage that is not as it was recorded.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { workloadFromJobSpec } from "../workload/job_spec.ts";
 * import { RecordedStages } from "./recorded_stages.ts";
 * import { stageDemand } from "./rewritten_demand.ts";
 *
 * const workload = workloadFromJobSpec({ stages: [{ id: 0, tasks: 1, computeMs: [300], inputBytes: [1000] }] });
 * const jobs = workload.jobs.map((job) => ({ ...job, sqlExecutionId: 0 }));
 * const operators = [
 *   { name: "Scan parquet", description: "FileScan parquet [a#1L]", inputs: [], rows: 50, bytes: 900, demand: 0 },
 *   { name: "Filter", description: "Filter isnotnull(a#1L)", inputs: [0], rows: 25, bytes: null, demand: 0 },
 * ];
 * const query = { executionId: 0, operators };
 * const stage = (operators: number[]) =>
 *   ({ operators, reads: [], broadcasts: [], sorts: [], output: { kind: "result" as const }, changed: true, readsLocally: false });
 * const [scan, filter] = [stage([0]), stage([1])];
 * const recorded = new RecordedStages({ ...workload, jobs }, query);
 * const rest = { query, stages: [scan, filter], recorded, writes: null, reads: [], compression: 1, newBroadcasts: [] };
 * assertEquals([...stageDemand(scan, { ...rest, shares: Float64Array.of(0.75, 0.25) }).computeMs], [150, 50]);
 * const reads = [workload.demands[0]];
 * assertEquals([...stageDemand(filter, { ...rest, reads, shares: Float64Array.of(1) }).computeMs], [100]);
 * ```
 */
export function stageDemand(stage: PlannedStage, context: DemandContext): StageDemand {
  const { query, recorded, shares, writes, reads } = context;
  const pieces = piecesOf(stage, context);
  const last = pieces.at(-1);
  // A stage without operators only hands on what it reads.
  const base = last === undefined ? reads[0] : recorded.demands[last.demand];
  const isMapStage = stage.output.kind === "shuffle";
  const dealt = spreadDemand(base, shares, isMapStage);
  const total = (of: (demand: StageDemand) => Column) =>
    spread(Float64Array.of(sumOf(reads.map((r) => sumOf(of(r))))), shares);
  const nothing = new Float64Array(shares.length);
  const scanned = reads.length > 0 ? null : recorded.scanned(stage);
  const computeMs = sumOf(pieces.map(({ demand, weight }) => weight * sumOf(recorded.demands[demand].computeMs)));
  return {
    ...dealt,
    name: recorded.demands[recorded.jobs.at(-1)!.demand].name,
    computeMs: shares.map((share) => share * computeMs),
    resultBytes: isMapStage
      ? nothing.map(() => mapResultBytes(context))
      : newBroadcastResults(stage, context) ?? dealt.resultBytes,
    serializedTaskBytes: null,
    speculativeComputeMs: null,
    inputBytes: scanned === null ? nothing : scanned.inputBytes,
    inputRecords: scanned === null ? nothing : scanned.inputRecords,
    outputBytes: isMapStage ? nothing : dealt.outputBytes,
    outputRecords: isMapStage ? nothing : dealt.outputRecords,
    shuffleReadBytes: total(({ shuffleWriteBytes }) => shuffleWriteBytes),
    shuffleReadRecords: total(({ shuffleWriteRecords }) => shuffleWriteRecords),
    shuffleWriteBytes: writes === null ? nothing : spread(Float64Array.of(writes.bytes), shares),
    shuffleWriteRecords: writes === null ? nothing : spread(Float64Array.of(writes.records), shares),
    consumers: stageConsumers(stage, { query, recorded, shares }),
    broadcastIds: stage.broadcasts.length === 0 ? [] : [...base.broadcastIds, ...context.newBroadcasts],
  };
}

/** A part of a recorded stage's work. */
interface Piece {
  readonly demand: number;
  /** Of the rows that its operators gave. */
  readonly weight: number;
}

function piecesOf(stage: PlannedStage, { query, stages }: DemandContext): Piece[] {
  const rowsOf = (operators: readonly number[], demand: number) =>
    sumOf(
      operators.map((operator) => query.operators[operator]).filter((o) => o.demand === demand).map((o) => o.rows ?? 0),
    );
  const own = new Set(stage.operators.map((operator) => query.operators[operator].demand).filter((d) => d !== null));
  return [...own].map((demand) => {
    // A sample of rows is not among what was recorded of their stage.
    const parts = stages.filter(({ output }) => output.kind !== "sample");
    const all = sumOf(parts.map(({ operators }) => rowsOf(operators, demand)));
    return { demand, weight: all === 0 ? 1 : rowsOf(stage.operators, demand) / all };
  });
}

/** A map task's result says only where its output is: as large as those of the query's other map tasks. */
function mapResultBytes({ recorded }: DemandContext): number {
  const known = recorded.jobs.filter(({ kind }) => kind === "mapStage").map(({ demand }) => recorded.demands[demand]);
  const results = known.flatMap(({ resultBytes }) => [...resultBytes]).sort((a, b) => a - b);
  return results.length === 0 ? MAP_RESULT_BYTES : results[Math.floor(results.length / 2)];
}

/** Median of a map task's result in recorded queries of Spark 3.5.9. */
const MAP_RESULT_BYTES = 2100;
