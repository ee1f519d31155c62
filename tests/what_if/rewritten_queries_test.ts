import { assert, assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { coalescingOf } from "../../src/what_if/coalesced_partitions.ts";
import { plannedStages } from "../../src/what_if/planned_stages.ts";
import { RewrittenQueries } from "../../src/what_if/rewritten_queries.ts";
import { workloadOfLog } from "../support/event_logs.ts";

/** Broadcast joins that become sort-merge joins. */
const sortMerge = (joins: readonly number[]) => ({ sortMerge: new Set(joins), broadcast: new Map() });

async function rewritten(options: { adaptive?: boolean; all?: boolean } = {}) {
  const { adaptive = true, all = true } = options;
  const workload = await workloadOfLog("broadcast_joins");
  const conf = SparkConf.from({ "spark.sql.shuffle.partitions": "8" }, "3.5.9");
  const queries = new RewrittenQueries(workload, { coalescing: coalescingOf(conf, 4), adaptive });
  const replaced = workload.queries!.map((query) => {
    const joins = [...query.operators.keys()].filter((i) => query.operators[i].name === "BroadcastHashJoin");
    return queries.replace(query, plannedStages(query, sortMerge(all ? joins : []))!);
  });
  return { workload, replaced, after: queries.workload() };
}

Deno.test("jobs wait for earlier ones, and each finds its RDD, shuffle and demand", async () => {
  const { after, replaced } = await rewritten();
  assertEquals(replaced, [true, true, true]);
  const rdds = new Map(after.rdds.map((rdd) => [rdd.id, rdd]));
  const shuffles = new Map(after.shuffles.map((shuffle) => [shuffle.id, shuffle]));
  for (const [i, { id, afterJobs, rddId, demand, shuffleId, kind }] of after.jobs.entries()) {
    assertEquals(id, i);
    assert(afterJobs.every((before) => before < id));
    assertEquals(after.demands[demand].computeMs.length, rdds.get(rddId)!.numPartitions);
    assertEquals(kind === "mapStage", shuffleId !== null && shuffles.get(shuffleId)!.demand === demand);
  }
  for (const { dependencies } of after.rdds) {
    for (const dependency of dependencies) {
      assert(dependency.kind === "narrow" ? rdds.has(dependency.rddId) : shuffles.has(dependency.shuffleId));
    }
  }
});

Deno.test("a plan that is rewritten to itself keeps its jobs", async () => {
  const { workload, after } = await rewritten({ all: false });
  const lines = (jobs: typeof after.jobs) => jobs.map(({ kind, rddId, demand }) => [kind, rddId, demand].join());
  assertEquals(lines(after.jobs).sort(), lines(workload.jobs).sort());
});

Deno.test("rows that were read and written are those of the log", async () => {
  const { workload, after } = await rewritten();
  const sum = (column: Iterable<number>) => [...column].reduce((a, b) => a + b, 0);
  const read = (w: typeof after) => {
    const used = new Set([...w.jobs, ...w.shuffles].map(({ demand }) => demand));
    return sum([...used].map((demand) => sum(w.demands[demand].inputBytes)));
  };
  assertEquals(read(after), read(workload));
});

Deno.test("without adaptive execution map stages have no jobs of their own", async () => {
  const { after } = await rewritten({ adaptive: false });
  const own = after.jobs.filter(({ rddId }) =>
    rddId > 400 || after.rdds.find(({ id }) => id === rddId)?.callSite === ""
  );
  assert(own.every(({ kind }) => kind === "result"));
});

Deno.test("every column of a rewritten stage has its tasks, whichever stages its work came from", async () => {
  const workload = await workloadOfLog("sql_join");
  // A join that becomes a broadcast join takes the scan of one stage and the join of another.
  for (const key of ["spark.sql.autoBroadcastJoinThreshold", "spark.sql.adaptive.autoBroadcastJoinThreshold"]) {
    const { demands, jobs, shuffles } = applyChanges(workload, { conf: { [key]: "1g" } }).workload;
    for (const { demand } of [...jobs, ...shuffles]) {
      const tasks = demands[demand].computeMs.length;
      for (const [field, column] of Object.entries(demands[demand])) {
        if (!(column instanceof Float64Array)) continue;
        assertEquals([column.length, column.every(Number.isFinite)], [tasks, true], `${field} of demand ${demand}`);
      }
    }
  }
});

Deno.test("a plan that no longer describes its query's jobs is not kept", async () => {
  const { workload, after } = await rewritten();
  assertEquals([workload.queries!.length, after.queries], [3, []]);
});
