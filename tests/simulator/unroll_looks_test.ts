import { assertEquals } from "@std/assert";
import { nextLook } from "../../src/simulator/unroll_looks.ts";

Deno.test("looks are at every 16th element, from the one on that reaches what is reserved", () => {
  const looks = { elements: 5000, elementBytes: 1000, checkPeriod: 16 };
  assertEquals([nextLook(0, 1, looks), nextLook(16, 1, looks)], [0, 16]);
  // 17 elements reach 17,000 bytes: the 17th is number 16.
  assertEquals([nextLook(0, 17_000, looks), nextLook(0, 17_001, looks)], [16, 32]);
  assertEquals(nextLook(0, 1e9, looks) >= 5000, true);
});
