import { assertEquals } from "@std/assert";
import type { Job } from "../../src/simulator/workload.ts";
import { renumberedJobs } from "../../src/what_if/renumbered_jobs.ts";

function job(id: number, sqlExecutionId: number | null, afterJobs: number[]): Job {
  return {
    id,
    kind: "result",
    rddId: id,
    shuffleId: null,
    partitions: null,
    demand: 0,
    afterJobs,
    delayMs: 0,
    cancelAfterMs: null,
    failureHandled: false,
    name: "",
    group: null,
    pool: null,
    description: null,
    sqlExecutionId,
  };
}

const lines = (jobs: readonly Job[]) => jobs.map(({ id, rddId, afterJobs }) => [id, rddId, afterJobs.join()]);

Deno.test("without replacements numbers stay", () => {
  const jobs = [job(3, null, []), job(7, 1, [3])];
  assertEquals(lines(renumberedJobs(jobs, new Map()).jobs), [[0, 3, ""], [1, 7, "0"]]);
});

Deno.test("what waited for a job that is gone waits for its query's last", () => {
  const recorded = [job(0, 1, []), job(1, 1, [0]), job(2, null, [0, 1])];
  const { jobs, moved } = renumberedJobs(recorded, new Map([[1, [job(5, 1, []), job(1, 1, [5])]]]));
  assertEquals(lines(jobs), [[0, 5, ""], [1, 1, "0"], [2, 2, "1"]]);
  assertEquals([moved(0), moved(1), moved(2)], [0, 1, 2]);
});

Deno.test("a query between the jobs of another thread waits for none that comes later", () => {
  const recorded = [job(0, 1, []), job(1, null, []), job(2, 1, [0, 1])];
  const { jobs } = renumberedJobs(recorded, new Map([[1, [job(0, 1, []), job(2, 1, [0, 1])]]]));
  assertEquals(lines(jobs), [[0, 0, ""], [1, 2, "0"], [2, 1, ""]]);
});
