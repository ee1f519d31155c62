import { assert, assertEquals } from "@std/assert";
import { SparkConf } from "../../src/spark/conf.ts";
import { VERSION_RULES } from "../../src/spark/versions.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { finish } from "../../src/what_if/steps.ts";
import {
  comparedRunSteps,
  NOT_SIMULATED,
  versionCandidates,
  versionEffectSteps,
} from "../../src/what_if/version_effects.ts";
import { STARTUP_RULES } from "../../src/what_if/version_refusal.ts";
import { whatIf } from "../../src/what_if/what_if.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { column, demandOf, jobOf, MIB, rddOf, shuffleWorkload, workloadOf } from "../support/workloads.ts";
import { workloadOfLog } from "../support/event_logs.ts";

/** The rules that make a difference, or that only the events show. */
function met(workload: Workload, sparkVersion: string, effect: "changes" | "met" = "changes") {
  const { effects } = whatIf(workload, null, { sparkVersion }).versionEffects!;
  return effects.filter((one) => one.effect === effect);
}

Deno.test("an upgrade names the rule that keeps the job from failing, with its issue and what it changes", () => {
  const workload = shuffleWorkload(8, 4, {
    sparkVersion: "3.0.3",
    conf: { "spark.driver.maxResultSize": "6000b" },
  });
  // 8 map results of 1,000 bytes are above 6,000: 3.0 aborts the map stage, 3.1 does not (SPARK-32470).
  const answer = whatIf(workload, null, { sparkVersion: "3.1.3" });
  assertEquals([answer.replayed.outcome.status, answer.predicted.outcome.status], ["failed", "succeeded"]);
  const [abort] = met(workload, "3.1.3");
  assertEquals([abort.name, abort.issue, abort.figures[0]], [
    "results.mapStagesAbort",
    "SPARK-32470",
    "outcome: succeeded instead of failed",
  ]);
  const finding = answer.verdict.find(({ code }) => code === "whatif.version")!;
  assert(finding.evidence[0].startsWith("results.mapStagesAbort, SPARK-32470: no longer: "), finding.evidence[0]);
});

Deno.test("rules that matter only together are named together", () => {
  // From 3.4 on the values of the results count, 545 bytes each here: 4,360 of the 6,000 that are allowed. Neither the
  // old way to count nor the old abort of map stages alone would end the job.
  const workload = shuffleWorkload(8, 4, {
    sparkVersion: "3.0.3",
    conf: { "spark.driver.maxResultSize": "6000b" },
  });
  const effects = met(workload, "3.5.9").map(({ name, together }) => [name, together]);
  assertEquals(effects, [
    ["results.mapStagesAbort", ["results.countsValueBytesOnly"]],
    ["results.countsValueBytesOnly", ["results.mapStagesAbort"]],
  ]);
});

Deno.test("a rule of which only the events tell is met without changing a figure", async () => {
  const workload = await workloadOfLog("sql_join");
  const names = met(workload, "4.0.4", "met").map(({ name }) => name);
  assertEquals(names.includes("spilling.recordsPeaksByMode"), true);
  assertEquals(met(workload, "4.0.4").map(({ name }) => name).includes("spilling.recordsPeaksByMode"), false);
});

Deno.test("a job without anything special meets no rule but what all tasks record", () => {
  const workload = workloadOf({ rdds: [rddOf(0, 4)], demands: [demandOf(4)], jobs: [jobOf(0, 0, 0)] });
  const { effects } = whatIf(workload, null, { sparkVersion: "4.1.0" }).versionEffects!;
  const [first, ...others] = effects;
  assertEquals([first.name, first.effect], ["spilling.recordsPeaksByMode", "met"]);
  assertEquals(new Set(others.map(({ effect }) => effect)), new Set(["unmet", "notSimulated"]));
  assert(effects.every(({ when }) => /^(when |in every run)/.test(when)));
});

Deno.test("defaults that changed are tried like rules", () => {
  // Of 16 tasks one takes 2.5 times as long: a copy is started at 1.5 times the median, not at 3 times (4.0).
  const computeMs = column(16, 20_000);
  computeMs[15] = 50_000;
  const workload = workloadOf({
    sparkVersion: "3.5.9",
    rdds: [rddOf(0, 16)],
    demands: [demandOf(16, { computeMs })],
    jobs: [jobOf(0, 0, 0)],
    conf: { "spark.speculation": "true" },
  });
  const changing = met(workload, "4.0.4");
  assertEquals(changing.map(({ kind, name, from, to }) => [kind, name, from, to]), [
    ["default", "spark.speculation.multiplier", "1.5", "3"],
  ]);
  const set = { ...workload, conf: { ...workload.conf, "spark.speculation.multiplier": "3" } };
  assertEquals(met(set, "4.0.4"), []);
});

