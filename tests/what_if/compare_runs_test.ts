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

Deno.test("memory differs by the region, by Tungsten's mode, by tasks an executor: each is said", async () => {
  const why = async (conf: Record<string, string>) => {
    const findings = await compared("unpersist", { conf: { "spark.memory.fraction": "0.3", ...conf } });
    return findings.find(({ code }) => code === "whatif.evictions")?.why?.split("; ").slice(1);
  };
  assertEquals(await why({ "spark.memory.storageFraction": "0.8" }), [
    "the part of it from which execution does not evict goes from 0.5 to 0.8",
  ]);
  assertEquals(await why({ "spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "64m" }), [
    "sorts and aggregations move off the heap",
  ]);
});

Deno.test("a replay that ends otherwise than the log is said to", async () => {
  const failed = (replayed: Summary): Summary => ({ ...replayed, outcome: { status: "failed", reason: "x" } });
  const model = (await compared("unpersist", {}, failed)).find(({ code }) => code === "whatif.model")!;
  assertEquals(model.severity, "problem");
  assertEquals(model.evidence.at(-1), "outcome: succeeded, in the log failed");
  // what the log does not record is not compared
  const unknown = (replayed: Summary): Summary => ({
    ...replayed,
    storage: { ...replayed.storage, blocksEvicted: null },
  });
  const compared2 = (await compared("unpersist", {}, unknown)).find(({ code }) => code === "whatif.model")!;
  assertEquals(compared2.evidence.some((line) => line.startsWith("blocks evicted")), false);
});

Deno.test("executors that nobody knows the memory of, or that there are none of, give no reason by their memory", async () => {
  const unknown = (summary: Summary): Summary => ({
    ...summary,
    executors: summary.executors.map((executor) => ({ ...executor, maxMemory: null })),
  });
  const workload = await workloadOfLog("unpersist");
  const changed = applyChanges(workload, { conf: { "spark.memory.fraction": "0.3" } });
  const recorded = applyChanges(workload, {});
  const [replayed, predicted] = [runWorkload(recorded), runWorkload(changed)].map(unknown);
  const findings = compareRuns({ observed: null, replayed, predicted, recorded, changed, versionEffects: null });
  assertEquals(findings.find(({ code }) => code === "whatif.evictions")!.why, null);
});
