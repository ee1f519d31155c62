import { assertEquals } from "@std/assert";
import { sweepResults, type SweepTask } from "../../src/cli/sweep_pool.ts";
import { emptyWorkload } from "../../src/simulator/workload.ts";
import { refusedResult } from "../../src/what_if/sweep.ts";
import { InputError } from "../../src/errors.ts";
import { captureIo } from "../support/capture_io.ts";

Deno.test("results come in the order of the tasks, unreadable lines among them", async () => {
  async function* tasks(): AsyncGenerator<SweepTask> {
    yield await Promise.resolve({ scenario: { id: "a", settings: {} }, input: null });
    yield { result: refusedResult({ id: "b", settings: {} }, new InputError("sweep.line", "Cannot read")) };
    yield { scenario: { id: "c", settings: { "spark.memory.fraction": "0.5" } }, input: null };
  }
  const results = [];
  const options = { workload: emptyWorkload("nothing"), jobs: 1, io: captureIo().io };
  for await (const { id, status } of sweepResults(tasks(), options)) results.push([id, status]);
  assertEquals(results, [["a", "succeeded"], ["b", "refused"], ["c", "succeeded"]]);
});
