import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";

Deno.test("jobs run one after another unless they say otherwise", () => {
  const { jobs } = workloadFromJobSpec({
    stages: [{ id: 0, tasks: 2 }, { id: 1, tasks: 2 }],
    jobs: [
      { stage: 0, name: "first" },
      { stage: 1, after: [], delayMs: "2s" },
      { stage: 0, partitions: [1], cancelAfterMs: 50 },
      { stage: 1, kind: "mapStage" },
    ],
  });
  assertEquals(jobs.map(({ afterJobs, delayMs }) => [afterJobs, delayMs]), [[[], 0], [[], 2000], [[1], 0], [[2], 0]]);
  assertEquals(jobs.map(({ partitions, cancelAfterMs }) => [partitions, cancelAfterMs])[2], [[1], 50]);
  assertEquals(jobs.map(({ kind, shuffleId }) => [kind, shuffleId])[3], ["mapStage", 0]);
});

Deno.test("a map stage is computed as a whole: submitMapStage takes no partitions", () => {
  const spec = { stages: [{ id: 0, tasks: 2 }], jobs: [{ stage: 0, kind: "mapStage" as const, partitions: [0] }] };
  const { code, pointer } = assertThrows(() => workloadFromJobSpec(spec), InputError);
  assertEquals([code, pointer], ["job_spec.range", "/jobs/0/partitions"]);
});
