import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { numberEnd, textEnd, valueEnd, wordEnd } from "../../src/event_log/json_skip.ts";

function bytesOf(text: string): { bytes: Uint8Array; view: DataView } {
  const bytes = new TextEncoder().encode(text);
  return { bytes, view: new DataView(bytes.buffer) };
}

function endOf(text: string): number {
  const { bytes, view } = bytesOf(text);
  return valueEnd(bytes, view, 0, bytes.length);
}

Deno.test("valueEnd() finds the end of any value", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const length = new TextEncoder().encode(text).length;
      const { bytes, view } = bytesOf(`${text},`);
      assertEquals(valueEnd(bytes, view, 0, length + 1), length);
    }),
    { seed: 3, numRuns: 1000 },
  );
});

Deno.test("valueEnd() refuses what is no value, wherever the error is among eight bytes", () => {
  for (let before = 0; before < 9; before++) {
    const plain = "p".repeat(before);
    for (const wrong of ["\n", "\u0000", "\u001f", "\\x", "\\u12g4", "\\"]) {
      assertEquals(endOf(`"${plain}${wrong}${plain}"`), -1, JSON.stringify(wrong));
    }
    for (const right of ["\u00e9", "\u007f", "\\n", "\\u12aF", "/", "\ufeff"]) {
      const text = `"${plain}${right}${plain}"`;
      assertEquals(endOf(text), new TextEncoder().encode(text).length, text);
    }
  }
  for (
    const text of [
      "",
      "-",
      "01",
      "1.",
      ".5",
      "1e",
      "1e+",
      "+1",
      "nul",
      "tru",
      "fals",
      "falsy",
      "{a}",
      "[1,]",
      '{"a":1,}',
      "[1 ]",
    ]
  ) {
    assertEquals(endOf(text), -1, text);
  }
});

Deno.test("numberEnd(), wordEnd() and textEnd() stop where theirs ends", () => {
  const number = bytesOf("-1.5e-7,");
  assertEquals(numberEnd(number.bytes, 0, 8), 7);
  const word = bytesOf("false,null,true");
  assertEquals([0, 6, 11].map((at) => wordEnd(word.bytes, word.view, at, 15)), [5, 10, 15]);
  const text = bytesOf('"a\\"b",');
  assertEquals(textEnd(text.bytes, text.view, 0, 7), 6);
  assertEquals(textEnd(text.bytes, text.view, 0, 5), -1);
});
