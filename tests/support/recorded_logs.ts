/**
 * All event logs that tests/testdata holds, written by real Sparks.
 *
 * @module
 */
import { decompressed } from "../../src/event_log/codec/codec.ts";
import { chunksOf } from "../../src/event_log/parts.ts";
import { RUN_NAMES, runText } from "./runs.ts";

const TESTDATA = new URL("../testdata/", import.meta.url);

const SINGLE = [...Deno.readDirSync(new URL("event_logs/", TESTDATA))].map(({ name }) => name)
  .filter((name) => name.endsWith(".gz")).sort();

/** Logs by their path below tests/testdata: the folder of a run, or a file. */
export const RECORDED_LOGS: readonly string[] = [
  ...RUN_NAMES.map((name) => `runs/${name}`),
  ...SINGLE.map((name) => `event_logs/${name}`),
];

/** The lines of a log. */
export async function recordedLines(log: string): Promise<string[]> {
  if (log.startsWith("runs/")) return (await runText(log.slice("runs/".length))).trimEnd().split("\n");
  const decoder = new TextDecoder();
  const chunks = chunksOf(new Blob([Deno.readFileSync(new URL(log, TESTDATA))]).stream());
  let text = "";
  for await (const chunk of decompressed(chunks, { codecs: [], truncated: false, corrupt: null })) {
    text += decoder.decode(chunk, { stream: true });
  }
  return text.trimEnd().split("\n");
}
