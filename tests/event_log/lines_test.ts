import { assertEquals, assertThrows } from "@std/assert";
import { LimitError } from "../../src/errors.ts";
import { LineSplitter } from "../../src/event_log/lines.ts";

function split(chunks: string[], limit = 100): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter(
    (bytes, start, end) => lines.push(new TextDecoder().decode(bytes.subarray(start, end))),
    limit,
  );
  for (const chunk of chunks) splitter.push(new TextEncoder().encode(chunk));
  splitter.finish();
  return lines;
}

Deno.test("LineSplitter gives the same lines however the text is cut", () => {
  const text = "one\n\ntwo with more\nthree\r\n\nlast";
  const expected = text.split("\n");
  for (let i = 0; i <= text.length; i++) {
    for (let j = i; j <= text.length; j++) {
      assertEquals(
        split([text.slice(0, i), text.slice(i, j), text.slice(j)]),
        expected,
      );
    }
  }
});

Deno.test("LineSplitter hands nothing out after a text that ends with a line end", () => {
  assertEquals(split(["a\n"]), ["a"]);
});

Deno.test("LineSplitter refuses a line that is too long before it keeps it", () => {
  for (
    const chunks of [["a".repeat(11) + "\n"], ["aaaaaa", "aaaaaa"], [
      "\naaaaaa",
      "aaaaa\n",
    ]]
  ) {
    const error = assertThrows(() => split(chunks, 10), LimitError);
    assertEquals(error.code, "limit.line_bytes");
  }
  assertEquals(split(["aaaaa", "aaaaa\n"], 10), ["aaaaaaaaaa"]);
});
