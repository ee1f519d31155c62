/**
 * What to call a SQL execution by its physical plan.
 *
 * @module
 */

/** A node of a plan, as far as its name goes. */
interface NamedPlan {
  readonly nodeName: string;
  readonly children: readonly NamedPlan[];
}

/** Nodes that only wrap others, or hand their rows on in another shape. */
const WRAPPERS =
  /^(AdaptiveSparkPlan|WholeStageCodegen \(\d+\)|InputAdapter|ResultQueryStage|ColumnarToRow|Project|DeserializeToObject|SerializeFromObject)$/;

/**
 * The name of the operator that gives a plan's result: the first that does more than wrap another.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { planName } from "./plan_name.ts";
 *
 * const sort = { nodeName: "Sort", children: [] };
 * assertEquals(planName({ nodeName: "AdaptiveSparkPlan", children: [{ nodeName: "Project", children: [sort] }] }), "Sort");
 * ```
 */
export function planName(plan: NamedPlan): string {
  let node = plan;
  while (WRAPPERS.test(node.nodeName) && node.children.length > 0) node = node.children[0];
  return node.nodeName;
}

/**
 * What to call a job of a SQL execution: the execution, its operator, and what the program or Spark says of it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { queryDescription } from "./plan_name.ts";
 *
 * assertEquals(queryDescription(4, { nodeName: "Sort", children: [] }, "count at App.scala:7"), "query 4 (Sort): count at App.scala:7");
 * assertEquals(queryDescription(4, null, ""), "query 4");
 * ```
 */
export function queryDescription(executionId: number, plan: NamedPlan | null, description: string): string {
  const operator = plan === null || plan.nodeName === "" ? "" : ` (${planName(plan)})`;
  return `query ${executionId}${operator}${description === "" ? "" : `: ${description}`}`;
}
