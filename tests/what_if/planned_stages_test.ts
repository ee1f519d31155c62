import { assertEquals } from "@std/assert";
import type { PlanOperator } from "../../src/simulator/workload.ts";
import { plannedStages, rowBytes } from "../../src/what_if/planned_stages.ts";
import { workloadOfLog } from "../support/event_logs.ts";

/** Broadcast joins that become sort-merge joins. */
const sortMerge = (joins: readonly number[]) => ({ sortMerge: new Set(joins), broadcast: new Map() });

function op(name: string, description: string, inputs: number[], demand: number | null = null): PlanOperator {
  return { name, description, inputs, rows: 100, bytes: null, demand };
}

/** `left join right on a = b`, then what `above` says. */
function query(above: PlanOperator[], type = "Inner") {
  const operators = [
    op("Scan parquet", "FileScan parquet [a#1L,c#3L]", [], 0),
    op("Scan parquet", "FileScan parquet [b#2L]", [], 1),
    op("BroadcastExchange", "BroadcastExchange HashedRelationBroadcastMode", [1]),
    op("BroadcastHashJoin", `BroadcastHashJoin [a#1L], [b#2L], ${type}, BuildRight, false`, [0, 2], 0),
    ...above,
  ];
  return { executionId: 0, operators };
}

const shape = (stages: ReturnType<typeof plannedStages>) =>
  stages?.map(({ operators, output, reads, changed }) => [
    output.kind,
    operators.join(),
    reads.map((read) => stages.indexOf(read)).join(),
    changed,
  ]);

Deno.test("both sides are shuffled, sorted and read by the join's stage", () => {
  const stages = plannedStages(query([]), sortMerge([3]))!;
  assertEquals(shape(stages), [["shuffle", "0", "", true], ["shuffle", "1", "", true], ["result", "3", "0,1", true]]);
  assertEquals(stages[2].sorts, [
    { join: 3, side: 0, keys: ["a#1L"], rows: 100, rowBytes: 24 },
    { join: 3, side: 1, keys: ["b#2L"], rows: 100, rowBytes: 16 },
  ]);
});

Deno.test("a join that stays reads its table as a broadcast", () => {
  assertEquals(shape(plannedStages(query([]), sortMerge([]))), [
    ["broadcast", "1", "", false],
    ["result", "0,3", "", false],
  ]);
});

const aggregation = (key: string) => [
  op("HashAggregate", `HashAggregate(keys=[${key}], functions=[partial_count(1)])`, [3], 0),
  op("Exchange", `Exchange hashpartitioning(${key}, 8), ENSURE_REQUIREMENTS`, [4], 0),
  op("HashAggregate", `HashAggregate(keys=[${key}], functions=[count(1)])`, [5], 2),
];

Deno.test("an aggregation by the join's key and more needs no exchange of its own", () => {
  const stages = plannedStages(query(aggregation("a#1L, c#3L")), sortMerge([3]));
  assertEquals(shape(stages)?.at(-1), ["result", "3,4,6", "0,1", true]);
});

Deno.test("an aggregation by another key keeps it", () => {
  const stages = plannedStages(query(aggregation("c#3L")), sortMerge([3]));
  assertEquals(shape(stages)?.slice(2), [["shuffle", "3,4", "0,1", true], ["result", "6", "2", false]]);
});

Deno.test("an outer join's rows are not spread by the side that may be missing", () => {
  const stages = plannedStages(query(aggregation("b#2L, c#3L"), "LeftOuter"), sortMerge([3]));
  assertEquals(shape(stages)?.at(-1), ["result", "6", "2", false]);
});

Deno.test("a plan with what is not understood is not rewritten", () => {
  assertEquals(plannedStages(query([op("Union", "Union", [3, 0])]), sortMerge([3])), null);
});

Deno.test("a join's rows that are sorted by ranges are computed for the sample as well", () => {
  const sorted = [
    op("Exchange", "Exchange rangepartitioning(c#3L ASC NULLS FIRST, 8)", [3], 0),
    op("Sort", "Sort [c#3L ASC NULLS FIRST], true, 0", [4], 2),
  ];
  const stages = plannedStages(query(sorted), sortMerge([3]))!;
  assertEquals(shape(stages)?.slice(2), [
    ["sample", "3", "0,1", true],
    ["shuffle", "3", "0,1", true],
    ["result", "5", "3", false],
  ]);
  assertEquals(stages[3].sample, stages[2]);
});

