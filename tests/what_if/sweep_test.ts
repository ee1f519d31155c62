import { assertEquals, assertThrows } from "@std/assert";
import { InputError, LimitError } from "../../src/errors.ts";
import { gridScenarios, gridSize, paretoOf, runScenario, scenarioChanges } from "../../src/what_if/sweep.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import { cachedRdd, clusterOf, demandOf, jobOf, MIB, workloadOf } from "../support/workloads.ts";

const workload = workloadOf({
  cluster: clusterOf(1),
  rdds: [cachedRdd(1, 8, 20 * MIB), cachedRdd(2, 8, 20 * MIB)],
  demands: [demandOf(8)],
  jobs: [jobOf(0, 1, 0), jobOf(1, 2, 0), jobOf(2, 1, 0)],
});

Deno.test("a grid has every combination once", () => {
  const scenarios = [...gridScenarios({ a: ["1", "2"], b: ["x", "y", "z"] })];
  assertEquals(scenarios.length, 6);
  assertEquals(new Set(scenarios.map(({ settings }) => JSON.stringify(settings))).size, 6);
});

Deno.test("nothing to vary and too much are bad input", () => {
  assertThrows(() => gridSize({}, 10), InputError, "received no setting");
  assertThrows(() => gridSize({ a: [] }, 10), InputError, "no value of a");
  assertThrows(() => gridSize({ a: ["1", "2"], b: ["1", "2"] }, 3), LimitError, "at most 3 combinations: received 4");
  assertThrows(() => scenarioChanges({ memory: "1g" }), InputError, "Cannot vary memory");
});

Deno.test("a scenario is the simulation under its settings, or why it is refused", () => {
  const run = (settings: Record<string, string>) => runScenario(workload, { id: "s", settings });
  const disk = run({ storageLevel: "MEMORY_AND_DISK" });
  const more = run({ executors: "2" });
  assertEquals([disk.status, more.status], ["succeeded", "succeeded"]);
  assertEquals(more.figures!.executors, 2);
  assertEquals(more.figures!.blocksEvicted! < run({}).figures!.blocksEvicted!, true);
  const refused = run({ "spark.memory.fraction": "3" });
  assertEquals([refused.status, refused.figures], ["refused", null]);
});

Deno.test("the Pareto line leaves out what another result beats", () => {
  const results = ["1", "2", "3"].map((executors) => runScenario(workload, { id: executors, settings: { executors } }));
  const line = paretoOf(results);
  assertEquals(line[0], "1"); // the least memory is always on it
});

Deno.test("a scenario's version is a change; in local mode the driver's memory is all there is", () => {
  assertEquals(scenarioChanges({ sparkVersion: "4.0.0", executors: "3" }), {
    conf: {},
    executors: 3,
    sparkVersion: "4.0.0",
  });
  const local = workloadFromJobSpec({ cluster: { master: "local[2]" }, stages: [{ id: 0, tasks: 2 }] });
  const result = runScenario(local, { id: "a", settings: { "spark.driver.memory": "2g" } });
  // 2 GiB and an overhead of max(10 %, 384 MiB)
  assertEquals(result.figures!.clusterMemoryBytes, 2 ** 31 + 384 * 2 ** 20);
});
