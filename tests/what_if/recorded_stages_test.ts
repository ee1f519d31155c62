import { assert, assertAlmostEquals, assertEquals } from "@std/assert";
import { collectedBytes, compressionOf, RecordedStages } from "../../src/what_if/recorded_stages.ts";
import { plannedStages } from "../../src/what_if/planned_stages.ts";
import { workloadOfLog } from "../support/event_logs.ts";

/** Broadcast joins that become sort-merge joins. */
const sortMerge = (joins: readonly number[]) => ({ sortMerge: new Set(joins), broadcast: new Map() });

Deno.test("the stages of a plan as it ran are those of the log", async () => {
  const workload = await workloadOfLog("broadcast_joins");
  for (const query of workload.queries!) {
    const recorded = new RecordedStages(workload, query);
    const stages = plannedStages(query, sortMerge([]))!;
    const demands = stages.map((stage) => recorded.knows(stage) ? recorded.demandOf(stage)! : -1);
    const jobs = new Set(demands.map((demand) => recorded.jobOf(demand)!.id));
    // What is left is the job that samples the sorted result of the second query.
    const others = recorded.otherJobs(jobs, stages);
    assertEquals(jobs.size + others.length, recorded.jobs.length, `query ${query.executionId}`);
    assertEquals(others.length, query.operators.some(({ description }) => /rangepart/.test(description)) ? 1 : 0);
  }
});

Deno.test("a scanning stage's tasks share its rows as they read them", async () => {
  const workload = await workloadOfLog("broadcast_joins");
  const [query] = workload.queries!;
  const recorded = new RecordedStages(workload, query);
  const scan = plannedStages(query, sortMerge([]))!.find(({ output }) => output.kind === "shuffle")!;
  const shares = recorded.scanShares(scan);
  assertEquals(shares.length, 2);
  assertAlmostEquals(shares[0] + shares[1], 1);
  const sources = recorded.scanSources(scan)!;
  assertEquals(sources.map((id) => workload.rdds.find((rdd) => rdd.id === id)!.name), ["FileScanRDD"]);
});

Deno.test("a broadcast's rows are compressed in the results that collected them", async () => {
  const workload = await workloadOfLog("broadcast_joins");
  const [, query] = workload.queries!;
  const recorded = new RecordedStages(workload, query);
  const stages = plannedStages(query, sortMerge([]))!;
  const table = stages.find(({ output, operators }) => output.kind === "broadcast" && operators.includes(0))!;
  // The customers' shuffle wrote 124,107 bytes in run x3-tpch-nobcast of Spark 3.5.9.
  assertAlmostEquals(collectedBytes(recorded.collected(table)!), 124_107, 5000);
  assertEquals(recorded.collected(stages.find(({ output }) => output.kind === "shuffle")!), null);
});

Deno.test("rows compress as in the log's shuffles and broadcasts", async () => {
  const ratio = compressionOf(await workloadOfLog("broadcast_joins"));
  assert(ratio > 0.2 && ratio < 0.6, `${ratio}`);
});
