import { assertEquals } from "@std/assert";
import { computeCosts } from "../../src/workload/from_event_log_cached_rdds.ts";

Deno.test("without a task that found everything, nine tenths are taken for the cached partitions", () => {
  const costs = computeCosts({ rddId: [4], partition: [2], row: [0] }, () => "map", new Map(), () => 100);
  assertEquals(costs.byRdd.get(4)!.get(2), 90);
  assertEquals([...costs.assumed], [4]);
});

Deno.test("several partitions computed by one task share its time", () => {
  const computed = { rddId: [4, 5], partition: [0, 0], row: [7, 7] };
  const costs = computeCosts(computed, () => "join", new Map([["join", [10]]]), () => 110);
  assertEquals([costs.byRdd.get(4)!.get(0), costs.byRdd.get(5)!.get(0), costs.byRow.get(7)], [50, 50, 100]);
});

Deno.test("the first computation of a partition counts", () => {
  const computed = { rddId: [4, 4], partition: [0, 0], row: [0, 1] };
  const costs = computeCosts(computed, () => "count", new Map([["count", [0]]]), (row) => row === 0 ? 80 : 60);
  assertEquals(costs.byRdd.get(4)!.get(0), 80);
});
