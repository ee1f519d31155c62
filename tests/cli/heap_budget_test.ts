import { assert, assertEquals, assertThrows } from "@std/assert";
import { checkHeap, workerHeapBytes } from "../../src/cli/heap_budget.ts";
import { LimitError } from "../../src/errors.ts";

const MIB = 2 ** 20;

Deno.test("workers share three isolates' limits, and none gets more than V8 can give one", () => {
  // --max-old-space-size=4096: 4,096 MiB and 96 MiB of young generation
  assertEquals(workerHeapBytes(1, 4192 * MIB), workerHeapBytes(3, 4192 * MIB));
  assertEquals(workerHeapBytes(64, 4192 * MIB), 192 * MIB);
  // at most two thirds of a small limit are taken for the young generation
  assertEquals(workerHeapBytes(1, 120 * MIB), Math.floor(0.85 * 40 * MIB));
});

Deno.test("checkHeap() counts what is alive: garbage above the limit is collected, and is no reason to stop", () => {
  const fill = () => Array.from({ length: 1_000_000 }, (_, i) => ({ i }));
  const alive = fill();
  const limit = 16 * MIB;
  const error = assertThrows(() => checkHeap(limit), LimitError);
  assertEquals([error.code, error.parameters.limit], ["limit.memory", limit]);
  // an object with one field and its place in the array take 20 bytes and more
  assert(Number(error.parameters.received) > 20 * alive.length);
  const before = Number(error.parameters.received);
  fill();
  checkHeap(before + 4 * MIB);
});
