import { assertEquals, assertRejects } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { exampleInput, openInput, readInput } from "../../src/cli/input.ts";
import { captureIo } from "../support/capture_io.ts";
import { keepEvents, runPath } from "../support/runs.ts";

Deno.test("openInput() tells event logs, job specs and templates apart", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${dir}/spec.json`, '{ "name": "job" }');
    const { io } = captureIo({ cwd: dir });
    assertEquals(await openInput(["template:sort"], io), { kind: "template", name: "sort" });
    assertEquals(await openInput(["spec.json"], io), { kind: "jobSpec", name: "spec.json", text: '{ "name": "job" }' });
    assertEquals((await openInput([runPath("cache_evictions")], io)).kind, "eventLog");
    assertEquals((await openInput([], io)).kind, "eventLog");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("openInput() reads a job spec and an event log from standard input", async () => {
  const spec = await openInput(["-"], captureIo({ stdin: '{ "name": "job", "stages": [] }' }).io);
  assertEquals(spec, { kind: "jobSpec", name: "-", text: '{ "name": "job", "stages": [] }' });
  const log = await openInput(
    ["-"],
    captureIo({ stdin: '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n' }).io,
  );
  assertEquals(log.kind, "eventLog");
});

Deno.test("openInput() lists the folders where one log was meant", async () => {
  const dir = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${dir}/eventlog_v2_app-1`);
    await Deno.mkdir(`${dir}/eventlog_v2_app-2`);
    const error = await assertRejects(
      () => openInput([dir], captureIo().io),
      InputError,
      "eventlog_v2_app-1, eventlog_v2_app-2",
    );
    assertEquals(error.code, "input.folder");
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("readInput() shows progress on a terminal when the log is large, and clears it", async () => {
  const { io, out } = captureIo();
  const line = new TextEncoder().encode(('{"Event":"SparkListenerUnpersistRDD","RDD ID":7}\n').repeat(20_000));
  let pieces = 0;
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (pieces++ < 40) controller.enqueue(line);
      else controller.close();
    },
  });
  const input = { kind: "eventLog", name: "x", source, bytes: 100 * 2 ** 20 } as const;
  await readInput(input, { event: () => {} }, { ...io, stderrIsTerminal: true });
  assertEquals(out.stderr, "\rread 33 of 100 MiB\r\u001b[K");
  const quiet = captureIo();
  await readInput({ ...input, source: new Blob([line]).stream() }, keepEvents(), quiet.io);
  assertEquals(quiet.out.stderr, "");
});

Deno.test("exampleInput() downloads the example when the command's code comes from a server, and says so when it cannot", async () => {
  const bytes = await Deno.readFile(runPath("cache_evictions"));
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    ({ url }) => url.endsWith(".gz") ? new Response(bytes) : new Response("no", { status: 404 }),
  );
  const at = (path: string) => new URL(`http://127.0.0.1:${server.addr.port}/${path}`);
  try {
    const { io } = captureIo();
    const sink = keepEvents();
    await readInput(await exampleInput(at("example.gz")), sink, io);
    assertEquals(sink.events[0], { kind: "logStart", sparkVersion: "3.5.9" });
    const missing = await assertRejects(() => exampleInput(at("none")), InputError, "received status 404");
    assertEquals([missing.code, missing.parameters], ["input.example", { url: at("none").href }]);
  } finally {
    await server.shutdown();
  }
  await assertRejects(() => exampleInput(at("example.gz")), InputError, `--allow-net=127.0.0.1:${server.addr.port}`);
});

Deno.test("openInput() refuses a job spec beyond any that could be used, before it reads it", async () => {
  const path = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(path, '{"stages":[]}');
    // 64 MiB is the limit; the file has holes, not bytes
    await Deno.truncate(path, 2 ** 26 + 1);
    const error = await assertRejects(() => openInput([path], captureIo().io), InputError);
    assertEquals([error.code, error.parameters.limit, error.parameters.received], ["input.file", 2 ** 26, 2 ** 26 + 1]);
  } finally {
    await Deno.remove(path);
  }
});
