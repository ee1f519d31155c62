/**
 * Which settings a job should have: the smallest memory that keeps to a budget of evictions and spills, the limits that
 * its results need, each with the reason and the effect that the simulation predicts.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Summary } from "../report/summary.ts";
import { duration, plural, size } from "../report/verdict/finding.ts";
import type { Evidence, Grade, Workload } from "../simulator/workload.ts";
import { executorMemoryLayout } from "../simulator/executor_memory.ts";
import { localMaster } from "../spark/master.ts";
import { RESERVED_SYSTEM_MEMORY_BYTES } from "../spark/sizing.ts";
import { checkStartup } from "../spark/startup.ts";
import { applyChanges, type Changed, type Changes } from "./apply_changes.ts";
import { type Budget, budgetViolations, STRICT_BUDGET } from "./budget.ts";
import { memoryCandidates, memoryText } from "./memory_candidates.ts";
import { neededLimits } from "./needed_limits.ts";
import { heapSentence, observedHeap } from "./observed_heap.ts";
import { type RunOptions, runWorkload } from "./run_workload.ts";
import { clusterMemoryBytes } from "./sweep.ts";

/** Settings that can be recommended. */
export interface RecommendedSettings {
  /** Spark properties, only those that should change. */
  readonly conf: Readonly<Record<string, string>>;
  /** For the cached RDDs; null: as it is. */
  readonly storageLevel: string | null;
}

/** Why one setting is recommended. */
export interface Reason {
  /** Spark property, or `storageLevel`. */
  readonly setting: string;
  /** As it is in force; null when it is not set and has no default. */
  readonly from: string | null;
  /** What it should be. */
  readonly to: string;
  /** One sentence, with the figures behind it. */
  readonly why: string;
  /** What the simulation says would differ without it. */
  readonly effect: string;
  /** How well the figures behind it are known. */
  readonly grade: Grade;
}

/** Another choice that keeps to the budget, or comes nearest. */
export interface Alternative {
  /** What would be set instead. */
  readonly settings: RecommendedSettings;
  /** What it is good for. */
  readonly note: string;
  /** Whether the predicted run keeps to the budget. */
  readonly withinBudget: boolean;
  /** Memory asked of the cluster manager for all executors, overhead included. */
  readonly clusterMemoryBytes: number;
  /** Predicted, of the whole application. */
  readonly durationMs: number | null;
  /** Predicted. */
  readonly blocksEvicted: number | null;
  /** Predicted, in memory before the spill. */
  readonly memoryBytesSpilled: number | null;
}

/** The answer. */
export interface Recommendation {
  /** The settings to use. */
  readonly recommended: RecommendedSettings;
  /** False: the job's own settings are as good as any that was tried. */
  readonly gain: boolean;
  /** Why, a setting each. */
  readonly reasons: readonly Reason[];
  /** Under the recommended settings. */
  readonly predicted: Summary;
  /** Under the job's own settings. */
  readonly replayed: Summary;
  /** What else was tried and is worth knowing. */
  readonly alternatives: readonly Alternative[];
  /** What the job's own settings exceed; empty when they keep to the budget. */
  readonly violations: readonly string[];
  /** Where the workload's figures come from. */
  readonly evidence: readonly Evidence[];
  /** What the log could not tell. */
  readonly warnings: readonly { readonly code: string; readonly message: string; readonly count: number }[];
}

/** What a recommendation is made with. */
export interface RecommendOptions {
  /** Settings that are given, in place of the recorded ones. */
  readonly changes?: Changes;
  /** No eviction and no spill unless said. */
  readonly budget?: Budget;
  /** Summary of the log: memory is not recommended below a peak that was observed. */
  readonly observed?: Summary | null;
}

/** One run that was made. */
interface Trial {
  readonly changes: Changes;
  readonly changed: Changed;
  readonly summary: Summary;
  readonly memoryBytes: number;
  readonly violations: readonly string[];
}

/** Less memory is recommended when it saves at least this share. */
const WORTHWHILE_SAVING = 0.1;

const FRACTIONS_TRIED = ["0.7", "0.8"];
const STORAGE_FRACTIONS_TRIED = ["0.1", "0.3", "0.7", "0.9"];
const STORAGE_LEVELS_TRIED = ["MEMORY_AND_DISK", "MEMORY_ONLY_SER", "MEMORY_AND_DISK_SER"];

/**
 * The runs that a recommendation needs, one after the other: yields what to run and takes its Summary, so that a host can
 * run them in its own way (at once, in slices, with a deadline).
 */
