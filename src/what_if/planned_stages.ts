/**
 * The stages of a query some of whose joins are planned otherwise.
 *
 * Both sides of a sort-merge join are spread by its keys, through an exchange where they are not yet
 * (EnsureRequirements), and sorted. What was one stage up to the exchange above its joins becomes a stage for each
 * side and for each join; an aggregation by more than the keys needs no exchange of its own any more.
 *
 * The other way round one side's rows are collected for a broadcast and the other's pass on to what is above the join,
 * either as they are read from the tables, when statistics say so, or from shuffles that are written already, when
 * adaptive execution finds one small: those are then read by map task (OptimizeShuffleWithLocalRead) unless what is
 * above needs them by key.
 *
 * @module
 */
import type { QueryPlan } from "../simulator/workload.ts";
import { columnsOf, groupingKeys, hashKeys, joinText, type PlanColumn, sortKeys } from "./plan_text.ts";

/** Where a stage's rows go. */
export type StageOutput =
  | {
    readonly kind: "shuffle";
    /** The plan's own exchange; null: one that the rewriting put in. */
    readonly exchange: number | null;
    readonly rows: number;
    /** Bytes of the rows in memory. */
    readonly bytes: number;
  }
  | {
    readonly kind: "broadcast";
    /** As for a shuffle. */
    readonly exchange: number | null;
    readonly rows: number;
    readonly bytes: number;
  }
  | {
    /** Rows of an exchange by ranges, which are read once before to find the ranges (RangePartitioner). */
    readonly kind: "sample";
    readonly exchange: number;
  }
  | { readonly kind: "result" };

/** A side of a sort-merge join that was not in order. */
export interface PlannedSort {
  /** Index of the join. */
  readonly join: number;
  /** Which of its inputs: 0 or 1. */
  readonly side: number;
  readonly keys: readonly string[];
  readonly rows: number;
  readonly rowBytes: number;
}

/** A stage with the operators that it runs. */
export interface PlannedStage {
  /** Indices among the query's operators, in the order in which rows pass. */
  readonly operators: readonly number[];
  /** Map stages whose output it reads; without any it reads tables. */
  readonly reads: readonly PlannedStage[];
  /** Stages whose rows it gets as broadcast tables. */
  readonly broadcasts: readonly PlannedStage[];
  readonly sorts: readonly PlannedSort[];
  /** The stage that samples its rows, which ends before it begins. */
  readonly sample?: PlannedStage;
  readonly output: StageOutput;
  /** It is not the stage that was recorded. */
  readonly changed: boolean;
  /** It reads a shuffle by map task, not by key. */
  readonly readsLocally: boolean;
}

/** A sort-merge join that becomes a broadcast join. */
export interface BroadcastSide {
  /** Which input is broadcast: 0 or 1. */
  readonly side: number;
  /** Both are shuffled all the same: adaptive execution decided by what that measured. */
  readonly isMeasured: boolean;
}

/** Joins that are planned otherwise, by their indices. */
export interface ChangedJoins {
  /** Broadcast joins that become sort-merge joins. */
  readonly sortMerge: ReadonlySet<number>;
  readonly broadcast: ReadonlyMap<number, BroadcastSide>;
}

/** A plan with more operators, or that reads the same ones over and over, is not rewritten. */
const MAX_OPERATORS = 2000;
const MAX_VISITS = 4 * MAX_OPERATORS;
const MAX_COLUMNS = 10_000;

/** Operators that need their rows by key. */
const BY_KEY = /^(SortMergeJoin|ShuffledHashJoin|Window)$/;

/** What is known of a text's length: StringType.defaultSize, to whole words. */
const TEXT_BYTES = 24;
const WORD_BYTES = 8;

/**
 * A row as an UnsafeRow: a word for its null bits, one for each column, and the texts behind them.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rowBytes } from "./planned_stages.ts";
 *
 * assertEquals(rowBytes([{ name: "k#1L", isText: false }, { name: "v#2", isText: true }]), 48);
 * ```
 */
export function rowBytes(columns: readonly PlanColumn[]): number {
  const nullBits = Math.ceil(columns.length / 64) * WORD_BYTES;
  return columns.reduce((sum, { isText }) => sum + WORD_BYTES + (isText ? TEXT_BYTES : 0), nullBits);
}

