import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { workloadOfLog } from "../support/event_logs.ts";

async function rewritten() {
  const workload = await workloadOfLog("broadcast_joins");
  const conf = { "spark.sql.autoBroadcastJoinThreshold": "-1" };
  const { workload: after } = applyChanges(workload, { conf });
  const demandsOf = (w: typeof workload) =>
    [...new Set([...w.jobs, ...w.shuffles].map(({ demand }) => demand))].map((d) => w.demands[d]);
  return { before: demandsOf(workload), after: demandsOf(after) };
}

const sum = (column: Iterable<number>) => [...column].reduce((a, b) => a + b, 0);

Deno.test("computing time is dealt out, aggregations go where they run", async () => {
  const { before, after } = await rewritten();
  const time = (demands: typeof after) => sum(demands.map(({ computeMs }) => sum(computeMs)));
  assertAlmostEquals(time(after) / time(before), 1, 0.35);
  const aggregated = (demands: typeof after) =>
    demands.flatMap(({ consumers }) => consumers).filter(({ kind }) => kind === "HashAggregation")
      .map(({ records }) => sum(records)).sort((a, b) => a - b);
  // The aggregation that two joins of the third query read runs in both of their stages.
  assertEquals(aggregated(after).length, aggregated(before).length + 1);
});

Deno.test("no relation is held where no table is broadcast any more", async () => {
  const { after } = await rewritten();
  assertEquals(after.flatMap(({ consumers }) => consumers).filter(({ kind }) => kind === "HashedRelation"), []);
  assert(after.every(({ resultBytes }) => Math.max(...resultBytes) < 1 << 20));
});
