/**
 * gzip: one member after another.
 *
 * @module
 */
import { Gunzip } from "fflate";
import { type ChunkDecoder, CodecError, type Emit } from "./chunk_decoder.ts";

/** Deflate grows up to 1,032 times: small pieces keep what one call gives small. */
const PIECE_BYTES = 1 << 14;

/** Decoder of gzip members one after another, as `cat a.gz b.gz` gives them. */
export class GzipDecoder implements ChunkDecoder {
  #gunzip: Gunzip;
  #emit: Emit = () => {};
  /** Decompressed bytes of the current member, modulo 2^32, to compare with the length at its end. */
  #memberBytes = 0;
  /** The last four bytes of the input. */
  #tail: number[] = [];

  constructor() {
    this.#gunzip = new Gunzip((bytes) => {
      this.#memberBytes = (this.#memberBytes + bytes.length) >>> 0;
      if (bytes.length > 0) this.#emit(bytes);
    });
    this.#gunzip.onmember = () => this.#memberBytes = 0;
  }

  push(chunk: Uint8Array, emit: Emit): void {
    this.#emit = emit;
    this.#tail = [...this.#tail, ...chunk.subarray(-4)].slice(-4);
    try {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        this.#gunzip.push(chunk.subarray(at, at + PIECE_BYTES), false);
      }
    } catch (cause) {
      throw new CodecError("gzip data that does not decompress", { cause });
    }
  }

  finish(emit: Emit): boolean {
    this.#emit = emit;
    const [a, b, c, d] = this.#tail;
    return (a | b << 8 | c << 16 | d << 24) >>> 0 === this.#memberBytes;
  }
}
