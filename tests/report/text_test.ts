import { assertEquals, assertStringIncludes } from "@std/assert";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { findingText, textReport } from "../../src/report/text.ts";
import { verdictOf } from "../../src/report/verdict.ts";
import { runParts } from "../support/runs.ts";

async function report(run: string): Promise<string> {
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(runParts(run), summarizer);
  const summary = summarizer.summary();
  return textReport(summary, verdictOf(summary, summarizer.facts()));
}

Deno.test("textReport() begins with the outcome and the verdict, then come the figures", async () => {
  const text = await report("max_result_size");
  const lines = text.split("\n");
  assertEquals(lines[0], "d3-collect-sum-max10m (app-20261130174421-0000), Spark 3.5.9: failed in 18.2 s");
  assertEquals(lines[2].startsWith("FAILED   The job failed because the results of stage 0"), true);
  assertStringIncludes(text, "results    0 direct, 6 indirect, dropped: not recorded");
  assertStringIncludes(text, "[results.lower_bound]");
});

Deno.test("textReport() keeps its paragraphs within 110 columns and lists at most 20 stages", async () => {
  const text = await report("cache_evictions");
  const verdict = text.slice(0, text.indexOf("\n  results "));
  assertEquals(verdict.split("\n").filter((line) => line.length > 110), []);
  assertStringIncludes(text, "0 count at Jobs.scala:49");
});

Deno.test("findingText() puts the mark, the reason, the evidence and the settings below each other", () => {
  assertEquals(
    findingText({
      code: "x",
      severity: "problem",
      sentence: "It spilled.",
      why: "memory was short",
      evidence: ["3 of 4 tasks"],
      settings: [
        { key: "spark.executor.memory", value: "1g", advice: "raise it" },
        { key: "the job", value: null, advice: "do less" },
      ],
    }),
    [
      "PROBLEM  It spilled.",
      "         Why: memory was short.",
      "         - 3 of 4 tasks",
      "         > spark.executor.memory (1g): raise it",
      "         > the job: do less",
    ].join("\n"),
  );
});
