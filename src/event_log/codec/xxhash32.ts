/**
 * XXH32, the checksum in the blocks of lz4-java.
 *
 * @module
 */
const PRIME1 = 0x9e3779b1;
const PRIME2 = 0x85ebca77;
const PRIME3 = 0xc2b2ae3d;
const PRIME4 = 0x27d4eb2f;
const PRIME5 = 0x165667b1;

function rotl(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

function u32(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) |
    (bytes[at + 3] << 24);
}

function round(accumulator: number, lane: number): number {
  return Math.imul(
    rotl((accumulator + Math.imul(lane, PRIME2)) | 0, 13),
    PRIME1,
  );
}

/**
 * The 32-bit hash of bytes, unsigned (xxHash specification, XXH32).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { xxhash32 } from "./xxhash32.ts";
 *
 * // The specification's value for no bytes and seed 0.
 * assertEquals(xxhash32(new Uint8Array(0), 0), 0x02cc5d05);
 * ```
 */
export function xxhash32(bytes: Uint8Array, seed: number): number {
  const length = bytes.length;
  let at = 0;
  let hash = (seed + PRIME5) | 0;
  if (length >= 16) {
    let v1 = (seed + PRIME1 + PRIME2) | 0;
    let v2 = (seed + PRIME2) | 0;
    let v3 = seed | 0;
    let v4 = (seed - PRIME1) | 0;
    for (; at <= length - 16; at += 16) {
      v1 = round(v1, u32(bytes, at));
      v2 = round(v2, u32(bytes, at + 4));
      v3 = round(v3, u32(bytes, at + 8));
      v4 = round(v4, u32(bytes, at + 12));
    }
    hash = (rotl(v1, 1) + rotl(v2, 7) + rotl(v3, 12) + rotl(v4, 18)) | 0;
  }
  hash = (hash + length) | 0;
  for (; at <= length - 4; at += 4) {
    hash = Math.imul(
      rotl((hash + Math.imul(u32(bytes, at), PRIME3)) | 0, 17),
      PRIME4,
    );
  }
  for (; at < length; at++) {
    hash = Math.imul(
      rotl((hash + Math.imul(bytes[at], PRIME5)) | 0, 11),
      PRIME1,
    );
  }
  hash = Math.imul(hash ^ (hash >>> 15), PRIME2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
