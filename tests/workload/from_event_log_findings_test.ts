import { assertEquals } from "@std/assert";
import { LogFindings } from "../../src/workload/from_event_log_findings.ts";
import { collectedLog } from "../support/event_logs.ts";

Deno.test("rows come in order of launch", async () => {
  const findings = new LogFindings(await collectedLog("take_first"));
  const { launchTime } = findings.log.tasks;
  const times = findings.rowsOf(findings.log.stages.attempts).map((row) => launchTime[row]);
  assertEquals(times, [...times].sort((a, b) => a - b));
  assertEquals(times.length, findings.log.tasks.length);
});

Deno.test("a shuffle's records are those of all of its map tasks", async () => {
  const findings = new LogFindings(await collectedLog("sql_join"));
  // Four map tasks of 500,000 records.
  assertEquals(findings.recordsWritten(findings.lineage.shuffles[0]), 2_000_000);
});

Deno.test("updates of an accumulator are summed over stages", async () => {
  const findings = new LogFindings(await collectedLog("sql_join"));
  const read = [...findings.accumulators.values()].filter(({ name }) => name === "records read");
  assertEquals(read.map(({ sum }) => sum).sort((a, b) => a - b), [7, 7, 2_000_000, 2_000_000, 2_000_000, 2_000_000]);
});
