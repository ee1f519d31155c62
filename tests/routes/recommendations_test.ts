import { assertEquals } from "@std/assert";
import { refused, testService } from "../support/service.ts";

const { post } = testService();
const PATH = "/v1/recommendations";

Deno.test("POST /v1/recommendations answers settings under which the job keeps to the budget", async () => {
  const job = { template: "cached-iterative", parameters: { partitions: 16, iterations: 2 }, executors: 2 };
  const response = await post(PATH, { ...job, conf: { "spark.executor.memory": "1g" } });
  assertEquals(response.status, 200);
  const { recommended, reasons, predicted, replayed, violations } = await response.json();
  assertEquals(violations.length > 0 && reasons.length > 0, true);
  assertEquals(replayed.storage.blocksEvicted + replayed.execution.spilledTasks > 0, true);
  const again = await (await post("/v1/simulations", { ...job, conf: recommended.conf })).json();
  assertEquals(again.stages, predicted.stages);
  assertEquals([again.storage.blocksEvicted, again.execution.memoryBytesSpilled], [0, 0]);
});

Deno.test("a budget changes what is recommended; a wrong one is refused", async () => {
  const job = {
    template: "sort",
    parameters: { maps: 8, reducers: 8 },
    executors: 2,
    conf: { "spark.executor.memory": "1g" },
  };
  const strict = await (await post(PATH, job)).json();
  const loose = await (await post(PATH, { ...job, budget: { maxEvictedBlocks: 1000 } })).json();
  assertEquals(strict.violations.length > 0, true);
  assertEquals(loose.violations, []);
  assertEquals(await refused(post(PATH, { ...job, budget: { maxEvictedBlocks: -1 } })), [
    422,
    "input.range",
    "/budget/maxEvictedBlocks",
  ]);
});

Deno.test("all runs of a recommendation share one budget of events", async () => {
  const { post } = testService({ limits: { events: 3000 } });
  assertEquals(await refused(post(PATH, { template: "cached-iterative" })), [422, "limit.events", undefined]);
});
