/**
 * Two runs of one workload in sentences: the outcome, what changes, by how much, and why.
 *
 * @module
 */
import type { Recorded, Summary } from "../report/summary.ts";
import type { Finding, Severity } from "../report/verdict.ts";
import { duration, plural, size } from "../report/verdict/finding.ts";
import type { Changed } from "./apply_changes.ts";
import { rangeLines, type RunRanges } from "./run_ranges.ts";
import type { VersionEffects } from "./version_effects.ts";
import { versionEffectLine, versionEffectsSentence } from "./version_effects_text.ts";

/** What is compared. */
export interface Runs {
  readonly observed: Summary | null;
  readonly replayed: Summary;
  readonly predicted: Summary;
  /** What ran under the recorded and under the changed settings. */
  readonly recorded: Changed;
  readonly changed: Changed;
  /** What another Spark version does, where there is one. */
  readonly versionEffects: VersionEffects | null;
  /** What other runs of the prediction came to, where there were some. */
  readonly ranges?: RunRanges;
  /** Blocks evicted by id of their RDD in the replayed and the predicted run, where they were counted. */
  readonly evictedByRdd?: readonly [before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>];
}

/** Durations are told apart from here on: repeated runs of equal settings differ by as much and more. */
const SAME_DURATION = 0.1;

/** RDDs that are named. */
const MAX_RDDS = 5;

/** A rule: what it has to say about two runs. */
type Rule = (runs: Runs) => Finding[];

const RULES: readonly Rule[] = [
  outcome,
  evictions,
  cache,
  spills,
  outOfMemory,
  results,
  retries,
  time,
  nothing,
  chance,
  version,
];

/**
 * The differences between the replayed and the predicted run, the outcome first; then how the replay compares with what
 * was observed.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { applyChanges } from "./apply_changes.ts";
 * import { compareRuns } from "./compare_runs.ts";
 * import { runWorkload } from "./run_workload.ts";
 *
 * const recorded = applyChanges(emptyWorkload("nothing"), {});
 * const replayed = runWorkload(recorded);
 * const runs = { observed: null, replayed, predicted: replayed, recorded, changed: recorded, versionEffects: null };
 * assertEquals(compareRuns(runs).map(({ code }) => code), ["whatif.outcome", "whatif.same"]);
 * ```
 */
export function compareRuns(runs: Runs): Finding[] {
  // Without an executor nothing runs: that nothing is evicted or spilled then is no answer.
  if (neverStarts(runs)) return [...outcome(runs), ...version(runs), ...modelError(runs)];
  const findings = RULES.flatMap((rule) => rule(runs));
  return [...findings, ...modelError(runs)];
}

function finding(
  code: string,
  severity: Severity,
  sentence: string,
  rest: { why?: string | null; evidence?: readonly string[] } = {},
): Finding {
  return { code, severity, sentence, why: rest.why ?? null, evidence: rest.evidence ?? [], settings: [] };
}

function outcome({ replayed, predicted, changed }: Runs): Finding[] {
  const { status, reason } = predicted.outcome;
  const under = changed.changes.length === 0 ? "As recorded" : "Under the changed settings";
  if (status === "succeeded") {
    const before = replayed.outcome.status === "succeeded" ? "" : `; as recorded it ${was(replayed)}`;
    return [finding("whatif.outcome", "good", `${under} the application succeeds${before}.`)];
  }
  if (changed.workload.cluster.executors.length === 0 && predicted.executors.length === 0) {
    const reasons = changed.warnings.filter(({ code }) => code === "cluster.no_executor");
    return [finding("whatif.outcome", "failure", `${under} the application waits for ever: it gets no executor.`, {
      why: reasons.length === 0 ? null : reasons[0].message,
      evidence: reason === null ? [] : [`the driver's log repeats: ${reason}`],
    })];
  }
  const verb = status === "failed" ? "fails" : "does not come to an end";
  return [
    finding("whatif.outcome", "failure", `${under} the application ${verb}${reason === null ? "" : `: ${reason}`}`),
  ];
}

/** The changed run has jobs and no executor to run them. */
function neverStarts({ replayed, predicted }: Runs): boolean {
  return predicted.outcome.status === "unfinished" && predicted.executors.length === 0 && replayed.executors.length > 0;
}

function was({ outcome: { status, reason } }: Summary): string {
  return status === "failed" ? `fails: ${reason ?? "for a reason that is not recorded"}` : "does not end";
}

