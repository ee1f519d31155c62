import { assertEquals } from "@std/assert";
import type { StageDemand } from "../../src/simulator/workload.ts";
import { spreadDemand } from "../../src/what_if/spread_work.ts";
import { workloadOfLog } from "../support/event_logs.ts";

const sum = (column: ArrayLike<number>) => Array.from(column).reduce((a, b) => a + b, 0);

async function joinStage(): Promise<StageDemand> {
  const { demands, shuffles } = await workloadOfLog("sql_join");
  return demands[shuffles[2].demand];
}

Deno.test("what is counted stays whole and loses nothing", async () => {
  const demand = await joinStage();
  const third = Float64Array.of(1 / 3, 1 / 3, 1 / 3);
  const { shuffleReadRecords, consumers } = spreadDemand(demand, third, true);
  assertEquals(sum(shuffleReadRecords), sum(demand.shuffleReadRecords));
  assertEquals(shuffleReadRecords.every(Number.isInteger), true);
  assertEquals(consumers.map(({ bytes }) => sum(bytes)), demand.consumers.map(({ bytes }) => sum(bytes)));
  assertEquals(consumers.length > 0, true);
});

Deno.test("a map task's result does not grow with its share, a result task's does", async () => {
  const demand = { ...await joinStage(), resultBytes: Float64Array.of(1500, 11500) };
  const one = Float64Array.of(1);
  assertEquals([...spreadDemand(demand, one, true).resultBytes], [6500]);
  const uneven = { ...demand, resultBytes: Float64Array.of(1500, 1501) };
  assertEquals([...spreadDemand(uneven, one, true).resultBytes], [1501]);
  // Both tasks' overhead becomes one.
  assertEquals([...spreadDemand(demand, one, false).resultBytes], [11500]);
});
