/**
 * What a command of the command line is.
 *
 * @module
 */

/** Where a command reads and writes. The tests hand in their own. */
export interface Io {
  /** Standard output: the answer alone. */
  readonly stdout: (text: string) => void;
  /** Standard error: errors, progress. */
  readonly stderr: (text: string) => void;
  readonly stdin: () => ReadableStream<Uint8Array>;
  readonly stderrIsTerminal: boolean;
  /** The folder against which relative paths are resolved. */
  readonly cwd: string;
  /**
   * Calls `listener` when the user (SIGINT) or the system (SIGTERM) asks to stop, once; later signals, and all after the
   * returned function was called, end the process as ever. Without it nothing can be finished on a signal.
   */
  readonly onStop?: (listener: (signal: StopSignal) => void) => () => void;
}

/** Signals that ask a process to stop. */
export type StopSignal = "SIGINT" | "SIGTERM";

/** One command, a file each in this folder, listed in commands.ts. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** What `--help` prints. */
  readonly help: string;
  /** Runs it; resolves to the exit status: 0, or 1 when the answer is "no". Bad input is thrown as InputError. */
  run(args: string[], io: Io): Promise<number>;
}
