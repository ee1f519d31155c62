/**
 * What an upgrade makes of a job, rule by rule: which of the rules and defaults that differ between two Spark versions
 * the run meets, and what each of them alone changes.
 *
 * @module
 */
import type { Summary } from "../report/summary.ts";
import type { SparkEvent } from "../spark/events.ts";
import type { Workload } from "../simulator/workload.ts";
import { SparkConf } from "../spark/conf.ts";
import { CONF_ENTRIES } from "../spark/conf_entries.ts";
import { changedRules, mixedRules } from "../spark/versions.ts";
import { applyChanges, type Changed, type Changes } from "./apply_changes.ts";
import { EventDigest } from "./event_digest.ts";
import { figureDifferences } from "./figure_rows.ts";
import { type RunOptions, runSteps } from "./run_workload.ts";
import type { Steps } from "./steps.ts";
import { STARTUP_RULES } from "./version_refusal.ts";

/** One rule or default that two versions have differently, and what it does to a run. */
export interface VersionEffect {
  /** A rule of Spark's code, or the default of a property. */
  readonly kind: "rule" | "default";
  /** `area.name` of a rule; the property of a default. */
  readonly name: string;
  /** What it decides, in one sentence. */
  readonly summary: string;
  /** SPARK issue, where one was found. */
  readonly issue: string | null;
  /** Its value in the version before. */
  readonly from: unknown;
  /** Its value in the version that was asked for. */
  readonly to: unknown;
  /**
   * `changes`: without it figures of the run differ. `met`: only its events do (an order, a text, an epoch). `unmet`:
   * the run is the same without it; it could matter to another. `notSimulated`: it concerns what no simulation shows
   * (errors of Spark itself, the size of containers, ...). `untried`: the limit of runs was reached before it was tried.
   */
  readonly effect: "changes" | "met" | "unmet" | "notSimulated" | "untried";
  /** What differs without it, for `changes`. */
  readonly figures: readonly string[];
  /** Rules and defaults that make this difference only together with it. */
  readonly together: readonly string[];
  /** What must happen in a run for it to be met. */
  readonly when: string;
}

/** All that differs between two versions, what changes the run first. */
export interface VersionEffects {
  /** The version of the log or spec. */
  readonly from: string;
  /** The version that was asked for. */
  readonly to: string;
  /** What changes the run first, what is not simulated last. */
  readonly effects: readonly VersionEffect[];
}

/**
 * Rules that no simulated run asks for: names in recorded calls, errors of Spark itself, the collector that is assumed where
 * nobody names one, and what containers are asked for.
 */
export const NOT_SIMULATED: ReadonlySet<string> = new Set([
  "memory.missingBlockError",
  "memory.wrongEntryError",
  "memory.usualCollector",
  "memory.containerHoldsOffHeap",
  "scheduler.removesExecutorsAsync",
  "scheduler.lossReasonName",
]);

/** How long the search may go on; what is left then is `untried`. */
export interface VersionSearchLimits {
  /** Runs of the job. */
  readonly maxRuns: number;
  /** Simulated events of all runs, so that a large job gets a partial answer in bearable time. */
  readonly maxEvents: number;
}

const DEFAULT_LIMITS: VersionSearchLimits = Object.freeze({ maxRuns: 100, maxEvents: 2e7 });

/** A run as far as the search needs it. */
export interface ComparedRun {
  readonly summary: Summary;
  /** Of its events: {@linkcode EventDigest}. */
  readonly digest: string;
  /** Simulated events that it took. */
  readonly events: number;
}

/**
 * Rules and defaults that differ between two versions for a job that starts under both, before any run: those that are not
 * simulated are told apart, refusals at start are not met, the others are `untried`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SparkConf } from "../spark/conf.ts";
 * import { versionCandidates } from "./version_effects.ts";
 *
 * const before = SparkConf.from({ "spark.speculation.quantile": "0.75" }, "3.5.9");
 * const candidates = versionCandidates(before, before.withVersion("4.0.4"));
 * const found = candidates.find(({ name }) => name === "spark.speculation.multiplier");
 * assertEquals([found?.kind, found?.from, found?.to], ["default", "1.5", "3"]);
 * assertEquals(candidates.some(({ name }) => name === "spark.speculation.quantile"), false); // it was set
 * ```
 */
export function versionCandidates(before: SparkConf, after: SparkConf): VersionEffect[] {
  const rest = { figures: [], together: [] };
  const candidates = changedRules(before.sparkVersion, after.sparkVersion).map((
    { rule, ...change },
  ): VersionEffect => ({
    kind: "rule",
    name: rule,
    ...change,
    ...rest,
    effect: NOT_SIMULATED.has(rule) ? "notSimulated" : STARTUP_RULES.has(rule) ? "unmet" : "untried",
  }));
  for (const [key, { doc }] of CONF_ENTRIES) {
    if (after.contains(key) || !before.reads(key) || !after.reads(key)) continue;
    const [from, to] = [before.get(key), after.get(key)];
    if (from === to || from === null) continue;
    const when = "when what it sets is used";
    candidates.push({
      kind: "default",
      name: key,
      summary: doc,
      issue: null,
      from,
      to,
      ...rest,
      when,
      effect: "untried",
    });
  }
  return candidates;
}

/**
 * Finds which of the rules and defaults that change with the version make a difference to a run: each is set back alone,
 * and the run compared event by event with `predicted`. Where nothing differs with all of them set back, that is one run;
 * else the candidates are halved until the ones that matter are alone, or the two that matter only together.
 */
