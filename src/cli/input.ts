/**
 * INPUT of the commands: an event log (a file, a rolling folder, several files, `-`), a job spec, a template, or nothing.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { peekChunks } from "../event_log/codec/codec.ts";
import { chunksOf, type LogPart, streamOf } from "../event_log/parts.ts";
import { readEventLog, type ReadOptions, type ReadReport } from "../event_log/read.ts";
import type { EventSink } from "../spark/events.ts";
import type { Io } from "./command.ts";
import { fileError, userPath } from "./io.ts";

/** What a command was given to work on. */
export type Input =
  | {
    readonly kind: "eventLog";
    /** As the user gave it, for messages. */
    readonly name: string;
    readonly source: ReadableStream<Uint8Array> | readonly LogPart[];
    /** Bytes on disk, or null when that is not known. */
    readonly bytes: number | null;
  }
  | { readonly kind: "jobSpec"; readonly name: string; readonly text: string }
  | { readonly kind: "template"; readonly name: string };

/** The real log that commands read when no INPUT is given: cached RDDs that evict each other (Spark 3.5.9). */
export const EXAMPLE_LOG = new URL(
  "../../tests/testdata/runs/cache_evictions/app-20261130174132-0000.gz",
  import.meta.url,
);

/** So much is looked at to tell an event log from a job spec. */
const HEAD_BYTES = 64;
/** A job spec is a file that people write; this is far above what one needs. */
const MAX_SPEC_BYTES = 1 << 26;
const CHUNK_BYTES = 1 << 18;

/**
 * Opens what the user named: the positional arguments of a command.
 *
 * @throws {InputError} `input.file`, `input.kind`, `input.folder`.
 */
export async function openInput(names: readonly string[], io: Io): Promise<Input> {
  if (names.length === 0) return await exampleInput();
  const [first] = names;
  if (names.length === 1 && first.startsWith("template:")) {
    return { kind: "template", name: first.slice("template:".length) };
  }
  if (names.length === 1 && first === "-") return await standardInput(io);
  const parts: LogPart[] = [];
  let bytes = 0;
  for (const name of names) {
    if (name === "-" || name.startsWith("template:")) {
      throw new InputError("input.kind", `Cannot use ${name} together with other inputs: only files can be combined`, {
        parameters: { names },
      });
    }
    for (const file of await filesOf(name, io)) {
      parts.push(...file.source);
      bytes += file.bytes;
    }
  }
  if (parts.length === 1 && parts[0].name.endsWith(".json")) return await jsonInput(first, parts[0], bytes);
  return { kind: "eventLog", name: names.join(", "), source: parts, bytes };
}

/**
 * The bundled example; a command that runs from a server (JSR, https) downloads it from beside its own code.
 *
 * @throws {InputError} `input.example` when the download fails or is not allowed.
 */
export async function exampleInput(log: URL = EXAMPLE_LOG): Promise<Extract<Input, { kind: "eventLog" }>> {
  const name = "the bundled example";
  if (log.protocol === "file:") return { kind: "eventLog", name, ...await filePart(log) };
  const failed = (why: string, cause?: unknown) =>
    new InputError(
      "input.example",
      `Cannot download ${name} from ${log.href}: must be allowed to (--allow-net=${log.host}), or be given an event log: ` +
        `received ${why}`,
      { parameters: { url: log.href }, cause },
    );
  try {
    const response = await fetch(log);
    if (response.ok && response.body !== null) return { kind: "eventLog", name, source: response.body, bytes: null };
    await response.body?.cancel();
    throw failed(`status ${response.status}`);
  } catch (error) {
    if (error instanceof InputError) throw error;
    throw failed(error instanceof Error ? error.message : String(error), error);
  }
}

/**
 * Opens what must be an event log.
 *
 * @throws {InputError} `input.kind` for a job spec or a template; what {@linkcode openInput} throws.
 */
export async function openEventLog(
  command: string,
  names: readonly string[],
  io: Io,
): Promise<Extract<Input, { kind: "eventLog" }>> {
  const input = await openInput(names, io);
  if (input.kind === "eventLog") return input;
  const what = input.kind === "template" ? "a template" : "a job spec";
  throw new InputError("input.kind", `Cannot ${command} ${names[0]}: must be an event log: received ${what}`, {
    parameters: { name: names[0], kind: input.kind },
  });
}

