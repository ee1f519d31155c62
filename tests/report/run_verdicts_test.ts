import { assertEquals } from "@std/assert";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { verdictOf } from "../../src/report/verdict.ts";
import { runParts } from "../support/runs.ts";
import { judged, type RunEntry, type RunFigures, wantedCodes } from "./run_verdicts.ts";

const ENTRY: RunEntry = { run: "r", outcome: "OK", message: "", shows: "LRU eviction of whole-RDD scans", args: {} };
const FIGURES: RunFigures = {
  evictions_by_block_updates: 24,
  fetch_failures: [],
  executors: [],
  stages: { "0.0": { tasks_spilled: 0 } },
  result_paths: { indirect: 0 },
  totals: { tasks: 10, failed: 0 },
};

async function verdict(run: string) {
  const summarizer = new Summarizer({ source: "observed" });
  await readEventLog(runParts(run), summarizer);
  return verdictOf(summarizer.summary(), summarizer.facts());
}

Deno.test("a verdict is right when it begins with what went wrong, and wrong when it says another thing", async () => {
  const evictions = wantedCodes(ENTRY, FIGURES);
  assertEquals(evictions, ["memory.evictions.storage"]);
  assertEquals(judged(ENTRY, evictions, await verdict("cache_evictions")), null);
  assertEquals(judged(ENTRY, evictions, await verdict("fetch_failure")), "says nothing of memory.evictions.storage");
  const failed: RunEntry = { ...ENTRY, outcome: "FAILED", message: "Total size of serialized results of 7 tasks" };
  const results = wantedCodes(failed, { ...FIGURES, evictions_by_block_updates: 0 });
  assertEquals(judged(failed, results, await verdict("max_result_size")), null);
  assertEquals(
    judged(ENTRY, results, await verdict("max_result_size")),
    "begins with results.max_result_size (failure), the run ended OK",
  );
  assertEquals(
    judged(ENTRY, [], await verdict("cache_evictions")),
    "calls memory.evictions.storage a problem, of which the run's figures say nothing",
  );
});
