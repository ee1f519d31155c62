import { assert, assertEquals } from "@std/assert";
import { readLog, whatIfBench } from "./what_if_bench.ts";

Deno.test("the log of the what-if bench has 6,040 tasks and consumers of memory", async () => {
  const { workload, observed } = await readLog();
  assertEquals(observed.stages.reduce((sum, stage) => sum + stage.tasks.succeeded, 0), 6040);
  assert(workload.demands.some(({ consumers }) => consumers.length > 0));
});

Deno.test("the what-if bench finds the same with one and with two workers", async () => {
  const [whatIf, one, two] = await whatIfBench({ settings: 4, rounds: 1 });
  assert(whatIf.checksum.startsWith("6040 tasks, "));
  assert(one.checksum.startsWith("4 of 4 succeeded"));
  assertEquals(one.checksum, two.checksum);
});
