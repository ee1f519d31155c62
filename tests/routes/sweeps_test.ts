import { assertEquals } from "@std/assert";
import * as v from "valibot";
import { SweepResultSchema } from "../../routes/responses.ts";
import { refused, testService } from "../support/service.ts";

const { post } = testService();
const PATH = "/v1/sweeps";
const JOB = { template: "cached-iterative", parameters: { iterations: 2 } };

async function lines(response: Response) {
  return (await response.text()).trim().split("\n").map((line) => JSON.parse(line));
}

Deno.test("POST /v1/sweeps answers a line for each combination, the last setting varying fastest", async () => {
  const vary = { "spark.executor.memory": ["1g", "4g"], "executors": [2, 4], "storageLevel": ["DISK_ONLY"] };
  const response = await post(PATH, { ...JOB, vary });
  assertEquals([response.status, response.headers.get("content-type")], [200, "application/x-ndjson"]);
  const results = await lines(response);
  for (const result of results) assertEquals(v.is(SweepResultSchema, result), true, JSON.stringify(result));
  assertEquals(results.map(({ id, settings }) => [id, settings["spark.executor.memory"], settings.executors]), [
    ["0", "1g", "2"],
    ["1", "1g", "4"],
    ["2", "4g", "2"],
    ["3", "4g", "4"],
  ]);
  assertEquals(results.map(({ status, figures }) => [status, figures.executors]), [
    ["succeeded", 2],
    ["succeeded", 4],
    ["succeeded", 2],
    ["succeeded", 4],
  ]);
});

Deno.test("a line of a sweep is sent before the next is computed", async () => {
  const response = await post(PATH, { ...JOB, vary: { "spark.executor.memory": ["1g", "2g", "4g"] } });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (const memory of ["1g", "2g", "4g"]) {
    const { value } = await reader.read();
    assertEquals([value!.endsWith("\n"), JSON.parse(value!).settings["spark.executor.memory"]], [true, memory]);
  }
  assertEquals((await reader.read()).done, true);
});

Deno.test("settings that Spark refuses are a line of their own; null unsets", async () => {
  const vary = { "spark.executor.memory": ["100m", null, "lots"] };
  const results = await lines(await post(PATH, { ...JOB, vary }));
  assertEquals(results.map(({ status, code }) => [status, code]), [
    ["refused", "conf.memory"],
    ["succeeded", undefined],
    ["refused", "conf.type"],
  ]);
});

Deno.test("a sweep of nothing, of too much, or of what cannot be varied is refused", async () => {
  const cases: [vary: unknown, code: string, pointer: string | undefined][] = [
    [{}, "input.range", "/vary"],
    [undefined, "input.missing", "/vary"],
    [{ "spark.executor.memory": [] }, "input.range", "/vary/spark.executor.memory"],
    [{ "spark.executor.memory": "1g" }, "input.type", "/vary/spark.executor.memory"],
    [{ memory: ["1g"] }, "sweep.setting", "/vary/memory"],
    [{ executors: ["two"] }, "input.range", "/vary/executors/0"],
    [{ executors: [1, 0] }, "input.range", "/vary/executors/1"],
    [{ executors: [2001] }, "limit.executors", "/vary/executors/0"],
  ];
  for (const [vary, code, pointer] of cases) {
    assertEquals(await refused(post(PATH, { ...JOB, vary })), [422, code, pointer], JSON.stringify(vary));
  }
});

Deno.test("the size of a sweep holds at its limit and not one beyond, before anything is computed", async () => {
  const vary = { "spark.executor.memory": ["1g", "2g"], "spark.memory.fraction": ["0.4", "0.6"] };
  const sized = (sweepSize: number) => testService({ limits: { sweepSize } }).post(PATH, { ...JOB, vary });
  assertEquals((await lines(await sized(4))).length, 4);
  assertEquals(await refused(sized(3)), [422, "limit.scenarios", undefined]);
});

Deno.test("the runs of a sweep share one budget; what ends it is its last line", async () => {
  const { post } = testService({ limits: { events: 8000 } });
  const memory = Array.from({ length: 50 }, (_, i) => `${2000 + i}m`);
  const results = await lines(await post(PATH, { ...JOB, vary: { "spark.executor.memory": memory } }));
  assertEquals(results.length > 1 && results.length < 50, true);
  assertEquals(results.at(-1).error.code, "limit.events");
});

Deno.test("a client that goes away ends the sweep, and its place is free again", async () => {
  const { post } = testService({ limits: { concurrency: 1 } });
  const response = await post(PATH, { ...JOB, vary: { "spark.executor.memory": ["1g", "2g", "4g"] } });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  assertEquals((await post("/v1/simulations", JOB)).status, 200);
});
