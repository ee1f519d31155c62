/** Recorded traces in tests/testdata, for the conformance tests. */
import { join } from "node:path";
import { replay } from "../../src/cli/replay.ts";
import { captureIo } from "./capture_io.ts";

const TESTDATA = join(import.meta.dirname!, "..", "testdata");

/** Path of a file below tests/testdata. */
export function testdata(path: string): string {
  return join(TESTDATA, path);
}

/** The gzip'd traces of a folder below tests/testdata, by name. */
export function traceFiles(folder: string): string[] {
  const path = join(TESTDATA, folder);
  return [...Deno.readDirSync(path)]
    .filter(({ name }) => name.endsWith(".jsonl.gz"))
    .map(({ name }) => join(path, name))
    .sort();
}

/** The lines of a gzip'd trace, parsed. */
// deno-lint-ignore no-explicit-any
export async function traceLines(path: string): Promise<any[]> {
  const file = await Deno.open(path);
  const text = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** What `deno task replay` prints last for these traces, and the lines that tell of differences. */
export async function replayed(
  args: string[],
): Promise<{ status: number; last: string; differences: string[] }> {
  const { io, out } = captureIo();
  const status = await replay.run(args, io);
  const lines = out.stdout.trimEnd().split("\n");
  const differences = lines.filter((line) => !/ operations compared/.test(line));
  return { status, last: lines.at(-1)!, differences };
}
