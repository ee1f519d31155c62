/**
 * How an event log is compressed, told from its first bytes, and its decompression.
 *
 * @module
 */
import { type ChunkDecoder, CodecError } from "./chunk_decoder.ts";
import { GzipDecoder } from "./gzip.ts";
import { Lz4BlockDecoder } from "./lz4.ts";
import { LzfDecoder } from "./lzf.ts";
import { SnappyDecoder } from "./snappy.ts";
import { ZstdDecoder } from "./zstd.ts";

/** The codecs of Spark's event logs (org.apache.spark.io.CompressionCodec), and wrappers that people add. */
export type Codec =
  | "plain"
  | "zstd"
  | "lz4"
  | "snappy"
  | "lzf"
  | "gzip"
  | "zip";

/** So many bytes tell the codec. */
export const MAGIC_BYTES = 8;

const MAGICS: readonly (readonly [Codec, readonly number[]])[] = [
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["lz4", [0x4c, 0x5a, 0x34, 0x42, 0x6c, 0x6f, 0x63, 0x6b]],
  ["snappy", [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]],
  ["lzf", [0x5a, 0x56]],
  ["gzip", [0x1f, 0x8b]],
  ["zip", [0x50, 0x4b, 0x03, 0x04]],
  ["zip", [0x50, 0x4b, 0x05, 0x06]],
];

/**
 * The codec that begins with these bytes; "plain" when none does.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { detectCodec } from "./codec.ts";
 *
 * assertEquals(detectCodec(new TextEncoder().encode('{"Event":"SparkListenerLogStart"')), "plain");
 * assertEquals(detectCodec(new Uint8Array([0x28, 0xb5, 0x2f, 0xfd])), "zstd");
 * ```
 */
export function detectCodec(head: Uint8Array): Codec {
  for (const [codec, magic] of MAGICS) {
    if (
      head.length >= magic.length &&
      magic.every((byte, i) => head[i] === byte)
    ) return codec;
  }
  return (head[0] & 0xf0) === 0x50 && head[1] === 0x2a && head[2] === 0x4d &&
      head[3] === 0x18
    ? "zstd"
    : "plain";
}

function decoderOf(codec: Codec): ChunkDecoder | null {
  switch (codec) {
    case "zstd":
      return new ZstdDecoder();
    case "lz4":
      return new Lz4BlockDecoder();
    case "snappy":
      return new SnappyDecoder();
    case "lzf":
      return new LzfDecoder();
    case "gzip":
      return new GzipDecoder();
    default:
      return null;
  }
}

/** What came of a decompression; filled in while it runs. */
export interface DecompressionReport {
  /** From the outside inwards; a gzip'd zstd log has two. */
  codecs: Codec[];
  /** The input ended in the middle of a block. */
  truncated: boolean;
  /** What was wrong with the compressed bytes; reading stopped there. */
  corrupt: string | null;
}

/** A decoder gets so many bytes at a time, so that what it gives at a time is bounded. */
const PIECE_BYTES = 1 << 16;

/** At most so many codecs inside each other. */
const MAX_NESTING = 3;

/**
 * The first bytes of a source and a source that still has them.
 */
export async function peekChunks(
  source: AsyncIterator<Uint8Array>,
  count: number,
): Promise<{ head: Uint8Array; chunks: AsyncGenerator<Uint8Array> }> {
  const first: Uint8Array[] = [];
  let length = 0;
  while (length < count) {
    const { value, done } = await source.next();
    if (done) break;
    if (value.length === 0) continue;
    length += value.length;
    // The source may use the piece's memory again for the next one.
    first.push(length < count ? value.slice() : value);
  }
  const head = first.length === 1 ? first[0] : concat(first, length);
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      yield* first;
      for (;;) {
        const { value, done } = await source.next();
        if (done) return;
        yield value;
      }
    } finally {
      await source.return?.();
    }
  }
  return { head, chunks: chunks() };
}

/** All pieces as one. */
export function concat(
  pieces: readonly Uint8Array[],
  length: number,
): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/**
 * Decompresses a source, whatever its codec; a codec inside a codec too. Damage ends it quietly: what came before is
 * good, and the report says what was wrong. zip is not opened here (see {@linkcode zipEntries}).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { gzipSync } from "fflate";
 * import { decompressed } from "./codec.ts";
 *
 * async function* source() {
 *   yield gzipSync(new TextEncoder().encode("hello"));
 * }
 * const report = { codecs: [], truncated: false, corrupt: null };
 * let text = "";
 * for await (const chunk of decompressed(source(), report)) text += new TextDecoder().decode(chunk);
 * assertEquals(text, "hello");
 * assertEquals(report.codecs, ["gzip"]);
 * ```
 */
export async function* decompressed(
  source: AsyncIterator<Uint8Array>,
  report: DecompressionReport,
): AsyncGenerator<Uint8Array> {
  const { head, chunks } = await peekChunks(upToDamage(source, report), MAGIC_BYTES);
  const codec = detectCodec(head);
  const decoder = report.codecs.length < MAX_NESTING ? decoderOf(codec) : null;
  if (decoder === null) {
    yield* chunks;
    return;
  }
  report.codecs.push(codec);
  yield* decompressed(decode(chunks, decoder, report), report);
}

/** A source that is itself decompressed, a file of a zip archive, may be damaged too. */
async function* upToDamage(source: AsyncIterator<Uint8Array>, report: DecompressionReport): AsyncGenerator<Uint8Array> {
  try {
    for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    report.corrupt = error.message;
  } finally {
    await source.return?.();
  }
}

async function* decode(
  chunks: AsyncGenerator<Uint8Array>,
  decoder: ChunkDecoder,
  report: DecompressionReport,
): AsyncGenerator<Uint8Array> {
  let out: Uint8Array[] = [];
  const emit = (bytes: Uint8Array) => void out.push(bytes);
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
      try {
        // Decoders keep what they cannot use yet, and the piece may be used again by its source.
        decoder.push(chunk.slice(at, at + PIECE_BYTES), emit);
      } catch (error) {
        if (!(error instanceof CodecError)) throw error;
        report.corrupt = error.message;
      }
      yield* out;
      out = [];
      if (report.corrupt !== null) return;
    }
  }
  if (!decoder.finish(emit)) report.truncated = true;
  yield* out;
}
