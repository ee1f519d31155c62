/**
 * JSON of which only a part is wanted: every byte is checked, but only what is wanted becomes a value.
 *
 * A scanner never guesses. What it gives is what JSON.parse gives, without the fields that are not wanted; text that it does not
 * take (white space between the fields, damage, names with escapes, deep nesting) is not wrong, it has to be parsed.
 *
 * @module
 */
import { JsonTexts } from "./json_texts.ts";
import type { JsonObject } from "./json_fields.ts";
import { MAX_DEPTH, numberEnd, textEnd, valueEnd, wordEnd } from "./json_skip.ts";
import { isSameAt, ValueMemo } from "./same_bytes.ts";
import { SameValues } from "./same_values.ts";

/**
 * What is wanted of a value. Of a list, the same is wanted of each element; what is neither an object nor a list is always
 * taken.
 */
export interface Wanted {
  /** Fields of an object by name; null for all. */
  readonly fields: Readonly<Record<string, Wanted>> | null;
  /** The other fields are there too, undefined, for those who look at the names; they are left out when not given. */
  readonly names?: boolean;
  /** A list of such values comes again as it is, in lines that follow. */
  readonly repeats?: boolean;
  /**
   * The value is given as {@linkcode DeferredJson}, because it is large and seldom looked at: says where it ends, or -1 when it is
   * not what the decoder takes (then the whole text is not taken).
   */
  readonly deferred?: (bytes: Uint8Array, view: DataView, start: number, end: number) => number;
}

