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
