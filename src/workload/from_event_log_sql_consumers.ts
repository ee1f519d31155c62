/**
 * The operators of Spark SQL that held execution memory in a stage, and what went into them.
 *
 * A task's accumulator updates name the operators that ran in its stage. Exchanges count records and bytes of rows
 * (UnsafeRow), which gives the size of a row wherever an operator takes rows from an exchange or gives them to one.
 *
 * @module
 */
import { keyRangeOf } from "../simulator/memory/consumers/recorded_pages.ts";
import type { Column, ConsumerDemand, ConsumerKind } from "../simulator/workload.ts";
import type { PlanNode, PlanTable } from "./from_event_log_plans.ts";
import type { AccumulatorRecord, StageAttempt } from "./from_event_log_stages.ts";

/** What {@linkcode sqlConsumers} looks at. */
export interface SqlStage {
  readonly attempts: readonly StageAttempt[];
  readonly plans: PlanTable;
  readonly numPartitions: number;
  /** Accumulators of all stages: an exchange is read in another stage than it is written in. */
  readonly accumulator: (id: number) => AccumulatorRecord | undefined;
}

/** A consumer without its place in the task's time. */
export type UnplacedConsumer = Omit<ConsumerDemand, "start" | "fillEnd" | "release"> & {
  /** Index of the consumer that is filled with what this one gives; null: what it gives is the task's output. */
  readonly readBy: number | null;
  /** It keeps its memory to the end of the task. */
  readonly toTheEnd: boolean;
  /** Index of the consumer that is filled before this one is read: the other side of a sort-merge join. */
  readonly readAfter?: number;
};

/** Words of an UnsafeRow before its fields: one bit a field. Key and value rows have their own. */
const NULL_BITS_BYTES = 8;

/** A row where no exchange tells its size. */
const ASSUMED_ROW_BYTES = 64;

/** Operators that hand on the rows of their child as they are. */
const SAME_ROWS =
  /^(WholeStageCodegen \(\d+\)|InputAdapter|AQEShuffleRead|CustomShuffleReader|ShuffleQueryStage|ReusedExchange|Filter|CoalescedShuffleReader)$/;
/** Operators that hand on as many rows as they get, in another shape. */
const AS_MANY_ROWS = /^(Project|Sort|ColumnarToRow|Window)$/;

/**
 * The memory consumers of a stage of Spark SQL, in the order in which they are filled.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { PlanTable } from "./from_event_log_plans.ts";
 * import { sqlConsumers } from "./from_event_log_sql_consumers.ts";
 *
 * const stage = { attempts: [], plans: new PlanTable(), numPartitions: 1, accumulator: () => undefined };
 * assertEquals(sqlConsumers(stage), []);
 * ```
 */
export function sqlConsumers(stage: SqlStage): UnplacedConsumer[] {
  return new SqlConsumers(stage).build();
}

class SqlConsumers {
  readonly #stage: SqlStage;
  /** Operators with metrics in this stage. */
  readonly #nodes = new Set<PlanNode>();

  constructor(stage: SqlStage) {
    this.#stage = stage;
    for (const { accumulators } of stage.attempts) {
      for (const id of accumulators.keys()) {
        const node = stage.plans.metric(id)?.node;
        if (node !== undefined) this.#nodes.add(node);
      }
    }
  }

