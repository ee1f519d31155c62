import { assertEquals, assertRejects } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
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

Deno.test("each command has help, which names its task and ends in one line break", async () => {
  for (const name of Object.keys(COMMANDS)) {
    for (const flag of ["--help", "-h"]) {
      const { io, out } = captureIo();
      assertEquals([name, await runMain([name, "no-such-input", flag], io)], [name, 0]);
      assertEquals([name, out.stdout.startsWith(`usage: deno task ${name}`)], [name, true], out.stdout.slice(0, 60));
      assertEquals(/[^\n]\n$/.test(out.stdout), true);
    }
  }
});

Deno.test("an error that is not bad input is a bug: it is not told as bad input", async () => {
  const { io } = captureIo();
  const broken = {
    ...io,
    stdout: () => {
      throw new RangeError("a bug");
    },
  };
  await assertRejects(() => runMain(["sizing"], broken), RangeError, "a bug");
});
