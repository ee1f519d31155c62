import { assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { EventQueue } from "../../src/simulator/event_queue.ts";

Deno.test("events come by time, those of equal time in the order of scheduling", () => {
  fc.assert(
    fc.property(
      // up to thousands, so that the queue grows; the default size stops at a few
      fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 3000, size: "max" }),
      (times) => {
        const queue = new EventQueue();
        times.forEach((time, i) => queue.schedule(time, i & 7, i));
        const got: number[] = [];
        while (queue.next()) got.push(queue.subject);
        const expected = times.map((time, i) => ({ time, i })).sort((a, b) => a.time - b.time || a.i - b.i);
        assertEquals(got, expected.map(({ i }) => i));
      },
    ),
    { seed: 1 },
  );
});

Deno.test("events scheduled while others are taken keep the order", () => {
  const queue = new EventQueue();
  let state = 12345;
  const random = (n: number) => (state = (state * 1103515245 + 12345) & 0x7fffffff) % n;
  for (let i = 0; i < 100; i++) queue.schedule(random(50), 0, i);
  let last = 0;
  let taken = 0;
  while (queue.next()) {
    assertEquals(queue.timeMs >= last, true);
    last = queue.timeMs;
    if (taken++ < 20_000) queue.schedule(last + random(30), 0, taken);
  }
  assertEquals(taken, 20_100);
});

Deno.test("an event in the past is refused", () => {
  const queue = new EventQueue();
  queue.schedule(5, 0, 0);
  queue.next();
  assertThrows(
    () => queue.schedule(4, 0, 0),
    RangeError,
    "Cannot schedule an event",
  );
  assertThrows(
    () => queue.schedule(NaN, 0, 0),
    RangeError,
    "Cannot schedule an event",
  );
});
