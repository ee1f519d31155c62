import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { InputError } from "../../src/errors.ts";
import { jsonPointer, MAX_JSON_DEPTH, parseStrictJson } from "../../src/workload/strict_json.ts";

function failure(text: string): InputError {
  return assertThrows(() => parseStrictJson(text), InputError);
}

Deno.test("parseStrictJson() gives what JSON.parse gives", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      if (/__proto__/.test(text)) return;
      assertEquals(parseStrictJson(text), JSON.parse(text));
    }),
    { seed: 1, numRuns: 500 },
  );
});

Deno.test("parseStrictJson() refuses a duplicate key and points at it", () => {
  const error = failure('{"a": [0, {"b/c": 1, "x": "b/c", "b\\u002fc": 2}]}');
  assertEquals(error.code, "json.duplicate_key");
  assertEquals(error.pointer, "/a/1/b~1c");
});

Deno.test("parseStrictJson() tells equal keys in different objects apart", () => {
  assertEquals(parseStrictJson('[{"a":{"a":"a"}},{"a":"a"}]'), [
    { a: { a: "a" } },
    { a: "a" },
  ]);
});

Deno.test("parseStrictJson() refuses __proto__, also when escaped", () => {
  for (const text of ['{"a":{"__proto__":1}}', '{"a":{"\\u005f_proto__":1}}']) {
    const error = failure(text);
    assertEquals([error.code, error.pointer], ["json.proto", "/a/__proto__"]);
  }
});

Deno.test("parseStrictJson() nests up to the limit and not one deeper", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  parseStrictJson(nested(MAX_JSON_DEPTH));
  assertEquals(failure(nested(MAX_JSON_DEPTH + 1)).code, "json.depth");
  assertEquals(failure("[".repeat(100_000)).code, "json.depth");
  assertEquals(
    parseStrictJson(JSON.stringify("[".repeat(1000))),
    "[".repeat(1000),
  );
});

Deno.test("parseStrictJson() says where a text stops being JSON", () => {
  // Position by hand: the index of the first character that no JSON text could have there.
  const cases: [text: string, line: number, column: number][] = [
    ['{"a":', 1, 6],
    ['{"a": NaN}', 1, 7],
    ['{\n "a": 1,\n}', 3, 1],
    ["[1, 2}", 1, 6],
    ['{"a" 1}', 1, 6],
    ["[1] 2", 1, 5],
    ["[01]", 1, 2],
    ["Infinity", 1, 1],
    ["{a: 1}", 1, 2],
    ['["a\nb"]', 1, 2],
    ["1,2", 1, 2],
  ];
  for (const [text, line, column] of cases) {
    const error = failure(text);
    assertEquals([error.code, error.line, error.parameters.column], [
      "json.syntax",
      line,
      column,
    ], text);
  }
  assertEquals(failure(" \n").code, "json.empty");
});

Deno.test("a text that JSON.parse refuses always has a position within it", () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.string({ maxLength: 2 }),
      (json, at, insert) => {
        const i = at % (json.length + 1);
        const text = json.slice(0, i) + insert + json.slice(i + 1);
        try {
          JSON.parse(text);
        } catch {
          if (text.trim() === "") return;
          const { code, line } = failure(text);
          assertEquals(code, "json.syntax");
          assertEquals(line! >= 1, true);
        }
      },
    ),
    { seed: 2, numRuns: 500 },
  );
});

Deno.test("jsonPointer() escapes as RFC 6901 section 3 says", () => {
  assertEquals(jsonPointer(["a/b", 0, "m~n"]), "/a~1b/0/m~0n");
  assertEquals(jsonPointer([]), "");
});

Deno.test("finding the place of a mistake takes time in proportion to the text", () => {
  const long = `["${"x".repeat(1_000_000)}`;
  assertEquals(failure(long).line, 1);
  assertEquals(failure(`${"[1,".repeat(20)}${'"a",'.repeat(200_000)}nul]`).code, "json.syntax");
});