export function* recommendation(
  workload: Workload,
  options: RecommendOptions = {},
): Generator<Changed, Recommendation, Summary> {
  const search = new Search(workload, options);
  const base = yield* search.try({});
  const limits = yield* neededLimits(base.summary, {
    workload,
    driverPeak: observedHeap(options.observed ?? null).driverPeak,
    run: (changes) => search.probe(changes),
  });
  const start = Object.keys(limits.conf).length === 0 ? base : yield* search.try({ conf: limits.conf });
  yield* search.memory(start);
  if (start.violations.length > 0) yield* search.others(start);
  const best = search.best(base, start);
  const reasons = yield* search.reasons(base, best, limits.why);
  return {
    recommended: settingsOf(best.changes),
    gain: best !== base,
    reasons,
    predicted: best.summary,
    replayed: base.summary,
    alternatives: search.alternatives(best),
    violations: base.violations,
    evidence: workload.evidence,
    warnings: [
      ...workload.warnings,
      ...best.changed.warnings,
      ...versionWarnings(best.changed),
      ...heapWarnings(options.observed ?? null),
    ],
  };
}

/**
 * Recommends settings for a workload.
 *
 * @throws {InputError} for given settings that Spark refuses or that are not simulated.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { recommend } from "./recommend.ts";
 *
 * const { gain, recommended, violations } = recommend(emptyWorkload("nothing"));
 * assertEquals(gain, true); // a job that needs no memory gets the least that Spark starts with
 * assertEquals(recommended.conf, { "spark.executor.memory": "450m" });
 * assertEquals(violations, []);
 * ```
 */
export function recommend(workload: Workload, options: RecommendOptions & RunOptions = {}): Recommendation {
  const steps = recommendation(workload, options);
  let step = steps.next();
  while (!step.done) step = steps.next(runWorkload(step.value, options));
  return step.value;
}

function versionWarnings({ conf }: Changed): Recommendation["warnings"] {
  const { warning } = conf.rules;
  return warning === null ? [] : [{ code: "conf.version", message: warning, count: 1 }];
}

/** A log without the heap's use is no ground for less heap than the application's own objects take. */
function heapWarnings(observed: Summary | null): Recommendation["warnings"] {
  const heap = observedHeap(observed);
  if (observed === null || heap.executorPeak !== null) return [];
  const message = `Memory is recommended by what Spark's pools need: ${heapSentence(heap)}`;
  return [{ code: "recommend.heap_not_recorded", message, count: 1 }];
}

function settingsOf({ conf, storageLevel }: Changes): RecommendedSettings {
  const texts: Record<string, string> = {};
  for (const [key, value] of Object.entries(conf ?? {})) if (value !== null) texts[key] = value;
  return { conf: texts, storageLevel: storageLevel ?? null };
}

/** The trials and what is concluded from them. */
class Search {
  readonly #workload: Workload;
  readonly #given: Changes;
  readonly #budget: Budget;
  readonly #observed: Summary | null;
  readonly #trials: Trial[] = [];
  readonly #byKey = new Map<string, Trial>();
  readonly #memoryKey: string;

  constructor(workload: Workload, options: RecommendOptions) {
    this.#workload = workload;
    this.#given = options.changes ?? {};
    this.#budget = options.budget ?? STRICT_BUDGET;
    this.#observed = options.observed ?? null;
    this.#memoryKey = localMaster(workload.cluster.master) === null ? "spark.executor.memory" : "spark.driver.memory";
  }

