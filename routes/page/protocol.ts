/**
 * What the page and its worker say to each other. Everything is plain data (structured clone).
 *
 * @module
 */
import type { ReadReport } from "../../src/event_log/read.ts";
import type { ChartData } from "../../src/report/charts.ts";
import type { ExplainResult } from "../../src/report/explain.ts";
import type { Summary } from "../../src/report/summary.ts";
import type { Finding } from "../../src/report/verdict.ts";
import type { Evidence } from "../../src/simulator/workload.ts";
import type { Change, Changes, ChangeWarning } from "../../src/what_if/apply_changes.ts";
import type { Recommendation } from "../../src/what_if/recommend.ts";
import type { SweepResult, Vary } from "../../src/what_if/sweep.ts";

/** Which of the three runs: the log's own, the model under its settings, the model under changed settings. */
export type RunName = "observed" | "replayed" | "predicted";

/** What is shown of a run. */
export interface RunView {
  readonly name: RunName;
  readonly summary: Summary;
  readonly findings: readonly Finding[];
  readonly charts: ChartData;
  /** spark.memory.storageFraction of the run: the region's share. */
  readonly storageFraction: number;
}

/** One setting of the run. */
export interface SettingRow {
  readonly key: string;
  /** null: not set and without a default. */
  readonly value: string | null;
  readonly source: "set" | "default";
  /** The version's default, where it differs from the value. */
  readonly defaultValue: string | null;
}

/** What the sliders start from. */
export interface Recorded {
  /** All in one Java virtual machine: the driver's memory counts. */
  readonly isLocal: boolean;
  /** Bytes of spark.executor.memory, in local mode of spark.driver.memory. */
  readonly heapBytes: number;
  readonly memoryFraction: number;
  readonly storageFraction: number;
  readonly executors: number;
  readonly cores: number;
  readonly offHeapBytes: number;
  readonly hasCachedRdds: boolean;
  /** Spark's name of the cached RDDs' level; null when there are several. */
  readonly storageLevel: string | null;
  /** Of the log. */
  readonly sparkVersion: string;
}

/** What opening a log gives. */
export interface OpenedLog {
  readonly observed: RunView;
  readonly settings: readonly SettingRow[];
  readonly recorded: Recorded;
  readonly report: ReadReport;
}

/** The model under the log's own settings. */
export interface Replayed {
  readonly run: RunView;
  /** Where the workload's figures come from. */
  readonly evidence: readonly Evidence[];
  readonly warnings: readonly ChangeWarning[];
}

/** The model under changed settings. */
export interface Predicted {
  readonly changes: readonly Change[];
  readonly warnings: readonly ChangeWarning[];
  readonly summary: Summary;
  /** What differs from the replayed run, in sentences. */
  readonly differences: readonly Finding[];
  /** null when charts were not asked for. */
  readonly run: RunView | null;
  /** How long it took to simulate, ms. */
  readonly tookMs: number;
}

/** A file of a log, as the browser hands it over. */
export interface LogFile {
  /** Path within what was dropped. */
  readonly name: string;
  readonly file: Blob;
}

/** What the page asks; each with a number that the answers carry. */
export type Question =
  | { readonly kind: "open"; readonly files: readonly LogFile[] }
  | { readonly kind: "replay" }
  | { readonly kind: "predict"; readonly changes: Changes; readonly charts: boolean }
  /** The base is what every combination has beside the varied settings. */
  | { readonly kind: "sweep"; readonly base: SweepResult["settings"]; readonly vary: Vary }
  | { readonly kind: "recommend" }
  | { readonly kind: "eventLog"; readonly changes: Changes }
  | { readonly kind: "explain"; readonly text: string; readonly settings: RunSettings | null };

/** The settings of the open log. */
export interface RunSettings {
  readonly conf: Readonly<Record<string, string>>;
  readonly sparkVersion: string;
}

/** What a sweep gives. */
export interface SweepAnswer {
  readonly results: readonly SweepResult[];
  /** Ids of the results than which none is better in both memory and time, by memory. */
  readonly pareto: readonly string[];
}

/** How far the work is. */
export interface Progress {
  readonly done: number;
  /** 0: not known. */
  readonly total: number;
  /** Events read. */
  readonly events?: number;
  /** The sweep's latest result. */
  readonly result?: SweepResult;
}

/** An error as data. */
export interface Problem {
  readonly code: string;
  readonly message: string;
}

/** From the page to the worker. */
export type ToWorker =
  | { readonly id: number; readonly question: Question }
  | { readonly id: number; readonly cancel: true };

/** From the worker to the page. */
export type FromWorker =
  | { readonly id: number; readonly progress: Progress }
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly problem: Problem };

/** What each question is answered with. */
export interface Answers {
  open: OpenedLog;
  replay: Replayed;
  predict: Predicted;
  sweep: SweepAnswer;
  recommend: Recommendation;
  /** The simulated run's event log. */
  eventLog: Blob;
  explain: ExplainResult;
}
