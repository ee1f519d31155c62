import { assertEquals } from "@std/assert";
import { lineageOf, narrowMappings } from "../../src/workload/from_event_log_lineage.ts";
import { collectedLog } from "../support/event_logs.ts";

Deno.test("a parent outside of the stage's own RDDs is behind a shuffle", async () => {
  const { dependencies, shuffles, shuffleOfStage } = lineageOf((await collectedLog("take_first")).stages);
  assertEquals(dependencies.get(4), [{ kind: "shuffle", shuffleId: 0 }]);
  assertEquals(dependencies.get(2), [{ kind: "narrow", rddId: 1, mapping: "oneToOne" }]);
  // Jobs 6, 7 and 8 read it; its stage is 6, and 8 and 10 where it is skipped.
  assertEquals(shuffles.map(({ stageIds }) => stageIds), [[6, 8, 10]]);
  assertEquals(shuffleOfStage.get(7), undefined);
});

Deno.test("an exchange is one shuffle however many jobs and RDDs read it", async () => {
  const { shuffles } = lineageOf((await collectedLog("sql_join")).stages);
  assertEquals(shuffles.map(({ mapRddId, stageIds }) => [mapRddId, stageIds.length]), [
    [3, 3],
    [7, 3],
    [15, 2],
    [26, 3],
    [22, 3],
    [32, 2],
  ]);
});

Deno.test("narrow mappings follow from numbers of partitions", () => {
  const mappings = (children: number, parents: number[]) =>
    narrowMappings(children, parents).map(({ mapping }) => mapping);
  assertEquals(mappings(4, [4, 4]), ["oneToOne", "oneToOne"]);
  assertEquals(mappings(8, [4, 4]), ["range", "range"]);
  assertEquals(mappings(3, [9]), ["coalesce"]);
  assertEquals(mappings(12, [3, 4]), ["all", "all"]);
});
