import { assertEquals } from "@std/assert";
import type { Summary } from "../../src/report/summary.ts";
import { applyChanges, type Changes } from "../../src/what_if/apply_changes.ts";
import { compareRuns } from "../../src/what_if/compare_runs.ts";
import { runWorkload } from "../../src/what_if/run_workload.ts";
import { workloadOfLog } from "../support/event_logs.ts";

async function compared(log: string, changes: Changes, observed: (replayed: Summary) => Summary | null = () => null) {
  const workload = await workloadOfLog(log);
  const recorded = applyChanges(workload, {});
  const changed = applyChanges(workload, changes);
  const replayed = runWorkload(recorded);
  return compareRuns({
    observed: observed(replayed),
    replayed,
    predicted: runWorkload(changed),
    recorded,
    changed,
    versionEffects: null,
  });
}

Deno.test("evictions are explained by the memory that executors have", async () => {
  const findings = await compared("unpersist", { conf: { "spark.memory.fraction": "0.3" } });
  const found = findings.find(({ code }) => code === "whatif.evictions")!;
  assertEquals(found.severity, "problem");
  assertEquals(
    found.why,
    "the memory that storage and execution share in an executor goes from 204.0 MiB to 102.0 MiB, its storage region from 102.0 MiB to 51.0 MiB",
  );
});

Deno.test("spills name the stages that differ", async () => {
  const findings = await compared("sql_join", { conf: { "spark.executor.memory": "1g" } });
  const found = findings.find(({ code }) => code === "whatif.spills")!;
  assertEquals(found.severity, "good");
  assertEquals(found.sentence.startsWith("Nothing is spilled instead of"), true);
  assertEquals(found.evidence.map((line) => line.split(" (")[0]), ["stage 4"]);
});

Deno.test("a failure comes first, with its reason", async () => {
  const [first] = await compared("task_failures", { conf: { "spark.task.maxFailures": "1" } });
  assertEquals([first.code, first.severity], ["whatif.outcome", "failure"]);
});

Deno.test("a replay that differs from the log is said to", async () => {
  const off = (replayed: Summary): Summary => ({
    ...replayed,
    storage: { ...replayed.storage, blocksEvicted: replayed.storage.blocksEvicted! + 50 },
  });
  const model = async (observed: (replayed: Summary) => Summary) =>
    (await compared("unpersist", {}, observed)).find(({ code }) => code === "whatif.model")!.severity;
  assertEquals([await model((same) => same), await model(off)], ["notice", "problem"]);
});
