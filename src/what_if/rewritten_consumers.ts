/**
 * The memory consumers of a rewritten query's stage: those that its operators had where they ran, and the sorts of joins
 * that were none.
 *
 * @module
 */
import type { Column, ConsumerDemand, QueryPlan } from "../simulator/workload.ts";
import { placeConsumers } from "../workload/from_event_log_consumer_times.ts";
import type { UnplacedConsumer } from "../workload/from_event_log_sql_consumers.ts";
import type { PlannedSort, PlannedStage } from "./planned_stages.ts";
import { type RecordedStages, sumOf } from "./recorded_stages.ts";
import { spread, spreadConsumer } from "./spread_work.ts";

/** What {@linkcode stageConsumers} goes by. */
export interface ConsumerContext {
  readonly query: QueryPlan;
  readonly recorded: RecordedStages;
  /** Of each task in the stage's rows. */
  readonly shares: Column;
}

/** Names of consumers are cut off here. */
const NAME_LENGTH = 80;

/** A consumer and where it is in the plan. */
interface Held {
  readonly consumer: UnplacedConsumer;
  /** Its operator; null for a sort that the plan did not have. */
  readonly operator: number | null;
  readonly sort: PlannedSort | null;
}

/**
 * In the order in which they are filled, each let go when the next one above it has been filled.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { RecordedStages } from "./recorded_stages.ts";
 * import { stageConsumers } from "./rewritten_consumers.ts";
 *
 * const operators = [{ name: "SortMergeJoin", description: "", inputs: [], rows: 1, bytes: null, demand: null }];
 * const query = { executionId: 0, operators };
 * const sort = (side: number) => ({ join: 0, side, keys: ["k#1L"], rows: 60, rowBytes: 24 });
 * const stage = {
 *   operators: [0], reads: [], broadcasts: [], sorts: [sort(0), sort(1)], output: { kind: "result" as const },
 *   changed: true, readsLocally: false,
 * };
 * const recorded = new RecordedStages(emptyWorkload("nothing"), query);
 * const [left, right] = stageConsumers(stage, { query, recorded, shares: Float64Array.of(0.5, 0.5) });
 * assertEquals([...left.bytes], [720, 720]);
 * assertEquals([left.parameters.readFrom, right.release], [right.fillEnd, 1]);
 * ```
 */
export function stageConsumers(stage: PlannedStage, context: ConsumerContext): readonly ConsumerDemand[] {
  const held = heldIn(stage, context);
  return placeConsumers(held.map(({ consumer, operator, sort }, i) => {
    const { readFrom: _readFrom, ...parameters } = consumer.parameters;
    const readAfter = sort === null ? readAfterSide(held, i) : otherSide(held, sort);
    return {
      ...consumer,
      parameters,
      readBy: readerOf(sort?.join ?? operator!, sort !== null, { held, query: context.query }),
      ...readAfter === null ? {} : { readAfter },
    };
  }));
}

function heldIn(stage: PlannedStage, { query: { operators }, recorded, shares }: ConsumerContext): Held[] {
  const held: Held[] = [];
  for (const operator of stage.operators) {
    for (const sort of stage.sorts) {
      if (sort.join === operator) held.push({ consumer: sortConsumer(sort, shares), operator: null, sort });
    }
    const { demand, description } = operators[operator];
    if (demand === null) continue;
    const name = description.slice(0, NAME_LENGTH);
    for (const recordedOne of recorded.demands[demand].consumers) {
      const isRelation = recordedOne.parameters.broadcast === 1;
      if (recordedOne.name !== name && !(isRelation && stage.broadcasts.length > 0)) continue;
      if (held.some(({ consumer }) => consumer.name === recordedOne.name)) continue;
      const { start: _start, fillEnd: _fillEnd, release: _release, ...rest } = spreadConsumer(recordedOne, shares);
      const bytes = isRelation ? relationBytes(stage, operators, shares) : rest.bytes;
      const toTheEnd = rest.kind === "HashedRelation";
      held.push({ consumer: { ...rest, bytes, readBy: null, toTheEnd }, operator, sort: null });
    }
  }
  return held;
}

/** Index of the nearest consumer above an operator, or at it; null where there is none in the stage. */
function readerOf(
  from: number,
  isIncluded: boolean,
  { held, query: { operators } }: { readonly held: readonly Held[]; readonly query: QueryPlan },
): number | null {
  const at = (operator: number) => held.findIndex((other) => other.operator === operator);
  let below = from;
  if (isIncluded && at(from) >= 0) return at(from);
  for (let above = parentOf(operators, below); above !== -1; above = parentOf(operators, below)) {
    const side = operators[above].inputs.indexOf(below);
    const sorted = held.findIndex(({ sort }) => sort !== null && sort.join === above && sort.side === side);
    if (sorted >= 0) return sorted;
    if (at(above) >= 0) return at(above);
    below = above;
  }
  return null;
}

function parentOf(operators: QueryPlan["operators"], operator: number): number {
  return operators.findIndex(({ inputs }) => inputs.includes(operator));
}

/** The right side of a join whose left one this is: that is read, but for its first row, when the right one is in order. */
function otherSide(held: readonly Held[], { join, side }: PlannedSort): number | null {
  const right = side === 0 ? held.findIndex(({ sort }) => sort?.join === join && sort.side === 1) : -1;
  return right < 0 ? null : right;
}

/** The same of a join that was a sort-merge join already. */
function readAfterSide(held: readonly Held[], left: number): number | null {
  if (held[left].consumer.parameters.readFrom === undefined) return null;
  const right = held.findIndex(({ consumer, sort }, i) =>
    i > left && sort === null && consumer.kind === "UnsafeExternalSorter"
  );
  return right < 0 ? null : right;
}

function sortConsumer({ keys, rows, rowBytes }: PlannedSort, shares: Column): UnplacedConsumer {
  const [key, ...others] = keys;
  return {
    kind: "UnsafeExternalSorter",
    name: `Sort [${keys.join(", ")}]`.slice(0, NAME_LENGTH),
    tungsten: true,
    records: spread(Float64Array.of(rows), shares),
    bytes: spread(Float64Array.of(Math.round(rows * rowBytes)), shares),
    absentIn: null,
    keys: null,
    diskBytesPerByte: null,
    parameters: { radixSort: others.length === 0 && /#\d+L$/.test(key) ? 1 : 0 },
    readBy: null,
    toTheEnd: false,
  };
}

/** Each task reads all tables that are still broadcast. */
function relationBytes(stage: PlannedStage, operators: QueryPlan["operators"], shares: Column): Column {
  const bytes = stage.broadcasts.map(({ output }) =>
    output.kind !== "broadcast" ? 0 : output.exchange === null ? output.bytes : operators[output.exchange].bytes ?? 0
  );
  return new Float64Array(shares.length).fill(sumOf(bytes));
}
