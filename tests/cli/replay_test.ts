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
