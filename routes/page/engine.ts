/**
 * What the worker does, in terms of the library: the one file of the page that calls readers, folds and simulations.
 * It runs in any runtime, so that tests drive it without a browser.
 *
 * @module
 */
import { readEventLog } from "../../src/event_log/read.ts";
import { EventLogWriter } from "../../src/event_log/write.ts";
import { InputError } from "../../src/errors.ts";
import { Charts } from "../../src/report/charts.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import { verdictOf } from "../../src/report/verdict.ts";
import { Simulation } from "../../src/simulator/simulate.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { CONF_ENTRIES } from "../../src/spark/conf_entries.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { EventSink, SparkEvent } from "../../src/spark/events.ts";
import { checkStartup } from "../../src/spark/startup.ts";
import { storageLevelName } from "../../src/spark/storage_level.ts";
import { applyChanges, type Changed, type Changes } from "../../src/what_if/apply_changes.ts";
import type { Steps } from "../../src/what_if/steps.ts";
import { comparedRunSteps, type VersionEffects, versionEffectSteps } from "../../src/what_if/version_effects.ts";
import { compareRuns } from "../../src/what_if/compare_runs.ts";
import { type Recommendation, recommendation } from "../../src/what_if/recommend.ts";
import {
  gridScenarios,
  gridSize,
  paretoOf,
  refusedResult,
  scenarioRun,
  type SweepResult,
  sweepResult,
  type Vary,
} from "../../src/what_if/sweep.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import type {
  LogFile,
  OpenedLog,
  Predicted,
  Recorded,
  Replayed,
  RunName,
  RunView,
  SettingRow,
  SweepAnswer,
} from "./protocol.ts";
import type { WorkOptions } from "./worker_loop.ts";

/** At most this often is progress told, in bytes. */
const PROGRESS_BYTES = 1 << 18;

/** Combinations of one sweep. */
const MAX_SWEEP = 400;

/** Events that are simulated before the clock is looked at. */
const STEP_EVENTS = 20_000;

/** So long the worker computes before it listens for a cancel, ms. */
const TURN_MS = 40;

/** Everything that is made of one run's events, in one pass. */
class RunFold implements EventSink {
  readonly #name: RunName;
  readonly #summarizer: Summarizer;
  readonly #charts: Charts | null;

  constructor(name: RunName, withCharts: boolean) {
    this.#name = name;
    this.#summarizer = new Summarizer({ source: name === "observed" ? "observed" : "simulated" });
    this.#charts = withCharts ? new Charts() : null;
  }

  event(event: SparkEvent): void {
    this.#summarizer.event(event);
    this.#charts?.event(event);
  }

  get conf(): SparkConf {
    return this.#summarizer.facts().conf;
  }

  get isLocal(): boolean {
    return this.#summarizer.facts().local;
  }

  get summary(): Summary {
    return this.#summarizer.summary();
  }