/** Unified memory of the executors, as a range when they differ. */
function unifiedMemory({ executors }: Summary): string | null {
  const maxima = executors.map(({ maxMemory }) => maxMemory).filter((max) => max !== null);
  if (maxima.length === 0) return null;
  const [low, high] = [Math.min(...maxima), Math.max(...maxima)];
  return low === high ? size(low) : `${size(low)} to ${size(high)}`;
}

/** The storage regions of the largest executors, before and after. */
function storageRegions({ replayed, predicted, recorded, changed }: Runs): [string, string] | null {
  const region = ({ executors }: Summary, { conf }: Changed) => {
    const unified = Math.max(...executors.map(({ maxMemory }) => maxMemory ?? 0));
    return size(Math.trunc(unified * conf.getDouble("spark.memory.storageFraction")));
  };
  if (replayed.executors.length === 0 || predicted.executors.length === 0) return null;
  return [region(replayed, recorded), region(predicted, changed)];
}

/** Why memory differs, in the terms of the settings. */
function memoryReason(runs: Runs): string | null {
  const { replayed, predicted, changed } = runs;
  const reasons: string[] = [];
  const [before, after] = [unifiedMemory(replayed), unifiedMemory(predicted)];
  if (before !== null && after !== null && before !== after) {
    const regions = storageRegions(runs);
    reasons.push(
      `the memory that storage and execution share in an executor goes from ${before} to ${after}` +
        (regions === null ? "" : `, its storage region from ${regions.join(" to ")}`),
    );
  }
  const count = [replayed, predicted].map(({ executors }) => executors.length);
  if (count[0] !== count[1]) {
    reasons.push(`there ${count[1] === 1 ? "is" : "are"} ${plural(count[1], "executor")} instead of ${count[0]}`);
  }
  const cores = [replayed, predicted].map(({ executors }) => executors[0]?.cores ?? null);
  if (cores[0] !== cores[1]) reasons.push(`up to ${cores[1]} instead of ${cores[0]} tasks share an executor`);
  const of = (key: string) => changed.changes.find((change) => change.key === key);
  const region = of("spark.memory.storageFraction");
  if (region !== undefined) {
    reasons.push(`the part of it from which execution does not evict goes from ${region.from} to ${region.to}`);
  }
  if (of("spark.memory.offHeap.enabled") !== undefined) reasons.push("sorts and aggregations move off the heap");
  const level = of("storageLevel");
  if (level !== undefined) reasons.push(`cached partitions are kept as ${level.to}`);
  return reasons.length === 0 ? null : reasons.join("; ");
}

/** "3 instead of 24", with the direction it takes as severity. */
function change(before: Recorded, after: Recorded): Severity | null {
  if (before === after || before === null || after === null) return null;
  return after > before ? "problem" : "good";
}

function evictions(runs: Runs): Finding[] {
  const [before, after] = [runs.replayed.storage, runs.predicted.storage];
  const severity = change(before.blocksEvicted, after.blocksEvicted);
  if (severity === null) return [];
  const disk = after.blocksDroppedToDisk ?? 0;
  return [finding(
    "whatif.evictions",
    severity,
    `${plural(after.blocksEvicted!, "cached block")} evicted instead of ${before.blocksEvicted} (${
      size(after.bytesEvicted ?? 0)
    } instead of ${size(before.bytesEvicted ?? 0)})${disk > 0 ? `, ${disk} of them to disk` : ""}.`,
    { why: memoryReason(runs), evidence: evictedRdds(runs) },
  )];
}

/** "rdd 12 (users): 0 evictions instead of 24", those that differ most first. */
function evictedRdds({ evictedByRdd, recorded }: Runs): string[] {
  if (evictedByRdd === undefined) return [];
  const [before, after] = evictedByRdd;
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((id) => ({ id, from: before.get(id) ?? 0, to: after.get(id) ?? 0 }))
    .filter(({ from, to }) => from !== to)
    .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from) || a.id - b.id)
    .slice(0, MAX_RDDS)
    .map(({ id, from, to }) => {
      const name = recorded.workload.rdds.find((rdd) => rdd.id === id)?.name ?? "";
      return `rdd ${id}${name === "" ? "" : ` (${name})`}${to === 0 ? " stays" : ""}: ${
        plural(to, "eviction")
      } instead of ${from}`;
    });
}

