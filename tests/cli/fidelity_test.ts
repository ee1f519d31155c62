import { assertEquals, assertRejects } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { fidelity } from "../../src/cli/fidelity.ts";
import { captureIo } from "../support/capture_io.ts";
import { runPath } from "../support/runs.ts";

async function gzip(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A folder of two runs: cache_evictions, and what Spark 3.5.9 did with spark.executor.memory=1g. */
async function runsFolder(): Promise<string> {
  const folder = await Deno.makeTempDir();
  const args = { rdds: 3, level: "MEMORY_ONLY" };
  const index = ["cache-base", "cache-em1g"].map((run) => ({ run, family: "cache", args }));
  await Deno.writeTextFile(`${folder}/index.json`, JSON.stringify(index));
  const measured = [
    { run: "cache-base", memory: "640m", stored: 42, dropped: 24 },
    { run: "cache-em1g", memory: "1g", stored: 24, dropped: 0 },
  ];
  for (const { run, memory, stored, dropped } of measured) {
    await Deno.mkdir(`${folder}/${run}`);
    await Deno.copyFile(runPath("cache_evictions"), `${folder}/${run}/app-1.gz`);
    const conf = { "spark.executor.memory": memory, "spark.executor.cores": "2" };
    await Deno.writeTextFile(`${folder}/${run}/conf.json`, JSON.stringify({ conf }));
    const stages = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`${i}.0`, { tasks_spilled: 0 }]));
    const summary = {
      outcome: "OK",
      message: "",
      wall_ms: 6000,
      result_paths: { direct: 48, indirect: 0, dropped: 0 },
      totals: { mem_spilled: 0 },
      stages,
      executors: [],
      events: {},
    };
    await Deno.writeTextFile(`${folder}/${run}/summary.json`, JSON.stringify(summary));
    const line = (kind: string) => (_: unknown, i: number) => JSON.stringify(["t", "0", null, kind, `rdd_1_${i}`]);
    const lines = [
      ...Array.from({ length: stored }, line("stored")),
      ...Array.from({ length: dropped }, line("drop")),
    ];
    await Deno.writeFile(`${folder}/${run}/memory_events.jsonl.gz`, await gzip(lines.join("\n")));
  }
  return folder;
}

Deno.test("fidelity replays the base and predicts the others", async () => {
  const folder = await runsFolder();
  const { io, out } = captureIo();
  assertEquals(await fidelity.run([folder, "--format", "json"], io), 0);
  const { predictions, tallies } = JSON.parse(out.stdout);
  assertEquals(predictions.map(({ from, of }: { from: string; of: string }) => [from, of]), [
    ["cache-base", "cache-base"],
    ["cache-base", "cache-em1g"],
  ]);
  assertEquals(tallies.outcome, { right: 2, all: 2 });
  assertEquals(tallies.changed, { right: 2, all: 2 });
  assertEquals(tallies.same.right, tallies.same.all);
  await Deno.remove(folder, { recursive: true });
});

Deno.test("fidelity needs one folder with an index", async () => {
  await assertRejects(() => fidelity.run([], captureIo().io), InputError, "one folder");
  const folder = await Deno.makeTempDir();
  await assertRejects(() => fidelity.run([folder], captureIo().io), InputError, "index.json");
  await Deno.remove(folder);
});
