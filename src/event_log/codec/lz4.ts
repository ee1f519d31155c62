/**
 * Spark's lz4: the block stream of lz4-java (net.jpountz.lz4.LZ4BlockOutputStream), not the LZ4 frame format.
 *
 * @module
 */
import { ByteQueue, type ChunkDecoder, CodecError, type Emit, MAX_BLOCK_BYTES } from "./chunk_decoder.ts";
import { xxhash32 } from "./xxhash32.ts";

/** "LZ4Block" */
const MAGIC = [0x4c, 0x5a, 0x34, 0x42, 0x6c, 0x6f, 0x63, 0x6b];
/** Magic 8, token 1, compressed length 4, decompressed length 4, checksum 4 (little endian). */
const HEADER_BYTES = 21;
const METHOD_RAW = 0x10;
const METHOD_LZ4 = 0x20;
/** LZ4BlockOutputStream.DEFAULT_SEED */
const SEED = 0x9747b28c;
/** The checksum's upper four bits are cut off (StreamingXXHash32.asChecksum). */
const CHECKSUM_MASK = 0x0fffffff;

function u32(bytes: Uint8Array, at: number): number {
  return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) |
    (bytes[at + 3] << 24)) >>> 0;
}

/**
 * Decompresses one LZ4 block to exactly `size` bytes.
 *
 * @throws {CodecError} when the block does not decompress to that size.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { decompressLz4Block } from "./lz4.ts";
 *
 * // One literal "a", then a match of 7 at distance 1, then the last literal "b".
 * const block = new Uint8Array([0x13, 0x61, 0x01, 0x00, 0x10, 0x62]);
 * assertEquals(new TextDecoder().decode(decompressLz4Block(block, 9)), "aaaaaaaab");
 * ```
 */
export function decompressLz4Block(
  block: Uint8Array,
  size: number,
): Uint8Array {
  const out = new Uint8Array(size);
  let from = 0;
  let to = 0;
  while (from < block.length) {
    const token = block[from++];
    let literals = token >> 4;
    if (literals === 15) {
      let more: number;
      do {
        more = block[from++];
        literals += more;
      } while (more === 255);
    }
    if (!(from + literals <= block.length && to + literals <= size)) {
      throw new CodecError("lz4 literals run past the end");
    }
    out.set(block.subarray(from, from + literals), to);
    from += literals;
    to += literals;
    if (from === block.length) break;
    const distance = block[from] | (block[from + 1] << 8);
    from += 2;
    let length = (token & 15) + 4;
    if (length === 19) {
      let more: number;
      do {
        more = block[from++];
        length += more;
      } while (more === 255);
    }
    if (
      !(from <= block.length && distance > 0 && distance <= to &&
        to + length <= size)
    ) throw new CodecError("lz4 match outside the block");
    if (distance >= length) {
      out.copyWithin(to, to - distance, to - distance + length);
      to += length;
    } else {
      for (const end = to + length; to < end; to++) {
        out[to] = out[to - distance];
      }
    }
  }
  if (to !== size) throw new CodecError("lz4 block has another size");
  return out;
}

/** Decoder of an LZ4Block stream; several streams one after another are read as one. */
export class Lz4BlockDecoder implements ChunkDecoder {
  #queue = new ByteQueue();

  push(chunk: Uint8Array, emit: Emit): void {
    this.#queue.append(chunk);
    for (;;) {
      const header = this.#queue.peek(HEADER_BYTES);
      if (header === null) return;
      if (MAGIC.some((byte, i) => header[i] !== byte)) {
        throw new CodecError("lz4 block without its mark");
      }
      const method = header[8] & 0xf0;
      const compressed = u32(header, 9);
      const size = u32(header, 13);
      const checksum = u32(header, 17);
      if (
        compressed > MAX_BLOCK_BYTES || size > MAX_BLOCK_BYTES ||
        (method !== METHOD_RAW && method !== METHOD_LZ4) ||
        (method === METHOD_RAW && compressed !== size)
      ) throw new CodecError("lz4 block header out of range");
      if (this.#queue.length < HEADER_BYTES + compressed) return;
      this.#queue.take(HEADER_BYTES);
      const block = this.#queue.take(compressed)!;
      if (size === 0) continue; // the end mark of one stream
      const bytes = method === METHOD_RAW ? block.slice() : decompressLz4Block(block, size);
      if ((xxhash32(bytes, SEED) & CHECKSUM_MASK) !== checksum) {
        throw new CodecError("lz4 block with a wrong checksum");
      }
      emit(bytes);
    }
  }

  finish(): boolean {
    return this.#queue.length === 0;
  }
}
