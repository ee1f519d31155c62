import { assertEquals } from "@std/assert";
import { ScenarioRunner } from "../../src/cli/sweep_worker.ts";
import { captureIo } from "../support/capture_io.ts";

Deno.test("a scenario without an input needs the sweep's own; one with an input reads it", async () => {
  const runner = new ScenarioRunner(null, captureIo().io, { heapBytes: Infinity });
  const scenario = { id: "a", settings: {} };
  const without = await runner.run(scenario, null);
  assertEquals([without.status, without.status === "refused" && without.code], ["refused", "sweep.input"]);
  assertEquals((await runner.run(scenario, "template:many-tiny-tasks")).status, "succeeded");
});
