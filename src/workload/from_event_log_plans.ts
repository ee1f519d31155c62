/**
 * The physical plans of an event log's SQL executions, found by the accumulators of their metrics.
 *
 * @module
 */
import type { SparkPlanInfo } from "../spark/events.ts";
import { queryDescription } from "../spark/plan_name.ts";

/** One operator of a plan. */
export interface PlanNode {
  readonly executionId: number;
  readonly nodeName: string;
  readonly simpleString: string;
  readonly children: readonly PlanNode[];
  /** Accumulator ids by metric name. */
  readonly metrics: ReadonlyMap<string, number>;
}

/** An accumulator is a metric of a node. */
export interface PlanMetric {
  readonly node: PlanNode;
  readonly name: string;
}

/** Before Spark 3.0 sizes and times were named with what the page showed of them. */
const OLD_METRIC_SUFFIX = " total (min, med, max)";

/**
 * Plans by accumulator. Adaptive execution describes a plan again at every change; the operators of a stage keep the
 * accumulators that they ran with, so a later description of the same accumulator wins.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { PlanTable } from "./from_event_log_plans.ts";
 *
 * const plans = new PlanTable();
 * const metrics = [{ name: "peak memory", accumulatorId: 7, metricType: "size" }];
 * plans.add(0, { nodeName: "Sort", simpleString: "Sort [k#1L ASC]", children: [], metrics });
 * assertEquals(plans.metric(7)?.node.nodeName, "Sort");
 * ```
 */
export class PlanTable {
  readonly #byAccumulator = new Map<number, PlanMetric>();
  readonly #driverValues = new Map<number, number>();
  readonly #roots = new Map<number, PlanNode>();
  readonly #descriptions = new Map<number, string>();

  /** What the job of an execution is called; null for an execution that the log does not describe. */
  description(executionId: number): string | null {
    const description = this.#descriptions.get(executionId);
    return description === undefined
      ? null
      : queryDescription(executionId, this.root(executionId) ?? null, description);
  }

  /** Notes what Spark says of an execution. */
  describe(executionId: number, description: string): void {
    this.#descriptions.set(executionId, description);
  }

  add(executionId: number, plan: SparkPlanInfo): void {
    this.#roots.set(executionId, this.#node(executionId, plan));
  }

  driverUpdates(updates: readonly (readonly [id: number, value: number])[]): void {
    for (const [id, value] of updates) this.#driverValues.set(id, value);
  }

  /** The metric that an accumulator counts; undefined when no plan names it. */
  metric(accumulatorId: number): PlanMetric | undefined {
    return this.#byAccumulator.get(accumulatorId);
  }

  /** A metric's value that the driver set (sizes of files and broadcasts). */
  driverValue(accumulatorId: number): number | undefined {
    return this.#driverValues.get(accumulatorId);
  }

  /** Partitions that an exchange writes: as the driver counted them (from 3.0), or as its description says. */
  exchangePartitions(node: PlanNode): number | null {
    if (!/Exchange$/.test(node.nodeName) || node.nodeName === "BroadcastExchange") return null;
    const counted = node.metrics.get("number of partitions");
    const value = counted === undefined ? undefined : this.#driverValues.get(counted);
    if (value !== undefined) return value;
    if (node.simpleString.includes("SinglePartition")) return 1;
    const described = /partitioning\((?:.*, )?(\d+)\)/i.exec(node.simpleString);
    return described === null ? null : Number(described[1]);
  }

  /** The last plan of an execution. */
  root(executionId: number): PlanNode | undefined {
    return this.#roots.get(executionId);
  }

  /** The last plans of all executions. */
  roots(): IterableIterator<[executionId: number, root: PlanNode]> {
    return this.#roots.entries();
  }

  #node(executionId: number, plan: SparkPlanInfo): PlanNode {
    const metrics = new Map<string, number>();
    const node: PlanNode = {
      executionId,
      nodeName: plan.nodeName,
      simpleString: plan.simpleString,
      children: plan.children.map((child) => this.#node(executionId, child)),
      metrics,
    };
    for (const { name: fullName, accumulatorId } of plan.metrics) {
      const name = metricName(fullName);
      metrics.set(name, accumulatorId);
      this.#byAccumulator.set(accumulatorId, { node, name });
    }
    return node;
  }
}

/**
 * A metric's name without what Spark before 3.0 added to it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { metricName } from "./from_event_log_plans.ts";
 *
 * assertEquals(metricName("peak memory total (min, med, max)"), "peak memory");
 * ```
 */
export function metricName(name: string): string {
  return name.endsWith(OLD_METRIC_SUFFIX) ? name.slice(0, -OLD_METRIC_SUFFIX.length) : name;
}
