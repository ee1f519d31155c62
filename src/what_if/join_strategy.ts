/**
 * Which broadcast joins of a query stay so under other thresholds.
 *
 * @module
 */
import type { PlanOperator, QueryPlan } from "../simulator/workload.ts";
import type { SparkConf } from "../spark/conf.ts";
import { columnsOf, hashKeys, type JoinText, joinText, type PlanColumn } from "./plan_text.ts";
import { type BroadcastSide, type ChangedJoins, rowBytes } from "./planned_stages.ts";

/** Largest tables that are broadcast, bytes; -1: none is. */
export interface BroadcastThresholds {
  /** By statistics, when a query is planned. */
  readonly planned: number;
  /** By what adaptive execution measured. */
  readonly measured: number;
}

/** What becomes of a query's joins. */
export interface JoinStrategies extends ChangedJoins {
  /** How many there are of which the log does not tell. */
  readonly unknown: number;
}

/**
 * The thresholds that settings give (SQLConf.autoBroadcastJoinThreshold, ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD since
 * 3.2).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { broadcastThresholds } from "./join_strategy.ts";
 *
 * const conf = SparkConf.from({ "spark.sql.autoBroadcastJoinThreshold": "-1" }, "3.5.9");
 * assertEquals(broadcastThresholds(conf), { planned: -1, measured: -1 });
 * assertEquals(broadcastThresholds(SparkConf.from({}, "2.4.0")), { planned: 10485760, measured: -1 });
 * ```
 */
export function broadcastThresholds(conf: SparkConf): BroadcastThresholds {
  const own = "spark.sql.adaptive.autoBroadcastJoinThreshold";
  const planned = conf.getSizeAsBytes("spark.sql.autoBroadcastJoinThreshold");
  const measured = (conf.reads(own) ? conf.getSizeAsBytesOption(own) : null) ?? planned;
  return { planned, measured: conf.getBoolean("spark.sql.adaptive.enabled") ? measured : -1 };
}

/**
 * Decides for each broadcast join (JoinSelectionHelper.canBroadcastBySize). What was read from a shuffle was compared
 * with what adaptive execution measured, the bytes of the shuffle's rows; tables were planned by statistics, which a log
 * does not have: files' sizes stand for them, and rows for what a shuffle of them would measure. Hints show in no plan.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { joinStrategies } from "./join_strategy.ts";
 *
 * const op = (name: string, description: string, inputs: number[], bytes: number | null) =>
 *   ({ name, description, inputs, rows: 10, bytes, demand: 0 });
 * const operators = [
 *   op("Scan parquet", "FileScan parquet [a#1L]", [], 5e6),
 *   op("Scan parquet", "FileScan parquet [b#2L]", [], 5e3),
 *   op("BroadcastExchange", "BroadcastExchange", [1], 1e6),
 *   op("BroadcastHashJoin", "BroadcastHashJoin [a#1L], [b#2L], Inner, BuildRight, false", [0, 2], null),
 * ];
 * const from = { planned: 1e7, measured: 1e7 };
 * const to = (bytes: number) => ({ planned: bytes, measured: bytes });
 * assertEquals(joinStrategies({ executionId: 0, operators }, from, to(-1)).sortMerge, new Set([3]));
 * assertEquals(joinStrategies({ executionId: 0, operators }, from, to(1e4)).sortMerge, new Set());
 * ```
 */
export function joinStrategies(
  { operators }: QueryPlan,
  before: BroadcastThresholds,
  after: BroadcastThresholds,
): JoinStrategies {
  const sortMerge = new Set<number>();
  const broadcast = new Map<number, BroadcastSide>();
  const isRaised = after.planned > before.planned || after.measured > before.measured;
  let unknown = 0;
  for (const [index, operator] of operators.entries()) {
    const side = isRaised && operator.name === "SortMergeJoin" ? broadcastSide(operators, operator, after) : null;
    if (side !== null) broadcast.set(index, side);
    if (isProduct(operator) && before.planned >= 0 && after.planned < 0) unknown++;
    const join = operator.name === "BroadcastHashJoin" ? joinText(operator.description) : null;
    const table = operator.inputs.map((input) => operators[input]).find(({ name }) => name === "BroadcastExchange");
    // A null-aware anti join (NOT IN) is only made as a broadcast join.
    if (join === null || table === undefined || /, true$/.test(operator.description)) continue;
    const stays = staysBroadcast(operators, table, before, after);
    if (stays === false && !mayBeMeasured(operators, operator, join, after)) sortMerge.add(index);
    else if (stays !== true) unknown++;
  }
  return { sortMerge, broadcast, unknown };
}

/**
 * The side of a sort-merge join that is broadcast under higher thresholds: by statistics, which are exact for ranges and
 * at most the files' bytes for files, or by what its shuffle measured. Of two the smaller; null where none is.
 */
function broadcastSide(
  operators: readonly PlanOperator[],
  { description, inputs }: PlanOperator,
  after: BroadcastThresholds,
): BroadcastSide | null {
  const join = joinText(description);
  if (join === null || inputs.length !== 2) return null;
  const sides = buildSides(join);
  const exchanges = inputs.map((input) => exchangeBelow(operators, input));
  const smallest = (sizes: readonly number[], limit: number) => {
    const fitting = sides.filter((side) => sizes[side] <= limit).sort((a, b) => sizes[a] - sizes[b]);
    return fitting.length === 0 ? null : fitting[0];
  };
  const planned = smallest(inputs.map((input) => plannedBytes(operators, input)), after.planned);
  if (planned !== null) return { side: planned, isMeasured: false };
  const measured = smallest(exchanges.map((exchange) => exchange?.bytes ?? Infinity), after.measured);
  return measured === null ? null : { side: measured, isMeasured: true };
}

