import { assertEquals } from "@std/assert";
import { LogFindings } from "../../src/workload/from_event_log_findings.ts";
import { StageDemands } from "../../src/workload/from_event_log_stage_demands.ts";
import { collectedLog } from "../support/event_logs.ts";

Deno.test("a demand is numbered, and its faults carry the number", async () => {
  const findings = new LogFindings(await collectedLog("task_failures"));
  const demands = new StageDemands(findings);
  const stage = findings.log.stages.stages.get(0)!;
  demands.add(findings.log.stages.stages.get(1)!, findings.attemptsOf([1]));
  assertEquals(demands.add(stage, findings.attemptsOf([0])), 1);
  assertEquals(demands.faults.map((fault) => fault.kind === "taskException" && fault.demand), [1, 1, 1]);
});
