/**
 * Lines of one shape: a line that was parsed once becomes a template, and later lines that differ from it only in numbers and a
 * few texts are read by comparing bytes, without parsing JSON.
 *
 * A template never guesses: every byte of a line is either compared with the template's or checked to be part of a number or of a
 * plain text. A line that does not match is not wrong, it is parsed.
 *
 * @module
 */
import type { JsonObject } from "./json_fields.ts";
import type { TableText, TextTable } from "./text_table.ts";

/** What follows a literal: the end of the line; */
const END = 0;
/** a whole number of at most 15 digits, without a sign; */
const NUMBER = 1;
/** a text of plain ASCII without escapes, its quotes not included; */
const TEXT = 2;
/** a list of objects, each by a template of its own, its brackets not included. */
const LIST = 3;

/** More digits would not fit exactly into a number. */
const MAX_DIGITS = 15;
/** So many shapes of a list's elements are kept. */
const MAX_ELEMENTS = 512;

/** Objects within objects; Spark writes four. */
const MAX_DEPTH = 16;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const ZERO = 0x30;
const NINE = 0x39;

/** Which parts of a line vary, by path ("Task Info/Launch Time"). */
export interface TemplateSpec {
  /** Slots of numbers; numbers of other paths vary too, but are only checked. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Slots of texts that vary; -1 for those that are only checked. */
  readonly texts: Readonly<Record<string, number>>;
  /** Numbers that belong to the shape. */
  readonly fixed: ReadonlySet<string>;
  /** Texts that hold a whole number, in quotes. */
  readonly quotedNumbers: ReadonlySet<string>;
  /** Paths with a slot must be holes where they are: a template that has another value there is not made. */
  readonly strict: boolean;
  /** Paths that must be there, as holes. */
  readonly required: readonly string[];
  /** The list whose elements vary in number and shape, and how its elements vary; null when there is none. */
  readonly list: { readonly path: string; readonly element: TemplateSpec } | null;
}

/** The values that a match found. */
export class TemplateValues {
  readonly numbers: Float64Array;
  readonly texts: (TableText | null)[];

  constructor(numbers: number, texts: number) {
    this.numbers = new Float64Array(numbers);
    this.texts = new Array(texts).fill(null);
  }
}

/** Reads bytes eight at a time: as a double, which two equal runs of ASCII bytes are, and unequal ones never. */
export class LineBytes {
  bytes: Uint8Array = new Uint8Array(0);
  view: DataView = new DataView(new ArrayBuffer(0));

  /** Looks at other bytes. */
  set(bytes: Uint8Array): void {
    if (bytes === this.bytes) return;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }
}

