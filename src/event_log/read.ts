/**
 * Reads an event log: bytes in, events out, in memory that does not grow with the log.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { EventSink, SourceWarning } from "../spark/events.ts";
import { warning } from "./audit.ts";
import { concat, decompressed, type DecompressionReport, detectCodec, MAGIC_BYTES, peekChunks } from "./codec/codec.ts";
import { zipEntries } from "./codec/zip.ts";
import { DEFAULT_LINE_BYTES, EventReader, overLimit, type ReadLimits } from "./event_reader.ts";
import { LineSplitter } from "./lines.ts";
import { chunksOf, type LogPart, orderParts, streamOf } from "./parts.ts";

export type { ReadLimits } from "./event_reader.ts";
export type { LogPart } from "./parts.ts";

/** How far the reading is. */
export interface ReadProgress {
  /** Of the input as it is stored, before decompression. */
  readonly bytesRead: number;
  /** Events so far. */
  readonly lines: number;
}

/** Options of {@linkcode readEventLog}. */
export interface ReadOptions {
  /** When to refuse a log. Default: a line of more than 256 MiB. */
  readonly limits?: ReadLimits;
  /** Called after each piece of input. */
  readonly onProgress?: (progress: ReadProgress) => void;
  /** Ends the reading with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What was read. */
export interface ReadReport {
  /** Of the input as it was stored. */
  readonly bytesRead: number;
  /** After decompression. */
  readonly bytesDecompressed: number;
  /** Lines of all parts, malformed ones included. */
  readonly lines: number;
  /** Events by Spark's name, those that the project has no use for included. */
  readonly events: Readonly<Record<string, number>>;
  /** Fields that Spark does not write, as `EventName/Field`, with how often they came. */
  readonly unknownFields: Readonly<Record<string, number>>;
  /** Numbers of the first malformed lines (1-based, over all parts), and how many there were. */
  readonly malformed: {
    readonly count: number;
    readonly lines: readonly number[];
  };
  /** The files read, in order, with their codecs from the outside inwards. */
  readonly parts: readonly {
    readonly name: string;
    readonly codecs: readonly string[];
  }[];
  /** The log's name says that Spark had not closed it. */
  readonly inProgress: boolean;
  /** The warnings that the sink got at the end. */
  readonly warnings: readonly SourceWarning[];
}

/** Bytes of the input as they pass. */
class Meter {
  bytesRead = 0;
  readonly #limit: number;

  constructor(limits: ReadLimits) {
    this.#limit = limits.bytes ?? Infinity;
  }

  async *through(
    chunks: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.bytesRead += chunk.length;
      if (this.bytesRead > this.#limit) {
        throw overLimit("bytes", "limit.bytes", this.#limit);
      }
      yield chunk;
    }
  }
}

/** A source in parts whose bytes are metered; zip archives are opened. */
async function openParts(
  source: ReadableStream<Uint8Array> | readonly LogPart[],
  meter: Meter,
): Promise<LogPart[]> {
  const given = source instanceof ReadableStream ? [{ name: "", open: () => source }] : source;
  // What comes alone is opened once: it may be a pipe.
  const single = given.length === 1;
  const parts: LogPart[] = [];
  for (const part of given) {
    const { head, chunks } = await peekChunks(
      chunksOf(part.open()),
      MAGIC_BYTES,
    );
    if (detectCodec(head) === "zip") {
      parts.push(...zipEntries(await collect(meter.through(chunks))));
    } else if (single) {
      parts.push({ name: part.name, open: () => streamOf(meter.through(chunks)) });
    } else {
      await chunks.return(undefined);
      parts.push({
        name: part.name,
        open: () => streamOf(meter.through(chunksOf(part.open()))),
      });
    }
  }
  return parts;
}

async function collect(
  chunks: AsyncGenerator<Uint8Array>,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    pieces.push(chunk.slice());
  }
  return concat(pieces, length);
}

/** What came of one file. */
interface PartResult {
  readonly name: string;
  readonly report: DecompressionReport;
}

class LogReading {
  readonly parts: PartResult[] = [];
  bytesDecompressed = 0;
  readonly #events: EventReader;
  readonly #meter: Meter;
  readonly #options: ReadOptions;

  constructor(events: EventReader, meter: Meter, options: ReadOptions) {
    this.#events = events;
    this.#meter = meter;
    this.#options = options;
  }

