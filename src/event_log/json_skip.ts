/**
 * Where values of JSON end: all bytes are checked, none is decoded.
 *
 * A position of -1 stands for "not valid, or with white space, or too deep": such text has to be parsed.
 *
 * @module
 */

/** Objects and lists in each other; V8 parses more, but no event needs them. */
export const MAX_DEPTH = 1000;

const QUOTE = 0x22, PLUS = 0x2b, COMMA = 0x2c, MINUS = 0x2d, POINT = 0x2e, ZERO = 0x30, NINE = 0x39, COLON = 0x3a;
const OPEN_BRACKET = 0x5b, BACKSLASH = 0x5c, CLOSE_BRACKET = 0x5d, LETTER_E = 0x65, LETTER_U = 0x75;
const OPEN_BRACE = 0x7b, CLOSE_BRACE = 0x7d;
/** Words, four letters as a number. */
const TRUE = 0x65757274, FALS = 0x736c6166, NULL = 0x6c6c756e;

/** Bytes that end a run of plain ones within a text: 1 for quote, backslash and what must not be there. */
const ENDS_RUN = Uint8Array.from(
  { length: 256 },
  (_, byte) => byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 1 : 0,
);
/** What may follow a backslash, `u` apart. */
const ESCAPED = Uint8Array.from({ length: 256 }, (_, byte) => '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0);

/** Where the text whose opening quote is at `start` ends. */
export function textEnd(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  let at = start + 1;
  for (;;) {
    while (at + 4 <= end && isPlain(view.getInt32(at, true))) at += 4;
    while (at < end && ENDS_RUN[bytes[at]] === 0) at++;
    if (at >= end) return -1;
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte !== BACKSLASH || at + 1 >= end) return -1;
    const escaped = bytes[at + 1];
    if (ESCAPED[escaped] === 1) at += 2;
    else if (escaped === LETTER_U && at + 6 <= end && isHex(bytes, at + 2)) at += 6;
    else return -1;
  }
}

/**
 * Whether four bytes are ASCII and neither quote, backslash nor control character: no subtraction borrows from the highest bit of
 * such a byte. Others may be plain too (beyond ASCII) and are looked at one by one.
 */
function isPlain(four: number): boolean {
  const ends = four | (four - 0x20202020) | ((four ^ 0x22222222) - 0x01010101) | ((four ^ 0x5c5c5c5c) - 0x01010101);
  return (ends & 0x80808080) === 0;
}

function isHex(bytes: Uint8Array, at: number): boolean {
  for (let i = at; i < at + 4; i++) {
    const letter = bytes[i] | 0x20;
    if (!(bytes[i] >= ZERO && bytes[i] <= NINE) && !(letter >= 0x61 && letter <= 0x66)) return false;
  }
  return true;
}

/** Where the digits that begin at `start` end; there may be none. */
export function digitsEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] >= ZERO && bytes[at] <= NINE) at++;
  return at;
}

/** Where the number at `start` ends. */
export function numberEnd(bytes: Uint8Array, start: number, end: number): number {
  const first = start < end && bytes[start] === MINUS ? start + 1 : start;
  let at = digitsEnd(bytes, first, end);
  if (at === first || (bytes[first] === ZERO && at > first + 1)) return -1;
  if (at < end && bytes[at] === POINT) {
    const fraction = at + 1;
    at = digitsEnd(bytes, fraction, end);
    if (at === fraction) return -1;
  }
  if (at < end && (bytes[at] | 0x20) === LETTER_E) {
    at++;
    if (at < end && (bytes[at] === PLUS || bytes[at] === MINUS)) at++;
    const exponent = at;
    at = digitsEnd(bytes, exponent, end);
    if (at === exponent) return -1;
  }
  return at;
}

/** Where true, false or null at `start` ends. */
export function wordEnd(bytes: Uint8Array, view: DataView, start: number, end: number): number {
  if (start + 4 > end) return -1;
  const four = view.getInt32(start, true);
  if (four === TRUE || four === NULL) return start + 4;
  return four === FALS && start + 5 <= end && bytes[start + 4] === LETTER_E ? start + 5 : -1;
}

/**
 * Where the value that begins at `start` ends.
 *
 * @param depth Objects and lists around it.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { valueEnd } from "./json_skip.ts";
 *
 * const bytes = new TextEncoder().encode('{"a":[1,"\\n",true]},');
 * const view = new DataView(bytes.buffer);
 * assertEquals(valueEnd(bytes, view, 0, bytes.length), bytes.length - 1);
 * assertEquals(valueEnd(bytes, view, 0, 10), -1);
 * ```
 */
export function valueEnd(bytes: Uint8Array, view: DataView, start: number, end: number, depth = 0): number {
  if (start >= end) return -1;
  switch (bytes[start]) {
    case QUOTE:
      return textEnd(bytes, view, start, end);
    case OPEN_BRACE:
      return depth < MAX_DEPTH ? objectEnd(bytes, view, start, end, depth + 1) : -1;
    case OPEN_BRACKET:
      return depth < MAX_DEPTH ? listEnd(bytes, view, start, end, depth + 1) : -1;
    default: {
      const number = numberEnd(bytes, start, end);
      return number >= 0 ? number : wordEnd(bytes, view, start, end);
    }
  }
}

function objectEnd(bytes: Uint8Array, view: DataView, start: number, end: number, depth: number): number {
  let at = start + 1;
  if (at < end && bytes[at] === CLOSE_BRACE) return at + 1;
  for (;;) {
    if (at >= end || bytes[at] !== QUOTE) return -1;
    at = textEnd(bytes, view, at, end);
    if (at < 0 || at >= end || bytes[at] !== COLON) return -1;
    at = valueEnd(bytes, view, at + 1, end, depth);
    if (at < 0 || at >= end) return -1;
    if (bytes[at] === CLOSE_BRACE) return at + 1;
    if (bytes[at++] !== COMMA) return -1;
  }
}

function listEnd(bytes: Uint8Array, view: DataView, start: number, end: number, depth: number): number {
  let at = start + 1;
  if (at < end && bytes[at] === CLOSE_BRACKET) return at + 1;
  for (;;) {
    at = valueEnd(bytes, view, at, end, depth);
    if (at < 0 || at >= end) return -1;
    if (bytes[at] === CLOSE_BRACKET) return at + 1;
    if (bytes[at++] !== COMMA) return -1;
  }
}
