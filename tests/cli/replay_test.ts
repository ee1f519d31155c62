import { assertEquals, assertRejects } from "@std/assert";
import { replay } from "../../src/cli/replay.ts";
import { InputError } from "../../src/errors.ts";
import { captureIo } from "../support/capture_io.ts";

Deno.test("replay without a file, with an unknown format or an unknown trace is bad input", async () => {
  const { io } = captureIo();
  const code = async (args: string[]) => (await assertRejects(() => replay.run(args, io), InputError)).code;
  assertEquals(await code([]), "cli.argument");
  assertEquals(await code(["--no-such"]), "cli.argument");
  assertEquals(await code(["--format", "html", "x"]), "cli.format");
  assertEquals(await code(["/no/such/file"]), "input.file");
  const path = await Deno.makeTempFile();
  try {
    assertEquals(await code([path]), "replay.format");
    await Deno.writeTextFile(path, '{"name":"not a trace"}\n');
    assertEquals(await code([path]), "replay.format");
    await Deno.writeTextFile(path, "{\n");
    assertEquals(await code([path]), "replay.json");
  } finally {
    await Deno.remove(path);
  }
});

const TRACE = new URL("../testdata/memory/handmade/h00_UMMSuite_basic_execution_memory.jsonl.gz", import.meta.url);

async function traceLines(): Promise<string[]> {
  const packed = new Blob([await Deno.readFile(TRACE)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(packed).text()).trimEnd().split("\n");
}

Deno.test("replay --format ndjson computes anew what Spark recorded of each operation, from the inputs alone", async () => {
  const lines = await traceLines();
  const expected = lines.slice(1).map((line) => JSON.parse(line)).filter((line) => "op" in line);
  const path = await Deno.makeTempFile();
  try {
    // only what goes in: the answers, pools and events of each operation, and what the header computed, are left out
    const outcomes = ["r", "x", "ev", "s", "done", "wev", "init", "pageSizeBytes"];
    const inputs = [JSON.parse(lines[0]), ...expected].map((line) =>
      JSON.stringify(Object.fromEntries(Object.entries(line).filter(([key]) => !outcomes.includes(key))))
    );
    await Deno.writeTextFile(path, [inputs[0], "", ...inputs.slice(1)].join("\n"));
    const { io, out } = captureIo();
    assertEquals(await replay.run([path, "--format", "ndjson"], io), 0);
    const [header, ...printed] = out.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(header, JSON.parse(lines[0]));
    assertEquals(printed.map(({ r, x, s }) => ({ r, x, s })), expected.map(({ r, x, s }) => ({ r, x, s })));
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("replay --format ndjson prints large traces piece by piece, whole numbers beyond 2^53 as they are", async () => {
  const [header, first] = await traceLines();
  const path = await Deno.makeTempFile();
  try {
    const operation = JSON.parse(first);
    const large = JSON.stringify({ ...operation, op: "acqExec", n: 1 }).replace('"n":1', '"n":9223372036854775807');
    await Deno.writeTextFile(path, [header, ...Array.from({ length: 2000 }, () => large)].join("\n"));
    const pieces: string[] = [];
    const { io } = captureIo();
    assertEquals(
      await replay.run([path, "--format", "ndjson"], { ...io, stdout: (text) => void pieces.push(text) }),
      0,
    );
    assertEquals(pieces.length > 1, true);
    assertEquals(pieces.every((piece) => piece.endsWith("\n")), true);
    const [, ...printed] = pieces.join("").trimEnd().split("\n");
    assertEquals(printed.length, 2000);
    assertEquals(printed[0].includes('"n":9223372036854775807'), true, printed[0]);
  } finally {
    await Deno.remove(path);
  }
});

Deno.test("replay says that a file is no gzip data, though its name says so", async () => {
  const path = await Deno.makeTempFile({ suffix: ".gz" });
  try {
    await Deno.writeFile(path, new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2, 3]));
    const error = await assertRejects(() => replay.run([path], captureIo().io), InputError);
    assertEquals([error.code, error.message], ["input.file", `Cannot unpack ${path}: bad gzip data`]);
  } finally {
    await Deno.remove(path);
  }
});
