/**
 * The checksum of the big traces: h = (h xor x) * 0x100000001b3 modulo 2^64, begun with 0xcbf29ce484222325.
 *
 * @module
 */

/**
 * A 64-bit checksum in two halves, because a number holds 53 bits.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Checksum } from "./checksum.ts";
 *
 * const checksum = new Checksum();
 * checksum.mix(1);
 * // (0xcbf29ce484222325n ^ 1n) * 0x100000001b3n & 0xffffffffffffffffn
 * assertEquals(checksum.hex, "af63bc4c8601b62c");
 * ```
 */
export class Checksum {
  #high = 0xcbf29ce4;
  #low = 0x84222325;

  /** Mixes a whole number in, as a signed 64-bit integer. */
  mix(value: number): void {
    const low = (this.#low ^ (value % 4294967296)) >>> 0;
    const high = (this.#high ^ Math.floor(value / 4294967296)) >>> 0;
    // the multiplier is 2^40 + 0x1b3
    const product = low * 0x1b3;
    this.#low = product >>> 0;
    this.#high = (Math.imul(high, 0x1b3) + Math.floor(product / 4294967296) + (low << 8)) >>> 0;
  }

  /** As 16 hexadecimal digits without leading zeros, as Java's Long.toHexString. */
  get hex(): string {
    const high = this.#high === 0 ? "" : this.#high.toString(16);
    const low = this.#low.toString(16);
    return high === "" ? low : high + low.padStart(8, "0");
  }
}