Deno.test("where the search is cut short, the rest is untried, not unmet", () => {
  const workload = shuffleWorkload(8, 4, {
    sparkVersion: "3.0.3",
    conf: { "spark.driver.maxResultSize": "6000b" },
  });
  const changes = { sparkVersion: "3.1.3" };
  const predicted = finish(comparedRunSteps(applyChanges(workload, changes), {}));
  for (const search of [{ maxRuns: 2, maxEvents: 1e6 }, { maxRuns: 100, maxEvents: predicted.events * 2.5 }]) {
    const { effects } = finish(versionEffectSteps(workload, changes, predicted, { search }));
    assertEquals(effects.some(({ effect }) => effect === "untried"), true);
    const unmet = effects.filter(({ effect }) => effect === "unmet").map(({ name }) => name);
    assertEquals(unmet.filter((name) => !STARTUP_RULES.has(name)), []);
  }
});

Deno.test("without another version there is nothing to tell", () => {
  const workload = workloadOf({ rdds: [rddOf(0, 4)], demands: [demandOf(4)], jobs: [jobOf(0, 0, 0)] });
  assertEquals(whatIf(workload, null, { conf: { "spark.memory.fraction": "0.5" } }).versionEffects, null);
  assertEquals(whatIf(workload, null, { sparkVersion: workload.sparkVersion }).versionEffects, null);
});

Deno.test("a setting that was set is no changed default", () => {
  const before = SparkConf.from({ "spark.eventLog.compress": "false" }, "3.5.9");
  const names = versionCandidates(before, before.withVersion("4.0.4")).map(({ name }) => name);
  assertEquals(names.includes("spark.eventLog.compress"), false);
  assertEquals(names.includes("spark.eventLog.rolling.enabled"), true);
});

/** Source of what a simulated run executes. */
async function simulatedSource(): Promise<string> {
  const root = new URL("../../src/", import.meta.url);
  const texts: string[] = [];
  const visit = async (folder: URL): Promise<void> => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) await visit(new URL(`${name}/`, folder));
      else texts.push(await Deno.readTextFile(new URL(name, folder)));
    }
  };
  await visit(new URL("simulator/", root));
  for (const file of ["kernel.ts", "spark/max_result_size.ts", "spark/sizing.ts", "spark/rpc_message.ts"]) {
    texts.push(await Deno.readTextFile(new URL(file, root)));
  }
  return texts.join("\n");
}

Deno.test("the rules that no run asks for are those that are told as not simulated", async () => {
  const source = await simulatedSource();
  const asked = (area: string, name: string) => {
    if (source.includes(`rules.${area}.${name}`)) return true;
    // Rules that reach their place as an area: rules.memory in the kernel, rules.spilling at the tasks.
    const short = new RegExp(`(?:\\brules\\.|[Rr]ules\\.memory\\.|\\{[^{}]*\\b)${name}\\b`);
    return ["memory", "results", "spilling", "scheduler", "texts"].includes(area) && short.test(source);
  };
  const found: string[] = [];
  for (const [area, byName] of Object.entries(VERSION_RULES)) {
    for (const name of Object.keys(byName)) if (!asked(area, name)) found.push(`${area}.${name}`);
  }
  // These are asked by the checks before a run, in files that a run uses too.
  const before = [
    "memory.manager",
    "memory.checksExecutorMemory",
    "memory.minMemoryError",
    "memory.usualCollector",
    "texts.appendsSqlState",
  ];
  assertEquals([...found, ...before].sort(), [...NOT_SIMULATED, ...STARTUP_RULES].sort());
});

Deno.test("result paths at a limit: an upgrade over 3.4 counts less", () => {
  // 4 results of 1 MiB, 455 bytes of each are no value: above 4 MiB - 1 KiB with them, below without (SPARK-40261).
  const workload = workloadOf({
    sparkVersion: "3.3.4",
    rdds: [rddOf(0, 4)],
    demands: [demandOf(4, { resultBytes: column(4, MIB) })],
    jobs: [jobOf(0, 0, 0)],
    conf: { "spark.driver.maxResultSize": String(4 * MIB - 1024) },
  });
  assertEquals(met(workload, "3.4.4").map(({ name }) => name), ["results.countsValueBytesOnly"]);
});