/**
 * Rewrites a query.
 *
 * @returns Its stages, those that are read before their readers; null where the plan has what is not understood.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { plannedStages } from "./planned_stages.ts";
 *
 * const op = (name: string, description: string, inputs: number[], demand: number | null) =>
 *   ({ name, description, inputs, rows: 10, bytes: null, demand });
 * const operators = [
 *   op("Scan parquet", "FileScan parquet [a#1L]", [], 0),
 *   op("Scan parquet", "FileScan parquet [b#2L]", [], 1),
 *   op("BroadcastExchange", "BroadcastExchange HashedRelationBroadcastMode", [1], null),
 *   op("BroadcastHashJoin", "BroadcastHashJoin [a#1L], [b#2L], Inner, BuildRight, false", [0, 2], 0),
 * ];
 * const joins = { sortMerge: new Set([3]), broadcast: new Map() };
 * const stages = plannedStages({ executionId: 0, operators }, joins)!;
 * assertEquals(stages.map(({ output, operators }) => [output.kind, operators]), [
 *   ["shuffle", [0]], ["shuffle", [1]], ["result", [3]],
 * ]);
 * ```
 */
export function plannedStages(query: QueryPlan, joins: ChangedJoins): readonly PlannedStage[] | null {
  return new Planner(query, joins).plan();
}

/** Rows on their way through a stage that has not ended yet. */
interface Flow {
  readonly operators: readonly number[];
  readonly reads: readonly PlannedStage[];
  readonly broadcasts: readonly PlannedStage[];
  readonly sorts: readonly PlannedSort[];
  readonly changed: boolean;
  /** Keys by whose hash rows are spread: by any of these lists. */
  readonly partitionings: readonly (readonly string[])[];
  /** Columns by which they are in order: by any of these lists. */
  readonly orderings: readonly (readonly string[])[];
  readonly rows: number;
  readonly columns: readonly PlanColumn[];
}

const EMPTY = { operators: [], reads: [], broadcasts: [], sorts: [], changed: false, partitionings: [], orderings: [] };

class Planner {
  readonly #query: QueryPlan;
  readonly #joins: ChangedJoins;
  readonly #stages: PlannedStage[] = [];
  #visits = 0;
  /** Stages that end in an exchange, by it: what is reused is one stage. */
  readonly #ended = new Map<string, PlannedStage>();
  /** Of the rows that a stage gives. */
  readonly #columns = new Map<PlannedStage, readonly PlanColumn[]>();

  constructor(query: QueryPlan, joins: ChangedJoins) {
    this.#query = query;
    this.#joins = joins;
  }

  plan(): readonly PlannedStage[] | null {
    if (this.#query.operators.length > MAX_OPERATORS) return null;
    const flow = this.#flow(this.#query.operators.length - 1);
    if (flow === null) return null;
    this.#end(flow, { kind: "result" });
    return this.#stages;
  }

  #flow(index: number): Flow | null {
    if (++this.#visits > MAX_VISITS) return null;
    const flow = this.#operator(index);
    return flow === null || flow.columns.length > MAX_COLUMNS || flow.partitionings.length > MAX_COLUMNS ? null : flow;
  }

  #operator(index: number): Flow | null {
    const { name, inputs } = this.#query.operators[index];
    if (inputs.length === 0) return this.#scan(index);
    if (/^(Shuffle)?Exchange$/.test(name)) return this.#exchange(index);
    if (this.#joins.sortMerge.has(index)) return this.#sortMergeJoin(index);
    const side = this.#joins.broadcast.get(index);
    if (side !== undefined) return this.#newBroadcastJoin(index, side);
    if (/^Broadcast\w*Join$/.test(name)) return this.#broadcastJoin(index);
    if (/^(SortMergeJoin|ShuffledHashJoin)$/.test(name)) return this.#shuffledJoin(index);
    return inputs.length === 1 && name !== "BroadcastExchange" ? this.#unary(index) : null;
  }

  #scan(index: number): Flow {
    const { name, description, rows } = this.#query.operators[index];
    return { ...EMPTY, operators: [index], rows: rows ?? 0, columns: columnsOf(name, description) ?? [] };
  }

