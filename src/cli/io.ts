/**
 * The command line's edges: standard streams, the folder of the user, files.
 *
 * @module
 */
import { resolve } from "node:path";
import { InputError } from "../errors.ts";
import type { Io } from "./command.ts";

/** The process's own streams. Relative paths are resolved against the folder where the user typed the task. */
export function denoIo(): Io {
  const encoder = new TextEncoder();
  const writer = (stream: { writeSync(bytes: Uint8Array): number }) => (text: string) => {
    const bytes = encoder.encode(text);
    for (let offset = 0; offset < bytes.length;) {
      try {
        offset += stream.writeSync(bytes.subarray(offset));
      } catch (error) {
        if (error instanceof Deno.errors.BrokenPipe) Deno.exit(0);
        throw error;
      }
    }
  };
  return {
    stdout: writer(Deno.stdout),
    stderr: writer(Deno.stderr),
    stdin: () => Deno.stdin.readable,
    stderrIsTerminal: Deno.stderr.isTerminal(),
    cwd: Deno.env.get("INIT_CWD") ?? Deno.cwd(),
  };
}

/** The absolute form of a path that the user typed. */
export function userPath(path: string, io: Io): string {
  return resolve(io.cwd, path);
}

/**
 * A file's bytes.
 *
 * @throws {InputError} `input.file` when it cannot be read.
 */
export async function readUserFile(
  path: string,
  io: Io,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return await Deno.readFile(userPath(path, io));
  } catch (error) {
    throw fileError(path, error);
  }
}

/** The InputError for a failed file access. */
export function fileError(path: string, error: unknown): InputError {
  const why = error instanceof Deno.errors.NotFound ? "no such file" : error instanceof Deno.errors.PermissionDenied ||
      error instanceof Deno.errors.NotCapable
    ? "permission denied"
    : error instanceof Deno.errors.IsADirectory
    ? "it is a folder"
    : error instanceof Error
    ? error.message
    : String(error);
  return new InputError("input.file", `Cannot read ${path}: ${why}`, {
    parameters: { path },
    cause: error,
  });
}
