import { assert, assertEquals } from "@std/assert";
import type { Workload } from "../../src/simulator/workload.ts";
import { applyChanges, type ChangeWarning } from "../../src/what_if/apply_changes.ts";
import { runWorkload } from "../../src/what_if/run_workload.ts";
import { jobSpecFromWorkload, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { workloadOfLog } from "../support/event_logs.ts";

const THRESHOLD = "spark.sql.autoBroadcastJoinThreshold";

function under(workload: Workload, conf: Record<string, string>) {
  const changed = applyChanges(workload, { conf });
  return { changed, summary: runWorkload(changed) };
}

const codes = (warnings: readonly ChangeWarning[]) => warnings.map(({ code, count }) => [code, count]);

Deno.test("without broadcast joins a query runs the stages that Spark runs then", async () => {
  const workload = await workloadOfLog("broadcast_joins");
  const { changed, summary } = under(workload, { [THRESHOLD]: "-1" });
  // Run x3-tpch-nobcast of Spark 3.5.9, the same queries: 30 stages, 58 tasks with direct results; as recorded there are
  // 24 stages of 39 tasks, 4 of whose results are indirect.
  assertEquals(summary.stages.length, 30);
  const { direct, indirect } = summary.results;
  assert(Math.abs(direct! - 58) <= 1, `${direct} direct results`);
  assertEquals(indirect, 0);
  assertEquals(codes(changed.warnings), [["plan.rewritten", 10]]);
  assertEquals(changed.workload.evidence.filter(({ field }) => field === "plan").map(({ grade }) => grade), [
    "assumed",
    "assumed",
    "assumed",
  ]);
});

Deno.test("with a threshold between the tables' sizes some joins stay", async () => {
  const { summary, changed } = under(await workloadOfLog("broadcast_joins"), { [THRESHOLD]: "1m" });
  // Run x3-tpch-b1m of Spark 3.5.9: 25 stages of 47 tasks, no indirect result.
  assert(Math.abs(summary.stages.length - 25) <= 1, `${summary.stages.length} stages`);
  assert(Math.abs(summary.results.direct! - 47) <= 2, `${summary.results.direct} direct results`);
  assertEquals(codes(changed.warnings), [["plan.kept", 2], ["plan.rewritten", 3]]);
});

Deno.test("without adaptive execution the new stages are of the query's one job", async () => {
  const settings = { [THRESHOLD]: "-1", "spark.sql.adaptive.enabled": "false" };
  const { summary } = under(await workloadOfLog("broadcast_joins"), settings);
  // Run x3-tpch-noaqenob of Spark 3.5.9: 30 stages, 126 tasks; a job for each query but that of the sampled sort.
  assertEquals(summary.stages.length, 30);
  assert(Math.abs(summary.results.direct! - 126) <= 2, `${summary.results.direct} direct results`);
});

Deno.test("the answer follows the rows that the log counts", async () => {
  const workload = await workloadOfLog("broadcast_joins");
  const grown = {
    ...workload,
    queries: workload.queries!.map((query) => ({
      ...query,
      operators: query.operators.map((operator) => ({ ...operator, rows: (operator.rows ?? 0) * 40 })),
    })),
  };
  const [before, after] = [workload, grown].map((w) => under(w, { [THRESHOLD]: "-1" }).summary);
  assertEquals(before.execution.memoryBytesSpilled, 0);
  assert(after.results.direct! > before.results.direct!);
  assert(after.execution.memoryBytesSpilled! > 0);
});

Deno.test("a plan survives the way through a job spec", async () => {
  const workload = await workloadOfLog("broadcast_joins");
  const copy = workloadFromJobSpec(JSON.parse(JSON.stringify(jobSpecFromWorkload(workload))));
  assertEquals(copy.queries, workload.queries);
  assertEquals(under(copy, { [THRESHOLD]: "-1" }).summary, under(workload, { [THRESHOLD]: "-1" }).summary);
});

Deno.test("a sort-merge join of tables within a higher threshold broadcasts one, a hash join that was asked for stays", async () => {
  const { changed, summary } = under(await workloadOfLog("sql_join"), { [THRESHOLD]: "100m" });
  // Run x6-join-t100m of Spark 3.5.9, the same program with fewer rows: 4 tasks collect one side, 4 read the other, join and
  // aggregate, 1 ends the query; the second query is as it was.
  assertEquals(summary.stages.slice(0, 3).map(({ tasks }) => tasks.succeeded), [4, 4, 1]);
  assertEquals(summary.stages.length, 7);
  assertEquals(codes(changed.warnings), [["plan.rewritten", 1]]);
});

Deno.test("a shuffle that adaptive execution finds small is read again by map task, to be broadcast", async () => {
  const settings = { "spark.sql.adaptive.autoBroadcastJoinThreshold": "100m" };
  const { summary } = under(await workloadOfLog("sql_join"), settings);
  // Run x6-join-a100m of Spark 3.5.9: both sides are shuffled as before, then 4 tasks collect one of them, the join reads
  // the other without its keys.
  const { stages } = summary;
  assertEquals(stages.slice(0, 3).map(({ tasks }) => tasks.succeeded), [4, 4, 4]);
  assertEquals(stages[2].resultBytes! > stages[0].resultBytes! * 100, true);
  assertEquals(stages.length, 9);
});

Deno.test("a threshold that is the same changes nothing", async () => {
  const workload = await workloadOfLog("broadcast_joins");
  const changed = applyChanges(workload, { conf: { [THRESHOLD]: "10m" } });
  assertEquals([changed.warnings, changed.workload.jobs], [[], workload.jobs]);
});