  view(): RunView {
    const { summary } = this;
    return {
      name: this.#name,
      summary,
      findings: verdictOf(summary, this.#summarizer.facts()),
      charts: (this.#charts ?? new Charts()).finish(),
      storageFraction: this.conf.getDouble("spark.memory.storageFraction"),
    };
  }
}

/** The settings of a run: all that were set, and the defaults of what its version reads. */
export function settingRows(conf: SparkConf): SettingRow[] {
  const set = conf.toJSON();
  const defaults = SparkConf.from({}, conf.sparkVersion);
  const known = [...CONF_ENTRIES.keys()].filter((key) => conf.reads(key));
  return [...new Set([...Object.keys(set), ...known])].sort().map((key) => {
    const value = CONF_ENTRIES.has(key) ? conf.get(key) : set[key] ?? null;
    const defaultValue = CONF_ENTRIES.has(key) ? defaults.get(key) : null;
    const source = key in set || conf.contains(key) ? "set" : "default";
    return { key, value, source, defaultValue: defaultValue === value ? null : defaultValue };
  });
}

/** What the sliders start from. */
function recordedOf(workload: Workload, conf: SparkConf, isLocal: boolean): Recorded {
  const levels = new Set(
    workload.rdds.flatMap(({ storageLevel }) => storageLevel === null ? [] : [storageLevelName(storageLevel)]),
  );
  return {
    isLocal,
    heapBytes: conf.getSizeAsBytes(isLocal ? "spark.driver.memory" : "spark.executor.memory"),
    memoryFraction: conf.getDouble("spark.memory.fraction"),
    storageFraction: conf.getDouble("spark.memory.storageFraction"),
    executors: workload.cluster.executors.length,
    cores: Math.max(1, ...workload.cluster.executors.map(({ cores }) => cores)),
    offHeapBytes: conf.getBoolean("spark.memory.offHeap.enabled")
      ? conf.getSizeAsBytes("spark.memory.offHeap.size")
      : 0,
    hasCachedRdds: levels.size > 0,
    sparkVersion: conf.sparkVersion,
    storageLevel: levels.size === 1 ? [...levels][0] : null,
  };
}

interface OpenRun {
  readonly workload: Workload;
  readonly conf: SparkConf;
  readonly observed: Summary;
  readonly recorded: Changed;
  replayed: Summary | null;
}

/** The work on one log; a page has one at a time. */
export class PageEngine {
  readonly #now: () => number;
  #run: OpenRun | null = null;
  #turnBegan = 0;

  /** @param now a clock in ms, for telling how long a simulation took and for giving others a turn */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Reads a log and gives what is shown of it.
   *
   * @throws {InputError} as readEventLog does
   */
  async open(files: readonly LogFile[], options: WorkOptions): Promise<OpenedLog> {
    const fold = new RunFold("observed", true);
    const builder = new WorkloadBuilder();
    const sink = {
      event(event: SparkEvent): void {
        fold.event(event);
        builder.event(event);
      },
    };
    const total = files.reduce((sum, { file }) => sum + file.size, 0);
    const parts = files.map(({ name, file }) => ({ name, open: () => file.stream().pipeThrough(this.#paced()) }));
    let told = -PROGRESS_BYTES;
    const report = await readEventLog(parts, sink, {
      signal: options.signal,
      onProgress: ({ bytesRead, lines }) => {
        if (bytesRead - told < PROGRESS_BYTES) return;
        told = bytesRead;
        options.onProgress({ done: bytesRead, total, events: lines });
      },
    });
    const { conf, isLocal } = fold;
    const observed = fold.view();
    const workload = builder.workload();
    this.#run = {
      workload,
      conf,
      observed: observed.summary,
      recorded: applyChanges(workload, {}),
      replayed: null,
    };
    return { observed, settings: settingRows(conf), recorded: recordedOf(workload, conf, isLocal), report };
  }

  /**
   * The open log's workload under its own settings.
   *
   * @throws {InputError} when it cannot be simulated
   */
  async replay(options: WorkOptions): Promise<Replayed> {
    const run = this.#open();
    const fold = new RunFold("replayed", true);
    await this.#simulate(run.recorded, fold, { memoryStates: true, signal: options.signal });
    const view = fold.view();
    run.replayed = view.summary;
    return {
      run: view,
      evidence: run.workload.evidence,
      warnings: [...run.workload.warnings, ...run.recorded.warnings],
    };
  }

  /**
   * The open log's workload under changed settings.
   *
   * @throws {InputError} for settings that Spark refuses, with its message
   */
  async predict(changes: Changes, withCharts: boolean, options: WorkOptions): Promise<Predicted> {
    const run = this.#open();
    const started = this.#now();
    const changed = this.#change(run, changes);
    const fold = new RunFold("predicted", withCharts);
    await this.#simulate(changed, fold, { memoryStates: withCharts, signal: options.signal });
    const { summary } = fold;
    const tookMs = this.#now() - started;
    const replayed = run.replayed ?? (await this.replay(options)).run.summary;
    const { observed, recorded } = run;
    // Rule by rule takes many runs: only once the user has settled on something.
    const versionEffects = withCharts ? await this.#versionEffects(run, changes, options) : null;
    return {
      changes: changed.changes,
      warnings: changed.warnings,
      summary,
      differences: compareRuns({ observed, replayed, predicted: summary, changed, recorded, versionEffects }),
      run: withCharts ? fold.view() : null,
      tookMs,
    };
  }

  /** What another version's rules do, one by one; null without another version. */
  async #versionEffects(run: OpenRun, changes: Changes, { signal }: WorkOptions): Promise<VersionEffects | null> {
    const { sparkVersion } = changes;
    if (sparkVersion === undefined || sparkVersion === run.workload.sparkVersion) return null;
    const options = { stepEvents: STEP_EVENTS };
    const compared = await this.#stepped(comparedRunSteps(this.#change(run, changes), options), signal);
    return await this.#stepped(versionEffectSteps(run.workload, changes, compared, options), signal);
  }

  async #stepped<T>(steps: Steps<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      const { value, done } = steps.next();
      if (done) return value;
      await this.#turn(signal);
    }
  }

  /**
   * Every combination of some settings' values, told one by one.
   *
   * @param base settings that every combination has, by the names of a sweep
   * @throws {InputError} `sweep.vary`; `limit.scenarios` for more combinations than a page computes
   */
  async sweep(base: SweepResult["settings"], vary: Vary, options: WorkOptions): Promise<SweepAnswer> {
    const { workload } = this.#open();
    const total = gridSize(vary, MAX_SWEEP);
    const results: SweepResult[] = [];
    for (const { id, settings } of gridScenarios(vary)) {
      const scenario = { id, settings: { ...base, ...settings } };
      let result: SweepResult;
      try {
        const changed = scenarioRun(workload, scenario);
        const fold = new RunFold("predicted", false);
        await this.#simulate(changed, fold, { memoryStates: false, signal: options.signal });
        result = sweepResult(scenario, changed, fold.summary);
      } catch (error) {
        if (options.signal.aborted) throw error;
        result = refusedResult(scenario, error);
      }
      results.push(result);
      options.onProgress({ done: results.length, total, result });
      await this.#turn(options.signal);
    }
    return { results, pareto: paretoOf(results) };
  }

  /**
   * What the open log's job should be given.
   *
   * @throws {InputError} when it cannot be simulated
   */
  async recommend(options: WorkOptions): Promise<Recommendation> {
    const { workload, observed } = this.#open();
    const steps = recommendation(workload, { observed });
    let step = steps.next();
    for (let done = 1; !step.done; done++) {
      const fold = new RunFold("predicted", false);
      await this.#simulate(step.value, fold, { memoryStates: false, signal: options.signal });
      options.onProgress({ done, total: 0 });
      step = steps.next(fold.summary);
    }
    return step.value;
  }

  /**
   * The event log of the workload under changed settings, as Spark would have written it.
   *
   * @throws {InputError} for settings that Spark refuses
   */
  async eventLog(changes: Changes, options: WorkOptions): Promise<Blob> {
    const lines: string[] = [];
    const writer = new EventLogWriter((line) => void lines.push(line));
    const changed = this.#change(this.#open(), changes);
    await this.#simulate(changed, writer, { memoryStates: false, signal: options.signal });
    return new Blob(lines, { type: "application/x-ndjson" });
  }

  #open(): OpenRun {
    if (this.#run === null) throw new InputError("page.no_log", "Cannot simulate: a log must be open", {});
    return this.#run;
  }

  #change(run: OpenRun, changes: Changes): Changed {
    const changed = applyChanges(run.workload, changes);
    if (changed.changes.length > 0) checkStartup(changed.conf, { collector: run.workload.cluster.collector });
    return changed;
  }

  async #simulate(
    { workload, conf, storageLevel }: Changed,
    sink: EventSink,
    options: { readonly memoryStates: boolean; readonly signal: AbortSignal },
  ): Promise<void> {
    const simulation = new Simulation(workload, {
      conf,
      sink,
      memoryStates: options.memoryStates,
      ...(storageLevel === null ? {} : { storageLevel }),
    });
    while (!simulation.run(STEP_EVENTS)) await this.#turn(options.signal);
  }

  /** Passes chunks on, now and then letting the worker hear what it is told: the reader itself looks at the signal. */
  #paced(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
    return new TransformStream({
      transform: async (chunk, controller) => {
        await this.#pause();
        controller.enqueue(chunk);
      },
    });
  }

  /** Now and then lets the worker hear what it is told. */
  async #pause(): Promise<void> {
    if (this.#now() - this.#turnBegan < TURN_MS) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.#turnBegan = this.#now();
  }

  /** As `#pause`, and stops when what was heard is a cancel. */
  async #turn(signal: AbortSignal): Promise<void> {
    await this.#pause();
    signal.throwIfAborted();
  }
}
