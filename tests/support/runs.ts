/**
 * The recorded runs of tests/testdata/runs.
 *
 * @module
 */
import { decompressed } from "../../src/event_log/codec/codec.ts";
import { chunksOf, type LogPart } from "../../src/event_log/parts.ts";
import type { EventSink, SparkEvent } from "../../src/spark/events.ts";

/** Figures of a run, from its log's JSON and its executors' logs (see tests/testdata/runs/README.md). */
export interface ExpectedRun {
  spark: string;
  outcome: "OK" | "FAILED";
  message: string;
  events: Record<string, number>;
  tasks: number;
  failed: number;
  killed: number;
  memoryBytesSpilled: number;
  diskBytesSpilled: number;
  spilledTasks: number;
  resultBytes: number;
  shuffleReadBytes: number;
  shuffleWriteBytes: number;
  stages: number;
  evictions: number;
  evictionsByBlockUpdates: number | null;
  cachedAtEnd:
    | Record<
      string,
      {
        blocks_mem: number;
        bytes_mem: number;
        blocks_disk: number;
        bytes_disk: number;
      }
    >
    | null;
  resultPaths: { direct: number; indirect: number; dropped: number };
}

const RUNS = new URL("../testdata/runs/", import.meta.url);

/** Names of the runs. */
export const RUN_NAMES: readonly string[] = [...Deno.readDirSync(RUNS)]
  .filter(({ isDirectory }) => isDirectory).map(({ name }) => name).sort();

/** The figures of a run. */
export function expectedRun(name: string): ExpectedRun {
  return JSON.parse(
    Deno.readTextFileSync(new URL(`${name}/expected.json`, RUNS)),
  );
}

function* files(folder: URL): Generator<URL> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (isDirectory) yield* files(new URL(`${name}/`, folder));
    else if (!name.endsWith(".json")) yield new URL(name, folder);
  }
}

/** The path of a run's log: the file, or the folder of a rolling log. */
export function runPath(name: string): string {
  const folder = new URL(`${name}/`, RUNS);
  const [entry] = [...Deno.readDirSync(folder)]
    .filter((found) => found.name !== "expected.json");
  return decodeURIComponent(new URL(entry.name, folder).pathname);
}

/** The files of a run's log, in no particular order. */
export function runParts(name: string): LogPart[] {
  return [...files(new URL(`${name}/`, RUNS))].reverse().map((url) => ({
    name: url.pathname,
    open: () => new Blob([Deno.readFileSync(url)]).stream(),
  }));
}

/** A part from memory. */
export function part(name: string, content: string | Uint8Array): LogPart {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content.slice();
  return { name, open: () => new Blob([bytes.slice()]).stream() };
}

/** A sink that keeps copies of all events. */
export function keepEvents(): EventSink & { events: SparkEvent[] } {
  const events: SparkEvent[] = [];
  return { events, event: (event) => void events.push(structuredClone(event)) };
}

/** The text of a run's log. */
export async function runText(name: string): Promise<string> {
  let text = "";
  const parts = runParts(name).sort((a, b) => a.name < b.name ? -1 : 1);
  for (const { open } of parts) {
    const decoder = new TextDecoder();
    const report = { codecs: [], truncated: false, corrupt: null };
    for await (const chunk of decompressed(chunksOf(open()), report)) text += decoder.decode(chunk, { stream: true });
  }
  return text;
}
