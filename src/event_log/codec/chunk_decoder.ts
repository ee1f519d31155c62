/**
 * What the decompressors of this folder have in common: bytes are pushed in as they come, decompressed bytes come out.
 *
 * @module
 */

/** Takes decompressed bytes; they belong to the taker. */
export type Emit = (bytes: Uint8Array) => void;

/** A decompressor that is fed in pieces of any size. */
export interface ChunkDecoder {
  /**
   * Takes the next compressed bytes.
   *
   * @throws {CodecError} when they cannot be part of the format.
   */
  push(chunk: Uint8Array, emit: Emit): void;
  /** Called after the last piece: whether the input ended where the format allows it, or in the middle of something. */
  finish(emit: Emit): boolean;
}

/** Compressed bytes that are not what the format says. What was decompressed before is good. */
export class CodecError extends Error {
  override readonly name = "CodecError";
}

/** The largest block that a header may announce; Spark's own are 32 KiB to 8 MiB, and none of the formats needs more. */
export const MAX_BLOCK_BYTES = 1 << 26;

/**
 * Bytes waiting to be complete: appended in pieces, taken in the sizes that the format asks for.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { ByteQueue } from "./chunk_decoder.ts";
 *
 * const queue = new ByteQueue();
 * queue.append(new Uint8Array([1, 2]));
 * assertEquals(queue.take(3), null);
 * queue.append(new Uint8Array([3, 4]));
 * assertEquals(queue.take(3), new Uint8Array([1, 2, 3]));
 * assertEquals(queue.length, 1);
 * ```
 */
export class ByteQueue {
  #chunks: Uint8Array[] = [];
  #length = 0;

  /** Bytes that wait. */
  get length(): number {
    return this.#length;
  }

  /** Adds bytes; they must not change afterwards. */
  append(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** The next `count` bytes without taking them, or null when fewer are there. */
  peek(count: number): Uint8Array | null {
    if (this.#length < count) return null;
    if (count === 0) return new Uint8Array(0);
    if (this.#chunks[0].length < count) this.#merge();
    return this.#chunks[0].subarray(0, count);
  }

  /** The next `count` bytes, or null when fewer are there. */
  take(count: number): Uint8Array | null {
    const bytes = this.peek(count);
    if (bytes === null || count === 0) return bytes;
    this.#length -= count;
    if (this.#chunks[0].length === count) this.#chunks.shift();
    else this.#chunks[0] = this.#chunks[0].subarray(count);
    return bytes;
  }

  /** All that waits. */
  takeAll(): Uint8Array {
    return this.take(this.#length)!;
  }

  #merge(): void {
    const merged = new Uint8Array(this.#length);
    let offset = 0;
    for (const chunk of this.#chunks) {
      merged.set(chunk, offset);
      offset += chunk.length;
    }
    this.#chunks = [merged];
  }
}
