import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { DeferredJson, JsonScanner, type Wanted, WHOLE } from "../../src/event_log/json_scan.ts";

const encoder = new TextEncoder();

function scan(scanner: JsonScanner, text: string, wanted: Wanted = WHOLE) {
  // Not at the start and not up to the end of the bytes, as lines are.
  const bytes = encoder.encode(`x${text}y`);
  return scanner.scan(bytes, 1, bytes.length - 1, wanted);
}

/** A scanner that is used for some objects; it keeps so many names of fields, random ones are soon too many. */
function reused(): () => JsonScanner {
  let scanner = new JsonScanner();
  let uses = 0;
  return () => uses++ % 50 === 0 ? scanner = new JsonScanner() : scanner;
}

const PLAIN = fc.string({ unit: fc.constantFrom(..."abc 019_") });
const OBJECTS = fc.dictionary(PLAIN, fc.jsonValue());

Deno.test("scan() gives of any object what JSON.parse gives", () => {
  const scanner = reused();
  fc.assert(
    fc.property(OBJECTS, (value) => {
      const text = JSON.stringify(value);
      const found = scan(scanner(), text);
      // Names beyond ASCII and the name __proto__ are left to JSON.parse.
      if (found === null) return /__proto__|[^\x20-\x7e]|\\/.test(text);
      assertEquals(JSON.stringify(found), JSON.stringify(JSON.parse(text)));
    }),
    { seed: 1, numRuns: 1000 },
  );
});

Deno.test("scan() takes nothing that JSON.parse does not take", () => {
  const scanner = reused();
  const pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "\\",
    "\\u00",
    "a",
    "0",
    "1",
    "-",
    ".",
    "e",
    "+",
    "true",
    "null",
    " ",
  ];
  fc.assert(
    fc.property(OBJECTS, fc.nat(), fc.constantFrom(...pieces), fc.nat(2), (value, place, piece, gone) => {
      const text = JSON.stringify(value);
      const at = place % (text.length + 1);
      const changed = text.slice(0, at) + piece + text.slice(at + gone);
      const found = scan(scanner(), changed);
      if (found !== null) assertEquals(JSON.stringify(found), JSON.stringify(JSON.parse(changed)), changed);
      // What is not wanted is checked as well.
      if (scan(scanner(), changed, { fields: {} }) !== null) JSON.parse(changed);
    }),
    { seed: 2, numRuns: 3000 },
  );
});

Deno.test("scan() leaves out what is not wanted, in lists too, and keeps names where they are asked for", () => {
  const wanted: Wanted = { fields: { a: { fields: { b: WHOLE } }, n: WHOLE }, names: true };
  const text = '{"x":{"y":1},"a":[{"b":2,"c":3},{"c":4},5,null],"n":"t"}';
  const found = scan(new JsonScanner(), text, wanted)!;
  assertEquals(Object.keys(found), ["x", "a", "n"]);
  assertEquals(found, { x: undefined, a: [{ b: 2 }, {}, 5, null], n: "t" });
});

Deno.test("scan() finds the same values again, and others where they differ", () => {
  const scanner = new JsonScanner();
  const wanted: Wanted = { fields: { list: { fields: { id: WHOLE, text: WHOLE }, repeats: true }, level: WHOLE } };
  const line = (id: number, level: string) =>
    `{"list":[{"id":${id},"text":"${"long ".repeat(20)}","other":1}],"level":{"name":"${level}"}}`;
  const first = scan(scanner, line(1, "a"), wanted)!;
  const second = scan(scanner, line(1, "b"), wanted)!;
  assertEquals(second.list === first.list, true);
  assertEquals(second.level, { name: "b" });
  const third = scan(scanner, line(2, "b"), wanted)!;
  assertEquals(third.list, [{ id: 2, text: "long ".repeat(20) }]);
  assertEquals(third.level === second.level, true);
});

Deno.test("scan() takes no text that is too deep, and none that goes on or stops short", () => {
  const deep = (depth: number) => `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
  assertEquals(scan(new JsonScanner(), deep(900)) !== null, true);
  assertEquals(scan(new JsonScanner(), deep(100_000)), null);
  assertEquals(scan(new JsonScanner(), deep(100_000), { fields: {} }), null);
  for (const text of ["", "{", '{"a"', '{"a":', '{"a":1', '{"a":tru', '{"a":1}}', "[1]", '"a"']) {
    assertEquals(scan(new JsonScanner(), text), null, text);
  }
});

Deno.test("runs of fields that are not wanted are found again, and not where a byte of them differs", () => {
  const scanner = new JsonScanner();
  const wanted: Wanted = { fields: { o: { fields: { b: WHOLE, y: WHOLE } } } };
  const line = (a: string, b: string, y = '"y"') =>
    `{"o":{"a":"${a}","a2":[1,2],"a3":{},${b}:"1","x":2,${y}:3,"z":null}}`;
  for (
    const [a, b, y] of [["1", '"b"'], ["1", '"b"'], ["2", '"b"'], ["1", '"\\u0062"', '"\\u0079"'], ["1", '"b"'], [
      "1",
      '"b"',
    ]]
  ) {
    assertEquals(scan(scanner, line(a, b, y), wanted), { o: { b: "1", y: 3 } });
    assertEquals(scan(scanner, line(`${a}"`, b, y), wanted), null);
    assertEquals(scan(scanner, line(a, b, y).replace("null", "nul"), wanted), null);
  }
  // What comes after a known run is another field, or nothing.
  assertEquals(scan(scanner, '{"o":{"a":"1","a2":[1,2],"a3":{}}}', wanted), { o: {} });
  assertEquals(scan(scanner, '{"o":{"a":"1","a2":[1,2],"a3":{},"y":1}}', wanted), { o: { y: 1 } });
});

Deno.test("a field twice has the last value, as in JSON.parse", () => {
  assertEquals(scan(new JsonScanner(), '{"a":1,"a":2}'), { a: 2 });
});

Deno.test("what is deferred is parsed on demand, until its bytes expire", () => {
  const deferred = (_: Uint8Array, __: DataView, start: number) => start + 7;
  const found = scan(new JsonScanner(), '{"a":{"b":1}}', { fields: { a: { fields: null, deferred } } })!;
  const value = found.a as DeferredJson;
  assertEquals(value.parse(), { b: 1 });
  value.expire();
  assertThrows(() => value.parse(), TypeError);
});
