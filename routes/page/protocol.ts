/**
 * What the page and its worker say to each other. Everything is plain data (structured clone).
 *
 * @module
 */
import type { ReadReport } from "../../src/event_log/read.ts";
import type { ExplainResult } from "../../src/report/explain.ts";
import type { ChartData } from "../../src/report/charts.ts";
import type { Summary } from "../../src/report/summary.ts";
import type { Finding } from "../../src/report/verdict.ts";

/** Which of the three runs: the log's own, the model under its settings, the model under changed settings. */
export type RunName = "observed" | "replayed" | "predicted";

/** What is shown of a run. */
export interface RunView {
  readonly name: RunName;
  readonly summary: Summary;
  readonly findings: readonly Finding[];
  readonly charts: ChartData;
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

/** What opening a log gives. */
export interface OpenedLog {
  readonly observed: RunView;
  readonly settings: readonly SettingRow[];
  /** spark.memory.storageFraction of the run: the region's share. */
  readonly storageFraction: number;
  /** All in one Java virtual machine: the driver's memory counts. */
  readonly isLocal: boolean;
  readonly report: ReadReport;
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
  /** Under the settings of the open log, where there is one. */
  | { readonly kind: "explain"; readonly text: string };

/** How far reading is. */
export interface Progress {
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly events: number;
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
  explain: ExplainResult;
}
