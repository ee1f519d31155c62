import { assertEquals } from "@std/assert";
import { readEventLog } from "../../src/event_log/read.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { expectedRun, part, runText } from "../support/runs.ts";
import { enlarged } from "./enlarge.ts";
import { eventLogBench } from "./event_log_bench.ts";

Deno.test("the readers of the event log bench find the same", async () => {
  const { results, memory } = await eventLogBench({
    megabytes: 1,
    rounds: 1,
    spark: false,
    memory: { bytes: 1, tasks: 1000 },
  });
  assertEquals(
    results.map(({ log, name }) => `${log} ${name}`),
    ["tasks", "SQL"].flatMap((log) => ["readEventLog", "summarize", "JSON.parse"].map((name) => `${log} ${name}`)),
  );
  for (const log of ["tasks", "SQL"]) {
    const sums = results.filter((result) => result.log === log).map(({ checksum }) => JSON.stringify(checksum));
    assertEquals(new Set(sums).size, 1);
  }
  assertEquals(memory.tasks >= 1000 && memory.peakRssBytes > 1e7, true);
});

Deno.test("an enlarged log is a log: its jobs several times, each under ids of its own", async () => {
  const lines = (await runText("fetch_failure")).trimEnd().split("\n");
  const summarizer = new Summarizer({ source: "observed" });
  const report = await readEventLog([part("log", [...enlarged(lines, 1_000_000)].join(""))], summarizer);
  const summary = summarizer.summary();
  const { stages, tasks, failed, killed } = expectedRun("fetch_failure");
  const copies = summary.stages.length / stages;
  assertEquals(copies >= 2 && Number.isInteger(copies), true);
  assertEquals(
    summary.stages.reduce((n, stage) => n + stage.tasks.succeeded + stage.tasks.failed + stage.tasks.killed, 0),
    tasks * copies,
  );
  assertEquals(
    summary.stages.reduce((n, stage) => n + stage.tasks.failed + stage.tasks.killed, 0),
    (failed + killed) * copies,
  );
  assertEquals(report.events.SparkListenerApplicationEnd, 1);
  assertEquals(report.warnings, []);
});
