// The quick form of `deno task fuzz --only requests`, and every request that has failed once.
import { assert, assertEquals } from "@std/assert";
import { refused, testService } from "../support/service.ts";
import { fuzzRequests } from "./requests.ts";

Deno.test("hostile requests are answered or refused, the service never fails", async () => {
  const { requests, answered, refused } = await fuzzRequests(1, 200);
  assert(requests >= 200 && answered > 20 && refused > 20, `${requests} ${answered} ${refused}`);
});

const EXECUTOR = { id: "0", host: "h", cores: 1, addedMs: 0 };
const BROADCAST = { broadcasts: [{ name: "b", bytes: 100 }] };

function body(workload: Record<string, unknown>, conf: Record<string, unknown> = {}) {
  const stages = [{ id: 0, tasks: 2, broadcasts: workload.broadcasts === undefined ? [] : ["b"] }];
  return { workload: { stages, cluster: { executors: [EXECUTOR] }, ...workload }, conf };
}

Deno.test("requests that made the service fail or hang are refused", async () => {
  const { post } = testService({ limits: { events: 20_000 } });
  const memory = (executor: object) => body({ cluster: { executors: [{ ...EXECUTOR, ...executor }] } });
  const cases: [body: unknown, code: string, pointer: string | undefined][] = [
    [memory({ maxOnHeapMemory: 6.35e-5 }), "input.range", "/workload/cluster/executors/0/maxOnHeapMemory"],
    [memory({ maxOnHeapMemory: 0 }), "input.range", "/workload/cluster/executors/0/maxOnHeapMemory"],
    [memory({ maxOffHeapMemory: 0.5 }), "input.range", "/workload/cluster/executors/0/maxOffHeapMemory"],
    [body({ broadcasts: [{ name: "b", bytes: 0.5 }] }), "input.range", "/workload/broadcasts/0/bytes"],
    // 2^50 bytes in pieces of 4 MiB are 2^28 pieces.
    [body({ broadcasts: [{ name: "b", bytes: 2 ** 50 }] }), "limit.broadcastPieces", undefined],
    [body(BROADCAST, { "spark.broadcast.blockSize": "-1" }), "conf.value", "/conf/spark.broadcast.blockSize"],
    [body({}, { "spark.executor.cores": 0 }), "conf.refused", "/conf/spark.executor.cores"],
    [body({}, { "spark.executor.instances": -1 }), "conf.refused", "/conf/spark.executor.instances"],
    [
      body({ cluster: { master: "yarn", executors: [EXECUTOR] } }, { "spark.executor.instances": 2 ** 31 - 1 }),
      "executors.count",
      undefined,
    ],
  ];
  for (const kind of ["UnsafeExternalSorter", "ShuffleExternalSorter", "ExternalSorter", "ExternalAppendOnlyMap"]) {
    const sorting = { stages: [{ id: 0, tasks: 1, memory: [{ kind, bytes: "100m", records: 1e9 }] }] };
    for (const threshold of [-1, 0]) {
      const conf = { "spark.shuffle.spill.numElementsForceSpillThreshold": threshold };
      cases.push([body(sorting, conf), "limit.events", undefined]);
    }
  }
  for (const [request, code, pointer] of cases) {
    assertEquals(await refused(post("/v1/simulations", request)), [422, code, pointer], JSON.stringify(request));
  }
});

Deno.test("a replica of more elements than an int counts is unrolled", async () => {
  const cached = [{ name: "rdd", partitions: 2, bytes: 100, elements: 2 ** 31, storageLevel: "MEMORY_ONLY_2" }];
  const stages = [{ id: 0, tasks: 2, caches: ["rdd"] }, { id: 1, tasks: 2, reads: ["rdd"] }];
  const response = await testService().post("/v1/simulations", body({ cached, stages, cluster: { executors: 2 } }));
  assertEquals(response.status, 200);
  assertEquals((await response.json()).storage.cachedAtEnd.memoryBlocks, 4);
});