Deno.test("a plan of many operators, or one that reads itself over and over, is not rewritten and takes no time", () => {
  const join = (below: number) => op("SortMergeJoin", "SortMergeJoin [a#1L], [a#1L], Inner", [below, below]);
  const doubled = query(Array.from({ length: 60 }, (_, i) => join(3 + i)));
  assertEquals(plannedStages(doubled, sortMerge([3])), null);
  const exchanged = query(
    Array.from({ length: 60 }, (_, i) => [
      op("Exchange", "Exchange hashpartitioning(a#1L, 8), REPARTITION_BY_NUM", [3 + 2 * i]),
      op("SortMergeJoin", "SortMergeJoin [a#1L], [a#1L], Inner", [4 + 2 * i, 4 + 2 * i]),
    ]).flat(),
  );
  assertEquals(plannedStages(exchanged, sortMerge([3])), null);
  const long = query(Array.from({ length: 5000 }, (_, i) => op("Filter", "Filter isnotnull(a#1L)", [3 + i])));
  assertEquals(plannedStages(long, sortMerge([3])), null);
});

Deno.test("a window by the join's key needs no exchange, one that the program asked for stays", () => {
  const windowed = (exchange: string) => [
    op("Exchange", exchange, [3], 0),
    op("Sort", "Sort [b#2L ASC NULLS FIRST], false, 0", [4], 2),
    op("Window", "Window [row_number() windowspecdefinition(b#2L, c#3L)], [b#2L], [c#3L]", [5], 2),
  ];
  // Spark 4.0.4: a window over orders by customer, above their join by customer, ran in the join's stage.
  const required = windowed("Exchange hashpartitioning(b#2L, 8), ENSURE_REQUIREMENTS, [plan_id=1]");
  assertEquals(shape(plannedStages(query(required), sortMerge([3])))?.at(-1), ["result", "3,5,6", "0,1", true]);
  const asked = windowed("Exchange hashpartitioning(b#2L, 8), REPARTITION_BY_NUM, [plan_id=1]");
  assertEquals(shape(plannedStages(query(asked), sortMerge([3])))?.at(-1), ["result", "5,6", "2", false]);
});

Deno.test("an aggregation that gives its keys other names is spread by them", () => {
  const operators = [
    op("Scan parquet", "FileScan parquet [a#1L]", [], 0),
    op("Scan parquet", "FileScan parquet [b#2L]", [], 1),
    op("HashAggregate", "HashAggregate(keys=[b#2L], functions=[])", [1], 1),
    op("Exchange", "Exchange hashpartitioning(b#2L, 8), ENSURE_REQUIREMENTS", [2], 1),
    op("HashAggregate", "HashAggregate(keys=[b#2L], functions=[])", [3], 2),
    op("BroadcastExchange", "BroadcastExchange HashedRelationBroadcastMode", [4]),
    op("BroadcastHashJoin", "BroadcastHashJoin [a#1L], [k#9L], Inner, BuildRight, false", [0, 5], 0),
  ];
  const stages = plannedStages({ executionId: 0, operators }, sortMerge([6]));
  assertEquals(shape(stages)?.at(-1), ["result", "4,6", "0,1", true]);
});

Deno.test("what is read twice is shuffled once", async () => {
  const { queries } = await workloadOfLog("broadcast_joins");
  const tpch18 = queries!.at(-1)!;
  const joins = [...tpch18.operators.keys()].filter((i) => tpch18.operators[i].name === "BroadcastHashJoin");
  const stages = plannedStages(tpch18, sortMerge(joins))!;
  // Run x3-tpch-nobcast of Spark 3.5.9: customers, orders, line items and their aggregation are shuffled, two joins of
  // orders write a shuffle, and the last stage reads the shuffled aggregation again.
  assertEquals(stages.map(({ output }) => output.kind), [...Array(6).fill("shuffle"), "result"]);
  assertEquals(stages.at(-1)!.reads.length, 3);
});

Deno.test("a row has a word for each column, and one for 64 null bits", () => {
  const columns = (n: number) => Array.from({ length: n }, (_, i) => ({ name: `c${i}`, isText: false }));
  // Exchanges of recorded runs: 24 bytes of two columns, 40 of four (data size by records, Spark 3.5.9).
  assertEquals([rowBytes(columns(2)), rowBytes(columns(4)), rowBytes(columns(65))], [24, 40, 536]);
});
