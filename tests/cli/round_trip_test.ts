import { assertEquals } from "@std/assert";
import { runMain } from "../../src/cli/main.ts";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import { captureIo } from "../support/capture_io.ts";
import { part, runPath } from "../support/runs.ts";

async function simulated(input: string, format: string, more: string[]): Promise<string> {
  const { io, out } = captureIo();
  assertEquals(await runMain(["simulate", input, "--format", format, ...more], io), 0, out.stderr);
  return out.stdout;
}

/** What a log can tell: the source and what Spark does not record are left out, warnings too. */
function recorded({ app, results, storage, execution, stages, warnings: _, ...summary }: Summary) {
  const { putsRefused: _puts, cacheHits: _hits, cacheMisses: _misses, peakBytes: _storagePeak, ...stored } = storage;
  const { waits: _waits, waitMs: _waitMs, peakBytes: _executionPeak, ...executed } = execution;
  const { dropped: _dropped, ...ways } = results;
  return {
    ...summary,
    app: { id: app.id, name: app.name, sparkVersion: app.sparkVersion },
    results: ways,
    storage: stored,
    execution: executed,
    stages: stages.map(({ results: { dropped: _stageDropped, ...stageWays }, ...stage }) => ({
      ...stage,
      results: stageWays,
    })),
    executors: summary.executors.map(({ peakStorageBytes: _s, peakExecutionBytes: _e, ...executor }) => executor),
  };
}

/** With this a log says that no block was cached; without, it says nothing. */
const UPDATES = ["--conf", "spark.eventLog.logBlockUpdates.enabled=true"];

const CASES: readonly (readonly [input: string, ...more: string[]])[] = [
  ["template:cached-iterative", "--conf", "spark.executor.memory=1g"],
  ["template:wide-aggregation"],
  ["template:large-collect"],
  [runPath("cache_evictions")],
  [runPath("storage_region")],
];

for (const [input, ...more] of CASES) {
  Deno.test(`a simulated run's log is read back as its Summary: ${input.split("/").at(-1)}`, async () => {
    const { verdict: _verdict, ...run } = JSON.parse(await simulated(input, "json", [...more, ...UPDATES]));
    const summarizer = new Summarizer({ source: "observed" });
    await readEventLog([part("log", await simulated(input, "eventlog", [...more, ...UPDATES]))], summarizer);
    assertEquals(recorded(summarizer.summary()), recorded(run));
  });
}
