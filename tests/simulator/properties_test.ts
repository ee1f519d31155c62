// What must hold of any job, over the specs that tests/support/arbitrary_job_spec.ts draws: each attempt ends once, executors hold
// no memory at the end, time does not run backwards, stages and jobs end once, the Summary and a written log say the same.
import { assert } from "@std/assert";
import fc from "fast-check";
import { checkApplication, noCounts } from "../fuzz/check_application.ts";
import { arbitraryJobSpec } from "../support/arbitrary_job_spec.ts";

Deno.test("random job specs: each attempt ends once, all memory comes back, events are in order, each job ends once", async () => {
  const counts = noCounts();
  await fc.assert(fc.asyncProperty(arbitraryJobSpec(), (spec) => checkApplication(spec, counts)), {
    seed: 20261201,
    numRuns: 40,
  });
  // What is drawn reaches what is checked.
  const { runs, tasks, failedTasks, failedJobs, spills, executorsLost } = counts;
  for (const number of [runs, tasks, failedTasks, failedJobs, spills, executorsLost]) assert(number > 0);
});
