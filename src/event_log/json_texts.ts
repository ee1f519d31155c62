/**
 * Texts of JSON, decoded; those that come again are decoded once.
 *
 * @module
 */
import { SameValues } from "./same_values.ts";

/** Longer texts are decoded each time. */
const MAX_BYTES = 8192;
const PLACES = 1 << 13;
const SAMPLES = 12;
/** A number of so many digits has one text. */
const MAX_DIGITS = 15;
const BACKSLASH = 0x5c, ZERO = 0x30, NINE = 0x39, QUOTE = 0x22;

/**
 * Decodes texts.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { JsonTexts } from "./json_texts.ts";
 *
 * const bytes = new TextEncoder().encode('"a\\nb"');
 * assertEquals(new JsonTexts().get(bytes, new DataView(bytes.buffer), 1, 5), "a\nb");
 * ```
 */
export class JsonTexts {
  // What looks like a byte order mark belongs to a text.
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  readonly #known = new SameValues<string>(PLACES);

  /** The text from `start` to `end`, which stands between quotes and is valid JSON. */
  get(bytes: Uint8Array, view: DataView, start: number, end: number): string {
    const length = end - start;
    if (length <= MAX_DIGITS) {
      const value = wholeNumber(bytes, start, end);
      if (value >= 0) return `${value}`;
    }
    if (length > MAX_BYTES) return this.#decoded(bytes, start, end);
    const hash = hashOf(bytes, start, length);
    // With its quote: a longer text that begins like it is another.
    if (this.#known.find(view, start, end + 1, hash) === length + 1) return this.#known.found!;
    const text = this.#decoded(bytes, start, end);
    this.#known.keep(view, start, end + 1, hash, text);
    return text;
  }

  #decoded(bytes: Uint8Array, start: number, end: number): string {
    if (bytes[end] !== QUOTE) throw new RangeError("a text must end with a quote");
    const text = this.#decoder.decode(bytes.subarray(start, end));
    return bytes.subarray(start, end).includes(BACKSLASH) ? JSON.parse(`"${text}"`) : text;
  }
}

/** The number of a text that is how it is written; -1 when it is none. */
function wholeNumber(bytes: Uint8Array, start: number, end: number): number {
  if (start === end || (bytes[start] === ZERO && end > start + 1)) return -1;
  let value = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte < ZERO || byte > NINE) return -1;
    value = value * 10 + (byte - ZERO);
  }
  return value;
}

/** From the length and a few bytes all over the text: texts that differ elsewhere share a place, and the last one has it. */
function hashOf(bytes: Uint8Array, start: number, length: number): number {
  let hash = length;
  if (length <= 2 * SAMPLES) {
    for (let i = 0; i < length; i++) hash = Math.imul(hash ^ bytes[start + i], 0x01000193);
  } else {
    const step = Math.trunc(length / SAMPLES);
    for (let i = 0, at = start; i < SAMPLES; i++, at += step) {
      hash = Math.imul(hash ^ bytes[at] ^ bytes[at + 1] << 8, 0x01000193);
    }
    const last = start + length - 1;
    hash = Math.imul(hash ^ bytes[last] ^ bytes[last - 1] << 8, 0x01000193);
  }
  return hash ^ hash >>> 15;
}
