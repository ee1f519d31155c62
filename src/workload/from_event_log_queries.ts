/**
 * The plans of an event log's queries, with what ran where.
 *
 * @module
 */
import type { PlanOperator, QueryPlan } from "../simulator/workload.ts";
import type { PlanNode, PlanTable } from "./from_event_log_plans.ts";
import type { AccumulatorRecord, StageAttempt } from "./from_event_log_stages.ts";

/** What {@linkcode queriesOf} looks at. */
export interface QueryFindings {
  readonly plans: PlanTable;
  /** Accumulators of all stages. */
  readonly accumulator: (id: number) => AccumulatorRecord | undefined;
  /** By demand, those of map stages first: what a job for a sample runs of them again is theirs. */
  readonly attempts: readonly (readonly StageAttempt[])[];
}

/** Nodes that only wrap others: code generation and the stages of adaptive execution. */
const WRAPPER =
  /^(WholeStageCodegen \(\d+\)|InputAdapter|AdaptiveSparkPlan|\w*QueryStage|ReusedExchange|AQEShuffleRead|CustomShuffleReader|CoalescedShuffleReader|ColumnarToRow)$/;
/** Plans of their own, whose one value an operator uses. */
const SUBQUERY = /^(Reused)?Subquery/;
const JOIN = /Join$/;
/** Metrics of an exchange that its map side updates; the others are the reader's. */
const WRITTEN = /^(data size|shuffle records written|shuffle bytes written)$/;

/**
 * Plans of the queries that join tables: only they can become others by a setting that a what-if knows.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { PlanTable } from "./from_event_log_plans.ts";
 * import { queriesOf } from "./from_event_log_queries.ts";
 *
 * assertEquals(queriesOf({ plans: new PlanTable(), accumulator: () => undefined, attempts: [] }), []);
 * ```
 */
export function queriesOf(findings: QueryFindings): QueryPlan[] {
  const demandOf = demandsByMetric(findings);
  return [...findings.plans.roots()]
    .map(([executionId, root]) => ({ executionId, operators: new Operators(findings, demandOf).add(root) }))
    .filter(({ operators }) => operators.some(({ name }) => JOIN.test(name)));
}

/** Demand in whose tasks an accumulator was updated first. */
function demandsByMetric({ attempts, plans }: QueryFindings): Map<number, number> {
  const demandOf = new Map<number, number>();
  for (const [demand, ofDemand] of attempts.entries()) {
    for (const { accumulators } of ofDemand) {
      for (const id of accumulators.keys()) {
        if (!demandOf.has(id) && plans.metric(id) !== undefined) demandOf.set(id, demand);
      }
    }
  }
  return demandOf;
}

class Operators {
  readonly #findings: QueryFindings;
  readonly #demandOf: ReadonlyMap<number, number>;
  readonly #operators: PlanOperator[] = [];
  /** By an accumulator of theirs: a plan describes what it reuses again. */
  readonly #indices = new Map<number, number>();

  constructor(findings: QueryFindings, demandOf: ReadonlyMap<number, number>) {
    this.#findings = findings;
    this.#demandOf = demandOf;
  }

  add(root: PlanNode): readonly PlanOperator[] {
    this.#visit(root);
    return this.#operators;
  }

  #visit(node: PlanNode): number {
    if (WRAPPER.test(node.nodeName) && node.children.length > 0) return this.#visit(node.children[0]);
    const ids = [...node.metrics.values()];
    const known = ids.map((id) => this.#indices.get(id)).find((index) => index !== undefined);
    if (known !== undefined) return known;
    const inputs = node.children.filter(({ nodeName }) => !SUBQUERY.test(nodeName)).map((child) => this.#visit(child));
    const index = this.#operators.push({
      name: node.nodeName.trim(),
      description: node.simpleString,
      inputs,
      rows: this.#value(node, "number of output rows") ?? this.#value(node, "shuffle records written"),
      bytes: this.#value(node, "data size") ?? this.#value(node, "size of files read"),
      demand: this.#demand(node),
    }) - 1;
    for (const id of ids) this.#indices.set(id, index);
    return index;
  }

  #value(node: PlanNode, name: string): number | null {
    const id = node.metrics.get(name);
    if (id === undefined) return null;
    return this.#findings.plans.driverValue(id) ?? this.#findings.accumulator(id)?.sum ?? null;
  }

  #demand(node: PlanNode): number | null {
    const isExchange = /Exchange$/.test(node.nodeName);
    for (const [name, id] of node.metrics) {
      const demand = isExchange && !WRITTEN.test(name) ? undefined : this.#demandOf.get(id);
      if (demand !== undefined) return demand;
    }
    return null;
  }
}
