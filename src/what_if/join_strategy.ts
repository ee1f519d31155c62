/**
 * Which broadcast joins of a query stay so under other thresholds.
 *
 * @module
 */
import type { PlanOperator, QueryPlan } from "../simulator/workload.ts";
import type { SparkConf } from "../spark/conf.ts";
import { columnsOf, hashKeys, type JoinText, joinText } from "./plan_text.ts";
import { rowBytes } from "./planned_stages.ts";

/** Largest tables that are broadcast, bytes; -1: none is. */
export interface BroadcastThresholds {
  /** By statistics, when a query is planned. */
  readonly planned: number;
  /** By what adaptive execution measured. */
  readonly measured: number;
}

/** What becomes of a query's broadcast joins. */
export interface JoinStrategies {
  /** Indices of those that become sort-merge joins. */
  readonly sortMerge: ReadonlySet<number>;
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
  let unknown = 0;
  for (const [index, operator] of operators.entries()) {
    const join = operator.name === "BroadcastHashJoin" ? joinText(operator.description) : null;
    const table = operator.inputs.map((input) => operators[input]).find(({ name }) => name === "BroadcastExchange");
    if (join === null || table === undefined) continue;
    const stays = staysBroadcast(operators, table, before, after);
    if (stays === false && !mayBeMeasured(operators, operator, join, after)) sortMerge.add(index);
    else if (stays !== true) unknown++;
  }
  return { sortMerge, unknown };
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
  const canBeLeft = /^(Inner|Cross|RightOuter)/.test(join.type);
  const canBeRight = !/^(RightOuter|FullOuter)/.test(join.type);
  const { leftKeys, rightKeys } = join;
  const [left, right] = [leftKeys, rightKeys].map((keys, side) =>
    measuredBytes(operators, inputs[side], keys) <= measured
  );
  return canBeLeft && left || canBeRight && right;
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
