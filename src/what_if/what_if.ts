/**
 * What would have happened: a workload under its own settings and under changed ones.
 *
 * @module
 */
import type { Finding } from "../report/verdict.ts";
import type { Summary } from "../report/summary.ts";
import type { Evidence, Workload } from "../simulator/workload.ts";
import { applyChanges, type Change, type Changed, type Changes, type ChangeWarning } from "./apply_changes.ts";
import { compareRuns } from "./compare_runs.ts";
import { EvictedByRdd } from "./evicted_by_rdd.ts";
import { rangeSteps, type RunRanges } from "./run_ranges.ts";
import { type RunOptions, runSteps } from "./run_workload.ts";
import { finish, type Steps } from "./steps.ts";
import {
  comparedRunSteps,
  type VersionEffects,
  versionEffectSteps,
  type VersionSearchLimits,
} from "./version_effects.ts";
import { checkUpgradedStartup } from "./version_refusal.ts";

/** The answer (a public contract). */
export interface WhatIf {
  /** The log's own Summary; null for specs. */
  readonly observed: Summary | null;
  /** The workload under the recorded settings: against `observed` it shows how far the model can be trusted here. */
  readonly replayed: Summary;
  /** The workload under the changed settings; equal to `replayed` without changes. */
  readonly predicted: Summary;
  /** The settings that differ between `replayed` and `predicted`. */
  readonly changes: readonly Change[];
  /** What the rules and defaults of another Spark version do to the job, one by one; null without such a change. */
  readonly versionEffects: VersionEffects | null;
  /** How far the prediction hangs on chance; absent where it was run only once. */
  readonly ranges?: RunRanges;
  /** What the change does, the worst first. */
  readonly verdict: readonly Finding[];
  /** Where the workload's figures come from. */
  readonly evidence: readonly Evidence[];
  /** What the log could not tell, and what a change cannot be told to do. */
  readonly warnings: readonly ChangeWarning[];
}

/** Options of {@linkcode whatIf}. */
export interface WhatIfOptions extends Omit<RunOptions, "sink"> {
  /** Takes the events of the predicted run. */
  readonly predictedSink?: RunOptions["sink"];
  /** How often the prediction is run, to see what hangs on chance. Default: 1. */
  readonly runs?: number;
  /** How far the rules of another version are tried one by one. */
  readonly search?: VersionSearchLimits;
}

/**
 * Replays a workload under the settings it has and runs it under changed ones. Both come from running it: nothing that
 * the log tells of the outcome is taken over.
 *
 * @throws {InputError} for settings that Spark refuses at start (with its message), `storage_level.unknown`,
 * `executors.count`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { whatIf } from "./what_if.ts";
 *
 * const answer = whatIf(emptyWorkload("nothing"), null, { conf: { "spark.memory.fraction": "0.8" } });
 * assertEquals(answer.changes, [{ key: "spark.memory.fraction", from: "0.6", fromDefault: true, to: "0.8" }]);
 * ```
 */
export function whatIf(
  workload: Workload,
  observed: Summary | null,
  changes: Changes,
  options: WhatIfOptions = {},
): WhatIf {
  return finish(whatIfSteps(workload, observed, changes, options));
}

/** {@linkcode whatIf} in steps. */
export function* whatIfSteps(
  workload: Workload,
  observed: Summary | null,
  changes: Changes,
  options: WhatIfOptions = {},
): Steps<WhatIf> {
  const { predictedSink: sink, search, runs: count = 1, ...runOptions } = options;
  const recorded = applyChanges(workload, {});
  const changed = applyChanges(workload, changes);
  const isUpgrade = isOfOtherVersion(workload, changes);
  const same = changed.changes.length === 0 && !isUpgrade;
  if (!same) checkUpgradedStartup(changed.conf, recorded.conf.sparkVersion, { collector: workload.cluster.collector });
  const evicted = [new EvictedByRdd(same ? sink : undefined), new EvictedByRdd(sink)] as const;
  const [replaying, predicting] = evicted.map((counting) => ({ ...runOptions, sink: counting }));
  const replayed = yield* runSteps(recorded, replaying);
  let predicted = replayed;
  let versionEffects: VersionEffects | null = null;
  if (isUpgrade) {
    const run = yield* comparedRunSteps(changed, predicting);
    predicted = run.summary;
    versionEffects = yield* versionEffectSteps(workload, changes, run, {
      ...runOptions,
      ...(search === undefined ? {} : { search }),
    });
  } else if (!same) {
    predicted = yield* runSteps(changed, predicting);
  }
  const ranges = count > 1 ? { ranges: yield* rangeSteps(changed, predicted, count, runOptions) } : {};
  const runs = { observed, replayed, predicted };
  const evictedByRdd = [evicted[0].counts, evicted[same ? 0 : 1].counts] as const;
  return {
    ...runs,
    changes: changed.changes,
    versionEffects,
    ...ranges,
    verdict: compareRuns({ ...runs, ...ranges, changed, recorded, versionEffects, evictedByRdd }),
    evidence: changed.workload.evidence,
    warnings: [...workload.warnings, ...changed.warnings, ...confWarnings(changed, changes)],
  };
}

/** What is to be said about the version and about the settings that were changed; those of the log have run. */
function confWarnings({ conf }: Changed, changes: Changes): ChangeWarning[] {
  return conf.warnings((key) => Object.hasOwn(changes.conf ?? {}, key))
    .map(({ code, message }) => ({ code, message, count: 1 }));
}

/** Whether the effects of another version are to be told, rule by rule. */
function isOfOtherVersion(workload: Workload, { sparkVersion }: Changes): boolean {
  return sparkVersion !== undefined && sparkVersion !== workload.sparkVersion;
}
