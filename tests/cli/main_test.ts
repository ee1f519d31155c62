import { assertEquals } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import { captureIo } from "../support/capture_io.ts";

Deno.test("without a command the list of commands is printed", async () => {
  const { io, out } = captureIo();
  assertEquals(await runMain([], io), 0);
  assertEquals(out.stdout.startsWith("sparkmem:"), true);
});

Deno.test("an unknown command is bad input: exit status 2", async () => {
  const { io, out } = captureIo();
  assertEquals(await runMain(["constructor"], io), 2);
  assertEquals(
    out.stderr.startsWith("error[cli.command]: Cannot run constructor"),
    true,
  );
});
