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

Deno.test("a reader that has seen enough closes the pipe: no error, exit status 0", async () => {
  const child = new Deno.Command("deno", {
    args: ["run", "--quiet", "--no-prompt", "--allow-read", "--allow-env=INIT_CWD", MAIN].concat(
      ["simulate", "template:many-tiny-tasks", "--format", "eventlog"],
    ),
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  // `deno task simulate ... | head -1`
  const reader = child.stdout.getReader();
  assertEquals((await reader.read()).done, false);
  await reader.cancel();
  const errors = await new Response(child.stderr).text();
  assertEquals([(await child.status).code, errors], [0, ""]);
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
