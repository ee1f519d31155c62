import { assertEquals } from "@std/assert";
import { broadcastsOf } from "../../src/workload/from_event_log_broadcasts.ts";

Deno.test("a known value's size goes before the assumption", () => {
  const record = {
    id: 1,
    pieces: new Map([[0, 4_194_304], [1, 1000]]),
    readers: new Set<number>(),
    removedBeforeJob: null,
  };
  assertEquals(broadcastsOf([record], new Map([[1, 9_000_000]]))[0], {
    id: 1,
    pieceBytes: 4_195_304,
    valueBytes: 9_000_000,
  });
});
