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

Deno.test("a runner keeps the last two inputs: what is read again has changed", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const runner = new ScenarioRunner(null, captureIo().io, { heapBytes: Infinity });
    const tasks = async (name: string) => {
      const { figures } = await runner.run({ id: "a", settings: {} }, `${folder}/${name}.json`);
      return figures!.durationMs;
    };
    const write = (name: string, computeMs: number) =>
      Deno.writeTextFile(
        `${folder}/${name}.json`,
        JSON.stringify({ cluster: { executors: 1, cores: 1 }, stages: [{ id: 0, tasks: 1, computeMs }] }),
      );
    for (const name of ["a", "b", "c"]) await write(name, 1000);
    const before = (await tasks("a"))!;
    await write("a", 2000);
    assertEquals(await tasks("a"), before, "kept");
    await tasks("b");
    await tasks("c");
    assertEquals(await tasks("a"), before + 1000, "read again after two others");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