  /** Runs the job under further changes; the same ones only once. */
  *try(changes: Changes): Generator<Changed, Trial, Summary> {
    const key = JSON.stringify([changes.conf ?? {}, changes.storageLevel ?? null]);
    const known = this.#byKey.get(key);
    if (known !== undefined) return known;
    const changed = this.#apply(changes);
    const summary = yield changed;
    const memoryBytes = clusterMemoryBytes(changed);
    const trial = {
      changes,
      changed,
      summary,
      memoryBytes,
      violations: budgetViolations(this.#budget, summary, memoryBytes),
    };
    this.#trials.push(trial);
    this.#byKey.set(key, trial);
    return trial;
  }

  /** Runs the job under changes that nobody should be told to make. */
  *probe(changes: Changes): Generator<Changed, { readonly summary: Summary }, Summary> {
    return { summary: yield this.#apply(changes) };
  }

  /** The least memory that keeps to the budget: a binary search over sizes that people use. */
  *memory(start: Trial): Generator<Changed, void, Summary> {
    const sizes = memoryCandidates(start.changed, this.#observed, this.#memoryKey)
      .filter((mib) => this.#fits(this.#with(start, { [this.#memoryKey]: memoryText(mib) })));
    let low = 0;
    let high = sizes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const trial = yield* this.try(this.#with(start, { [this.#memoryKey]: memoryText(sizes[middle]) }));
      if (trial.violations.length === 0) high = middle;
      else low = middle + 1;
    }
  }

  /** Other ways than more memory: another split of the same heap, another storage level, fewer tasks at a time. */
  *others(start: Trial): Generator<Changed, void, Summary> {
    yield* this.#splits(start);
    if ((start.summary.storage.blocksEvicted ?? 0) > 0 || (start.summary.storage.putsRefused ?? 0) > 0) {
      for (const storageLevel of STORAGE_LEVELS_TRIED) yield* this.try({ ...start.changes, storageLevel });
    }
    const cores = this.#workload.cluster.executors[0]?.cores ?? 1;
    if (localMaster(this.#workload.cluster.master) !== null) return;
    for (let fewer = Math.ceil(cores / 2), last = cores; fewer < last; last = fewer, fewer = Math.ceil(fewer / 2)) {
      yield* this.try(this.#with(start, { "spark.executor.cores": String(fewer) }));
    }
  }

  /** The best split of the heap as it is: between pools and user memory, between storage and execution, and both. */
  *#splits(start: Trial): Generator<Changed, void, Summary> {
    const { conf } = start.changed;
    const key = ["spark.memory.fraction", "spark.memory.storageFraction"];
    const tried: Trial[][] = [[], []];
    for (const fraction of FRACTIONS_TRIED) {
      if (Number(fraction) <= conf.getDouble(key[0])) continue;
      const changes = this.#with(start, { [key[0]]: fraction });
      if (this.#holdsHeap(changes)) tried[0].push(yield* this.try(changes));
    }
    for (const storageFraction of STORAGE_FRACTIONS_TRIED) {
      if (Number(storageFraction) === conf.getDouble(key[1])) continue;
      tried[1].push(yield* this.try(this.#with(start, { [key[1]]: storageFraction })));
    }
    const [pools, region] = tried.map((trials) =>
      trials.reduce((best, trial) => better(trial, best) ? trial : best, start)
    );
    if (pools === start || region === start) return;
    yield* this.try({ ...start.changes, conf: { ...pools.changes.conf, ...region.changes.conf } });
  }

  /** Within the budget the least memory, then the shortest time; outside of it what comes nearest. */
  best(base: Trial, start: Trial): Trial {
    const within = this.#trials.filter(({ violations }) => violations.length === 0);
    if (within.length === 0) return cost(start) < cost(base) ? start : base;
    const least = within.reduce((best, trial) => better(trial, best) ? trial : best);
    const saves = 1 - least.memoryBytes / base.memoryBytes;
    return base.violations.length === 0 && saves < WORTHWHILE_SAVING ? base : least;
  }

  /** For each recommended setting what would happen without it. */
  *reasons(base: Trial, best: Trial, why: Readonly<Record<string, string>>): Generator<Changed, Reason[], Summary> {
    const reasons: Reason[] = [];
    for (const [key, to] of Object.entries(best.changes.conf ?? {})) {
      const conf = { ...best.changes.conf };
      delete conf[key];
      const without = yield* this.try({ ...best.changes, conf });
      reasons.push({
        setting: key,
        from: base.changed.conf.get(key),
        to: to ?? "",
        why: why[key] ?? this.#why(key, base, best),
        effect: effect(without, best),
        grade: this.#grade(),
      });
    }
    const { storageLevel } = best.changes;
    if (storageLevel !== undefined) {
      const { storageLevel: _, ...changes } = best.changes;
      const without = yield* this.try(changes);
      const reason = "blocks in this form take less memory, or are read back from disk instead of computed again";
      reasons.push({
        setting: "storageLevel",
        from: null,
        to: storageLevel,
        why: reason,
        effect: effect(without, best),
        grade: this.#grade(),
      });
    }
    return reasons;
  }

  /** The best trial of each other kind of change. */
  alternatives(best: Trial): Alternative[] {
    const byKind = new Map<string, Trial>();
    for (const trial of this.#trials) {
      if (trial === best) continue;
      const kind = [
        ...Object.keys(trial.changes.conf ?? {}),
        trial.changes.storageLevel === undefined ? "" : "storageLevel",
      ].join();
      if (kind === "") continue;
      const known = byKind.get(kind);
      if (known === undefined || better(trial, known)) byKind.set(kind, trial);
    }
    return [...byKind.values()].map((trial) => ({
      settings: settingsOf(trial.changes),
      note: trial.violations.length === 0 ? "keeps to the budget" : trial.violations.join("; "),
      withinBudget: trial.violations.length === 0,
      clusterMemoryBytes: trial.memoryBytes,
      durationMs: trial.summary.durationMs,
      blocksEvicted: trial.summary.storage.blocksEvicted,
      memoryBytesSpilled: trial.summary.execution.memoryBytesSpilled,
    }));
  }

  /**
   * Whether the heap that was seen in use has room beside pools that grow: what they hold more may all be in use. True
   * where the log did not record the heap.
   */
  #holdsHeap(changes: Changes): boolean {
    const { executorPeak } = observedHeap(this.#observed);
    if (executorPeak === null) return true;
    const pools = (changed: Changed) =>
      changed.conf.getDouble("spark.memory.fraction") *
      Math.max(0, changed.conf.getSizeAsBytes(this.#memoryKey) - RESERVED_SYSTEM_MEMORY_BYTES);
    const [before, after] = [this.#apply({}), this.#apply(changes)];
    return executorPeak + Math.max(0, pools(after) - pools(before)) <= after.conf.getSizeAsBytes(this.#memoryKey);
  }

  /** Whether the cluster has room for an executor under these changes, and Spark starts it. */
  #fits(changes: Changes): boolean {
    const { workload, conf } = this.#apply(changes);
    const { executors, collector } = workload.cluster;
    if (executors.length === 0) return false;
    try {
      checkStartup(conf, { collector });
      for (const spec of executors) executorMemoryLayout(spec, workload, conf);
      return true;
    } catch (error) {
      if (error instanceof InputError) return false;
      throw error;
    }
  }

  #apply(changes: Changes): Changed {
    return applyChanges(this.#workload, { ...this.#given, ...changes, conf: { ...this.#given.conf, ...changes.conf } });
  }

  #with({ changes }: Trial, conf: Record<string, string>): Changes {
    return { ...changes, conf: { ...changes.conf, ...conf } };
  }

  #why(key: string, base: Trial, best: Trial): string {
    if (key === "spark.executor.cores") return "fewer tasks share an executor's memory, so each gets more of it";
    if (key === "spark.memory.storageFraction") {
      return "the border up to which cached blocks are safe from execution fits this job better";
    }
    if (key === "spark.memory.fraction") {
      const user = 1 - best.changed.conf.getDouble(key);
      return `the pools get what they lack from the same heap; ${
        Math.round(user * 100)
      } % of it, less the reserved 300 MiB, ` +
        `is left for the application's own objects; ${heapSentence(observedHeap(this.#observed))}`;
    }
    if (key !== this.#memoryKey) return "the job needs it";
    const heap = this.#observed === null ? "" : `; ${heapSentence(observedHeap(this.#observed))}`;
    return best.memoryBytes < base.memoryBytes
      ? `it is the least memory with which the job keeps to the budget${heap}`
      : `under its own settings the job exceeds the budget: ${base.violations.join("; ")}`;
  }

  /** The weakest grade of the figures that memory depends on. */
  #grade(): Grade {
    const grades = this.#workload.evidence
      .filter(({ field }) => /Bytes|consumers|elements/.test(field))
      .map(({ grade }) => grade);
    return grades.includes("assumed") ? "assumed" : grades.includes("inferred") ? "inferred" : "observed";
  }
}

/** How bad a run is, for comparing runs outside of the budget. */
function cost({ summary, violations }: Trial): number {
  const failed = summary.outcome.status === "succeeded" ? 0 : 1e18;
  return failed + (summary.storage.bytesEvicted ?? 0) + (summary.execution.memoryBytesSpilled ?? 0) + violations.length;
}

function better(a: Trial, b: Trial): boolean {
  if ((a.violations.length === 0) !== (b.violations.length === 0)) return a.violations.length === 0;
  if (a.violations.length > 0) return cost(a) < cost(b);
  if (a.memoryBytes !== b.memoryBytes) return a.memoryBytes < b.memoryBytes;
  return (a.summary.durationMs ?? Infinity) < (b.summary.durationMs ?? Infinity);
}

/** What a setting changes, in words. */
function effect(without: Trial, best: Trial): string {
  const { summary: before } = without;
  const { summary: after } = best;
  const parts: string[] = [];
  if (before.outcome.status !== after.outcome.status) {
    parts.push(`the application ${after.outcome.status} instead of ${before.outcome.status}`);
  }
  const evicted = [before.storage.blocksEvicted ?? 0, after.storage.blocksEvicted ?? 0];
  if (evicted[0] !== evicted[1]) {
    parts.push(`${plural(evicted[1], "block")} evicted instead of ${evicted[0].toLocaleString("en-US")}`);
  }
  const spilled = [before.execution.memoryBytesSpilled ?? 0, after.execution.memoryBytesSpilled ?? 0];
  if (spilled[0] !== spilled[1]) parts.push(`${size(spilled[1])} spilled instead of ${size(spilled[0])}`);
  if (without.memoryBytes !== best.memoryBytes) {
    parts.push(`${size(best.memoryBytes)} of memory in all instead of ${size(without.memoryBytes)}`);
  }
  if (parts.length > 0) return parts.join("; ");
  const [slower, faster] = [before.durationMs, after.durationMs];
  if (slower === null || faster === null || slower === faster) return "none by itself";
  return `it takes ${duration(faster)} instead of ${duration(slower)}`;
}
