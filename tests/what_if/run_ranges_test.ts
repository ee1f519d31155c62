import { assert, assertEquals } from "@std/assert";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { rangeLines, rangesOf, rangeSteps } from "../../src/what_if/run_ranges.ts";
import { runWorkload } from "../../src/what_if/run_workload.ts";
import { finish } from "../../src/what_if/steps.ts";
import { whatIf } from "../../src/what_if/what_if.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";

/** Two tasks that each need more than half of the memory: they spill when they meet, which their times decide. */
const meeting = workloadFromJobSpec({
  conf: { "spark.executor.memory": "512m", "spark.executor.cores": "2" },
  cluster: { executors: 1, cores: 2 },
  stages: [{
    id: 0,
    tasks: 4,
    computeMs: [10, 4000, 4000, 10],
    memory: [{ kind: "UnsafeExternalSorter", bytes: ["1k", "90m", "1k", "90m"], records: 1000 }],
  }],
});

Deno.test("figures that hang on which tasks meet are ranges, others are not", () => {
  const changed = applyChanges(meeting, {});
  const first = runWorkload(changed);
  const ranges = finish(rangeSteps(changed, first, 12, {}));
  assertEquals([ranges.runs, ranges.succeeded], [12, 12]);
  const { spilledTasks, directResults } = ranges.figures;
  assert(spilledTasks.min < spilledTasks.max, JSON.stringify(ranges.figures));
  assertEquals(directResults, { min: 4, max: 4 });
  assert(rangeLines(ranges).some((line) => /^tasks that spilled: \d to \d$/.test(line)));
});

Deno.test("the predicted run is one of those, and is told the same without them", () => {
  const conf = { "spark.memory.fraction": "0.5" };
  const [one, several] = [1, 6].map((runs) => whatIf(meeting, null, { conf }, { runs }));
  assertEquals(several.predicted, one.predicted);
  assertEquals(one.ranges, undefined);
  const { min, max } = several.ranges!.figures.memoryBytesSpilled;
  const spilled = several.predicted.execution.memoryBytesSpilled!;
  assert(min <= spilled && spilled <= max);
  assert(several.verdict.some(({ code }) => code === "whatif.ranges"));
});

Deno.test("runs that agree say so, and a failure among them is counted", () => {
  const summary = runWorkload(applyChanges(meeting, {}));
  assertEquals(rangeLines(rangesOf([summary, summary])), []);
  const failed = { ...summary, outcome: { status: "failed" as const, reason: "x" } };
  assertEquals(rangeLines(rangesOf([summary, failed])), ["succeeds in 1 of 2 runs"]);
});
