import { assert, assertEquals } from "@std/assert";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { workloadOfLog } from "../support/event_logs.ts";

/** What the stages of a log hold under other thresholds. */
async function under(log: string, conf: Record<string, string>) {
  const { workload } = applyChanges(await workloadOfLog(log), { conf });
  const used = new Set([...workload.jobs, ...workload.shuffles].map(({ demand }) => demand));
  return [...used].map((demand) => workload.demands[demand].consumers);
}

const sum = (column: Iterable<number>) => [...column].reduce((a, b) => a + b, 0);

Deno.test("the sides of a join are sorted, the left one read after the right one is in order", async () => {
  const stages = await under("broadcast_joins", { "spark.sql.autoBroadcastJoinThreshold": "-1" });
  const sorts = stages.flatMap((consumers) => consumers.filter(({ name }) => name.startsWith("Sort [o_custkey")));
  // Run x3-tpch-nobcast of Spark 3.5.9 sorted 78,339, 150,000 and 980 orders by customer.
  assertEquals(sorts.map(({ records }) => sum(records)), [78_339, 150_000, 980]);
  const pairs = stages.map((consumers) => consumers.filter(({ kind }) => kind === "UnsafeExternalSorter"))
    .filter(({ length }) => length === 2);
  assert(pairs.length >= 8);
  for (const [left, right] of pairs) {
    assertEquals(left.parameters.readFrom, right.fillEnd);
    assert(left.fillEnd <= right.start);
  }
});

Deno.test("an aggregation above a join lets its sorts go when it is full", async () => {
  const stages = await under("broadcast_joins", { "spark.sql.autoBroadcastJoinThreshold": "-1" });
  const joined = stages.filter((consumers) =>
    consumers.some(({ name }) => name.startsWith("Sort [")) && consumers.some(({ name }) => name.includes("partial_"))
  );
  assert(joined.length >= 2);
  for (const consumers of joined) {
    const sorts = consumers.filter(({ name }) => /^Sort \[\w+#\d+L\]$/.test(name));
    for (const { release } of sorts) {
      assert(consumers.some(({ fillEnd, kind }) => kind !== "UnsafeExternalSorter" && fillEnd === release));
    }
  }
});

Deno.test("the sorts of a join that broadcasts are gone, a hash join keeps its table", async () => {
  const stages = await under("sql_join", { "spark.sql.autoBroadcastJoinThreshold": "100m" });
  assertEquals(stages.flatMap((consumers) => consumers.map(({ kind }) => kind)), ["HashedRelation"]);
});
