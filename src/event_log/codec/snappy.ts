/**
 * Spark's snappy: the xerial framing of snappy-java (org.xerial.snappy.SnappyOutputStream), not the Snappy framing format.
 *
 * @module
 */
import { ByteQueue, type ChunkDecoder, CodecError, type Emit, MAX_BLOCK_BYTES } from "./chunk_decoder.ts";

/** 0x82 "SNAPPY" 0x00, version 4, compatible version 4. */
const MAGIC = [0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00];
const HEADER_BYTES = 16;
const LENGTH_BYTES = 4;

/** The size that a block says it has, and where its content begins. */
function blockSize(block: Uint8Array): { size: number; at: number } {
  let size = 0;
  for (let at = 0, scale = 1; at < 5 && at < block.length; at++, scale *= 128) {
    size += (block[at] & 127) * scale;
    if (block[at] < 128) {
      if (size > MAX_BLOCK_BYTES) break;
      return { size, at: at + 1 };
    }
  }
  throw new CodecError("snappy block size out of range");
}

/**
 * Decompresses one raw Snappy block.
 *
 * @throws {CodecError} when it is not one.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { decompressSnappyBlock } from "./snappy.ts";
 *
 * // Size 8, one literal "a", a copy of 7 at distance 1.
 * const block = new Uint8Array([8, 0, 0x61, 3 << 2 | 1, 1]);
 * assertEquals(new TextDecoder().decode(decompressSnappyBlock(block)), "aaaaaaaa");
 * ```
 */
export function decompressSnappyBlock(block: Uint8Array): Uint8Array {
  const { size, at } = blockSize(block);
  const out = new Uint8Array(size);
  let from = at;
  let to = 0;
  while (from < block.length) {
    const tag = block[from++];
    if ((tag & 3) === 0) {
      let literals = (tag >> 2) + 1;
      if (literals > 60) {
        const bytes = literals - 60;
        literals = 1;
        for (let i = 0, scale = 1; i < bytes; i++, scale *= 256) {
          literals += block[from++] * scale;
        }
      }
      if (!(from + literals <= block.length && to + literals <= size)) {
        throw new CodecError("snappy literals run past the end");
      }
      out.set(block.subarray(from, from + literals), to);
      from += literals;
      to += literals;
      continue;
    }
    let length = (tag >> 2) + 1;
    let distance: number;
    if ((tag & 3) === 1) {
      length = (tag >> 2 & 7) + 4;
      distance = (tag >> 5) << 8 | block[from++];
    } else if ((tag & 3) === 2) {
      distance = block[from] | block[from + 1] << 8;
      from += 2;
    } else {
      distance = (block[from] | block[from + 1] << 8 | block[from + 2] << 16 |
        block[from + 3] << 24) >>> 0;
      from += 4;
    }
    if (
      !(from <= block.length && distance > 0 && distance <= to &&
        to + length <= size)
    ) throw new CodecError("snappy copy outside the block");
    for (const end = to + length; to < end; to++) out[to] = out[to - distance];
  }
  if (to !== size) throw new CodecError("snappy block has another size");
  return out;
}

/** Decoder of a xerial stream; several one after another are read as one. */
export class SnappyDecoder implements ChunkDecoder {
  #queue = new ByteQueue();

  push(chunk: Uint8Array, emit: Emit): void {
    this.#queue.append(chunk);
    for (;;) {
      const head = this.#queue.peek(LENGTH_BYTES);
      if (head === null) return;
      if (head[0] === MAGIC[0]) {
        const header = this.#queue.peek(HEADER_BYTES);
        if (header === null) return;
        if (MAGIC.some((byte, i) => header[i] !== byte)) {
          throw new CodecError("snappy stream without its mark");
        }
        this.#queue.take(HEADER_BYTES);
        continue;
      }
      const length = head[0] * 0x1000000 + (head[1] << 16 | head[2] << 8 |
        head[3]);
      if (length > MAX_BLOCK_BYTES) {
        throw new CodecError("snappy block length out of range");
      }
      if (this.#queue.length < LENGTH_BYTES + length) return;
      this.#queue.take(LENGTH_BYTES);
      if (length > 0) emit(decompressSnappyBlock(this.#queue.take(length)!));
    }
  }

  finish(): boolean {
    return this.#queue.length === 0;
  }
}
