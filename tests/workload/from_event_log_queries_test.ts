import { assert, assertEquals } from "@std/assert";
import { workloadOfLog } from "../support/event_logs.ts";

Deno.test("a plan with rows, bytes and the stages that its operators ran in", async () => {
  const { queries, shuffles, jobs } = await workloadOfLog("broadcast_joins");
  const [{ operators }] = queries!;
  const named = (name: string) => operators.filter((operator) => operator.name === name);
  assertEquals(named("BroadcastHashJoin").map(({ rows }) => rows), [15_718, 29_977]);
  const [exchange] = named("Exchange");
  assertEquals([exchange.rows, exchange.bytes], [14_542, 465_344]);
  assert(shuffles.some(({ demand }) => demand === exchange.demand));
  const [scan] = named("Scan parquet");
  assertEquals(scan.bytes, 151_839);
  assert(jobs.some(({ demand, kind }) => demand === scan.demand && kind === "result"));
});

Deno.test("what wraps operators is left out, and children come before parents", async () => {
  const { queries } = await workloadOfLog("broadcast_joins");
  for (const { operators } of queries!) {
    assert(
      operators.every(({ name }) => !/Codegen|InputAdapter|QueryStage|AdaptiveSparkPlan|AQEShuffleRead/.test(name)),
    );
    for (const [i, { inputs }] of operators.entries()) assert(inputs.every((input) => input < i));
  }
});

Deno.test("what a plan reuses is one operator", async () => {
  const { queries } = await workloadOfLog("broadcast_joins");
  const readers = (index: number) => queries!.at(-1)!.operators.filter(({ inputs }) => inputs.includes(index)).length;
  const shared = queries!.at(-1)!.operators.findIndex((_, index) => readers(index) === 2);
  assertEquals(queries!.at(-1)!.operators[shared].name, "BroadcastExchange");
});

Deno.test("only queries that join are kept", async () => {
  assertEquals((await workloadOfLog("aggregation")).queries, undefined);
  assertEquals((await workloadOfLog("sql_join")).queries?.length, 2);
});
