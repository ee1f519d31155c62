/**
 * `replay`: runs recorded traces through the engine.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { InputError } from "../errors.ts";
import { traceFormat } from "../replay/mod.ts";
import type { ReplayOptions, ReplayRecord, TraceFormat, TraceLine } from "../replay/trace.ts";
import type { Command, Io } from "./command.ts";
import { readUserFile } from "./io.ts";

const HELP = `
usage: deno task replay FILE... [--format text|ndjson] [--spark-version V]

Runs traces of the real Spark (memory manager, scheduler, task memory manager; plain or gzip'd) through the engine.
Only the inputs of a trace are used; every outcome is computed. Where the trace holds the recorded outcomes, they are compared.

  --format text     the differences, if any, and the number of operations compared (default); exit status 1 on a difference
  --format ndjson   one line an operation or event, with its computed outcomes
  --spark-version V follow this version's rules instead of those of the version that made the trace
`;

/** Differences of one trace that are printed in full. */
const SHOWN = 10;

interface Totals {
  compared: number;
  different: number;
}

async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parsed(args);
  if (positionals.length === 0) {
    throw new InputError("cli.argument", "Cannot replay: no FILE is given");
  }
  const totals: Totals = { compared: 0, different: 0 };
  for (const path of positionals) {
    const text = await traceText(path, io);
    const options: ReplayOptions = { sparkVersion: values["spark-version"] };
    if (values.format === "ndjson") printLines(path, text, options, io);
    else {
      const one = compare(path, text, options, io);
      totals.compared += one.compared;
      totals.different += one.different;
    }
  }
  if (values.format === "ndjson") return 0;
  if (positionals.length > 1) {
    io.stdout(
      `${totals.compared} operations compared in ${positionals.length} traces, ${totals.different} differ\n`,
    );
  }
  return totals.different === 0 ? 0 : 1;
}

function parsed(args: string[]) {
  let result;
  try {
    result = parseArgs({
      args,
      allowPositionals: true,
      options: {
        format: { type: "string", default: "text" },
        "spark-version": { type: "string" },
      },
    });
  } catch (cause) {
    throw new InputError(
      "cli.argument",
      `Cannot replay: ${(cause as Error).message}`,
      { cause },
    );
  }
  const { format } = result.values;
  if (format !== "text" && format !== "ndjson") {
    throw new InputError(
      "cli.format",
      `Cannot replay: --format must be text or ndjson: received ${format}`,
      { parameters: { format } },
    );
  }
  return result;
}

/** The text of a trace, unpacked when it is gzip'd. */
async function traceText(path: string, io: Io): Promise<string> {
  const bytes = await readUserFile(path, io);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) {
    return new TextDecoder().decode(bytes);
  }
  const unpacked = new Blob([bytes]).stream()
    .pipeThrough(new DecompressionStream("gzip"));
  try {
    return await new Response(unpacked).text();
  } catch (cause) {
    throw new InputError("input.file", `Cannot unpack ${path}: bad gzip data`, {
      parameters: { path },
      cause,
    });
  }
}

/** A whole number of 16 digits or more. */
const LONG_INTEGER = /[0-9]{16}/;

/** A line's JSON, whole numbers beyond 2^53 - 1 as BigInt. */
function parseExactly(text: string): TraceLine {
  if (!LONG_INTEGER.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value, context?: { source: string }) => {
    return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?[0-9]+$/.test(context?.source ?? "")
      ? BigInt(context!.source)
      : value;
  });
}

/** The text of an output line; BigInts as the whole numbers that they are. */
function lineText(output: unknown): string {
  return JSON.stringify(output, (_key, value) => {
    // deno-lint-ignore no-explicit-any -- JSON.rawJSON is newer than the type library
    return typeof value === "bigint" ? (JSON as any).rawJSON(String(value)) : value;
  });
}

function* parsedLines(path: string, text: string, settings: { exact: boolean }): Generator<TraceLine> {
  let line = 0;
  for (let start = 0; start < text.length;) {
    let end = text.indexOf("\n", start);
    if (end < 0) end = text.length;
    line++;
    const one = text.slice(start, end).trim();
    start = end + 1;
    if (one === "") continue;
    try {
      yield settings.exact ? parseExactly(one) : JSON.parse(one);
    } catch (cause) {
      throw new InputError(
        "replay.json",
        `Cannot replay ${path}: line ${line} must be JSON`,
        { line, parameters: { path }, cause },
      );
    }
  }
}

/** A trace's header, format and remaining lines. */
function opened(
  path: string,
  text: string,
): { format: TraceFormat; header: TraceLine; lines: Iterable<TraceLine> } {
  const settings = { exact: false };
  const lines = parsedLines(path, text, settings);
  const first = lines.next();
  if (first.done) {
    throw new InputError(
      "replay.format",
      `Cannot replay ${path}: it is empty`,
      {
        parameters: { path },
      },
    );
  }
  const format = traceFormat(first.value);
  settings.exact = format.exactIntegers ?? false;
  return { format, header: first.value, lines };
}

function records(
  path: string,
  text: string,
  options: ReplayOptions,
): Iterable<ReplayRecord> {
  const { format, header, lines } = opened(path, text);
  return format.replay(header, lines, options);
}

function printLines(
  path: string,
  text: string,
  options: ReplayOptions,
  io: Io,
): void {
  let pending = "";
  for (const { output } of records(path, text, options)) {
    if (output === null) continue;
    pending += lineText(output) + "\n";
    if (pending.length > 1 << 16) {
      io.stdout(pending);
      pending = "";
    }
  }
  if (pending !== "") io.stdout(pending);
}

function compare(
  path: string,
  text: string,
  options: ReplayOptions,
  io: Io,
): Totals {
  const totals: Totals = { compared: 0, different: 0 };
  for (const record of records(path, text, options)) {
    if (record.compared) totals.compared++;
    if (record.differences.length === 0) continue;
    totals.different++;
    if (totals.different > SHOWN) continue;
    for (const { what, recorded, computed } of record.differences) {
      io.stdout(
        `${path}:${record.line}: ${what}: recorded ${lineText(recorded)}, computed ${lineText(computed)}\n`,
      );
    }
  }
  io.stdout(
    `${path}: ${totals.compared} operations compared, ${totals.different} differ\n`,
  );
  return totals;
}

/** The `replay` command. */
export const replay: Command = {
  name: "replay",
  summary: "run recorded traces of the real Spark through the engine",
  help: HELP,
  run,
};