  #unary(index: number): Flow | null {
    const { name, description, rows, inputs } = this.#query.operators[index];
    const child = this.#flow(inputs[0]);
    if (child === null) return null;
    const lacks = this.#query.operators[inputs[0]].name !== "Exchange" && isFinal(name, description) &&
      !isSpread(child, groupingKeys(description));
    if (child.changed && lacks) return null;
    return {
      ...child,
      operators: [...child.operators, index],
      orderings: name === "Sort" ? [sortKeys(description)] : /Aggregate$/.test(name) ? [] : child.orderings,
      rows: rows ?? child.rows,
      columns: columnsOf(name, description) ?? child.columns,
    };
  }

  #exchange(index: number): Flow | null {
    const { description, rows, bytes, inputs } = this.#query.operators[index];
    const keys = hashKeys(description);
    let stage = this.#ended.get(`${index}`);
    if (stage === undefined) {
      const child = this.#flow(inputs[0]);
      if (child === null) return null;
      if (child.changed && keys !== null && this.#isNeedless(index, child, keys)) return child;
      const size = bytes ?? child.rows * rowBytes(child.columns);
      const output = { kind: "shuffle" as const, exchange: index, rows: rows ?? child.rows, bytes: size };
      const isSampled = child.changed && /rangepartitioning/.test(description);
      const sample = isSampled ? this.#end(child, { kind: "sample", exchange: index }) : undefined;
      stage = this.#end(child, output, sample);
      this.#ended.set(`${index}`, stage);
      this.#columns.set(stage, child.columns);
    }
    return {
      ...EMPTY,
      reads: [stage],
      partitionings: keys === null ? [] : [keys],
      rows: rows ?? 0,
      columns: this.#columns.get(stage) ?? [],
    };
  }

  /**
   * Whether rows come as an exchange would spread them: by some of its keys, or by all where a join reads them
   * (EnsureRequirements). One that the program asked for stays.
   */
  #isNeedless(index: number, flow: Flow, keys: readonly string[]): boolean {
    const { operators } = this.#query;
    if (/\b(?:REPARTITION|REBALANCE)_/.test(operators[index].description)) return false;
    let reader = operators.find(({ inputs }) => inputs.includes(index));
    while (reader?.name === "Sort") {
      reader = operators.find(({ inputs }) => inputs.includes(operators.indexOf(reader!)));
    }
    const isJoined = /^(SortMergeJoin|ShuffledHashJoin)$/.test(reader?.name ?? "");
    return isJoined ? flow.partitionings.some((list) => sameSet(list, keys)) : isSpread(flow, keys);
  }

  #broadcastJoin(index: number): Flow | null {
    const { inputs, rows, name, description } = this.#query.operators[index];
    const build = inputs.findIndex((input) => this.#query.operators[input].name === "BroadcastExchange");
    if (build < 0 || inputs.length !== 2) return null;
    const probe = this.#flow(inputs[1 - build]);
    const table = this.#broadcast(inputs[build]);
    if (probe === null || table === null) return null;
    const type = joinText(description)?.type ?? name;
    const ofTable = /Semi|Anti|Existence/.test(type) ? [] : this.#columns.get(table) ?? [];
    return {
      ...probe,
      operators: [...probe.operators, index],
      broadcasts: [...probe.broadcasts, table],
      rows: rows ?? probe.rows,
      columns: build === 0 ? [...ofTable, ...probe.columns] : [...probe.columns, ...ofTable],
    };
  }

  #broadcast(index: number): PlannedStage | null {
    const known = this.#ended.get(`${index}`);
    if (known !== undefined) return known;
    const child = this.#flow(this.#query.operators[index].inputs[0]);
    if (child === null) return null;
    const bytes = child.rows * rowBytes(child.columns);
    const stage = this.#end(child, { kind: "broadcast", exchange: index, rows: child.rows, bytes });
    this.#ended.set(`${index}`, stage);
    this.#columns.set(stage, child.columns);
    return stage;
  }

  #shuffledJoin(index: number): Flow | null {
    const { inputs, description } = this.#query.operators[index];
    const join = joinText(description);
    const [left, right] = inputs.map((input) => this.#flow(input));
    if (join === null || left === null || right === null) return null;
    const lacks = (flow: Flow, keys: readonly string[]) =>
      flow.changed && !flow.partitionings.some((list) => sameSet(list, keys));
    if (lacks(left, join.leftKeys) || lacks(right, join.rightKeys)) return null;
    return this.#joined(index, left, right);
  }

  #newBroadcastJoin(index: number, { side, isMeasured }: BroadcastSide): Flow | null {
    const { inputs, rows, description } = this.#query.operators[index];
    const [build, probe] = [inputs[side], inputs[1 - side]].map((input) => this.#flow(this.#below(input, isMeasured)));
    if (build === null || probe === null || inputs.length !== 2) return null;
    const size = build.rows * rowBytes(build.columns);
    const table = this.#end({ ...build, changed: true }, {
      kind: "broadcast",
      exchange: null,
      rows: build.rows,
      bytes: size,
    });
    const ofTable = /Semi|Anti|Existence/.test(joinText(description)?.type ?? "") ? [] : build.columns;
    return {
      ...probe,
      operators: [...probe.operators, index],
      broadcasts: [...probe.broadcasts, table],
      changed: true,
      orderings: [],
      rows: rows ?? probe.rows,
      columns: side === 0 ? [...ofTable, ...probe.columns] : [...probe.columns, ...ofTable],
    };
  }

  /** A side of a sort-merge join without its sort, and without its exchange unless that was written already. */
  #below(index: number, isMeasured: boolean): number {
    const { name, inputs } = this.#query.operators[index];
    if (name === "Sort" || !isMeasured && name === "Exchange") return this.#below(inputs[0], isMeasured);
    return index;
  }

  #sortMergeJoin(index: number): Flow | null {
    const { operators } = this.#query;
    const join = joinText(operators[index].description);
    if (join === null) return null;
    const keys = [join.leftKeys, join.rightKeys];
    const sides = operators[index].inputs.map((input, side) => {
      const below = operators[input].name === "BroadcastExchange" ? operators[input].inputs[0] : input;
      const flow = this.#flow(below);
      return flow === null ? null : this.#sorted(this.#spread(flow, keys[side], below), keys[side], [index, side]);
    });
    const [left, right] = sides;
    if (left === null || right === null) return null;
    return this.#joined(index, { ...left, changed: true }, right);
  }

  /** One side of a join, through an exchange unless it is spread by exactly the join's keys. */
  #spread(flow: Flow, keys: readonly string[], index: number): Flow {
    if (flow.partitionings.some((list) => sameSet(list, keys)) || this.#renames(flow, keys)) return flow;
    const place = `${index} by ${keys.map((key) => key.replace(/#\d+L?/g, "")).join()}`;
    let stage = this.#ended.get(place);
    if (stage === undefined) {
      const { rows, columns } = flow;
      const output = { kind: "shuffle" as const, exchange: null, rows, bytes: rows * rowBytes(columns) };
      stage = this.#end({ ...flow, changed: true }, output);
      this.#ended.set(place, stage);
    }
    return { ...EMPTY, reads: [stage], partitionings: [keys], rows: flow.rows, columns: flow.columns };
  }

  /** An aggregation gives its keys other names without showing it: those that no column has are its keys. */
  #renames({ operators, partitionings, columns }: Flow, keys: readonly string[]): boolean {
    const last = operators.at(-1);
    if (last === undefined || !/Aggregate$/.test(this.#query.operators[last].name)) return false;
    return partitionings.some(({ length }) => length === keys.length) &&
      keys.every((key) => columns.every(({ name }) => name !== key));
  }

  #sorted(flow: Flow, keys: readonly string[], [join, side]: readonly [number, number]): Flow {
    if (flow.orderings.some((list) => keys.every((key, i) => list[i] === key))) return flow;
    const sort = { join, side, keys, rows: flow.rows, rowBytes: rowBytes(flow.columns) };
    return { ...flow, sorts: [...flow.sorts, sort], orderings: [keys] };
  }

  /** Rows of a join whose sides one stage reads. */
  #joined(index: number, left: Flow, right: Flow): Flow {
    const { description, rows } = this.#query.operators[index];
    const { leftKeys, rightKeys, type } = joinText(description)!;
    const keepsLeft = /^(Inner|Cross|LeftOuter|LeftSemi|LeftAnti|ExistenceJoin)/.test(type);
    const keepsRight = /^(Inner|Cross|RightOuter)/.test(type);
    const isFilter = /^(LeftSemi|LeftAnti|ExistenceJoin)/.test(type);
    return {
      operators: [...left.operators, ...right.operators, index],
      reads: [...new Set([...left.reads, ...right.reads])],
      broadcasts: [...left.broadcasts, ...right.broadcasts],
      sorts: [...left.sorts, ...right.sorts],
      changed: left.changed || right.changed,
      partitionings: [
        ...keepsLeft ? [leftKeys, ...left.partitionings] : [],
        ...keepsRight ? [rightKeys, ...right.partitionings] : [],
      ],
      orderings: [...keepsLeft ? [leftKeys] : [], ...keepsRight ? [rightKeys] : []],
      rows: rows ?? Math.max(left.rows, right.rows),
      columns: isFilter ? left.columns : [...left.columns, ...right.columns],
    };
  }

  #end(flow: Flow, output: StageOutput, sample?: PlannedStage): PlannedStage {
    const { operators, reads, broadcasts, sorts, changed } = flow;
    const joinsBroadcast = operators.some((operator) => this.#joins.broadcast.has(operator)) ||
      operators.length === 0 && output.kind === "broadcast";
    const byKey = operators.map((operator) => this.#query.operators[operator])
      .some(({ name, description }, i) =>
        BY_KEY.test(name) && !this.#joins.broadcast.has(operators[i]) || isFinal(name, description)
      );
    const readsLocally = changed && joinsBroadcast && reads.length === 1 && !byKey;
    const sampled = sample === undefined ? {} : { sample };
    const stage = { operators, reads, broadcasts, sorts, ...sampled, output, changed, readsLocally };
    this.#stages.push(stage);
    return stage;
  }
}

/** Whether an aggregation needs all rows of a key. */
function isFinal(name: string, description: string): boolean {
  return /Aggregate$/.test(name) && groupingKeys(description).length > 0 && !/\bpartial_|\bmerge_/.test(description);
}

/** Whether rows are spread by some of these keys. */
function isSpread({ partitionings }: Flow, keys: readonly string[]): boolean {
  return partitionings.some((list) => list.length > 0 && list.every((key) => keys.includes(key)));
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key) => b.includes(key));
}
