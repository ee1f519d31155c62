import type { Io } from "../../src/cli/command.ts";

/** An Io whose output is kept, for testing commands in this process. */
export function captureIo(
  options: { stdin?: string | Uint8Array; cwd?: string } = {},
): {
  io: Io;
  out: { stdout: string; stderr: string };
} {
  const out = { stdout: "", stderr: "" };
  const input = typeof options.stdin === "string" ? new TextEncoder().encode(options.stdin) : options.stdin;
  const io: Io = {
    stdout: (text) => out.stdout += text,
    stderr: (text) => out.stderr += text,
    stdin: () => new Blob(input === undefined ? [] : [input.slice()]).stream(),
    stderrIsTerminal: false,
    cwd: options.cwd ?? Deno.cwd(),
  };
  return { io, out };
}