/** JSON that has been checked and is parsed when somebody asks for it, as long as its bytes are there. */
export class DeferredJson {
  #bytes: Uint8Array | null;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The value. */
  parse(): JsonObject {
    if (this.#bytes === null) throw new TypeError("an event is only valid during the call that hands it out");
    return JSON.parse(new TextDecoder().decode(this.#bytes));
  }

  /** The bytes are going to be others. */
  expire(): void {
    this.#bytes = null;
  }
}

/** The whole value. */
export const WHOLE: Wanted = { fields: null };

/** So many names of one object are kept; an object with more of them is parsed. */
const MAX_FIELDS = 2000;
/** Lists that come again are told by so many of their first bytes. */
const TOLD_BYTES = 64;
const LISTS = 1 << 11;
/** More digits would not fit exactly into a number that is built digit by digit. */
const MAX_DIGITS = 15;

const QUOTE = 0x22, COMMA = 0x2c, ZERO = 0x30, NINE = 0x39, COLON = 0x3a;
const OPEN_BRACKET = 0x5b, CLOSE_BRACKET = 0x5d, OPEN_BRACE = 0x7b, CLOSE_BRACE = 0x7d;
const PLAIN_NAME = /^[\x20-\x7e]*$/;

/** What a value is when the text is not taken. */
const FAILED = Symbol("not taken");

/** A field of an object, as it was met. */
interface Field {
  readonly name: string;
  /** `"name":` */
  readonly label: DataView;
  readonly index: number;
  /** null when it is not wanted. */
  readonly node: Node | null;
  readonly memo: ValueMemo;
  /** Values of this field and those that follow, none of which is wanted; the value is the last of these fields. */
  readonly run: ValueMemo;
  /** The field that followed the last time. */
  next: number;
}

/** What is wanted, with the fields that were met. */
class Node {
  readonly fields: Field[] = [];
  readonly #byName = new Map<string, Field>();
  readonly #nodes: Map<Wanted, Node>;

  constructor(readonly wanted: Wanted, nodes: Map<Wanted, Node>) {
    this.#nodes = nodes;
    nodes.set(wanted, this);
  }

  /** The field of a name; undefined when there are too many, or when an assignment would not make a field of it. */
  field(name: string): Field | undefined {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    if (this.fields.length >= MAX_FIELDS || name === "__proto__" || !PLAIN_NAME.test(name)) return undefined;
    const { fields } = this.wanted;
    const wanted = fields === null ? WHOLE : Object.hasOwn(fields, name) ? fields[name] : null;
    const field = {
      name,
      label: new DataView(new TextEncoder().encode(`${JSON.stringify(name)}:`).buffer),
      index: this.fields.length,
      node: wanted === null ? null : this.#nodes.get(wanted) ?? new Node(wanted, this.#nodes),
      memo: new ValueMemo(),
      run: new ValueMemo(),
      next: this.fields.length + 1,
    };
    this.fields.push(field);
    this.#byName.set(name, field);
    return field;
  }
}

/**
 * Scans objects. Values of fields that are wanted whole may be the same objects again the next time: nobody may change them.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { JsonScanner, WHOLE } from "./json_scan.ts";
 *
 * const scanner = new JsonScanner();
 * const bytes = new TextEncoder().encode('{"a":1,"b":{"c":[2,3],"d":"long"}}');
 * const wanted = { fields: { b: { fields: { c: WHOLE } } } };
 * assertEquals(scanner.scan(bytes, 0, bytes.length, wanted), { b: { c: [2, 3] } });
 * assertEquals(scanner.scan(bytes, 0, bytes.length - 1, wanted), null);
 * ```
 */
export class JsonScanner {
  readonly #texts = new JsonTexts();
  readonly #decoder = new TextDecoder();
  readonly #nodes = new Map<Wanted, Node>();
  readonly #lists = new Map<Node, SameValues<unknown[]>>();
  #bytes: Uint8Array = new Uint8Array(0);
  #view: DataView = new DataView(new ArrayBuffer(0));
  #pos = 0;
  #end = 0;

  /** What is wanted of the object from `start` to `end`; null when it has to be parsed, or is none. */
  scan(bytes: Uint8Array, start: number, end: number, wanted: Wanted): JsonObject | null {
    this.#begin(bytes, start, end);
    if (this.#byte() !== OPEN_BRACE) return null;
    const value = this.#object(this.#nodes.get(wanted) ?? new Node(wanted, this.#nodes), 0);
    return value !== FAILED && this.#pos === end ? value : null;
  }

  /** The text in quotes at `start`; null when there is none before `end`. */
  text(bytes: Uint8Array, start: number, end: number): string | null {
    this.#begin(bytes, start, end);
    if (this.#byte() !== QUOTE || !this.#skipText()) return null;
    return this.#texts.get(bytes, this.#view, start + 1, this.#pos - 1);
  }

  /** Lines of a piece of the log share its bytes. */
  #begin(bytes: Uint8Array, start: number, end: number): void {
    if (bytes !== this.#bytes) {
      this.#bytes = bytes;
      this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    this.#pos = start;
    this.#end = end;
  }

  /** The byte at the position; -1 at the end. */
  #byte(): number {
    return this.#pos < this.#end ? this.#bytes[this.#pos] : -1;
  }

  #object(node: Node, depth: number): JsonObject | typeof FAILED {
    const found: Record<string, unknown> = {};
    this.#pos++;
    if (this.#byte() === CLOSE_BRACE) {
      this.#pos++;
      return found;
    }
    if (depth >= MAX_DEPTH) return FAILED;
    const names = node.wanted.names === true;
    let before: Field | null = null;
    /** The first of the fields just before that are not wanted, and where its value is. */
    let runField: Field | null = null;
    let runStart = 0;
    for (;;) {
      const labelStart = this.#pos;
      let field = this.#field(node, before === null ? 0 : before.next);
      if (field === undefined) return FAILED;
      if (before !== null) before.next = field.index;
      if (field.node !== null) {
        // Up to the comma before this field's name.
        if (runField !== null) runField.run.keep(this.#bytes, runStart, labelStart - 1, before);
        runField = null;
        const value = this.#remembered(field, field.node, depth + 1);
        if (value === FAILED) return FAILED;
        found[field.name] = value;
      } else if (names) {
        if (!this.#skipRemembered(field.memo, depth + 1)) return FAILED;
        found[field.name] = undefined;
      } else {
        const length = runField === null ? field.run.match(this.#view, this.#pos, this.#end) : -1;
        if (length >= 0) {
          this.#pos += length;
          field = field.run.value as Field;
        } else {
          if (runField === null) {
            runField = field;
            runStart = this.#pos;
          }
          if (!this.#skipRemembered(field.memo, depth + 1)) return FAILED;
        }
      }
      before = field;
      const byte = this.#byte();
      this.#pos++;
      if (byte === CLOSE_BRACE) {
        if (runField !== null) runField.run.keep(this.#bytes, runStart, this.#pos - 1, before);
        return found;
      }
      if (byte !== COMMA) return FAILED;
    }
  }

  /** Takes a field's name and colon. */
  #field(node: Node, expected: number): Field | undefined {
    const { fields } = node;
    if (expected < fields.length) {
      const field = fields[expected];
      const length = field.label.byteLength;
      if (this.#pos + length <= this.#end && isSameAt(this.#view, this.#pos, field.label, length)) {
        this.#pos += length;
        return field;
      }
    }
    const start = this.#pos;
    if (this.#byte() !== QUOTE || !this.#skipText() || this.#byte() !== COLON) return undefined;
    const name = this.#texts.get(this.#bytes, this.#view, start + 1, this.#pos - 1);
    this.#pos++;
    return node.field(name);
  }

  /** Takes a value that may be the same as the last time. */
  #remembered(field: Field, node: Node, depth: number): unknown {
    const start = this.#pos;
    const { deferred } = node.wanted;
    if (deferred !== undefined) return this.#deferred(deferred);
    const byte = this.#byte();
    const { memo } = field;
    // An object of which a part is wanted is new each time: its fields have memos of their own.
    if (byte !== QUOTE && (node.wanted.fields !== null || byte !== OPEN_BRACE)) return this.#value(node, depth);
    const length = memo.match(this.#view, start, this.#end);
    if (length >= 0) {
      this.#pos += length;
      return memo.value;
    }
    const value = this.#value(node, depth);
    if (value !== FAILED) memo.keep(this.#bytes, start, this.#pos, value);
    return value;
  }

  #deferred(endOf: NonNullable<Wanted["deferred"]>): DeferredJson | typeof FAILED {
    const start = this.#pos;
    const end = endOf(this.#bytes, this.#view, start, this.#end);
    if (end < 0) return FAILED;
    this.#pos = end;
    return new DeferredJson(this.#bytes.subarray(start, end));
  }

  #value(node: Node, depth: number): unknown {
    const start = this.#pos;
    switch (this.#byte()) {
      case OPEN_BRACE:
        return this.#object(node, depth);
      case OPEN_BRACKET:
        return node.wanted.repeats === true ? this.#repeatedList(node, depth) : this.#list(node, depth);
      case QUOTE:
        return this.#skipText() ? this.#texts.get(this.#bytes, this.#view, start + 1, this.#pos - 1) : FAILED;
      default:
        return this.#scalar();
    }
  }

  #list(node: Node, depth: number): unknown[] | typeof FAILED {
    const found: unknown[] = [];
    this.#pos++;
    if (this.#byte() === CLOSE_BRACKET) {
      this.#pos++;
      return found;
    }
    if (depth >= MAX_DEPTH) return FAILED;
    for (;;) {
      const value = this.#value(node, depth + 1);
      if (value === FAILED) return FAILED;
      found.push(value);
      const byte = this.#byte();
      this.#pos++;
      if (byte === CLOSE_BRACKET) return found;
      if (byte !== COMMA) return FAILED;
    }
  }

  #repeatedList(node: Node, depth: number): unknown[] | typeof FAILED {
    const start = this.#pos;
    if (start + TOLD_BYTES > this.#end) return this.#list(node, depth);
    let hash = 0;
    for (let at = start; at < start + TOLD_BYTES; at += 4) {
      hash = Math.imul(hash ^ this.#view.getInt32(at, true), 0x01000193);
      hash ^= hash >>> 15;
    }
    let lists = this.#lists.get(node);
    if (lists === undefined) this.#lists.set(node, lists = new SameValues(LISTS));
    const length = lists.find(this.#view, start, this.#end, hash);
    if (length >= 0) {
      this.#pos += length;
      return lists.found!;
    }
    const list = this.#list(node, depth);
    if (list !== FAILED) lists.keep(this.#view, start, this.#pos, hash, list);
    return list;
  }

  /** A number, true, false or null. */
  #scalar(): number | boolean | null | typeof FAILED {
    const bytes = this.#bytes;
    const start = this.#pos;
    const most = Math.min(this.#end, start + MAX_DIGITS);
    let at = start;
    let value = 0;
    for (; at < most && bytes[at] >= ZERO && bytes[at] <= NINE; at++) value = value * 10 + (bytes[at] - ZERO);
    if (at > start && at < this.#end && (at === start + 1 || bytes[start] !== ZERO)) {
      const next = bytes[at];
      if (next === COMMA || next === CLOSE_BRACE || next === CLOSE_BRACKET) {
        this.#pos = at;
        return value;
      }
    }
    const number = numberEnd(bytes, start, this.#end);
    const length = (number >= 0 ? number : wordEnd(bytes, this.#view, start, this.#end)) - start;
    if (length < 0) return FAILED;
    this.#pos = start + length;
    return JSON.parse(this.#decoder.decode(bytes.subarray(start, this.#pos)));
  }

  #skipRemembered(memo: ValueMemo, depth: number): boolean {
    const start = this.#pos;
    const byte = this.#byte();
    if (byte !== QUOTE && byte !== OPEN_BRACE && byte !== OPEN_BRACKET) return this.#skip(depth);
    const length = memo.match(this.#view, start, this.#end);
    if (length >= 0) {
      this.#pos += length;
      return true;
    }
    if (!this.#skip(depth)) return false;
    memo.keep(this.#bytes, start, this.#pos, undefined);
    return true;
  }

  /** Moves over a value; false when it is none. */
  #skip(depth: number): boolean {
    return this.#moveTo(valueEnd(this.#bytes, this.#view, this.#pos, this.#end, depth));
  }

  /** Moves from the opening quote over a text. */
  #skipText(): boolean {
    return this.#moveTo(textEnd(this.#bytes, this.#view, this.#pos, this.#end));
  }

  #moveTo(pos: number): boolean {
    if (pos < 0) return false;
    this.#pos = pos;
    return true;
  }
}
