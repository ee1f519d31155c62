/**
 * Queries that Spark would plan otherwise under changed settings: broadcast joins that become sort-merge joins.
 *
 * @module
 */
import type { Evidence, QueryPlan, Workload } from "../simulator/workload.ts";
import type { SparkConf } from "../spark/conf.ts";
import type { ChangeWarning } from "./apply_changes.ts";
import { coalescingOf } from "./coalesced_partitions.ts";
import { parallelismOf } from "./changed_partitions.ts";
import { broadcastThresholds, joinStrategies } from "./join_strategy.ts";
import { joinText } from "./plan_text.ts";
import { plannedStages } from "./planned_stages.ts";
import { RewrittenQueries } from "./rewritten_queries.ts";

/** Settings before and after. */
export interface PlanChange {
  readonly before: SparkConf;
  readonly conf: SparkConf;
  readonly warnings: ChangeWarning[];
}

const THRESHOLDS = "spark.sql.autoBroadcastJoinThreshold and spark.sql.adaptive.autoBroadcastJoinThreshold";

/**
 * The workload with the queries as they would be planned, as far as its plans tell. What a log does not tell is kept,
 * with a warning.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { SparkConf } from "../spark/conf.ts";
 * import { changedPlans } from "./changed_plans.ts";
 *
 * const before = SparkConf.from({}, "3.5.9");
 * const conf = before.with({ "spark.sql.autoBroadcastJoinThreshold": "-1" });
 * const workload = emptyWorkload("nothing");
 * assertEquals(changedPlans(workload, { before, conf, warnings: [] }), workload);
 * ```
 */
export function changedPlans(workload: Workload, { before, conf, warnings }: PlanChange): Workload {
  const [from, to] = [before, conf].map(broadcastThresholds);
  if (from.planned === to.planned && from.measured === to.measured) return workload;
  const queries = workload.queries ?? [];
  const rewritten = new RewrittenQueries(workload, {
    coalescing: coalescingOf(before, parallelismOf(workload.cluster)),
    adaptive: before.getBoolean("spark.sql.adaptive.enabled"),
  });
  let kept = to.planned > from.planned || to.measured > from.measured ? countShuffled(queries) : 0;
  const evidence: Evidence[] = [];
  let joins = 0;
  for (const query of queries) {
    const { sortMerge, unknown } = joinStrategies(query, from, to);
    kept += unknown;
    if (sortMerge.size === 0) continue;
    const stages = plannedStages(query, sortMerge);
    if (stages === null || !rewritten.replace(query, stages)) kept += sortMerge.size;
    else {
      joins += sortMerge.size;
      evidence.push(rewrittenEvidence(query, sortMerge.size));
    }
  }
  if (kept > 0) warnings.push(keptWarning(kept));
  if (evidence.length === 0) return workload;
  warnings.push(rewrittenWarning(joins, evidence.length));
  const changed = rewritten.workload();
  return { ...changed, evidence: [...changed.evidence, ...evidence] };
}

/** Joins that a higher threshold may make broadcast joins. */
function countShuffled(queries: readonly QueryPlan[]): number {
  const joins = queries.flatMap(({ operators }) => operators)
    .filter(({ name, description }) =>
      /^(SortMergeJoin|ShuffledHashJoin)$/.test(name) && joinText(description) !== null
    );
  return joins.length;
}

function keptWarning(count: number): ChangeWarning {
  return {
    code: "plan.kept",
    message: `${THRESHOLDS} may change joins of which the log does not tell enough to plan them anew: ` +
      "these are kept as they ran",
    count,
  };
}

function rewrittenWarning(joins: number, queries: number): ChangeWarning {
  return {
    code: "plan.rewritten",
    message:
      `${joins} broadcast ${joins === 1 ? "join" : "joins"} of ${queries} ${queries === 1 ? "query" : "queries"} ` +
      "would be sort-merge joins: stages, shuffles and sorts are planned anew, their sizes are assumed",
    count: joins,
  };
}

function rewrittenEvidence({ executionId }: QueryPlan, joins: number): Evidence {
  return {
    subject: `query ${executionId}`,
    field: "plan",
    grade: "assumed",
    how: `${joins} broadcast ${joins === 1 ? "join is" : "joins are"} above the threshold and planned as sort-merge ` +
      "joins: both sides are shuffled by the keys and sorted; rows as the log counts them, their sizes by their columns, " +
      "compressed as in the log's other shuffles, computing time dealt out by rows. A broadcast hint would keep the join",
    wouldRecord: `a run with the changed threshold`,
  };
}
