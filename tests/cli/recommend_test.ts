import { assert, assertEquals } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import { captureIo } from "../support/capture_io.ts";
import { runPath } from "../support/runs.ts";

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

Deno.test("recommend says that there is nothing to gain, and that no setting keeps to a budget", async () => {
  const spec = JSON.stringify({
    conf: { "spark.executor.memory": "512m" },
    cluster: { executors: 1, cores: 1 },
    stages: [{ id: 0, tasks: 2, computeMs: 1000 }],
  });
  const text = async (...args: string[]) => {
    const { io, out } = captureIo({ stdin: spec });
    const status = await runMain(["recommend", "-", ...args], io);
    return { status, stdout: out.stdout };
  };
  const nothing = await text();
  assertEquals(nothing.status, 0);
  assert(nothing.stdout.includes("Nothing to gain: the job keeps to the budget"), nothing.stdout);
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    // two tasks of a second on one core take two seconds, whatever the memory
    await Deno.writeTextFile(file, JSON.stringify({ maxDurationMs: 100 }));
    const broken = await text("--budget", file);
    assertEquals(broken.status, 1);
    assert(broken.stdout.includes("Nothing that was tried keeps to the budget."), broken.stdout);
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("recommend warns where a log does not say how full the heap was", async () => {
  // Spark 2.4 records no peaks of the JVM's heap.
  const { io, out } = captureIo();
  assertEquals(await runMain(["recommend", runPath("spark_2_4_max_result_size")], io), 0);
  assert(/\nWarnings\n(?: {2}.*\n)* {2}.*how much of the heap/.test(out.stdout), out.stdout);
});
