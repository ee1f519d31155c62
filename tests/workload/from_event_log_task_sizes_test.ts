import { assertEquals } from "@std/assert";
import { serializedTaskBytes } from "../../src/workload/from_event_log_task_sizes.ts";

Deno.test("a task that was launched was below the limit", () => {
  assertEquals(serializedTaskBytes({ launches: [0, 20, 60, 100], slots: 4, limit: 4_000_000 }), 4_000_000);
});

Deno.test("only the launches of one offer count", () => {
  // Two slots: the third task waits for the first to end.
  assertEquals(serializedTaskBytes({ launches: [0, 20, 60, 100], slots: 2, limit: 1e9 }), null);
  assertEquals(serializedTaskBytes({ launches: [0, 20, 900, 1800], slots: 4, limit: 1e9 }), null);
});