  async part(part: LogPart): Promise<void> {
    const report: DecompressionReport = {
      codecs: [],
      truncated: false,
      corrupt: null,
    };
    this.parts.push({ name: part.name, report });
    let cut = false;
    const splitter = new LineSplitter(
      (bytes, start, end) => this.#events.line(bytes, start, end, cut),
      this.#options.limits?.lineBytes ?? DEFAULT_LINE_BYTES,
      (bytes, start) => this.#events.quickLine(bytes, start),
    );
    const limit = this.#options.limits?.decompressedBytes ?? Infinity;
    for await (const chunk of decompressed(chunksOf(part.open()), report)) {
      this.#options.signal?.throwIfAborted();
      this.bytesDecompressed += chunk.length;
      if (this.bytesDecompressed > limit) {
        throw overLimit(
          "bytes after decompression",
          "limit.decompressed_bytes",
          limit,
        );
      }
      splitter.push(chunk);
      this.#options.onProgress?.({
        bytesRead: this.#meter.bytesRead,
        lines: this.#events.lines,
      });
    }
    cut = true;
    splitter.finish();
  }

  warnings(): SourceWarning[] {
    const found: SourceWarning[] = [];
    for (const { name, report } of this.parts) {
      const where = name === "" ? "the log" : name.replace(/^.*[\\/]/, "");
      if (report.corrupt !== null) {
        found.push(warning(
          "log.corrupt",
          `${where} is damaged (${report.corrupt}): it was read up to there`,
        ));
      } else if (report.truncated) {
        found.push(warning(
          "log.truncated",
          `${where} ends in the middle of compressed data: it was read up to there`,
        ));
      }
    }
    return found;
  }
}

/**
 * Reads an event log and hands its events to a sink, in the log's order. The codec is told from the content; parts of a
 * rolling log come in any order. What is wrong with the log comes as warning events at the end; it is an error only
 * when there is not a single event.
 *
 * @param source A stream of bytes, or the files of one application's log.
 * @throws {InputError} `event_log.no_events`, `event_log.empty`, `event_log.zip`, `event_log.several_applications`,
 * `event_log.several_attempts`.
 * @throws {LimitError} `limit.bytes`, `limit.decompressed_bytes`, `limit.line_bytes`, `limit.tasks`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { readEventLog } from "./read.ts";
 *
 * const log = '{"Event":"SparkListenerLogStart","Spark Version":"3.5.9"}\n{"Event":"Spark';
 * const kinds: string[] = [];
 * const report = await readEventLog(new Blob([log]).stream(), { event: (event) => kinds.push(event.kind) });
 * assertEquals(kinds, ["logStart", "warning", "warning", "warning"]);
 * assertEquals(report.warnings[0].code, "log.cut_line");
 * ```
 */
export async function readEventLog(
  source: ReadableStream<Uint8Array> | readonly LogPart[],
  sink: EventSink,
  options: ReadOptions = {},
): Promise<ReadReport> {
  const meter = new Meter(options.limits ?? {});
  const ordered = await orderParts(await openParts(source, meter));
  const events = new EventReader(sink, options.limits ?? {});
  const reading = new LogReading(events, meter, options);
  if (ordered.sparkVersion !== null) {
    events.emit({ kind: "logStart", sparkVersion: ordered.sparkVersion });
  }
  for (const part of ordered.parts) await reading.part(part);
  if (Object.keys(events.counts).length === 0) {
    throw noEvents(events.lines, reading.parts);
  }
  const warnings = [
    ...ordered.warnings,
    ...reading.warnings(),
    ...events.warnings(),
  ];
  for (const found of warnings) sink.event(found);
  return {
    bytesRead: meter.bytesRead,
    bytesDecompressed: reading.bytesDecompressed,
    lines: events.lines,
    events: events.counts,
    unknownFields: events.unknownFields,
    malformed: events.malformed,
    parts: reading.parts.map(({ name, report }) => ({
      name,
      codecs: report.codecs.length === 0 ? ["plain"] : report.codecs,
    })),
    inProgress: ordered.inProgress,
    warnings,
  };
}

function noEvents(lines: number, parts: readonly PartResult[]): InputError {
  const damaged = parts.find(({ report }) => report.corrupt !== null)?.report
    .corrupt;
  const received = damaged ??
    (lines === 0 ? "nothing" : `${lines} ${lines === 1 ? "line" : "lines"}, none of which is one`);
  return new InputError(
    "event_log.no_events",
    `Cannot read the event log: must hold events of Spark, one JSON object a line: received ${received}`,
    { parameters: { lines } },
  );
}
