import { assertEquals, assertThrows } from "@std/assert";
import { Summarizer } from "../../src/report/summarize.ts";
import { budgetViolations, parseBudget } from "../../src/what_if/budget.ts";

Deno.test("a budget with other keys or values is bad input", () => {
  for (const text of ["[]", "null", "{", '{"maxEvictedBlocks":-1}', '{"maxEvictedBlocks":"1"}', '{"x":1}']) {
    assertThrows(() => parseBudget(text), TypeError, "Cannot use");
  }
});

Deno.test("violations name the figure and the limit; at the limit there is none", () => {
  const summary = new Summarizer({ source: "simulated" }).summary();
  summary.outcome = { status: "succeeded", reason: null };
  summary.storage.blocksEvicted = 3;
  assertEquals(budgetViolations({ maxEvictedBlocks: 3 }, summary, 0), []);
  assertEquals(budgetViolations({ maxEvictedBlocks: 2 }, summary, 0), ["3 blocks evicted, the budget is 2 blocks"]);
  assertEquals(budgetViolations({ maxClusterMemoryBytes: 1024 }, summary, 2048), [
    "2.0 KiB of memory, the budget is 1.0 KiB",
  ]);
});