  build(): UnplacedConsumer[] {
    const consumers: UnplacedConsumer[] = [];
    const indexOf = new Map<PlanNode, number>();
    for (const node of this.#fillOrder()) {
      const consumer = this.#consumer(node);
      if (consumer === null || !consumer.records.some((records) => records > 0)) continue;
      indexOf.set(node, consumers.length);
      consumers.push(consumer);
    }
    const readers = readersOf(indexOf);
    const sides = mergedSides(indexOf, this.#nodes);
    return consumers.map((consumer, i) => ({
      ...consumer,
      readBy: readers.get(i) ?? null,
      readAfter: sides.get(i),
    }));
  }

  /** Children before parents, left before right: so they are filled. */
  #fillOrder(): PlanNode[] {
    const order: PlanNode[] = [];
    const seen = new Set<PlanNode>();
    const visit = (node: PlanNode): void => {
      if (seen.has(node)) return;
      seen.add(node);
      for (const child of node.children) visit(child);
      if (this.#nodes.has(node)) order.push(node);
    };
    for (const executionId of new Set([...this.#nodes].map((node) => node.executionId))) {
      const root = this.#stage.plans.root(executionId);
      if (root !== undefined) visit(root);
    }
    for (const node of this.#nodes) visit(node);
    return order;
  }

  #consumer(node: PlanNode): UnplacedConsumer | null {
    switch (node.nodeName) {
      case "Sort":
        return this.#sort(node);
      case "HashAggregate":
        return this.#aggregate(node);
      case "ShuffledHashJoin":
        return this.#hashJoin(node);
      default:
        return null;
    }
  }

  #sort(node: PlanNode): UnplacedConsumer {
    const { records, source } = this.#input(node.children[0] ?? node);
    const rowBytes = this.#rowBytes(source) ?? ASSUMED_ROW_BYTES;
    return this.#make(node, "UnsafeExternalSorter", { records, rowBytes, parameters: { radixSort: radixSort(node) } });
  }

  /** Grouping without keys holds one row and takes no memory of the pool. */
  #aggregate(node: PlanNode): UnplacedConsumer | null {
    if (/\bkeys?=\[\]/.test(node.simpleString)) return null;
    const { records, source } = this.#input(node.children[0] ?? node);
    const keys = this.#column(node, "number of output rows");
    const partial = /\bpartial_/.test(node.simpleString);
    // A row of the exchange has key and buffer fields in one row; the map keeps them in two.
    const rowBytes = this.#rowBytes(partial ? this.#written(node) : source);
    const groupBytes = rowBytes === null ? ASSUMED_ROW_BYTES : rowBytes + NULL_BITS_BYTES;
    return this.#make(node, "HashAggregation", {
      records: records.map((n, p) => Math.max(n, keys[p])),
      rowBytes: groupBytes,
      keys,
      parameters: { fastMap: partial ? 1 : 0 },
    });
  }

  #hashJoin(node: PlanNode): UnplacedConsumer {
    const build = /\bBuildRight\b/.test(node.simpleString) ? 1 : 0;
    const { records, source } = this.#input(node.children[build] ?? node);
    const rowBytes = this.#rowBytes(source) ?? ASSUMED_ROW_BYTES;
    // `ShuffledHashJoin [k#1L], [k#2L], ...`: one key whose expression id says that it is a long.
    const longKey = /^ShuffledHashJoin \[\w+#\d+L\],/.test(node.simpleString) ? 1 : 0;
    const parameters = longKey === 1 ? { longKey, ...this.#keyRange(node, records, rowBytes) } : { longKey };
    return this.#make(node, "HashedRelation", { records, rowBytes, parameters, toTheEnd: true });
  }

  /** Largest less smallest key, where that shows in some partition's table. */
  #keyRange(node: PlanNode, records: Column, recordBytes: number): Readonly<Record<string, number>> {
    const sizes = this.#column(node, "data size of build side");
    const ranges = [...sizes].map((buildBytes, p) => keyRangeOf({ buildBytes, records: records[p], recordBytes }) ?? 0);
    const keyRange = Math.max(0, ...ranges);
    return keyRange > 0 ? { keyRange } : {};
  }

  #make(
    node: PlanNode,
    kind: ConsumerKind,
    figures: {
      readonly records: Column;
      readonly rowBytes: number;
      readonly keys?: Column;
      readonly parameters: Readonly<Record<string, number>>;
      readonly toTheEnd?: boolean;
    },
  ): UnplacedConsumer {
    const { records, rowBytes, keys, parameters, toTheEnd } = figures;
    return {
      kind,
      name: node.simpleString.slice(0, 80),
      tungsten: true,
      records,
      bytes: records.map((n) => Math.round(n * rowBytes)),
      absentIn: this.#absentIn(node, records),
      keys: keys ?? null,
      diskBytesPerByte: null,
      parameters,
      readBy: null,
      toTheEnd: toTheEnd ?? false,
    };
  }

  /** Partitions in which a node got no row and took no memory: it did not run there, as in the branches of a union. */
  #absentIn(node: PlanNode, records: Column): readonly number[] | null {
    const taken = this.#metric(node, "peak memory") ?? this.#metric(node, "data size of build side");
    const absent = [...records.keys()].filter((p) => records[p] === 0 && (taken === null || taken[p] <= 0));
    return absent.length === 0 ? null : absent;
  }

  /** Rows that a node hands to its parent, by partition, and the exchange they come from unchanged, if any. */
  #input(node: PlanNode): { records: Column; source: PlanNode | null } {
    let same = true;
    for (let at: PlanNode | undefined = node; at !== undefined; at = at.children[0]) {
      if (isExchange(at)) {
        return { records: this.#column(at, "records read"), source: same ? at : null };
      }
      const rows = this.#metric(at, "number of output rows");
      if (rows !== null) return { records: rows, source: same && at.nodeName === "Filter" ? sourceBelow(at) : null };
      if (!SAME_ROWS.test(at.nodeName)) same = false;
      if (!SAME_ROWS.test(at.nodeName) && !AS_MANY_ROWS.test(at.nodeName)) break;
    }
    return { records: new Float64Array(this.#stage.numPartitions), source: null };
  }

  /** The exchange that a node's rows are written to in this stage. */
  #written(node: PlanNode): PlanNode | null {
    for (const exchange of this.#nodes) {
      if (!isExchange(exchange) || this.#metric(exchange, "shuffle records written") === null) continue;
      for (let at: PlanNode | undefined = exchange.children[0]; at !== undefined; at = at.children[0]) {
        if (at === node) return exchange;
        if (!SAME_ROWS.test(at.nodeName)) break;
      }
    }
    return null;
  }

  /** Mean size of an exchange's rows, or null when it is not known. */
  #rowBytes(exchange: PlanNode | null): number | null {
    if (exchange === null) return null;
    const dataSize = this.#sum(exchange, "data size");
    const records = this.#sum(exchange, "shuffle records written");
    return records > 0 && dataSize > 0 ? dataSize / records : null;
  }

  #sum(node: PlanNode, name: string): number {
    const id = node.metrics.get(name);
    return id === undefined ? 0 : this.#stage.accumulator(id)?.sum ?? 0;
  }

  #column(node: PlanNode, name: string): Column {
    return this.#metric(node, name) ?? new Float64Array(this.#stage.numPartitions);
  }

  /** A metric's updates in this stage by partition; null when its tasks made none. */
  #metric(node: PlanNode, name: string): Column | null {
    const id = node.metrics.get(name);
    if (id === undefined) return null;
    const column = new Float64Array(this.#stage.numPartitions);
    let found = false;
    for (const { accumulators } of this.#stage.attempts) {
      const record = accumulators.get(id);
      if (record === undefined) continue;
      found = true;
      if (record.byPartition === null) column.fill(record.sum / Math.max(1, record.count));
      for (const [partition, value] of record.byPartition ?? []) {
        if (partition < column.length) column[partition] = value;
      }
    }
    return found ? column : null;
  }
}

