import { assertEquals, assertStringIncludes } from "@std/assert";
import { gzipSync } from "fflate";
import { runMain } from "../../src/cli/main.ts";
import { captureIo } from "../support/capture_io.ts";
import { runPath } from "../support/runs.ts";

async function run(args: string[], options: { stdin?: string | Uint8Array; cwd?: string } = {}) {
  const { io, out } = captureIo(options);
  const status = await runMain(["summarize", ...args], io);
  return { status, ...out };
}

Deno.test("summarize reads the bundled log when none is given", async () => {
  const { status, stdout } = await run([]);
  assertEquals(status, 0);
  assertStringIncludes(stdout, "24 cached blocks were evicted");
});

Deno.test("summarize --format json gives the Summary with its verdict, as one JSON object", async () => {
  const { status, stdout, stderr } = await run([runPath("max_result_size"), "--format", "json"]);
  assertEquals([status, stderr], [0, ""]);
  const summary = JSON.parse(stdout);
  assertEquals(summary.outcome.status, "failed");
  assertEquals(summary.verdict[0].code, "results.max_result_size");
  assertEquals(summary.thresholds.maxResultSize, 10485760);
});

Deno.test("summarize reads a rolling folder, and the same files given one by one in any order", async () => {
  const folder = runPath("spark_4_1_rolling");
  const whole = await run([folder, "--format=json"]);
  const files = [...Deno.readDirSync(folder)].map(({ name }) => `${folder}/${name}`).sort().reverse();
  assertEquals((await run([...files, "--format=json"])).stdout, whole.stdout);
});

Deno.test("summarize reads standard input, and paths relative to the folder of the user", async () => {
  const path = runPath("spark_2_4_max_result_size");
  const byPath = await run([path.slice(path.lastIndexOf("/") + 1), "--format=json"], {
    cwd: path.slice(0, path.lastIndexOf("/")),
  });
  const byStdin = await run(["-", "--format=json"], { stdin: Deno.readFileSync(path) });
  assertEquals(byPath.status, 0);
  assertEquals(byStdin.stdout, byPath.stdout);
});

Deno.test("summarize refuses what is not there, not readable as a log, or another kind of input", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/notes.txt`, "hello\n");
    await Deno.writeTextFile(`${dir}/spec.json`, '{"stages": []}');
    await Deno.mkdir(`${dir}/empty`);
    const code = async (args: string[]) => {
      const { status, stdout, stderr } = await run(args, { cwd: dir });
      assertEquals([status, stdout], [2, ""]);
      return /^error\[(.+?)\]:/.exec(stderr)?.[1];
    };
    assertEquals(await code(["missing"]), "input.file");
    assertEquals(await code(["empty"]), "input.folder");
    assertEquals(await code(["notes.txt"]), "event_log.no_events");
    assertEquals(await code(["spec.json"]), "input.kind");
    assertEquals(await code(["template:sort"]), "input.kind");
    assertEquals(await code(["-", "notes.txt"]), "input.kind");
    assertEquals(await code(["--formt=json"]), "cli.option");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("an event log may be called .json, a folder may hold the log in a folder", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const log = '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n';
    await Deno.writeTextFile(`${dir}/log.json`, log);
    await Deno.mkdir(`${dir}/outer/inner`, { recursive: true });
    await Deno.writeFile(`${dir}/outer/inner/app-1.gz`, gzipSync(new TextEncoder().encode(log)));
    for (const name of ["log.json", "outer"]) {
      const { status, stdout } = await run([name, "--format=json"], { cwd: dir });
      assertEquals([status, JSON.parse(stdout).app.sparkVersion], [0, "3.5.9"]);
    }
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("summarize --stdin answers each line, errors as lines, and goes on", async () => {
  const lines = [
    JSON.stringify({ id: "a", input: runPath("max_result_size") }),
    "not json",
    JSON.stringify({ id: 2, input: "/no/such/file" }),
    "",
    JSON.stringify({ id: 3 }),
    JSON.stringify({ id: [4], input: [runPath("fetch_failure")] }),
  ];
  const { status, stdout } = await run(["--stdin"], { stdin: lines.join("\n") });
  assertEquals(status, 0);
  const answers = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assertEquals(answers.map(({ id, summary, error }) => [id, summary?.outcome.status, error?.code]), [
    ["a", "failed", undefined],
    [null, undefined, "cli.stdin"],
    [2, undefined, "input.file"],
    [3, undefined, "cli.stdin"],
    [[4], "succeeded", undefined],
  ]);
  assertStringIncludes(answers[1].error.message, "line 2");
});

Deno.test("summarize --stdin refuses a line that is JSON and no object, and goes on", async () => {
  const { status, stdout } = await run(["--stdin"], { stdin: "[1]\nnull\n3\n" });
  assertEquals(status, 0);
  for (const line of stdout.trimEnd().split("\n")) {
    const { id, error } = JSON.parse(line);
    assertEquals([id, error.code], [null, "cli.stdin"]);
    assertStringIncludes(error.message, "must be a JSON object");
  }
});
