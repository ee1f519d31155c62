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
    // other blocks, other happenings and the line break at the end are no evictions
    const others = ['["t","0",null,"drop","broadcast_1_piece0"]', '["t","0",3,"acquire",5]', ""];
    await Deno.writeFile(`${folder}/${run}/memory_events.jsonl.gz`, await gzip([...lines, ...others].join("\n")));
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

Deno.test("fidelity predicts collectors, levels and settings that a run lacks, and leaves out other programs and equal runs", async () => {
  const folder = await runsFolder();
  try {
    const index: { run: string; family: string; args: Record<string, unknown> }[] = JSON.parse(
      await Deno.readTextFile(`${folder}/index.json`),
    );
    /** A copy of the base run with other settings or arguments. */
    const add = async (run: string, conf: Record<string, string>, args: Record<string, unknown> = index[0].args) => {
      await Deno.mkdir(`${folder}/${run}`);
      for (const file of ["app-1.gz", "summary.json", "memory_events.jsonl.gz"]) {
        await Deno.copyFile(`${folder}/cache-base/${file}`, `${folder}/${run}/${file}`);
      }
      await Deno.writeTextFile(`${folder}/${run}/conf.json`, JSON.stringify({ conf }));
      index.push({ run, family: "cache", args });
    };
    const base = { "spark.executor.memory": "640m", "spark.executor.cores": "2" };
    await add("cache-same", base);
    await add("cache-log", { ...base, "spark.eventLog.dir": "elsewhere" });
    await add("cache-other-program", { ...base, "spark.executor.memory": "2g" }, { rdds: 4, level: "MEMORY_ONLY" });
    await add("cache-less", { "spark.executor.memory": "640m" });
    await add("cache-g1", { ...base, "spark.executor.extraJavaOptions": "-XX:+UseG1GC" });
    await add("cache-disk", base, { rdds: 3, level: "DISK_ONLY" });
    await Deno.writeTextFile(`${folder}/index.json`, JSON.stringify(index));
    const { io, out } = captureIo();
    assertEquals(await fidelity.run([folder, "--format", "json"], { ...io, stderrIsTerminal: true }), 0);
    const { predictions } = JSON.parse(out.stdout);
    assertEquals(predictions.map(({ of }: { of: string }) => of), [
      "cache-base",
      "cache-em1g",
      "cache-less",
      "cache-g1",
      "cache-disk",
    ]);
    assertEquals(out.stderr, "\r\u001b[Kcache-base\r\u001b[K");
    // Without the executors' own log the evictions of a run are not known, and not compared.
    await Deno.remove(`${folder}/cache-base/memory_events.jsonl.gz`);
    const without = captureIo();
    assertEquals(await fidelity.run([folder, "--runs", "cache-base", "--format", "json"], without.io), 0);
    const figures = JSON.parse(without.out.stdout).predictions[0].results.map(({ figure }: { figure: string }) =>
      figure
    );
    const measured = predictions[0].results.map(({ figure }: { figure: string }) => figure);
    assertEquals(measured.filter((figure: string) => !figures.includes(figure)), ["evicted", "cachedInMemory"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("fidelity names what is wrong with a folder or an option", async () => {
  const folder = await runsFolder();
  const refusal = async (...args: string[]) => {
    const { code, message } = await assertRejects(() => fidelity.run([folder, ...args], captureIo().io), InputError);
    return [code, message.replace(folder, "DIR")];
  };
  try {
    assertEquals(await refusal("--runs", "["), [
      "cli.option",
      "Cannot run fidelity: --runs must be a regular expression: received [",
    ]);
    await Deno.remove(`${folder}/cache-base/memory_events.jsonl.gz`);
    await Deno.writeTextFile(`${folder}/cache-base/memory_events.jsonl.gz`, "no gzip");
    assertEquals((await refusal())[0], "input.file");
    await Deno.remove(`${folder}/cache-base/memory_events.jsonl.gz`);
    await Deno.remove(`${folder}/cache-base/app-1.gz`);
    assertEquals(await refusal(), ["input.folder", "Cannot read DIR/cache-base: it has no event log"]);
    await Deno.writeTextFile(`${folder}/index.json`, "{");
    assertEquals(await refusal(), ["input.json", "Cannot read DIR/index.json: must be JSON"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