/** Reads an opened event log; shows progress on a terminal when it is large. */
export async function readInput(
  input: Extract<Input, { kind: "eventLog" }>,
  sink: EventSink,
  io: Io,
  options: ReadOptions = {},
): Promise<ReadReport> {
  const show = io.stderrIsTerminal && (input.bytes ?? Infinity) > 1 << 26;
  let shown = 0;
  try {
    return await readEventLog(input.source, sink, {
      ...options,
      onProgress(progress) {
        options.onProgress?.(progress);
        if (!show || progress.bytesRead - shown < 1 << 25) return;
        shown = progress.bytesRead;
        const of = input.bytes === null ? "" : ` of ${Math.round(input.bytes / 2 ** 20)}`;
        io.stderr(`\rread ${Math.round(shown / 2 ** 20)}${of} MiB`);
      },
    });
  } finally {
    if (shown > 0) io.stderr("\r\u001b[K");
  }
}

async function standardInput(io: Io): Promise<Input> {
  const { head, chunks } = await peekChunks(chunksOf(io.stdin()), HEAD_BYTES);
  const source = streamOf(chunks);
  if (!isJobSpec(head)) return { kind: "eventLog", name: "standard input", source, bytes: null };
  return { kind: "jobSpec", name: "-", text: await new Response(source).text() };
}

async function jsonInput(name: string, part: LogPart, bytes: number): Promise<Input> {
  const { head, chunks } = await peekChunks(chunksOf(part.open()), HEAD_BYTES);
  await chunks.return(undefined);
  if (!isJobSpec(head)) return { kind: "eventLog", name, source: [part], bytes };
  if (bytes > MAX_SPEC_BYTES) {
    throw new InputError("input.file", `Cannot read ${name}: a job spec must have at most ${MAX_SPEC_BYTES} bytes`, {
      parameters: { name, limit: MAX_SPEC_BYTES, received: bytes },
    });
  }
  return { kind: "jobSpec", name, text: await Deno.readTextFile(part.name) };
}

/** Whether the first bytes are those of a JSON object that is not an event. */
function isJobSpec(head: Uint8Array): boolean {
  return /^\s*\{(?!\s*"Event"\s*:)/.test(new TextDecoder().decode(head));
}

/** A file or the files of a folder, with their sizes. */
async function filesOf(name: string, io: Io): Promise<{ source: readonly LogPart[]; bytes: number }[]> {
  const path = userPath(name, io);
  try {
    const { isDirectory } = await Deno.stat(path);
    if (!isDirectory) return [await filePart(path)];
    const found = [];
    const folders = [];
    for await (const entry of Deno.readDir(path)) {
      if (entry.isDirectory) folders.push(entry.name);
      else found.push(await filePart(`${path}/${entry.name}`));
    }
    if (found.length > 0) return found;
    if (folders.length === 1) return await filesOf(`${path}/${folders[0]}`, io);
    throw new InputError(
      "input.folder",
      folders.length === 0
        ? `Cannot read ${name}: the folder is empty`
        : `Cannot read ${name}: must be one application's log: it holds the folders ${
          folders.sort().slice(0, 5).join(", ")
        }${folders.length > 5 ? ", ..." : ""}`,
      { parameters: { name } },
    );
  } catch (error) {
    throw error instanceof InputError ? error : fileError(name, error);
  }
}

/** A file as a part that is opened when it is read. */
async function filePart(path: string | URL): Promise<{ source: [LogPart]; bytes: number }> {
  const { size } = await Deno.stat(path);
  const name = path instanceof URL ? path.pathname : path;
  return { source: [{ name, open: () => fileStream(path, name) }], bytes: size };
}

/**
 * A file's bytes; closes it at the end and when reading stops early. All pieces share one buffer, which stays in the
 * processor's cache: a piece is valid until the next one is asked for, which is all that readEventLog() needs.
 */
function fileStream(path: string | URL, name: string): ReadableStream<Uint8Array> {
  let file: Deno.FsFile | null = null;
  const buffer = new Uint8Array(CHUNK_BYTES);
  const close = () => {
    file?.close();
    file = null;
  };
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      try {
        file ??= Deno.openSync(path);
        const length = file.readSync(buffer);
        if (length === null) {
          close();
          controller.close();
        } else controller.enqueue(buffer.subarray(0, length));
      } catch (error) {
        close();
        throw fileError(name, error);
      }
    },
    cancel: close,
  }, { highWaterMark: 0 });
}
