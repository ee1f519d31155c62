import { assertEquals } from "@std/assert";
import { JOB_GROUP, jobTimings, SQL_EXECUTION } from "../../src/workload/from_event_log_jobs.ts";

const job = (jobId: number, time: number, endTime: number | null, properties = {}, failure: string | null = null) => ({
  job: { jobId, time, endTime, failure, stageIds: [], finalStageId: null, properties },
  stage: null,
  shuffle: null,
});

Deno.test("a job of a query waits for the query's jobs, not for those of another thread", () => {
  const query = { [SQL_EXECUTION]: "7" };
  const timings = jobTimings([job(0, 10, 20, query), job(1, 11, 25), job(2, 30, 40, query)], 0);
  assertEquals(timings[2], { afterJobs: [0], delayMs: 10, cancelAfterMs: null });
});

Deno.test("a cancelled job is cancelled after as long", () => {
  const message = "Job 0 cancelled part of cancelled job group victim";
  const [timing] = jobTimings([job(0, 10, 60, { [JOB_GROUP]: "victim" }, message)], 0);
  assertEquals(timing.cancelAfterMs, 50);
});

Deno.test("a job that failed by itself is not cancelled", () => {
  assertEquals(jobTimings([job(0, 10, 60, {}, "Job aborted due to stage failure")], 0)[0].cancelAfterMs, null);
});
