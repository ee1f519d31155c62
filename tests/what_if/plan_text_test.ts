import { assertEquals } from "@std/assert";
import { columnsOf, groupingKeys, hashKeys, joinText, sortKeys } from "../../src/what_if/plan_text.ts";

Deno.test("keys, type and side of joins as Spark 2.4 to 4.1 describe them", () => {
  assertEquals(joinText("BroadcastHashJoin [l_suppkey#2L, c#37L], [s#50L, n#51L], Inner, BuildRight, false"), {
    leftKeys: ["l_suppkey#2L", "c#37L"],
    rightKeys: ["s#50L", "n#51L"],
    type: "Inner",
    build: "right",
  });
  const semi = "BroadcastHashJoin [a#1L], [b#2L], LeftSemi, BuildRight, NOT (c#3L = d#4L), false";
  assertEquals(joinText(semi)?.type, "LeftSemi");
  assertEquals(
    joinText("BroadcastHashJoin [a#1L], [b#2L], ExistenceJoin(exists#9), BuildRight, false")?.build,
    "right",
  );
  const cast = "SortMergeJoin [cast(a#1 as bigint), coalesce(b#2, [x])], [c#3L, d#4], LeftOuter, (e#5 > 1)";
  assertEquals(joinText(cast)?.leftKeys, ["cast(a#1 as bigint)", "coalesce(b#2, [x])"]);
  assertEquals(joinText(cast)?.build, null);
  assertEquals(joinText("BroadcastNestedLoopJoin BuildRight, Inner"), null);
});

Deno.test("an exchange's keys come before its number of partitions", () => {
  assertEquals(hashKeys("Exchange hashpartitioning(c_name#39, y#1L, 8), ENSURE_REQUIREMENTS, [plan_id=2560]"), [
    "c_name#39",
    "y#1L",
  ]);
  assertEquals(hashKeys("Exchange rangepartitioning(a#1 ASC NULLS FIRST, 8)"), null);
  assertEquals(hashKeys("Exchange hashpartitioning(a#1"), null);
});

Deno.test("an aggregation's keys by what they are called, its columns those and its functions", () => {
  const text = "HashAggregate(keys=[c#39, known(norm(t#27)) AS t#27], functions=[partial_sum(l#3), count(1)])";
  assertEquals(groupingKeys(text), ["c#39", "t#27"]);
  assertEquals(columnsOf("HashAggregate", text)?.map(({ name }) => name), [
    "c#39",
    "t#27",
    "partial_sum(l#3)",
    "count(1)",
  ]);
  assertEquals(groupingKeys("HashAggregate(keys=[], functions=[sum(a#1)])"), []);
});

Deno.test("columns that the description cuts off count as well", () => {
  assertEquals(columnsOf("Project", "Project [a#1L, (b#2 div 365) AS y#3L, ... 3 more fields]")?.length, 5);
  assertEquals(columnsOf("Project", "Project"), null);
});

Deno.test("what a sort orders by", () => {
  assertEquals(sortKeys("Sort [o_custkey#25L ASC NULLS FIRST], false, 0"), ["o_custkey#25L"]);
});
