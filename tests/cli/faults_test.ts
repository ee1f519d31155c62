// What happens around the program: closed pipes, full disks, inputs that end too early, workers that die.
import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { streamWriter } from "../../src/cli/io.ts";
import { runMain } from "../../src/cli/main.ts";
import { sweepResults, type SweepTask } from "../../src/cli/sweep_pool.ts";
import { InputError } from "../../src/errors.ts";
import { emptyWorkload, type Workload } from "../../src/simulator/workload.ts";
import { captureIo } from "../support/capture_io.ts";
import { runText } from "../support/runs.ts";

const MAIN = new URL("../../src/cli/main.ts", import.meta.url).pathname;

/** The command line as a process of its own. */
function spawned(args: readonly string[], flags: readonly string[] = []): Deno.ChildProcess {
  const permissions = ["--quiet", "--no-prompt", "--allow-read", "--allow-env=INIT_CWD"];
  const options = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
  return new Deno.Command("deno", { args: ["run", ...permissions, ...flags, MAIN, ...args], ...options }).spawn();
}

async function writeAll(stream: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stream.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
}

/** 400,000 tasks: some 90 MB of heap and some seconds. */
const LARGE = JSON.stringify({
  cluster: { executors: 100, cores: 4 },
  stages: [{ id: 0, tasks: 200_000, shuffleWriteBytes: 1000 }, { id: 1, parents: [0], tasks: 200_000 }],
});

Deno.test("a reader that has seen enough closes the pipe: no error, exit status 0", async () => {
  const child = spawned(["simulate", "template:many-tiny-tasks", "--format", "eventlog"]);
  // `deno task simulate ... | head -1`
  await child.stdin.close();
  const reader = child.stdout.getReader();
  assertEquals((await reader.read()).done, false);
  await reader.cancel();
  const errors = await new Response(child.stderr).text();
  assertEquals([(await child.status).code, errors], [0, ""]);
});

Deno.test("a scenario that needs more memory than V8 has is refused, and the sweep goes on", async () => {
  const spec = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(spec, LARGE);
    // without the limit of heap_budget.ts the process ends here: "Fatal JavaScript out of memory", status 133
    const child = spawned(["sweep", "--stdin", "--jobs", "2"], ["--v8-flags=--max-old-space-size=48"]);
    const inputs = ["template:sort", spec, "template:sort", "template:sort"];
    const lines = inputs.map((input, i) => JSON.stringify({ id: i, input, conf: { "spark.task.cpus": i + 1 } }));
    const [output] = await Promise.all([child.output(), writeAll(child.stdin, lines.join("\n"))]);
    const errors = new TextDecoder().decode(output.stderr);
    assertEquals([output.code, errors], [0, ""]);
    const results = new TextDecoder().decode(output.stdout).trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(results.map(({ id, code }) => [id, code]), [
      ["0", undefined],
      ["1", "limit.memory"],
      ["2", undefined],
      ["3", undefined],
    ]);
    // 0.85 of --max-old-space-size
    assert(results[1].reason.startsWith("Cannot simulate: must take at most 41 MiB of a worker's memory"));
  } finally {
    await Deno.remove(spec);
  }
});

Deno.test("Ctrl-C during a sweep: what is finished is whole, the status tells the signal", async () => {
  for (const [jobs, signal, status] of [["1", "SIGTERM", 143], ["2", "SIGINT", 130]] as const) {
    const grid = ["--vary", "spark.executor.memory=100m,1g", "--format", "ndjson"];
    const child = spawned(["sweep", "-", ...grid, "--jobs", jobs]);
    await writeAll(child.stdin, LARGE);
    // the first is refused by Spark at once, the second runs for seconds
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    const { value } = await reader.read();
    assertEquals([JSON.parse(value!).id, JSON.parse(value!).status], ["0", "refused"]);
    child.kill(signal);
    assertEquals((await reader.read()).done, true);
    const errors = await new Response(child.stderr).text();
    assertEquals((await child.status).code, status);
    assertEquals(
      errors,
      `error[sweep.interrupted]: Cannot go on with the sweep: interrupted (${signal}) after 1 of 2\n`,
    );
  }
});

Deno.test("a full disk is said in one line, not as a stack trace", () => {
  const full = {
    writeSync(): number {
      throw new Error("No space left on device (os error 28)");
    },
  };
  const error = assertThrows(() => streamWriter(full)("answer"), InputError);
  assertEquals(error.code, "output.write");
  assertEquals(error.message, "Cannot write the answer: No space left on device (os error 28)");
});

Deno.test("a stream that takes a part at a time gets everything", () => {
  const taken: number[] = [];
  const slow = {
    writeSync(bytes: Uint8Array): number {
      taken.push(bytes[0]);
      return 1;
    },
  };
  streamWriter(slow)("abc");
  assertEquals(String.fromCharCode(...taken), "abc");
});

Deno.test("a log whose download was interrupted is summarized as far as it goes, and that is said", async () => {
  const text = await runText("cache_evictions");
  const gzip = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  const packed = new Uint8Array(await new Response(gzip).arrayBuffer());
  for (const [what, bytes] of [["plain", new TextEncoder().encode(text)], ["gzip'd", packed]] as const) {
    const { io, out } = captureIo({ stdin: bytes.slice(0, Math.trunc(bytes.length * 0.6)) });
    assertEquals(await runMain(["summarize", "-", "--format", "json"], io), 0, what);
    const { stages, warnings } = JSON.parse(out.stdout);
    assert(stages.length > 0, `${what}: no stage`);
    assert(warnings.length > 0, `${what}: nothing is said`);
  }
});

Deno.test("a file that cannot be read is named in the error", async () => {
  for (const [path, why] of [["/no/such/log", "no such file"], ["/", "folder"]]) {
    const { io, out } = captureIo();
    assertEquals(await runMain(["simulate", path], io), 2);
    assert(out.stderr.startsWith("error["), out.stderr);
    assert(out.stderr.includes(path), `${out.stderr} ${why}`);
  }
});

Deno.test("a worker that dies during a sweep: what came before is given, and the sweep ends with an error that says so", async () => {
  // No such workload can be made: its jobs are missing, on which the worker breaks as on a bug of its own.
  const broken = { ...emptyWorkload("broken"), jobs: null } as unknown as Workload;
  async function* tasks(): AsyncGenerator<SweepTask> {
    for (let i = 0; i < 20; i++) yield await Promise.resolve({ scenario: { id: `${i}`, settings: {} }, input: null });
  }
  const { io } = captureIo();
  const error = await assertRejects(async () => {
    for await (const _ of sweepResults(tasks(), { workload: broken, jobs: 2, io }));
  }, InputError);
  assertEquals(error.code, "sweep.worker");
  assert(error.message.startsWith("Cannot go on with the sweep: a worker ended: "), error.message);
});
