/**
 * Running other programs to their end, for tests and tools.
 *
 * @module
 */

/** What a program did. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a program is run; without standard input. */
export type ProgramOptions = Pick<Deno.CommandOptions, "cwd" | "env" | "signal">;

/** Runs a program and waits for it. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args], stdin: "null", ...options })
    .output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/**
 * What a program prints.
 *
 * @throws {Error} with the end of what it said, when it fails.
 */
export async function outputOf(
  program: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, options);
  if (code !== 0) throw new Error(`${program} ${args[0] ?? ""}: exit ${code}: ${(stderr + stdout).slice(-3000)}`);
  return stdout;
}
