/**
 * The command line: `sparkmem COMMAND ...`, called by the tasks of deno.json. The only place in src/ where
 * files, environment and clock come in.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Io } from "./command.ts";
import { COMMANDS } from "./commands.ts";

/**
 * Runs a command and gives the exit status: 0, 1 when the answer is "no", 2 for bad input.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { runMain } from "./main.ts";
 *
 * let errors = "";
 * const io = {
 *   stdout: () => {},
 *   stderr: (text: string) => errors += text,
 *   stdin: () => new ReadableStream<Uint8Array>(),
 *   stderrIsTerminal: false,
 *   cwd: "/",
 * };
 * assertEquals(await runMain(["no-such-command"], io), 2);
 * assertEquals(errors.startsWith("error[cli.command]:"), true);
 * ```
 */
export async function runMain(
  args: readonly string[],
  io: Io,
): Promise<number> {
  const [name, ...rest] = args;
  try {
    if (name === undefined || name === "--help" || name === "-h") {
      io.stdout(await overview());
      return 0;
    }
    if (!Object.hasOwn(COMMANDS, name)) {
      throw new InputError(
        "cli.command",
        `Cannot run ${name}: must be one of ${Object.keys(COMMANDS).join(", ")}`,
        {
          parameters: { name },
        },
      );
    }
    const command = await COMMANDS[name]();
    if (rest.includes("--help") || rest.includes("-h")) {
      io.stdout(command.help.trim() + "\n");
      return 0;
    }
    return await command.run(rest, io);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    io.stderr(`error[${error.code}]: ${error.message}\n`);
    return 2;
  }
}

async function overview(): Promise<string> {
  const lines = [
    "sparkmem: what Spark's memory manager and result path do to a job, and would do under other settings",
    "",
  ];
  for (const [name, load] of Object.entries(COMMANDS)) {
    lines.push(`  ${name.padEnd(12)}${(await load()).summary}`);
  }
  return lines.join("\n") + "\n\nEach has --help.\n";
}

if (import.meta.main) {
  const { denoIo } = await import("./io.ts");
  Deno.exitCode = await runMain(Deno.args, denoIo());
}
