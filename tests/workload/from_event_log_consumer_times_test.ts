import { assertEquals } from "@std/assert";
import { placeConsumers } from "../../src/workload/from_event_log_consumer_times.ts";
import type { UnplacedConsumer } from "../../src/workload/from_event_log_sql_consumers.ts";

const consumer = (records: number, readBy: number | null = null, toTheEnd = false): UnplacedConsumer => ({
  kind: "UnsafeExternalSorter",
  name: "",
  tungsten: true,
  records: new Float64Array([records]),
  bytes: new Float64Array([records]),
  absentIn: null,
  keys: null,
  diskBytesPerByte: null,
  parameters: {},
  readBy,
  toTheEnd,
});

Deno.test("consumers are filled one after another, the larger for longer", () => {
  const [first, second] = placeConsumers([consumer(300), consumer(100)]);
  assertEquals([first.start, second.start < 0.4, second.start === first.fillEnd], [0, true, true]);
  assertEquals(Math.round(second.fillEnd * 100), 50);
});

Deno.test("a consumer is let go when the one that reads it is full", () => {
  const [first, second] = placeConsumers([consumer(10, 1), consumer(10)]);
  assertEquals([first.release, second.release], [second.fillEnd, 1]);
  assertEquals(placeConsumers([consumer(10, 1, true), consumer(10)])[0].release, 1);
});

Deno.test("consumers without records are none", () => {
  assertEquals(placeConsumers([consumer(0)]), []);
});

Deno.test("the left side of a merge join is read when the right one is full", () => {
  const [left, right] = placeConsumers([{ ...consumer(10), readAfter: 1 }, consumer(10)]);
  assertEquals(left.parameters, { readFrom: right.fillEnd });
  assertEquals([left.fillEnd < right.fillEnd, right.parameters], [true, {}]);
});