export function* versionEffectSteps(
  workload: Workload,
  changes: Changes,
  predicted: ComparedRun,
  options: RunOptions & { readonly search?: VersionSearchLimits } = {},
): Steps<VersionEffects> {
  const before = SparkConf.from(workload.conf, workload.sparkVersion || undefined).with(changes.conf ?? {});
  const after = before.withVersion(changes.sparkVersion ?? before.sparkVersion);
  const candidates = versionCandidates(before, after);
  const simulated = candidates.filter(({ effect }) => effect === "untried");
  const { search: limits = DEFAULT_LIMITS, ...runOptions } = options;
  const search = new Search(workload, changes, { before, predicted, options: runOptions, limits });
  const found = simulated.length === 0 ? true : yield* search.find(simulated, []);
  const effects = candidates.map((candidate): VersionEffect => {
    if (candidate.effect !== "untried") return candidate;
    const difference = search.differences.get(candidate.name);
    if (difference === undefined) return { ...candidate, effect: found ? "unmet" : "untried" };
    const together = difference.together.filter((name) => search.differences.has(name));
    return { ...candidate, ...difference, together, effect: difference.figures.length > 0 ? "changes" : "met" };
  });
  const order = ["changes", "met", "untried", "unmet", "notSimulated"];
  effects.sort((a, b) => order.indexOf(a.effect) - order.indexOf(b.effect));
  return { from: before.sparkVersion, to: after.sparkVersion, effects };
}

/** The search by halves. */
class Search {
  /** What differs without a rule, by name. */
  readonly differences = new Map<string, Pick<VersionEffect, "figures" | "together">>();
  readonly #workload: Workload;
  readonly #changes: Changes;
  readonly #before: SparkConf;
  readonly #predicted: ComparedRun;
  readonly #options: RunOptions;
  readonly #limits: VersionSearchLimits;
  #runs = 0;
  #events = 0;

  constructor(
    workload: Workload,
    changes: Changes,
    { before, predicted, options, limits }: {
      before: SparkConf;
      predicted: ComparedRun;
      options: RunOptions;
      limits: VersionSearchLimits;
    },
  ) {
    this.#workload = workload;
    this.#changes = changes;
    this.#before = before;
    this.#predicted = predicted;
    this.#options = options;
    this.#limits = limits;
  }

  /**
   * Finds what matters among `candidates` while `others` are set back as well; false when a limit stopped it. It begins
   * with all of them: when the run is the same, none matters.
   */
  *find(candidates: readonly VersionEffect[], others: readonly VersionEffect[]): Steps<boolean> {
    const run = yield* this.#without([...candidates, ...others]);
    if (run === null) return false;
    if (run.digest === this.#predicted.digest) return true;
    return yield* this.#narrow(candidates, others, run);
  }

  /** Finds what matters among candidates of which it is known that some do. */
  *#narrow(
    candidates: readonly VersionEffect[],
    others: readonly VersionEffect[],
    without: ComparedRun,
  ): Steps<boolean> {
    if (candidates.length === 1) {
      this.#note(candidates[0], others, without);
      return true;
    }
    const middle = candidates.length >> 1;
    const halves = [candidates.slice(0, middle), candidates.slice(middle)];
    let done = true;
    const runs: (ComparedRun | null)[] = [];
    for (const half of halves) runs.push(yield* this.#without([...half, ...others]));
    const differs = runs.map((run) => run !== null && run.digest !== this.#predicted.digest);
    for (const [i, half] of halves.entries()) {
      if (runs[i] === null) done = false;
      else if (differs[i]) done = (yield* this.#narrow(half, others, runs[i]!)) && done;
    }
    if (differs[0] || differs[1] || !done) return done;
    // Neither half matters alone: something of one matters with something of the other.
    for (const [i, half] of halves.entries()) {
      done = (yield* this.#narrow(half, [...others, ...halves[1 - i]], without)) && done;
    }
    return done;
  }

  #note(candidate: VersionEffect, others: readonly VersionEffect[], without: ComparedRun): void {
    this.differences.set(candidate.name, {
      figures: figureDifferences(this.#predicted.summary, without.summary),
      together: others.map(({ name }) => name),
    });
  }

  /** The run with some rules and defaults of the version before; null when a limit is reached. */
  *#without(set: readonly VersionEffect[]): Steps<ComparedRun | null> {
    // The next run takes about as long as the prediction did.
    const { maxRuns, maxEvents } = this.#limits;
    if (this.#runs >= maxRuns || this.#events + this.#predicted.events > maxEvents) return null;
    this.#runs++;
    const steps = comparedRunSteps(setBack(this.#workload, this.#changes, this.#before, set), this.#options);
    for (;;) {
      const { value, done } = steps.next();
      if (done) return value;
      this.#events += value;
      yield value;
    }
  }
}

/** The workload under the changes, but some rules and defaults as they were before. */
function setBack(workload: Workload, changes: Changes, before: SparkConf, set: readonly VersionEffect[]): Changed {
  const defaults: Record<string, string> = {};
  for (const { kind, name, from } of set) if (kind === "default") defaults[name] = String(from);
  const changed = applyChanges(workload, { ...changes, conf: { ...changes.conf, ...defaults } });
  const rules = set.filter(({ kind }) => kind === "rule").map(({ name }) => name);
  return { ...changed, conf: changed.conf.withRules(mixedRules(changed.conf.rules, before.rules, rules)) };
}

/** A run with the digest of its events, but for those that only repeat the settings. */
export function* comparedRunSteps(changed: Changed, options: RunOptions): Steps<ComparedRun> {
  const digest = new EventDigest();
  const sink = options.sink;
  const both = {
    event(event: SparkEvent): void {
      if (event.kind !== "environmentUpdate") digest.event(event);
      sink?.event(event);
    },
  };
  const steps = runSteps(changed, { ...options, sink: both });
  for (let events = 0;;) {
    const { value, done } = steps.next();
    if (done) return { summary: value, digest: digest.text, events };
    events += value;
    yield value;
  }
}
