import { assertEquals } from "@std/assert";
import { SameValues } from "../../src/event_log/same_values.ts";

const viewOf = (text: string) => new DataView(new TextEncoder().encode(text).buffer);

Deno.test("find() compares the bytes, not only the hash", () => {
  const values = new SameValues<string>(4);
  values.keep(viewOf("first value"), 0, 11, 7, "first");
  assertEquals(values.find(viewOf("first value"), 0, 11, 7), 11);
  assertEquals(values.find(viewOf("first valuf"), 0, 11, 7), -1);
  assertEquals(values.find(viewOf("first value"), 0, 10, 7), -1);
  values.keep(viewOf("other value"), 0, 11, 3, "other");
  // 3 and 7 share a place.
  assertEquals(values.find(viewOf("first value"), 0, 11, 7), -1);
});

Deno.test("values whose bytes made room for others are not found any more, whatever is at their place now", () => {
  const values = new SameValues<number>(1 << 10);
  const text = "0123456789".repeat(800);
  const view = viewOf(text);
  // All of the same bytes: only the age tells them apart.
  for (let i = 0; i < 1000; i++) values.keep(view, 0, 8000, i, i);
  const found = Array.from({ length: 1000 }, (_, i) => i).filter((i) => values.find(view, 0, 8000, i) >= 0);
  assertEquals(found.length, Math.floor((1 << 22) / 8000));
  assertEquals(found[0], 1000 - found.length);
});
