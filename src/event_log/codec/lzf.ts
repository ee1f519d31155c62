/**
 * Spark's lzf: the chunks of compress-lzf (com.ning.compress.lzf.LZFOutputStream).
 *
 * @module
 */
import { ByteQueue, type ChunkDecoder, CodecError, type Emit } from "./chunk_decoder.ts";

/** "ZV", type (0 stored, 1 compressed), length 2 (big endian); compressed chunks have 2 more bytes of original length. */
const STORED_HEADER = 5;
const COMPRESSED_HEADER = 7;

/**
 * Decompresses one LZF chunk to exactly `size` bytes.
 *
 * @throws {CodecError} when the chunk does not decompress to that size.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { decompressLzfChunk } from "./lzf.ts";
 *
 * // One literal "a", then a match of 7 (5 + 2) at distance 1.
 * const chunk = new Uint8Array([0x00, 0x61, 5 << 5, 0x00]);
 * assertEquals(new TextDecoder().decode(decompressLzfChunk(chunk, 8)), "aaaaaaaa");
 * ```
 */
export function decompressLzfChunk(
  chunk: Uint8Array,
  size: number,
): Uint8Array {
  const out = new Uint8Array(size);
  let from = 0;
  let to = 0;
  while (from < chunk.length) {
    const control = chunk[from++];
    if (control < 32) {
      const literals = control + 1;
      if (from + literals > chunk.length || to + literals > size) {
        throw new CodecError("lzf literals run past the end");
      }
      out.set(chunk.subarray(from, from + literals), to);
      from += literals;
      to += literals;
      continue;
    }
    let length = (control >> 5) + 2;
    if (length === 9) length += chunk[from++];
    const distance = ((control & 31) << 8 | chunk[from++]) + 1;
    if (!(from <= chunk.length && distance <= to && to + length <= size)) {
      throw new CodecError("lzf match outside the chunk");
    }
    for (const end = to + length; to < end; to++) out[to] = out[to - distance];
  }
  if (to !== size) throw new CodecError("lzf chunk has another size");
  return out;
}

/** Decoder of a stream of LZF chunks. */
export class LzfDecoder implements ChunkDecoder {
  #queue = new ByteQueue();

  push(chunk: Uint8Array, emit: Emit): void {
    this.#queue.append(chunk);
    for (;;) {
      const header = this.#queue.peek(STORED_HEADER);
      if (header === null) return;
      if (header[0] !== 0x5a || header[1] !== 0x56 || header[2] > 1) {
        throw new CodecError("lzf chunk without its mark");
      }
      const compressed = header[2] === 1;
      const length = header[3] << 8 | header[4];
      const headerBytes = compressed ? COMPRESSED_HEADER : STORED_HEADER;
      if (this.#queue.length < headerBytes + length) return;
      const whole = this.#queue.take(headerBytes)!;
      const body = this.#queue.take(length)!;
      emit(
        compressed ? decompressLzfChunk(body, whole[5] << 8 | whole[6]) : body.slice(),
      );
    }
  }

  finish(): boolean {
    return this.#queue.length === 0;
  }
}
