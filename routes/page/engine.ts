/**
 * What the worker does, in terms of the library: the one file of the page that calls readers, folds and simulations.
 * It runs in any runtime, so that tests drive it without a browser.
 *
 * @module
 */
import { readEventLog } from "../../src/event_log/read.ts";
import { EventLogWriter } from "../../src/event_log/write.ts";
import { InputError } from "../../src/errors.ts";
import { Kernel } from "../../src/kernel.ts";
import { Charts } from "../../src/report/charts.ts";
import { explain, type ExplainResult } from "../../src/report/explain.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import type { Summary } from "../../src/report/summary.ts";
import { verdictOf } from "../../src/report/verdict.ts";
import { simulate } from "../../src/simulator/simulation.ts";
import type { Workload } from "../../src/simulator/workload.ts";
import { CONF_ENTRIES } from "../../src/spark/conf_entries.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { EventSink, SparkEvent } from "../../src/spark/events.ts";
import { checkStartup } from "../../src/spark/startup.ts";
import { storageLevelName } from "../../src/spark/storage_level.ts";
import { applyChanges, type Changed, type Changes } from "../../src/what_if/apply_changes.ts";
import { compareRuns } from "../../src/what_if/compare_runs.ts";
import { WorkloadBuilder } from "../../src/workload/from_event_log.ts";
import type {
  LogFile,
  OpenedLog,
  Predicted,
  Progress,
  Recorded,
  Replayed,
  RunName,
  RunView,
  SettingRow,
  SweepAxis,
  SweepFigures,
  SweepPoint,
} from "./protocol.ts";

/** At most this often is progress told, in bytes. */
const PROGRESS_BYTES = 1 << 18;

/** Combinations of one sweep. */
const MAX_SWEEP = 400;

/** What long work is told of and tells. */
export interface WorkOptions {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

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
  readonly #kernel: Kernel;
  readonly #now: () => number;
  #run: OpenRun | null = null;

  /** @param now a clock in ms, for telling how long a simulation took */
  constructor(now: () => number) {
    this.#kernel = Kernel.create();
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
    const parts = files.map(({ name, file }) => ({ name, open: () => file.stream() }));
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
  replay(): Replayed {
    const run = this.#open();
    const fold = new RunFold("replayed", true);
    this.#simulate(run.recorded, fold, true);
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
  predict(changes: Changes, withCharts: boolean): Predicted {
    const run = this.#open();
    const started = this.#now();
    const changed = this.#change(run, changes);
    const fold = new RunFold("predicted", withCharts);
    this.#simulate(changed, fold, withCharts);
    const { summary } = fold;
    const tookMs = this.#now() - started;
    const replayed = run.replayed ?? this.replay().run.summary;
    const { observed, recorded } = run;
    return {
      changes: changed.changes,
      warnings: changed.warnings,
      summary,
      differences: compareRuns({ observed, replayed, predicted: summary, changed, recorded }),
      run: withCharts ? fold.view() : null,
      tookMs,
    };
  }

  /**
   * Every combination of some settings' values, told one by one.
   *
   * @throws {InputError} `sweep.size` for more combinations than a page computes
   */
  async sweep(base: Changes, vary: readonly SweepAxis[], options: WorkOptions): Promise<SweepPoint[]> {
    const run = this.#open();
    const total = vary.reduce((product, { values }) => product * values.length, 1);
    if (total > MAX_SWEEP) {
      throw new InputError("sweep.size", `Cannot sweep: must be at most ${MAX_SWEEP} combinations: received ${total}`, {
        parameters: { limit: MAX_SWEEP, received: total },
      });
    }
    const points: SweepPoint[] = [];
    for (const chosen of combinations(vary)) {
      // The worker hears of a cancel only between two turns.
      await new Promise((resolve) => setTimeout(resolve, 0));
      options.signal.throwIfAborted();
      const point = this.#point(run, base, chosen);
      points.push(point);
      options.onProgress({ done: points.length, total, point });
    }
    return points;
  }

  /**
   * The event log of the workload under changed settings, as Spark would have written it.
   *
   * @throws {InputError} for settings that Spark refuses
   */
  eventLog(changes: Changes): Blob {
    const lines: string[] = [];
    const writer = new EventLogWriter((line) => void lines.push(line));
    this.#simulate(this.#change(this.#open(), changes), writer, false);
    return new Blob(lines, { type: "application/x-ndjson" });
  }

  /**
   * What a pasted message means, under the settings of the open log where there is one.
   *
   * @throws {LimitError} `explain.limit`
   */
  explain(text: string): ExplainResult {
    return explain(text, this.#run === null ? {} : { conf: this.#run.conf });
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

  #simulate(changed: Changed, sink: EventSink, memoryStates: boolean): void {
    simulate(changed.workload, {
      conf: changed.conf,
      sink,
      memoryStates,
      kernel: this.#kernel,
      ...(changed.storageLevel === null ? {} : { storageLevel: changed.storageLevel }),
    });
  }

  #point(run: OpenRun, base: Changes, chosen: Readonly<Record<string, string>>): SweepPoint {
    const { executors: wantedExecutors, storageLevel: wantedLevel, ...conf } = chosen;
    const executors = wantedExecutors === undefined ? base.executors : Number(wantedExecutors);
    const storageLevel = wantedLevel ?? base.storageLevel;
    const changes: Changes = {
      conf: { ...base.conf, ...conf },
      ...(executors === undefined ? {} : { executors }),
      ...(storageLevel === undefined ? {} : { storageLevel }),
    };
    const point = { conf, executors: executors ?? null, storageLevel: storageLevel ?? null };
    try {
      const changed = this.#change(run, changes);
      const fold = new RunFold("predicted", false);
      this.#simulate(changed, fold, false);
      return { ...point, figures: figuresOf(fold.summary, changed), refusal: null };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { ...point, figures: null, refusal: error.message };
    }
  }
}

function figuresOf(summary: Summary, { conf, workload }: Changed): SweepFigures {
  const { storage, execution, outcome } = summary;
  const isLocal = /^local(?:\[|$)/.test(workload.cluster.master);
  const heap = conf.getSizeAsBytes(isLocal ? "spark.driver.memory" : "spark.executor.memory");
  const offHeap = conf.getBoolean("spark.memory.offHeap.enabled")
    ? conf.getSizeAsBytes("spark.memory.offHeap.size")
    : 0;
  return {
    succeeded: outcome.status === "succeeded",
    durationMs: summary.durationMs ?? 0,
    evictions: storage.blocksEvicted ?? 0,
    spilledBytes: execution.memoryBytesSpilled ?? 0,
    cacheMisses: storage.cacheMisses ?? 0,
    oomTasks: execution.oomTasks ?? 0,
    memoryBytes: workload.cluster.executors.length * (heap + offHeap),
  };
}

/** All combinations, the last axis fastest. */
function* combinations(vary: readonly SweepAxis[]): Generator<Record<string, string>> {
  if (vary.length === 0) {
    yield {};
    return;
  }
  const [{ key, values }, ...rest] = vary;
  for (const value of values) {
    for (const others of combinations(rest)) yield { [key]: value, ...others };
  }
}
