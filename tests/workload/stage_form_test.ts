import { assertEquals } from "@std/assert";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";

const KB = 1024;

Deno.test("a stage that others read from writes one shuffle, which they share equally", () => {
  const { shuffles, demands, rdds, jobs } = workloadFromJobSpec({
    stages: [
      { id: "a", tasks: 3, shuffleWriteBytes: 4 * KB, shuffleWriteRecords: 4 },
      { id: "b", tasks: 2, parents: ["a"] },
      { id: "c", tasks: 4, parents: ["a"] },
    ],
  });
  assertEquals(shuffles, [{ id: 0, rddId: 0, numReducers: 4, demand: 0, reducerShares: null }]);
  // 3 tasks x 4 KiB over 2 and over 4 readers.
  assertEquals(demands[1].shuffleReadBytes, Float64Array.of(6 * KB, 6 * KB));
  assertEquals(demands[2].shuffleReadBytes, Float64Array.of(3 * KB, 3 * KB, 3 * KB, 3 * KB));
  assertEquals(demands[2].shuffleReadRecords, Float64Array.of(3, 3, 3, 3));
  assertEquals(rdds.map(({ dependencies }) => dependencies), [
    [],
    [{ kind: "shuffle", shuffleId: 0 }],
    [{ kind: "shuffle", shuffleId: 0 }],
  ]);
  assertEquals(jobs.map(({ rddId, afterJobs }) => [rddId, afterJobs]), [[1, []], [2, [0]]]);
});
