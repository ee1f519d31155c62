// What a stage whose output is other data when it runs again makes of a job that loses some of it. What each version does is
// recorded of the real DAGScheduler (tests/testdata/scheduler, handmade-i and random-i); here a whole job meets it.
import { assertEquals } from "@std/assert";
import type { Workload } from "../../../src/simulator/workload.ts";
import { workloadFromJobSpec } from "../../../src/workload/job_spec.ts";
import type { JobSpec } from "../../../src/workload/job_spec_types.ts";
import { workloadOfLog } from "../../support/event_logs.ts";
import { whatIf } from "../../../src/what_if/what_if.ts";

/** Four tasks write a shuffle, eight read it on four cores; a task of the second wave cannot fetch. */
function spec(sparkVersion: string, level?: "INDETERMINATE" | "UNORDERED", partition = 5): JobSpec {
  return {
    sparkVersion,
    cluster: { executors: 2, cores: 2 },
    stages: [
      { id: "map", tasks: 4, computeMs: 1000, shuffleWriteBytes: "1m", outputDeterministicLevel: level },
      { id: "reduce", parents: ["map"], tasks: 8, computeMs: 1000 },
    ],
    faults: [{ kind: "fetchFailure", stage: "reduce", partition }],
  };
}

function run(job: JobSpec) {
  const { outcome, stages } = whatIf(workloadFromJobSpec(job), null, {}).predicted;
  return [outcome.status, stages.map(({ stageId, attempt, tasks }) => `${stageId}.${attempt}: ${tasks.total}`)];
}

Deno.test("a job with results fails when its indeterminate input must be made again", () => {
  for (const version of ["2.4.0", "3.0.3", "3.5.9", "4.1.3", "4.2.0"]) {
    assertEquals(run(spec(version, "INDETERMINATE"))[0], "failed", version);
    assertEquals(run(spec(version, "UNORDERED"))[0], "succeeded", version);
    assertEquals(run(spec(version))[0], "succeeded", version);
  }
  // Before SPARK-23243 nobody noticed.
  assertEquals(run(spec("2.3.0", "INDETERMINATE"))[0], "succeeded");
});

Deno.test("without results the whole map stage runs again from 3.0 on, only what was lost of a determinate one", () => {
  // An executor goes with two of the four outputs while the first readers run; what takes its place cannot fetch them.
  const lost = (version: string, level: "INDETERMINATE" | "UNORDERED"): JobSpec => ({
    ...spec(version, level),
    faults: [{ kind: "executorLost", executor: "1", atMs: 1500, replacedAfterMs: 50 }],
  });
  const again = (version: string, level: "INDETERMINATE" | "UNORDERED") => {
    const [status, attempts] = run(lost(version, level));
    return [status, (attempts as string[]).find((attempt) => attempt.startsWith("0.1"))];
  };
  assertEquals(again("3.5.0", "UNORDERED"), ["succeeded", "0.1: 2"]);
  assertEquals(again("3.5.0", "INDETERMINATE"), ["succeeded", "0.1: 4"]);
  assertEquals(again("2.4.0", "UNORDERED"), ["succeeded", "0.1: 2"]);
});

Deno.test("an upgrade names the rule that makes the job fail, or run on", () => {
  const effects = (from: string, to: string) =>
    whatIf(workloadFromJobSpec(spec(from, "INDETERMINATE")), null, { sparkVersion: to }).versionEffects!.effects
      .filter(({ effect }) => effect === "changes").map(({ name, issue }) => [name, issue]);
  assertEquals(effects("2.3.0", "2.4.0"), [["scheduler.indeterminateRollback", "SPARK-23243"]]);
});

Deno.test("a query's shuffle that compares checksums runs what was lost again, and then what read it (4.1)", () => {
  const key = "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch";
  const job: JobSpec = {
    ...spec("4.1.3", "INDETERMINATE"),
    faults: [{ kind: "executorLost", executor: "1", atMs: 1500, replacedAfterMs: 50 }],
  };
  const workload = workloadFromJobSpec(job);
  const query = { ...workload, jobs: workload.jobs.map((one) => ({ ...one, sqlExecutionId: 0 })) };
  const again = (of: Workload, value: string) => {
    const { stages, outcome } = whatIf(of, null, { conf: { [key]: value } }).predicted;
    const attempts = stages.filter(({ attempt }) => attempt > 0);
    return [outcome.status, ...attempts.map(({ stageId, tasks }) => [stageId, tasks.total])];
  };
  // The two readers on the other executor end after the failure and before the map stage is submitted again: they count.
  assertEquals(again(query, "false"), ["succeeded", [0, 4], [1, 6]]);
  // With checksums the change is noticed, and that results were made from the old data.
  assertEquals(again(query, "true"), ["failed", [0, 2]]);
  // RDDs know no checksums.
  assertEquals(again(workload, "true"), ["succeeded", [0, 4], [1, 6]]);
});

Deno.test("a spec's level is its RDD's; a log's is taken over", async () => {
  const workload = workloadFromJobSpec(spec("3.5.9", "INDETERMINATE"));
  assertEquals(workload.rdds.map((rdd) => rdd.outputDeterministicLevel), ["INDETERMINATE", undefined]);
  const levels = new Set((await workloadOfLog("sql_join")).rdds.map((rdd) => rdd.outputDeterministicLevel));
  assertEquals(levels, new Set(["DETERMINATE", "UNORDERED"]));
});