/** Which consumer is filled with what each of the others gives: the nearest one above it in the plan. */
function readersOf(indexOf: ReadonlyMap<PlanNode, number>): Map<number, number> {
  const readers = new Map<number, number>();
  const visit = (node: PlanNode, reader: number): void => {
    for (const child of node.children) {
      const index = indexOf.get(child);
      if (index === undefined) visit(child, reader);
      else if (!readers.has(index)) readers.set(index, reader);
    }
  };
  for (const [node, index] of [...indexOf].reverse()) visit(node, index);
  return readers;
}

/** A sort-merge join reads its left side, but for the first row, when the right one has been sorted. */
function mergedSides(indexOf: ReadonlyMap<PlanNode, number>, nodes: Iterable<PlanNode>): Map<number, number> {
  const sides = new Map<number, number>();
  for (const { nodeName, children } of nodes) {
    if (nodeName !== "SortMergeJoin" || children.length !== 2) continue;
    const [left, right] = children.map((child) => sortBelow(child, indexOf));
    if (left !== undefined && right !== undefined) sides.set(left, right);
  }
  return sides;
}

/** The consumer whose rows a node hands on as they are. */
function sortBelow(node: PlanNode, indexOf: ReadonlyMap<PlanNode, number>): number | undefined {
  for (let at: PlanNode | undefined = node; at !== undefined; at = at.children[0]) {
    const index = indexOf.get(at);
    if (index !== undefined) return index;
    if (!SAME_ROWS.test(at.nodeName) && !AS_MANY_ROWS.test(at.nodeName)) return undefined;
  }
  return undefined;
}

function isExchange(node: PlanNode): boolean {
  return node.nodeName === "Exchange" || node.nodeName === "ShuffleExchange";
}

function sourceBelow(node: PlanNode): PlanNode | null {
  for (let at: PlanNode | undefined = node.children[0]; at !== undefined; at = at.children[0]) {
    if (isExchange(at)) return at;
    if (!SAME_ROWS.test(at.nodeName)) return null;
  }
  return null;
}

/**
 * 1 where SortExec sorts by radix: one column whose 8-byte prefix decides (SortPrefixUtils.canSortFullyWithPrefix). Of
 * its type a plan tells no more than that an expression id with an L is a long.
 */
function radixSort(node: PlanNode): number {
  const order = /^Sort \[(.*?)\], (?:true|false), \d+$/.exec(node.simpleString)?.[1] ?? "";
  return /^\w+#\d+L (?:ASC|DESC)(?: NULLS (?:FIRST|LAST))?$/.test(order) ? 1 : 0;
}
