import { assertEquals } from "@std/assert";
import { planName, queryDescription } from "../../src/spark/plan_name.ts";

const node = (nodeName: string, ...children: ReturnType<typeof leaf>[]) => ({ nodeName, children });
function leaf(nodeName: string): { nodeName: string; children: { nodeName: string; children: never[] }[] } {
  return { nodeName, children: [] };
}

Deno.test("a plan is called by the operator that gives its result, not by what wraps it", () => {
  assertEquals(planName(node("WholeStageCodegen (2)", leaf("HashAggregate"))), "HashAggregate");
  assertEquals(planName(leaf("AdaptiveSparkPlan")), "AdaptiveSparkPlan");
  assertEquals(planName(node("SortMergeJoin", leaf("Sort"), leaf("Sort"))), "SortMergeJoin");
});

Deno.test("a query without a plan or a description is called by its number", () => {
  assertEquals(queryDescription(0, null, ""), "query 0");
  assertEquals(queryDescription(0, leaf(""), "show"), "query 0: show");
});
