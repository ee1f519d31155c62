/**
 * Short texts that come again and again in a log (hosts, executors, block ids), made once from their bytes.
 *
 * @module
 */

/** A text and its bytes. */
export interface TableText {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const SLOTS = 1 << 12;
/** Longer texts are made each time. */
const MAX_BYTES = 128;

/**
 * Finds texts by their bytes. The table has a fixed size: a text takes the place of another with the same hash.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TextTable } from "./text_table.ts";
 *
 * const table = new TextTable();
 * const bytes = new TextEncoder().encode("localhost localhost");
 * assertEquals(table.get(bytes, 0, 9).text, "localhost");
 * assertEquals(table.get(bytes, 0, 9) === table.get(bytes, 10, 19), true);
 * ```
 */
export class TextTable {
  readonly #slots: (TableText | undefined)[] = new Array(SLOTS);

  /** The text of ASCII bytes. */
  get(bytes: Uint8Array, start: number, end: number): TableText {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at], 0x01000193);
    const slot = (hash ^ hash >>> 15) & (SLOTS - 1);
    const known = this.#slots[slot];
    if (known !== undefined && isSame(known.bytes, bytes, start, end)) return known;
    const made = textOf(bytes, start, end);
    if (end - start <= MAX_BYTES) this.#slots[slot] = made;
    return made;
  }
}

function isSame(known: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (known.length !== end - start) return false;
  for (let i = 0; i < known.length; i++) if (known[i] !== bytes[start + i]) return false;
  return true;
}

function textOf(bytes: Uint8Array, start: number, end: number): TableText {
  const copy = bytes.slice(start, end);
  let text = "";
  for (let at = 0; at < copy.length; at += 4096) text += String.fromCharCode(...copy.subarray(at, at + 4096));
  return { bytes: copy, text };
}
