import { assertEquals } from "@std/assert";
import { ExecutorPlaces } from "../../src/simulator/executor_places.ts";
import { clusterOf } from "../support/workloads.ts";

Deno.test("the first free place is taken, ids are never used again", () => {
  const { executors } = clusterOf(3);
  const numbered = executors.map((executor, i) => ({ ...executor, id: String(i + 1), host: `h${i}` }));
  const places = new ExecutorPlaces(numbered);
  const take = () => {
    const executor = places.take();
    return executor && `${executor.id} ${executor.host}`;
  };
  assertEquals([take(), take(), take(), take()], ["1 h0", "2 h1", "3 h2", null]);
  places.free("3");
  places.free("1");
  places.free("1");
  assertEquals([places.taken, take(), take(), take()], [1, "4 h0", "5 h2", null]);
});

Deno.test("ids that are no numbers count from 0", () => {
  const { executors } = clusterOf(1);
  const places = new ExecutorPlaces(executors.map((executor) => ({ ...executor, id: "worker-a" })));
  assertEquals(places.take()?.id, "0");
});
