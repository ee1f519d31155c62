/**
 * What the worker does, in terms of the library: the one file of the page that calls readers, folds and simulations.
 * It runs in any runtime, so that tests drive it without a browser.
 *
 * @module
 */
import { readEventLog } from "../../src/event_log/read.ts";
import { Charts } from "../../src/report/charts.ts";
import { explain, type ExplainResult } from "../../src/report/explain.ts";
import { Summarizer } from "../../src/report/summarize.ts";
import { verdictOf } from "../../src/report/verdict.ts";
import { CONF_ENTRIES } from "../../src/spark/conf_entries.ts";
import type { SparkConf } from "../../src/spark/conf.ts";
import { SparkConf as Conf } from "../../src/spark/conf.ts";
import type { EventSink, SparkEvent } from "../../src/spark/events.ts";
import type { LogFile, OpenedLog, Progress, RunName, RunView, SettingRow } from "./protocol.ts";

/** At most this often is progress told, in bytes. */
const PROGRESS_BYTES = 1 << 18;

/** Everything that is made of one run's events, in one pass. */
class RunFold implements EventSink {
  readonly #name: RunName;
  readonly #summarizer: Summarizer;
  readonly #charts = new Charts();

  constructor(name: RunName) {
    this.#name = name;
    this.#summarizer = new Summarizer({ source: name === "observed" ? "observed" : "simulated" });
  }

  event(event: SparkEvent): void {
    this.#summarizer.event(event);
    this.#charts.event(event);
  }

  get conf(): SparkConf {
    return this.#summarizer.facts().conf;
  }

  get isLocal(): boolean {
    return this.#summarizer.facts().local;
  }

  view(): RunView {
    const summary = this.#summarizer.summary();
    return {
      name: this.#name,
      summary,
      findings: verdictOf(summary, this.#summarizer.facts()),
      charts: this.#charts.finish(),
    };
  }
}

/** The settings of a run: all that were set, and the defaults of what its version reads. */
export function settingRows(conf: SparkConf): SettingRow[] {
  const set = conf.toJSON();
  const defaults = Conf.from({}, conf.sparkVersion);
  const known = [...CONF_ENTRIES.keys()].filter((key) => conf.reads(key));
  return [...new Set([...Object.keys(set), ...known])].sort().map((key) => {
    const value = CONF_ENTRIES.has(key) ? conf.get(key) : set[key] ?? null;
    const defaultValue = CONF_ENTRIES.has(key) ? defaults.get(key) : null;
    const source = key in set || conf.contains(key) ? "set" : "default";
    return { key, value, source, defaultValue: defaultValue === value ? null : defaultValue };
  });
}

/** The work on one log; a page has one at a time. */
export class PageEngine {
  /** Settings of the open log. */
  #conf: SparkConf | null = null;

  /**
   * Reads a log and gives what is shown of it.
   *
   * @throws {InputError} as readEventLog does
   */
  async open(
    files: readonly LogFile[],
    options: { onProgress: (progress: Progress) => void; signal: AbortSignal },
  ): Promise<OpenedLog> {
    const fold = new RunFold("observed");
    const bytesTotal = files.reduce((sum, { file }) => sum + file.size, 0);
    const parts = files.map(({ name, file }) => ({ name, open: () => file.stream() }));
    let told = -PROGRESS_BYTES;
    const report = await readEventLog(parts, fold, {
      signal: options.signal,
      onProgress: ({ bytesRead, lines }) => {
        if (bytesRead - told < PROGRESS_BYTES) return;
        told = bytesRead;
        options.onProgress({ bytesRead, bytesTotal, events: lines });
      },
    });
    const { conf } = fold;
    this.#conf = conf;
    return {
      observed: fold.view(),
      settings: settingRows(conf),
      storageFraction: conf.getDouble("spark.memory.storageFraction"),
      isLocal: fold.isLocal,
      report,
    };
  }

  /**
   * What a pasted message means, under the settings of the open log where there is one.
   *
   * @throws {LimitError} `explain.limit`
   */
  explain(text: string): ExplainResult {
    return explain(text, this.#conf === null ? {} : { conf: this.#conf });
  }
}
