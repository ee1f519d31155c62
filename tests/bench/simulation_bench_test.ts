import { assert, assertEquals } from "@std/assert";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { runWorkload } from "../../src/what_if/run_workload.ts";
import { simulationBench, wholeJob } from "./simulation_bench.ts";

Deno.test("the simulation bench runs what it says: all tasks, with spills and cached blocks", () => {
  const figures = simulationBench({ tasks: 200, rounds: 2 });
  assertEquals(figures.map(({ name, tasks }) => [name, tasks]), [["whole job", 200], [
    "what-if, one run with its Summary",
    200,
  ]]);
  assert(figures[0].checksum.startsWith("200 tasks, "));
  const { outcome, execution, storage } = runWorkload(applyChanges(wholeJob(200, 2), {}));
  assertEquals(outcome.status, "succeeded");
  assert(execution.memoryBytesSpilled! > 0);
  assert(storage.blocksStored! > 0);
});
