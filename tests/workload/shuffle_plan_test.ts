import { assertEquals } from "@std/assert";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";

Deno.test("a reader that says what its tasks read decides the reducers' shares", () => {
  const { shuffles, demands } = workloadFromJobSpec({
    stages: [
      { id: 0, tasks: 2, shuffleWriteBytes: 500 },
      { id: 1, tasks: 2, parents: [0], shuffleReadBytes: [900, 100] },
    ],
  });
  assertEquals(shuffles[0].reducerShares, Float64Array.of(0.9, 0.1));
  assertEquals(demands[1].shuffleReadBytes, Float64Array.of(900, 100));
});

Deno.test("records that a reader says it reads are its own, others are what was written, in its shares", () => {
  const spec = (records?: number[]) =>
    workloadFromJobSpec({
      cached: [{ name: "c", partitions: 2, bytes: 1 }],
      stages: [
        { id: 0, tasks: 2, shuffleWriteBytes: 500, shuffleWriteRecords: 50 },
        { id: 1, parents: [0], caches: ["c"], ...(records === undefined ? {} : { shuffleReadRecords: records }) },
      ],
    }).rdds.find(({ name }) => name === "c")!.shuffleReadRecords;
  // 2 x 50 records for two reducers
  assertEquals([spec(), spec([70, 30])], [Float64Array.of(50, 50), Float64Array.of(70, 30)]);
});
