import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { simulate } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { runWorkload } from "../../src/what_if/run_workload.ts";
import { jobSpecFromWorkload, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { shuffleWorkload } from "../support/workloads.ts";

const CASES = [
  ["spark.blacklist.enabled", "2.4.0"],
  ["spark.excludeOnFailure.enabled", "3.5.0"],
  ["spark.excludeOnFailure.taskAndStage.enabled", "4.0.0"],
  ["spark.shuffle.push.enabled", "3.5.0"],
  ["spark.decommission.enabled", "3.5.0"],
] as const;

function refused(work: () => unknown, key: string): void {
  const error = assertThrows(work, InputError, `Cannot simulate with ${key}: must not be set`);
  assertEquals(error.code, "conf.unsupported");
}

Deno.test("what is not simulated is refused in a job spec, in settings and in a what-if", () => {
  for (const [key, sparkVersion] of CASES) {
    refused(() => workloadFromJobSpec({ sparkVersion, conf: { [key]: true }, stages: [{ id: 0, tasks: 1 }] }), key);
    const workload = { ...shuffleWorkload(2, 2), sparkVersion };
    const sink = { event() {} };
    refused(() => simulate(workload, { conf: SparkConf.from({ [key]: "TRUE" }, sparkVersion), sink }), key);
    refused(() => runWorkload(applyChanges(workload, { conf: { [key]: "true" } })), key);
  }
});

Deno.test("an application that was recorded with it is simulated without, with a counted warning", () => {
  for (const [key, sparkVersion] of CASES) {
    const conf = { [key]: "true", "spark.dynamicAllocation.enabled": "false" };
    const workload = { ...shuffleWorkload(2, 2), sparkVersion, conf };
    // Also after a trip through the exact form of the job spec.
    for (const recorded of [workload, workloadFromJobSpec(jobSpecFromWorkload(workload))]) {
      const { outcome, warnings } = runWorkload(applyChanges(recorded, { conf: { "spark.memory.fraction": "0.7" } }));
      assertEquals(outcome.status, "succeeded");
      const told = warnings.filter(({ code }) => code === "simulation.unsupported");
      assertEquals(told.map(({ count }) => count), [1]);
    }
  }
});

Deno.test("a barrier stage in a job spec is refused where it stands", () => {
  const error = assertThrows(
    () => workloadFromJobSpec({ stages: [{ id: 0, tasks: 1 }, { id: 1, tasks: 2, barrier: true }] }),
    InputError,
  );
  assertEquals([error.code, error.pointer], ["job_spec.unsupported", "/stages/1/barrier"]);
  assertEquals(workloadFromJobSpec({ stages: [{ id: 0, tasks: 1, barrier: false }] }).demands.length, 1);
});
