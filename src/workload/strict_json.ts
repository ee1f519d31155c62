/**
 * JSON as it must be to mean one thing: JSON.parse and, beyond it, no duplicate keys, no `__proto__`, bounded nesting.
 *
 * @module
 */
import { InputError } from "../errors.ts";

/** Objects and arrays inside each other that a document may have. */
export const MAX_JSON_DEPTH = 64;

/** An object or array that the scan is inside of. */
interface Level {
  /** Keys so far; null for an array. */
  readonly keys: Set<string> | null;
  /** Key or index of the value that is being read. */
  at: string | number;
}

/**
 * Parses a JSON text. JSON.parse lets the last of two equal keys win and nests as deep as memory allows; a document in
 * which a setting stands twice is a mistake, so both are refused here (RFC 8259 section 4, I-JSON RFC 7493 section 2.3).
 *
 * @throws {InputError} `json.empty`, `json.syntax` (with the line), `json.depth`, `json.duplicate_key` and
 * `json.proto` (with a pointer).
 *
 * @example
 * ```ts
 * import { assertEquals, assertThrows } from "@std/assert";
 * import { parseStrictJson } from "./strict_json.ts";
 *
 * assertEquals(parseStrictJson('{"tasks": [1, 2]}'), { tasks: [1, 2] });
 * assertThrows(() => parseStrictJson('{"tasks": 1, "tasks": 2}'), TypeError, "tasks");
 * ```
 */
export function parseStrictJson(text: string): unknown {
  if (text.trim() === "") {
    throw new InputError("json.empty", "Cannot read JSON: the text is empty");
  }
  checkDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw syntaxError(text, error);
  }
  checkKeys(text);
  return value;
}

/** RFC 6901: a JSON pointer from the keys that lead to a place. */
export function jsonPointer(path: readonly (string | number)[]): string {
  return path.map((key) => "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1")).join("");
}

/** Refuses deep nesting before any parser recurses into it. Brackets in a text that is no JSON count all the same. */
function checkDepth(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) i = stringEnd(text, i);
    else if (c === 0x5b || c === 0x7b) {
      if (++depth > MAX_JSON_DEPTH) {
        throw new InputError(
          "json.depth",
          `Cannot read JSON: must nest at most ${MAX_JSON_DEPTH} deep: received more`,
          { parameters: { limit: MAX_JSON_DEPTH }, line: lineAt(text, i) },
        );
      }
    } else if (c === 0x5d || c === 0x7d) depth--;
  }
}

/** Index of the quote that ends the string which begins at `start`, or the end of the text. */
function stringEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x5c) i++;
    else if (c === 0x22) return i;
  }
  return text.length;
}

/** Refuses duplicate keys and `__proto__` in a text that JSON.parse has accepted. */
function checkKeys(text: string): void {
  const levels: Level[] = [];
  for (let i = 0; i < text.length; i++) {
    const level = levels[levels.length - 1];
    switch (text.charCodeAt(i)) {
      case 0x7b: // {
        levels.push({ keys: new Set(), at: "" });
        break;
      case 0x5b: // [
        levels.push({ keys: null, at: 0 });
        break;
      case 0x7d: // }
      case 0x5d: // ]
        levels.pop();
        break;
      case 0x2c: // ,
        if (level.keys === null) level.at = Number(level.at) + 1;
        break;
      case 0x22: { // "
        const end = stringEnd(text, i);
        if (level?.keys && isKey(text, end)) {
          level.at = JSON.parse(text.slice(i, end + 1)) as string;
          checkKey(level.at, level.keys, levels);
        }
        i = end;
      }
    }
  }
}

/** A string is a key when a colon follows; values are followed by a comma or a bracket. */
function isKey(text: string, end: number): boolean {
  let i = end + 1;
  while (i < text.length && text.charCodeAt(i) <= 0x20) i++;
  return text.charCodeAt(i) === 0x3a;
}

