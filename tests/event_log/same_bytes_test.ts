import { assertEquals } from "@std/assert";
import { isSameAt, ValueMemo } from "../../src/event_log/same_bytes.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const viewOf = (text: string) => new DataView(encode(text).buffer);

Deno.test("isSameAt() sees every byte of pieces of every length", () => {
  const json = '"abcdefghijklmnopqrstuvwxyz"';
  for (let length = 1; length <= json.length; length++) {
    assertEquals(isSameAt(viewOf(`..${json}`), 2, viewOf(json), length), true);
    for (let at = 0; at < length; at++) {
      const other = json.slice(0, at) + "#" + json.slice(at + 1);
      assertEquals(isSameAt(viewOf(other), 0, viewOf(json), length), false, `${length} ${at}`);
    }
  }
});

Deno.test("isSameAt() takes no bytes beyond ASCII for others", () => {
  // As doubles these are NaN, zeros of both signs, and infinities.
  for (const value of [[0x7ff8, 0], [0x8000, 0], [0, 0], [0xfff0, 0]]) {
    const view = new DataView(new ArrayBuffer(8));
    view.setUint16(0, value[0]);
    view.setUint16(6, value[1]);
    assertEquals(isSameAt(view, 0, viewOf("12345678"), 8), false);
  }
});

Deno.test("a memo keeps values that stay, and more and more seldom those that change", () => {
  const memo = new ValueMemo();
  const match = (text: string) => memo.match(viewOf(text), 0, text.length);
  const keep = (text: string) => memo.keep(encode(text), 0, text.length, text);
  let kept = 0;
  for (let i = 0; i < 1000; i++) {
    const text = `value ${i}`;
    assertEquals(match(text), -1);
    keep(text);
    if (memo.value === text) kept++;
  }
  assertEquals(kept, 11); // the first, then after 1, 2, 4, ... 512 misses
  assertEquals(match("value 511x".slice(0, 9)), memo.value === "value 511" ? 9 : -1);
});
