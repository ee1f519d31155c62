import { assertEquals } from "@std/assert";
import { publicCases } from "../support/cases.ts";

/** The file of tests/cases that has the tests of a kind. */
const TESTED_IN: Readonly<Record<string, string>> = {
  capacity: "capacity_test.ts",
  "ui-units": "capacity_test.ts",
  "capacity-eventlog": "capacity_test.ts",
  "capacity-legacy": "capacity_test.ts",
  "min-memory": "capacity_test.ts",
  offheap: "capacity_test.ts",
  "config-confusion": "capacity_test.ts",
  eviction: "memory_test.ts",
  "exec-share": "memory_test.ts",
  unroll: "memory_test.ts",
  maxResultSize: "results_test.ts",
  "rpc-limit": "results_test.ts",
  "result-path": "results_test.ts",
  spill: "spilling_test.ts",
  leak: "spilling_test.ts",
  dag: "scheduler_test.ts",
  "tool-request": "tool_request_test.ts",
};

Deno.test("every public report is of a kind that is tested, and its file asks for it", async () => {
  assertEquals(publicCases().length, 65);
  for (const { id, kind } of publicCases()) {
    const file = TESTED_IN[kind];
    const text = await Deno.readTextFile(new URL(file, import.meta.url));
    assertEquals([id, text.includes(`"${kind}"`)], [id, true]);
  }
});

Deno.test("the reports' ids are unique", () => {
  const ids = publicCases().map(({ id }) => id);
  assertEquals(new Set(ids).size, ids.length);
});