/** Inputs that may be broadcast (JoinSelectionHelper.canBuildBroadcastLeft, canBuildBroadcastRight). */
function buildSides({ type }: JoinText): number[] {
  return [
    ...(/^(Inner|Cross|RightOuter)/.test(type) ? [0] : []),
    ...(/^(RightOuter|FullOuter)/.test(type) ? [] : [1]),
  ];
}

/** A join without keys that is a product of all partitions (CartesianProductExec) where nothing may be broadcast. */
function isProduct({ name, description }: PlanOperator): boolean {
  return name === "BroadcastNestedLoopJoin" && /\b(?:Inner|Cross)\b/.test(description);
}

/** The exchange right below a side's sort. */
function exchangeBelow(operators: readonly PlanOperator[], index: number): PlanOperator | null {
  let at = operators[index];
  while (at.name === "Sort") at = operators[at.inputs[0]];
  return at.name === "Exchange" ? at : null;
}

const LONG_BYTES = 8;
const STRING_BYTES = 20;
const ID: PlanColumn = { name: "id", isText: false };

/** A row in statistics: 8 bytes and the columns' default sizes (EstimationUtils.getSizePerRow). */
function rowSize(columns: readonly PlanColumn[]): number {
  return columns.reduce((sum, { isText }) => sum + (isText ? STRING_BYTES : LONG_BYTES), LONG_BYTES);
}

/** What the statistics of a side are at most; Infinity where a log does not tell: of what is joined or aggregated. */
function plannedBytes(operators: readonly PlanOperator[], index: number): number {
  let columns: ReturnType<typeof columnsOf> = null;
  let at = operators[index];
  for (; /^(Sort|Exchange|Filter|Project)$/.test(at.name); at = operators[at.inputs[0]]) {
    columns ??= columnsOf(at.name, at.description);
  }
  if (at.inputs.length > 0) return Infinity;
  if (at.name === "Range") return (at.rows ?? Infinity) * LONG_BYTES * rowSize(columns ?? [ID]) / rowSize([ID]);
  return at.bytes ?? Infinity;
}

/** null where the log does not tell. */
function staysBroadcast(
  operators: readonly PlanOperator[],
  table: PlanOperator,
  before: BroadcastThresholds,
  after: BroadcastThresholds,
): boolean | null {
  if (after.planned >= before.planned && after.measured >= before.measured) return true;
  const source = sourceOf(operators, table);
  if (source.name === "Exchange" && before.measured >= 0) {
    // What is computed from a shuffle counts as planned, by the size that was measured (Statistics.isRuntime).
    const isMeasured = operators[table.inputs[0]] === source;
    if (!isMeasured && after.measured < 0 && after.planned >= 0) return after.planned >= before.planned ? true : null;
    return (source.bytes ?? 0) <= (isMeasured ? after.measured : after.planned);
  }
  if (after.planned >= before.planned) return true;
  const fileBytes = source.inputs.length === 0 ? source.bytes : null;
  if (after.planned >= 0 && (fileBytes ?? Infinity) <= after.planned) return true;
  return after.planned >= 0 && fileBytes === null ? null : false;
}

/** Whether adaptive execution may find a side of a shuffled join small enough to broadcast it after all. */
function mayBeMeasured(
  operators: readonly PlanOperator[],
  { inputs }: PlanOperator,
  join: JoinText,
  { measured }: BroadcastThresholds,
): boolean {
  const keysOf = [join.leftKeys, join.rightKeys];
  return buildSides(join).some((side) => measuredBytes(operators, inputs[side], keysOf[side]) <= measured);
}

/** Bytes of an operator's rows in the shuffle that a join puts above it; Infinity where it needs none. */
function measuredBytes(operators: readonly PlanOperator[], index: number, keys: readonly string[]): number {
  const top = operators[index].name === "BroadcastExchange" ? operators[operators[index].inputs[0]] : operators[index];
  if (top.name === "Exchange") return top.bytes ?? 0;
  let rows: number | null = null;
  let columns: ReturnType<typeof columnsOf> = null;
  for (let at = top;; at = operators[at.inputs[0]]) {
    rows ??= at.rows;
    columns ??= columnsOf(at.name, at.description);
    const spreadBy = at.name === "Exchange" ? hashKeys(at.description) : null;
    if (spreadBy !== null && spreadBy.length === keys.length && keys.every((key) => spreadBy.includes(key))) {
      return Infinity;
    }
    if (at.inputs.length !== 1 && rows !== null && columns !== null || at.inputs.length === 0) break;
  }
  return (rows ?? 0) * rowBytes(columns ?? []);
}

/** What a table's rows come from: the first exchange, scan or join below. */
function sourceOf(operators: readonly PlanOperator[], table: PlanOperator): PlanOperator {
  let at = operators[table.inputs[0]];
  while (at.inputs.length === 1 && at.name !== "Exchange") at = operators[at.inputs[0]];
  return at;
}
