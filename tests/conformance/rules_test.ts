import { assertEquals } from "@std/assert";
import { SCHEDULER_TRACES } from "../../src/replay/scheduler/mod.ts";
import type { TraceLine } from "../../src/replay/trace.ts";
import type { ByVersion } from "../../src/spark/spark_version.ts";
import { type SparkRules, VERSION_RULES } from "../../src/spark/versions.ts";
import { testdata, traceLines } from "../support/traces.ts";

// Each rule of the schedulers and of results that is said to be seen on the real classes: with another of its values some
// trace that they left is not reproduced any more.

/** Where most rules show first. */
const SETS: readonly string[] = [
  ...["2.3.4", "2.4.0", "3.5.9", "4.0.4"].flatMap((version) => [`${version}/handmade-a`]),
  ...["2.4.0", "3.5.9", "4.0.4"].map((version) => `${version}/handmade-b`),
  ...["2.3.4", "2.4.0", "3.5.9", "4.1.0", "4.1.3", "4.2.0"].map((version) => `${version}/handmade-i`),
  "2.3.4/random-b",
  "2.3.4/random-d",
  "3.5.9/random-fair",
];

/** Seen otherwise than in traces of decisions. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  // Which metrics a killed task's end has: listeners' events (tests/simulator/version_rules_test.ts).
  "scheduler.countsKilledTasks",
  // Progress of tasks is in no trace: tests/simulator/scheduler_test.ts.
  "scheduler.checksEfficiency",
]);

type Traces = readonly (readonly TraceLine[])[];

async function traces(set: string): Promise<Traces> {
  const found: TraceLine[][] = [];
  for (const line of await traceLines(testdata(`scheduler/${set}.jsonl.gz`))) {
    if (line.format !== undefined) found.push([]);
    found.at(-1)!.push(line);
  }
  return found;
}

/** Whether a trace comes out otherwise. */
function differs(set: Traces, withRules: (rules: SparkRules) => SparkRules): boolean {
  return set.some(([{ stages: _outcome, ...inputs }, ...events]) => {
    for (const { differences } of SCHEDULER_TRACES.replay(inputs, events, { withRules })) {
      if (differences.length > 0) return true;
    }
    return false;
  });
}

/** The rules of a version with one value of one rule changed. */
function changed(area: "scheduler" | "results", name: string, value: unknown) {
  return (rules: SparkRules): SparkRules => ({ ...rules, [area]: { ...rules[area], [name]: value } });
}

Deno.test("every rule that was seen on the real classes is needed to do what they did", async () => {
  const sets: Traces[] = [];
  for (const set of SETS) sets.push(await traces(set));
  const idle: string[] = [];
  for (const area of ["scheduler", "results"] as const) {
    for (const [name, { known, values }] of Object.entries(VERSION_RULES[area])) {
      if (known !== "run" || ELSEWHERE.has(`${area}.${name}`)) continue;
      const different = new Set((values as ByVersion<unknown>).map(([, value]) => value));
      const shows = [...different].some((value) => sets.some((set) => differs(set, changed(area, name, value))));
      if (!shows) idle.push(`${area}.${name}`);
    }
  }
  assertEquals(idle, []);
});