function cache({ replayed, predicted }: Runs): Finding[] {
  const [before, after] = [replayed.storage, predicted.storage];
  if (before.cacheMisses === after.cacheMisses && before.putsRefused === after.putsRefused) return [];
  const refused = after.putsRefused === before.putsRefused
    ? ""
    : `; ${after.putsRefused} instead of ${before.putsRefused} partitions find no room`;
  const better = (after.cacheMisses ?? 0) <= (before.cacheMisses ?? 0);
  return [finding(
    "whatif.cache",
    better ? "good" : "problem",
    `Cached partitions are found ${after.cacheHits} times instead of ${before.cacheHits} and computed ${after.cacheMisses} times instead of ${before.cacheMisses}${refused}.`,
    {
      evidence: [
        `in memory at the end: ${after.cachedAtEnd.memoryBlocks} blocks, ${size(after.cachedAtEnd.memoryBytes ?? 0)} ` +
        `(before ${before.cachedAtEnd.memoryBlocks}, ${size(before.cachedAtEnd.memoryBytes ?? 0)})`,
      ],
    },
  )];
}

function spills(runs: Runs): Finding[] {
  const [before, after] = [runs.replayed.execution, runs.predicted.execution];
  const severity = change(before.memoryBytesSpilled, after.memoryBytesSpilled);
  if (severity === null) return [];
  const from = before.memoryBytesSpilled === 0 ? "nothing" : size(before.memoryBytesSpilled!);
  const to = after.memoryBytesSpilled === 0 ? "Nothing" : size(after.memoryBytesSpilled!);
  const tasks = after.spilledTasks === 0 ? "" : ` by ${plural(after.spilledTasks ?? 0, "task")}`;
  return [finding(
    "whatif.spills",
    severity,
    `${to} is spilled${tasks} instead of ${from}${before.spilledTasks ? ` by ${before.spilledTasks}` : ""}.`,
    { why: memoryReason(runs), evidence: stagesWithSpills(runs) },
  )];
}

/** The stages whose spills differ, those that differ most first. */
function stagesWithSpills({ replayed, predicted }: Runs): string[] {
  const before = new Map(replayed.stages.map((stage) => [`${stage.stageId}.${stage.attempt}`, stage]));
  return predicted.stages
    .map((stage) => ({
      stage,
      from: before.get(`${stage.stageId}.${stage.attempt}`)?.memoryBytesSpilled ?? 0,
      to: stage.memoryBytesSpilled ?? 0,
    }))
    .filter(({ from, to }) => from !== to)
    .sort((a, b) => Math.abs(b.to - b.from) - Math.abs(a.to - a.from))
    .slice(0, 5)
    .map(({ stage, from, to }) => `stage ${stage.stageId} (${stage.name}): ${size(to)} instead of ${size(from)}`);
}

function outOfMemory({ replayed, predicted }: Runs): Finding[] {
  const after = predicted.execution.oomTasks ?? 0;
  const before = replayed.execution.oomTasks ?? 0;
  if (after === before) return [];
  return [finding(
    "whatif.out_of_memory",
    after > before ? "failure" : "good",
    `${plural(after, "task attempt")} cannot get the memory that it must have, instead of ${before}.`,
    { why: "a consumer that cannot spill asked for more than its share of the execution pool" },
  )];
}

function results({ replayed, predicted, changed }: Runs): Finding[] {
  const [before, after] = [replayed.results, predicted.results];
  const paths = ["direct", "indirect", "dropped"] as const;
  if (paths.every((path) => before[path] === after[path])) return [];
  const { effectiveDirectLimit, maxResultSize } = predicted.thresholds;
  const isReplanned = changed.warnings.some(({ code }) => code === "plan.rewritten");
  const limits = changed.changes.some(({ key }) => /maxResultSize|maxDirectResultSize|rpc\.message/.test(key))
    ? `results above ${size(effectiveDirectLimit)} go by way of the block manager, one above ${
      maxResultSize === 0 ? "no limit" : size(maxResultSize)
    } is not sent`
    : null;
  return [finding(
    "whatif.results",
    (after.dropped ?? 0) > (before.dropped ?? 0) ? "problem" : "notice",
    `Task results: ${paths.map((path) => `${after[path]} ${path} (before ${before[path]})`).join(", ")}.`,
    { why: limits ?? (isReplanned ? "queries whose joins are planned otherwise run other stages" : null) },
  )];
}

/** Attempts that ended without success, of all stages. */
function unsuccessful({ stages }: Summary): number {
  return stages.reduce((sum, { tasks }) => sum + tasks.failed + tasks.killed, 0);
}

