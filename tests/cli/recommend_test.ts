import { assert, assertEquals } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import { captureIo } from "../support/capture_io.ts";

Deno.test("recommend on the bundled log: settings, reasons, effects", async () => {
  const { io, out } = captureIo();
  assertEquals(await runMain(["recommend"], io), 0);
  assert(out.stdout.includes("--conf spark."));
  assert(out.stdout.includes("why:"));
  assert(out.stdout.includes("evicted"));
});

Deno.test("recommend --budget makes the exit status the answer", async () => {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    const status = async (budget: unknown) => {
      await Deno.writeTextFile(file, JSON.stringify(budget));
      const { io, out } = captureIo();
      const code = await runMain(["recommend", "--budget", file, "--format", "json"], io);
      return [code, code === 2 ? out.stderr : JSON.parse(out.stdout).violations];
    };
    // The bundled log is of a run with 24 evictions; the model is allowed one block an executor more or less.
    assertEquals((await status({ maxEvictedBlocks: 26 }))[0], 0);
    assertEquals((await status({ maxEvictedBlocks: 2 }))[0], 1);
    assertEquals((await status({ evictions: 2 }))[0], 2);
  } finally {
    await Deno.remove(file);
  }
});
