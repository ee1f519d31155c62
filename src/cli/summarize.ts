/**
 * `summarize`: what a real event log says, without any simulation.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { Summarizer } from "../report/summarize.ts";
import { textReport } from "../report/text.ts";
import { type Finding, verdictOf } from "../report/verdict.ts";
import type { Summary } from "../report/summary.ts";
import type { Command, Io } from "./command.ts";
import { openEventLog, readInput } from "./input.ts";
import { linesOf } from "./ndjson.ts";
import { noPositionals, parseOptions } from "./options.ts";

const HELP = `
usage: deno task summarize [INPUT...] [--format text|json]
       deno task summarize --stdin

Reads a Spark event log and says what happened: a verdict (what went wrong or well, why, what to do), then the figures.
Nothing is simulated; what the log does not record is null.

INPUT is an event log: a file, a rolling folder, several files of one application in any order, or - for standard
input; plain or compressed (zstd, lz4, snappy, lzf, gzip, zip, told from the content). Without INPUT a bundled log is read.

  --format text   readable (default)
  --format json   the Summary as one JSON object, with the verdict
  --stdin         reads lines of JSON, { "id": ..., "input": PATH or [PATHS] }, and writes one line each:
                  { "id", "summary" } or { "id", "error": { "code", "message" } }
`;

const OPTIONS = {
  format: { type: "string", choices: ["text", "json"] },
  stdin: { type: "boolean" },
} as const;

/** A Summary with its verdict. */
type Answer = Summary & { verdict: Finding[] };

async function summarizeLog(names: readonly string[], io: Io): Promise<{ answer: Answer; name: string }> {
  const input = await openEventLog("summarize", names, io);
  const summarizer = new Summarizer({ source: "observed" });
  await readInput(input, summarizer, io);
  const summary = summarizer.summary();
  return { answer: { ...summary, verdict: verdictOf(summary, summarizer.facts()) }, name: input.name };
}

async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions("summarize", args, OPTIONS);
  if (values.stdin) {
    noPositionals("summarize --stdin", positionals);
    return await filter(io);
  }
  const { answer } = await summarizeLog(positionals, io);
  io.stdout(
    values.format === "json" ? JSON.stringify(answer, null, 2) + "\n" : textReport(answer, answer.verdict),
  );
  return 0;
}

/** One line in, one line out, one log in memory at a time; a line that fails does not end it. */
async function filter(io: Io): Promise<number> {
  for await (const { text, number } of linesOf(io.stdin())) {
    const request = requestOf(text, number);
    let result: Record<string, unknown>;
    try {
      result = { summary: (await summarizeLog(request.names(), io)).answer };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      result = { error: { code: error.code, message: error.message, parameters: error.parameters } };
    }
    io.stdout(JSON.stringify({ id: request.id, ...result }) + "\n");
  }
  return 0;
}

/** A line's id, as far as there is one, and its paths, or the error that they are. */
function requestOf(text: string, line: number): { id: unknown; names: () => string[] } {
  const refuse = (what: string, pointer: string) => () => {
    throw new InputError("cli.stdin", `Cannot use line ${line}: ${what}`, { line, pointer });
  };
  let request: unknown;
  try {
    request = JSON.parse(text);
  } catch {
    return { id: null, names: refuse("must be JSON", "") };
  }
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    return { id: null, names: refuse("must be a JSON object", "") };
  }
  const { id = null, input } = request as { id?: unknown; input?: unknown };
  const names: unknown = typeof input === "string" ? [input] : input;
  const usable = Array.isArray(names) && names.length > 0 &&
    names.every((name) => typeof name === "string" && name !== "-" && !name.startsWith("template:"));
  return {
    id,
    names: usable ? () => names : refuse("input must be the path of an event log or a list of paths", "/input"),
  };
}

/** The `summarize` command. */
export const summarize: Command = {
  name: "summarize",
  summary: "what a real event log says: a verdict, then the figures",
  help: HELP,
  run,
};
