import { assertEquals } from "@std/assert";
import { Summarizer } from "../../src/report/summarize.ts";
import { emptyWorkload } from "../../src/simulator/workload.ts";
import { neededLimits } from "../../src/what_if/needed_limits.ts";

function failedOf(reason: string) {
  const summary = new Summarizer({ source: "simulated" }).summary();
  summary.outcome = { status: "failed", reason };
  return summary;
}

Deno.test("a task too large for a message needs the next MiB; another failure needs no limit", () => {
  const limits = (reason: string) => {
    const steps = neededLimits(failedOf(reason), {
      workload: emptyWorkload("x"),
      driverPeak: null,
      run: function* () {
        yield* [];
        throw new Error("no run is needed");
      },
    });
    const { value, done } = steps.next();
    return done ? value.conf : null;
  };
  // 250,906,987 bytes are 239.28 MiB (public report: 240 is the smallest that works).
  const task =
    "Serialized task 1:0 was 250906987 bytes, which exceeds max allowed: spark.rpc.message.maxSize (134217728 bytes).";
  assertEquals(limits(task), { "spark.rpc.message.maxSize": "240" });
  assertEquals(limits("Task 0 in stage 1.0 failed 4 times"), {});
});
