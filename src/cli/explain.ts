/**
 * `explain`: what a Spark error or log line means.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { explain as explainMessage } from "../report/explain.ts";
import { explanationText } from "../report/explain_text.ts";
import { SparkConf } from "../spark/conf.ts";
import type { Command, Io } from "./command.ts";
import { confChanges, parseOptions } from "./options.ts";

const HELP = `
usage: deno task explain "MESSAGE" [--spark-version V] [--conf key=value ...] [--format text|json]
       ... | deno task explain -

Paste a Spark error, a log line or a whole stack trace: what each message means, how its numbers come about, which settings
govern it, what to try. Exit status 1 when nothing in it is known.

  -                     read the text from standard input
  --spark-version V     whose defaults (as the text's units suggest: MB is 2.x, MiB is 3.x)
  --conf key=value      settings of the application, for the arithmetic; repeats
  --format text|json
`;

const OPTIONS = {
  conf: { type: "string", multiple: true },
  "spark-version": { type: "string" },
  format: { type: "string", choices: ["text", "json"] },
} as const;

/** Version of the settings when settings are given without one. */
const DEFAULT_VERSION = "3.5.0";

async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseOptions("explain", args, OPTIONS);
  const text = positionals.length === 1 && positionals[0] === "-"
    ? await new Response(io.stdin()).text()
    : positionals.join(" ");
  if (text.trim() === "") {
    throw new InputError(
      "cli.argument",
      'Cannot explain: must have a message, for example "MemoryStore started with …"',
    );
  }
  const version = values["spark-version"];
  const conf = version === undefined && values.conf.length === 0
    ? undefined
    : SparkConf.from({}, version ?? DEFAULT_VERSION).with(confChanges("explain", values.conf));
  const result = explainMessage(text, { conf });
  io.stdout(values.format === "json" ? JSON.stringify(result, null, 2) + "\n" : explanationText(result));
  return result.unknown ? 1 : 0;
}

/** The `explain` command. */
export const explain: Command = {
  name: "explain",
  summary: "what a Spark error or log line means, and what to try",
  help: HELP,
  run,
};
