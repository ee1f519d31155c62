import { assertEquals } from "@std/assert";
import { readWorkload } from "../../src/cli/workload_input.ts";
import { captureIo } from "../support/capture_io.ts";
import { runPath } from "../support/runs.ts";

Deno.test("an event log gives its workload and what was observed", async () => {
  const { workload, observed } = await readWorkload([runPath("cache_evictions")], captureIo().io);
  assertEquals([workload.jobs.length, observed?.jobs.length], [6, 6]);
});

Deno.test("without a name the bundled log is read", async () => {
  const { observed } = await readWorkload([], captureIo().io);
  assertEquals(observed?.app.name, "a1-cache-bytes-base");
});

Deno.test("a template gives a workload that nobody observed", async () => {
  const { workload, observed } = await readWorkload(["template:sort"], captureIo().io);
  assertEquals([workload.jobs.length > 0, observed], [true, null]);
});