function retries({ replayed, predicted }: Runs): Finding[] {
  const [before, after] = [unsuccessful(replayed), unsuccessful(predicted)];
  if (before === after) return [];
  return [finding(
    "whatif.failed_tasks",
    after > before ? "problem" : "good",
    `${plural(after, "task attempt")} failed or killed instead of ${before}.`,
  )];
}

function time({ replayed, predicted }: Runs): Finding[] {
  const [before, after] = [replayed.durationMs, predicted.durationMs];
  if (before === null || after === null || predicted.outcome.status !== "succeeded") return [];
  const ratio = before > 0 ? after / before : 1;
  if (Math.abs(ratio - 1) < SAME_DURATION) return [];
  return [finding(
    "whatif.time",
    ratio > 1 ? "problem" : "good",
    `It takes about ${duration(after)} instead of ${duration(before)}.`,
    { why: "by the computing times of the log and assumed speeds of disk and network; a direction more than a figure" },
  )];
}

function nothing({ replayed, predicted }: Runs): Finding[] {
  const figures = ({ storage, execution, results, outcome }: Summary) =>
    JSON.stringify([
      outcome.status,
      storage.blocksEvicted,
      storage.cacheMisses,
      execution.memoryBytesSpilled,
      results.direct,
      results.indirect,
      results.dropped,
    ]);
  if (figures(replayed) !== figures(predicted)) return [];
  return [finding("whatif.same", "notice", "What is evicted, computed again, spilled and sent stays as it is.")];
}

function chance({ ranges }: Runs): Finding[] {
  if (ranges === undefined) return [];
  const lines = rangeLines(ranges);
  const sentence = lines.length === 0
    ? `${ranges.runs} runs, with the tasks' times and places dealt out anew, agree in these figures.`
    : `Some of it hangs on chance: ${ranges.runs} runs, with the tasks' times and places dealt out anew, differ.`;
  const why = lines.length === 0 ? null : "which tasks share an executor, and when, decides who finds memory";
  return [finding("whatif.ranges", "notice", sentence, { why, evidence: lines })];
}

function version({ versionEffects }: Runs): Finding[] {
  if (versionEffects === null) return [];
  const evidence = versionEffects.effects
    .filter(({ effect }) => effect === "changes" || effect === "met")
    .map((effect) =>
      [versionEffectLine(effect), effect.figures.join("; ") || "seen in the events only"].join(" -> ") +
      (effect.together.length === 0 ? "" : ` (only together with ${effect.together.join(", ")})`)
    );
  return [finding("whatif.version", "notice", versionEffectsSentence(versionEffects), { evidence })];
}

/** How the replay compares with the log: where it is off, so may the prediction be. */
function modelError({ observed, replayed, recorded }: Runs): Finding[] {
  if (observed === null) return [];
  const lines: string[] = [];
  let off = false;
  const compare = (what: string, real: Recorded, model: Recorded, tolerance: number) => {
    if (real === null || model === null) return;
    const near = Math.abs(model - real) <= Math.max(tolerance * Math.abs(real), 0);
    if (!near) off = true;
    lines.push(`${what}: ${model.toLocaleString("en-US")}, in the log ${real.toLocaleString("en-US")}`);
  };
  compare("blocks evicted", observed.storage.blocksEvicted, replayed.storage.blocksEvicted, 0.05);
  compare("bytes spilled", observed.execution.memoryBytesSpilled, replayed.execution.memoryBytesSpilled, 0.05);
  compare("tasks that spilled", observed.execution.spilledTasks, replayed.execution.spilledTasks, 0.05);
  if (recorded.conf.rules.spilling.recordsPeaksByMode) {
    // From 4.0 on a task's peak is what its memory manager gave out, so the model's can be held against it.
    compare("execution memory of the largest task, bytes", largestTask(observed), largestTask(replayed), 0.05);
  }
  compare("indirect results", observed.results.indirect, replayed.results.indirect, 0);
  if (observed.outcome.status !== replayed.outcome.status) {
    off = true;
    lines.push(`outcome: ${replayed.outcome.status}, in the log ${observed.outcome.status}`);
  }
  return [finding(
    "whatif.model",
    off ? "problem" : "notice",
    off
      ? "The replay under the recorded settings differs from the log: what is predicted may be off by as much."
      : "The replay under the recorded settings agrees with the log.",
    { evidence: lines },
  )];
}

function largestTask({ stages }: Summary): Recorded {
  const peaks = stages.map(({ peakExecutionMemory }) => peakExecutionMemory.max).filter((peak) => peak !== null);
  return peaks.length === 0 ? null : Math.max(...peaks);
}
