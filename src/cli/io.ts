/**
 * The command line's edges: standard streams, the folder of the user, files.
 *
 * @module
 */
import { resolve } from "node:path";
import { InputError } from "../errors.ts";
import type { Io, StopSignal } from "./command.ts";

/** The process's own streams. Relative paths are resolved against the folder where the user typed the task. */
export function denoIo(): Io {
  return {
    stdout: streamWriter(Deno.stdout),
    stderr: streamWriter(Deno.stderr),
    stdin: () => Deno.stdin.readable,
    stderrIsTerminal: Deno.stderr.isTerminal(),
    cwd: Deno.env.get("INIT_CWD") ?? Deno.cwd(),
    onStop,
  };
}

/** Signals that can be listened to: on Windows there is no SIGTERM. */
const STOP_SIGNALS: readonly StopSignal[] = Deno.build.os === "windows" ? ["SIGINT"] : ["SIGINT", "SIGTERM"];

function onStop(listener: (signal: StopSignal) => void): () => void {
  const listeners = STOP_SIGNALS.map((signal) => {
    const heard = () => {
      remove();
      listener(signal);
    };
    Deno.addSignalListener(signal, heard);
    return [signal, heard] as const;
  });
  const remove = () => {
    for (const [signal, heard] of listeners.splice(0)) Deno.removeSignalListener(signal, heard);
  };
  return remove;
}

/**
 * Writes text to a stream, all of it. When the reader has closed the pipe (`| head`) the process ends: nobody wants the rest.
 *
 * @throws {InputError} `output.write` when it cannot be written, as on a full disk.
 */
export function streamWriter(stream: { writeSync(bytes: Uint8Array): number }): (text: string) => void {
  const encoder = new TextEncoder();
  return (text) => {
    const bytes = encoder.encode(text);
    for (let offset = 0; offset < bytes.length;) {
      try {
        offset += stream.writeSync(bytes.subarray(offset));
      } catch (error) {
        if (error instanceof Deno.errors.BrokenPipe) Deno.exit(0);
        const why = error instanceof Error ? error.message : String(error);
        throw new InputError("output.write", `Cannot write the answer: ${why}`, { cause: error });
      }
    }
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
