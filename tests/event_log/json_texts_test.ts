import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { JsonTexts } from "../../src/event_log/json_texts.ts";

Deno.test("get() decodes any text as JSON.parse does, the first time and again", () => {
  const texts = new JsonTexts();
  const units = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.string({ unit: fc.constantFrom("0", "7", "\ufeff") }),
  );
  fc.assert(
    fc.property(fc.array(units, { minLength: 1, maxLength: 5 }), (values) => {
      for (const value of [...values, ...values, values.join("").repeat(40)]) {
        const bytes = new TextEncoder().encode(JSON.stringify(value));
        const found = texts.get(bytes, new DataView(bytes.buffer), 1, bytes.length - 1);
        assertEquals(found, JSON.parse(new TextDecoder().decode(bytes)));
      }
    }),
    { seed: 4, numRuns: 500 },
  );
});

Deno.test("get() tells a text from one that begins like it", () => {
  const texts = new JsonTexts();
  for (const text of ["executor", "executor 1", "executor", "exec"]) {
    const bytes = new TextEncoder().encode(`"${text}"`);
    assertEquals(texts.get(bytes, new DataView(bytes.buffer), 1, bytes.length - 1), text);
  }
});

Deno.test("get() wants the closing quote", () => {
  const bytes = new TextEncoder().encode("abcdefghijklmnopqrstuvwxyz");
  assertThrows(() => new JsonTexts().get(bytes, new DataView(bytes.buffer), 0, 20), RangeError);
});