function isDigit(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function slotBits(steps: readonly number[], kind: number): number {
  let bits = 0;
  for (let step = 0; step < steps.length; step += 4) {
    const slot = steps[step + 3];
    if (steps[step + 2] === kind && slot >= 0 && slot < 31) bits |= 1 << slot;
  }
  return bits;
}

/** The shape of a line, or of an element of its list. */
export class LineTemplate {
  /** For each step: the literal's length, where its bytes begin, what follows it, the slot of that. */
  readonly #steps: Int32Array;
  readonly #literals: Uint8Array;
  readonly #view: DataView;
  readonly #list: ElementTemplates<unknown> | null;
  /** Paths of all fields of the line. */
  readonly paths: ReadonlySet<string>;
  /** A bit for each slot of numbers below 31 that varies. */
  readonly numberSlots: number;
  /** A bit for each slot of texts below 31 that varies. */
  readonly textSlots: number;
  /** Paths whose values vary and have a slot. */
  readonly holes: ReadonlySet<string>;

  /** @internal Use {@linkcode compileTemplate}. */
  constructor(
    steps: number[],
    literals: Uint8Array,
    list: ElementTemplates<unknown> | null,
    paths: ReadonlySet<string>,
    holes: ReadonlySet<string>,
  ) {
    this.paths = paths;
    this.holes = holes;
    this.numberSlots = slotBits(steps, NUMBER);
    this.textSlots = slotBits(steps, TEXT);
    this.#steps = Int32Array.from(steps);
    this.#literals = literals;
    this.#view = new DataView(literals.buffer, literals.byteOffset, literals.byteLength);
    this.#list = list;
  }

  /**
   * Matches bytes from `start` on; they must not go beyond `end`. Gives the position after the match, or -1. Values are
   * put in place as they are found, also when a later byte does not match.
   */
  match(
    line: LineBytes,
    start: number,
    end: number,
    values: TemplateValues,
    table: TextTable,
    sink: ((info: never) => void) | null,
  ): number {
    const { bytes, view } = line;
    const steps = this.#steps;
    const literals = this.#literals;
    const pattern = this.#view;
    let pos = start;
    for (let step = 0; step < steps.length; step += 4) {
      const length = steps[step];
      const from = steps[step + 1];
      if (pos + length > end) return -1;
      // isSameAt of same_bytes.ts, inline: a call here takes 4 % of the reader's speed.
      if (length >= 8) {
        const last = length - 8;
        for (let i = 0; i < last; i += 8) {
          if (view.getFloat64(pos + i, true) !== pattern.getFloat64(from + i, true)) return -1;
        }
        if (view.getFloat64(pos + last, true) !== pattern.getFloat64(from + last, true)) return -1;
      } else {
        for (let i = 0; i < length; i++) if (bytes[pos + i] !== literals[from + i]) return -1;
      }
      pos += length;
      const slot = steps[step + 3];
      switch (steps[step + 2]) {
        case NUMBER: {
          const first = pos;
          if (slot < 0) {
            while (pos < end && isDigit(bytes[pos])) pos++;
          } else {
            let value = 0;
            for (; pos < end && isDigit(bytes[pos]); pos++) value = value * 10 + (bytes[pos] - ZERO);
            values.numbers[slot] = value;
          }
          const digits = pos - first;
          if (digits === 0 || digits > MAX_DIGITS || (digits > 1 && bytes[first] === ZERO)) return -1;
          break;
        }
        case TEXT: {
          const first = pos;
          for (;;) {
            if (pos >= end) return -1;
            const byte = bytes[pos];
            if (byte === QUOTE) break;
            if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return -1;
            pos++;
          }
          if (slot >= 0) values.texts[slot] = table.get(bytes, first, pos);
          break;
        }
        case LIST:
          pos = this.#list!.match(line, pos, end, table, sink as ((info: unknown) => void) | null);
          if (pos < 0) return -1;
          break;
      }
    }
    return pos;
  }
}

/** The shape of a list's element, with what its client keeps of it. */
interface ElementShape<T> {
  readonly template: LineTemplate;
  readonly info: T;
  /** The shape that followed the last time. */
  next: number;
}

/** The shapes of a list's elements, which tend to come in the same order in every line; new ones are learned as they come. */
export class ElementTemplates<T> {
  /** The values of the element that was matched last. */
  readonly values: TemplateValues;
  readonly #spec: TemplateSpec;
  readonly #describe: (element: JsonObject, template: LineTemplate) => T;
  readonly #shapes: ElementShape<T>[] = [];

  /** `describe` says what is kept of a new shape. */
  constructor(spec: TemplateSpec, describe: (element: JsonObject, template: LineTemplate) => T) {
    this.#spec = spec;
    this.#describe = describe;
    this.values = new TemplateValues(Object.keys(spec.numbers).length, Object.keys(spec.texts).length);
  }

  /** Adds the shape of an element, unless it is known or cannot be had; false when it cannot. */
  learn(bytes: Uint8Array, start: number, end: number, table: TextTable): boolean {
    const line = new LineBytes();
    line.set(bytes);
    const known = this.#shapes.some(({ template }) =>
      template.match(line, start, end, this.values, table, null) === end
    );
    if (known) return true;
    if (this.#shapes.length >= MAX_ELEMENTS) return false;
    const template = compileTemplate(bytes, start, end, this.#spec, null);
    if (template === null) return false;
    const element: JsonObject = JSON.parse(new TextDecoder().decode(bytes.subarray(start, end)));
    this.#shapes.push({ template, info: this.#describe(element, template), next: this.#shapes.length + 1 });
    return true;
  }

  /** Matches the elements up to the closing bracket, which is not taken; hands out what is kept of each shape. */
  match(line: LineBytes, start: number, end: number, table: TextTable, sink: ((info: T) => void) | null): number {
    const { bytes } = line;
    const shapes = this.#shapes;
    let pos = start;
    if (pos < end && bytes[pos] === CLOSE_BRACKET) return pos;
    let before: ElementShape<T> | null = null;
    for (let expected = 0;;) {
      let at = expected;
      let next = -1;
      if (at < shapes.length) next = shapes[at].template.match(line, pos, end, this.values, table, null);
      for (let i = 0; next < 0 && i < shapes.length; i++) {
        at = i;
        if (i !== expected) next = shapes[i].template.match(line, pos, end, this.values, table, null);
      }
      if (next < 0) return -1;
      if (before !== null) before.next = at;
      const shape = shapes[at];
      if (sink !== null) sink(shape.info);
      pos = next;
      if (pos >= end || bytes[pos] !== COMMA) return pos;
      pos++;
      before = shape;
      expected = shape.next;
    }
  }
}

/** Cuts a line, which must be valid JSON, into literals and holes. */
class TemplateCompiler {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  readonly #spec: TemplateSpec;
  readonly #list: ElementTemplates<unknown> | null;
  readonly #table: TextTable | null;
  readonly steps: number[] = [];
  readonly literals: number[] = [];
  /** Fields that were met, by path. */
  readonly paths = new Set<string>();
  /** Fields with a slot that vary. */
  readonly holes = new Set<string>();
  #depth = 0;
  #pos: number;
  #literal: number;

  constructor(
    bytes: Uint8Array,
    start: number,
    end: number,
    spec: TemplateSpec,
    list: ElementTemplates<unknown> | null,
    table: TextTable | null,
  ) {
    this.#bytes = bytes;
    this.#pos = start;
    this.#literal = start;
    this.#end = end;
    this.#spec = spec;
    this.#list = list;
    this.#table = table;
  }

  /** False when the line has a shape of which no template is made. */
  compile(): boolean {
    if (!this.#value("") || this.#pos !== this.#end) return false;
    this.#hole(this.#pos, this.#pos, END, -1);
    const { numbers, texts, strict, required } = this.#spec;
    if (required.some((path) => !this.holes.has(path))) return false;
    return !strict || [...Object.entries(numbers), ...Object.entries(texts)]
      .every(([path, slot]) => slot < 0 || !this.paths.has(path) || this.holes.has(path));
  }

  /** Ends the literal before a hole from `start` to `end`. */
  #hole(start: number, end: number, kind: number, slot: number, path?: string): void {
    if (slot >= 0 && path !== undefined) this.holes.add(path);
    this.steps.push(start - this.#literal, this.literals.length, kind, slot);
    for (let at = this.#literal; at < start; at++) this.literals.push(this.#bytes[at]);
    this.#literal = end;
  }

  #value(path: string): boolean {
    const byte = this.#bytes[this.#pos];
    if (byte === OPEN_BRACE) return this.#object(path);
    if (byte === OPEN_BRACKET) return this.#array(path);
    if (byte === QUOTE) return this.#string(path);
    if (byte >= ZERO && byte <= NINE) return this.#number(path);
    return this.#word();
  }

  #object(path: string): boolean {
    if (++this.#depth > MAX_DEPTH) return false;
    const read = this.#fields(path);
    this.#depth--;
    return read;
  }

  #fields(path: string): boolean {
    this.#pos++;
    if (this.#bytes[this.#pos] === CLOSE_BRACE) return this.#taken();
    for (;;) {
      if (this.#bytes[this.#pos] !== QUOTE) return false; // white space, of which Spark writes none
      const key = this.#plainText();
      if (key === null || key.includes("/") || this.#bytes[this.#pos] !== COLON) return false;
      this.#pos++;
      const inner = path === "" ? key : `${path}/${key}`;
      // Of two fields of one name JSON.parse takes the last.
      if (this.paths.has(inner)) return false;
      this.paths.add(inner);
      if (!this.#value(inner)) return false;
      const byte = this.#bytes[this.#pos++];
      if (byte === CLOSE_BRACE) return true;
      if (byte !== COMMA) return false;
    }
  }

  #taken(): boolean {
    this.#pos++;
    return true;
  }

  #array(path: string): boolean {
    this.#pos++;
    if (this.#list !== null && path === this.#spec.list?.path) return this.#elements();
    // Lists of other paths are empty in nearly all lines; a shape for each of their lengths would be learned in vain.
    return this.#bytes[this.#pos] === CLOSE_BRACKET && this.#taken();
  }

  #elements(): boolean {
    const start = this.#pos;
    while (this.#bytes[this.#pos] !== CLOSE_BRACKET) {
      const from = this.#pos;
      const element = new TemplateCompiler(this.#bytes, from, this.#end, this.#spec.list!.element, null, null);
      const to = element.skip();
      if (to < 0 || !this.#list!.learn(this.#bytes, from, to, this.#table!)) return false;
      this.#pos = to;
      if (this.#bytes[this.#pos] === COMMA) this.#pos++;
    }
    this.#hole(start, this.#pos, LIST, -1);
    return this.#taken();
  }

  /** The end of the value that begins here, or -1. */
  skip(): number {
    return this.#bytes[this.#pos] === OPEN_BRACE && this.#value("") ? this.#pos : -1;
  }

  #string(path: string): boolean {
    const start = this.#pos + 1;
    const text = this.#plainText();
    const end = this.#pos - 1;
    if (text !== null && this.#spec.quotedNumbers.has(path)) {
      if (!/^(0|[1-9]\d{0,14})$/.test(text)) return false;
      this.#hole(start, end, NUMBER, this.#spec.numbers[path] ?? -1, path);
      return true;
    }
    const slot = this.#spec.texts[path];
    if (slot === undefined) return text !== null || this.#escapedText(start);
    if (text === null) return false;
    this.#hole(start, end, TEXT, slot, path);
    return true;
  }

  /** Moves over a text of plain ASCII and gives it; null, and no move, for other texts. */
  #plainText(): string | null {
    let text = "";
    for (let at = this.#pos + 1; at < this.#end; at++) {
      const byte = this.#bytes[at];
      if (byte === QUOTE) {
        this.#pos = at + 1;
        return text;
      }
      if (byte < 0x20 || byte > 0x7e || byte === BACKSLASH) return null;
      text += String.fromCharCode(byte);
    }
    return null;
  }

  #escapedText(start: number): boolean {
    for (let at = start; at < this.#end; at++) {
      const byte = this.#bytes[at];
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) {
        this.#pos = at + 1;
        return true;
      }
    }
    return false;
  }

  #number(path: string): boolean {
    const start = this.#pos;
    while (this.#bytes[this.#pos] >= ZERO && this.#bytes[this.#pos] <= NINE) this.#pos++;
    const byte = this.#bytes[this.#pos];
    const whole = byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET;
    if (!whole) return this.#word();
    if (this.#pos - start <= MAX_DIGITS && !this.#spec.fixed.has(path)) {
      this.#hole(start, this.#pos, NUMBER, this.#spec.numbers[path] ?? -1, path);
    }
    return true;
  }

  /** A number of another form, or true, false, null: part of the literal. */
  #word(): boolean {
    while (this.#pos < this.#end && /[-+.\w]/.test(String.fromCharCode(this.#bytes[this.#pos]))) this.#pos++;
    return true;
  }
}

/**
 * The template of a line, which must have been parsed as JSON without an error; null for lines of which none is made (white space
 * between the fields, a field twice, lists with elements).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { compileTemplate, LineBytes, TemplateValues } from "./line_template.ts";
 * import { TextTable } from "./text_table.ts";
 *
 * const spec = { numbers: { a: 0 }, texts: {}, fixed: new Set<string>(), quotedNumbers: new Set<string>(), strict: false, required: [], list: null };
 * const encode = (text: string) => new TextEncoder().encode(text);
 * const template = compileTemplate(encode('{"a":1,"b":true}'), 0, 16, spec, null)!;
 * const line = new LineBytes();
 * line.set(encode('{"a":123,"b":true}'));
 * const values = new TemplateValues(1, 0);
 * assertEquals(template.match(line, 0, 18, values, new TextTable(), null), 18);
 * assertEquals(values.numbers[0], 123);
 * ```
 */
export function compileTemplate(
  bytes: Uint8Array,
  start: number,
  end: number,
  spec: TemplateSpec,
  list: { readonly elements: ElementTemplates<unknown>; readonly table: TextTable } | null,
): LineTemplate | null {
  const compiler = new TemplateCompiler(bytes, start, end, spec, list?.elements ?? null, list?.table ?? null);
  if (!compiler.compile()) return null;
  const { steps, literals, paths, holes } = compiler;
  return new LineTemplate(steps, Uint8Array.from(literals), list?.elements ?? null, paths, holes);
}
