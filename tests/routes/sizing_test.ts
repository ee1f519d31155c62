import { assertEquals } from "@std/assert";
import { problem, refused, testService } from "../support/service.ts";

const { get } = testService();

Deno.test("GET /v1/sizing answers the pools for properties and JVM options", async () => {
  const response = await get(
    "/v1/sizing?spark.executor.memory=1g&spark.memory.fraction=0.6&collector=g1&sparkVersion=3.5.1&role=executor",
  );
  const { systemMemory, unifiedMemory, storageRegion } = await response.json();
  // (1073741824 - 314572800) x 0.6 and half of it.
  assertEquals([systemMemory, unifiedMemory, storageRegion], [1073741824, 455501414, 227750707]);
});

Deno.test("GET /v1/sizing refuses what Spark refuses, in its words", async () => {
  const found = await problem(await get("/v1/sizing?spark.executor.memory=100m&heapMax=100000000"));
  assertEquals([found.status, found.code], [422, "conf.memory"]);
  assertEquals(found.detail.includes("must be at least 471859200"), true);
  assertEquals(await refused(get("/v1/sizing?spark.executor.memory=lots")), [422, "conf.type", undefined]);
});

Deno.test("GET /v1/sizing refuses other parameters", async () => {
  for (
    const query of [
      "role=boss",
      "role=driver&role=executor",
      "collector=epsilon",
      "heapMax=-1",
      "heapMax=1e9",
      "heapMax=9007199254740993",
      "sparkVersion=new",
      "memory=1g",
      "__proto__=1",
      "conf=x",
    ]
  ) {
    assertEquals((await refused(get(`/v1/sizing?${query}`))).slice(0, 2), [422, "request.query"], query);
  }
});