function checkKey(
  key: string,
  keys: Set<string>,
  levels: readonly Level[],
): void {
  const pointer = () => jsonPointer(levels.map(({ at }) => at));
  if (key === "__proto__") {
    throw new InputError(
      "json.proto",
      "Cannot read JSON: must not have a key __proto__",
      { parameters: { key }, pointer: pointer() },
    );
  }
  if (keys.has(key)) {
    throw new InputError(
      "json.duplicate_key",
      `Cannot read JSON: keys of an object must differ: received ${key} twice`,
      { parameters: { key }, pointer: pointer() },
    );
  }
  keys.add(key);
}

function lineAt(text: string, index: number): number {
  let line = 1;
  for (
    let i = text.indexOf("\n");
    i >= 0 && i < index;
    i = text.indexOf("\n", i + 1)
  ) line++;
  return line;
}

/**
 * The InputError of a text that is no JSON. Engines word JSON.parse's message differently and some give no position,
 * so the place is found by {@linkcode firstSyntaxError} and the message is always the same.
 */
function syntaxError(text: string, cause: unknown): InputError {
  const index = firstSyntaxError(text);
  const line = lineAt(text, index);
  const column = index - text.lastIndexOf("\n", index - 1);
  const found = index >= text.length
    ? "the end of the text"
    : JSON.stringify(String.fromCodePoint(text.codePointAt(index)!));
  return new InputError(
    "json.syntax",
    `Cannot read JSON: line ${line}, column ${column}: unexpected ${found}`,
    { parameters: { line, column }, line, cause },
  );
}

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)\b/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Index behind the token at `start`, or -1 when no token of JSON begins there. */
function tokenEnd(text: string, start: number): number {
  if (start >= text.length) return -1;
  if ("[]{},:".includes(text[start])) return start + 1;
  if (text[start] !== '"') return matchEnd(SCALAR, text, start);
  for (let i = start + 1; i < text.length;) {
    const c = text.charCodeAt(i);
    if (c === 0x22) return i + 1;
    if (c < 0x20) return -1;
    if (c !== 0x5c) i++;
    else if ((i = matchEnd(ESCAPE, text, i)) < 0) return -1;
  }
  return -1;
}

function matchEnd(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** What may come next in JSON's grammar. */
type Expect = "value" | "valueOrEnd" | "keyOrEnd" | "key" | "colon" | "comma";

/** Index at which a text stops being JSON. */
function firstSyntaxError(text: string): number {
  const open: string[] = [];
  let expect: Expect = "value";
  for (let at = skipSpace(text, 0);;) {
    const end = tokenEnd(text, at);
    const next: Expect | null = end < 0 ? null : step(text[at], expect, open);
    if (next === null) return at;
    expect = next;
    at = skipSpace(text, end);
  }
}

function skipSpace(text: string, start: number): number {
  let i = start;
  while (i < text.length && " \t\n\r".includes(text[i])) i++;
  return i;
}

/** The grammar's next expectation after a token that begins with `first`, null when it may not stand here. */
function step(first: string, expect: Expect, open: string[]): Expect | null {
  const wantsValue = expect === "value" || expect === "valueOrEnd";
  switch (first) {
    case "{":
    case "[":
      if (!wantsValue) return null;
      open.push(first);
      return first === "{" ? "keyOrEnd" : "valueOrEnd";
    case "}":
    case "]": {
      const ends = expect === "comma" || expect === (first === "}" ? "keyOrEnd" : "valueOrEnd");
      return ends && open.pop() === (first === "}" ? "{" : "[") ? "comma" : null;
    }
    case ",":
      if (expect !== "comma" || open.length === 0) return null;
      return open[open.length - 1] === "{" ? "key" : "value";
    case ":":
      return expect === "colon" ? "value" : null;
    case '"':
      if (expect === "key" || expect === "keyOrEnd") return "colon";
  }
  return wantsValue ? "comma" : null;
}
