/**
 * Queries that Spark would plan otherwise under changed settings: joins that broadcast a table or no longer do.
 *
 * @module
 */
import type { Evidence, QueryPlan, Workload } from "../simulator/workload.ts";
import type { SparkConf } from "../spark/conf.ts";
import type { ChangeWarning } from "./apply_changes.ts";
import { coalescingOf } from "./coalesced_partitions.ts";
import { parallelismOf } from "./changed_partitions.ts";
import { broadcastThresholds, joinStrategies } from "./join_strategy.ts";
import { type ChangedJoins, plannedStages } from "./planned_stages.ts";
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
  let kept = 0;
  let joins = 0;
  const evidence: Evidence[] = [];
  for (const query of queries) {
    const { unknown, ...strategies } = joinStrategies(query, from, to);
    const count = strategies.sortMerge.size + strategies.broadcast.size;
    kept += unknown;
    if (count === 0) continue;
    const stages = plannedStages(query, strategies);
    if (stages === null || !rewritten.replace(query, stages)) {
      kept += count;
      continue;
    }
    joins += count;
    evidence.push(rewrittenEvidence(query, strategies));
  }
  if (kept > 0) warnings.push(keptWarning(kept));
  if (evidence.length === 0) return workload;
  warnings.push(rewrittenWarning(joins, evidence.length));
  const changed = rewritten.workload();
  return { ...changed, evidence: [...changed.evidence, ...evidence] };
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
      `${joins} ${joins === 1 ? "join" : "joins"} of ${queries} ${queries === 1 ? "query" : "queries"} would be ` +
      "planned otherwise: stages, shuffles, broadcasts and sorts are planned anew, their sizes are assumed",
    count: joins,
  };
}

function rewrittenEvidence({ executionId }: QueryPlan, { sortMerge, broadcast }: ChangedJoins): Evidence {
  const joins = (n: number) => `${n} ${n === 1 ? "join" : "joins"}`;
  const measured = [...broadcast.values()].filter(({ isMeasured }) => isMeasured).length;
  const planned = broadcast.size - measured;
  const changes = [
    ...sortMerge.size > 0
      ? [`${joins(sortMerge.size)} above the threshold as sort-merge: both sides are shuffled by the keys and sorted`]
      : [],
    ...planned > 0 ? [`${joins(planned)} of tables within the threshold as broadcast, by the files' bytes`] : [],
    ...measured > 0 ? [`${joins(measured)} as broadcast once adaptive execution has measured the shuffles`] : [],
  ];
  return {
    subject: `query ${executionId}`,
    field: "plan",
    grade: "assumed",
    how:
      `${changes.join("; ")}; rows as the log counts them, their sizes by their columns, compressed as in the log's ` +
      "other shuffles, computing time dealt out by rows. A hint would keep a join",
    wouldRecord: "a run with the changed threshold",
  };
}
