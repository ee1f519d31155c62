/**
 * All that is shown once a log is open.
 *
 * @module
 */
import type { SweepResult, Vary } from "../../../src/what_if/sweep.ts";
import type { OpenedLog, Predicted, Replayed, RunName, RunView, SweepAnswer } from "../protocol.ts";
import { fill, h, icon } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import { toast } from "../ui/shell.ts";
import { AdvicePanel } from "./advice_panel.ts";
import { compareTable } from "./compare_table.ts";
import { evidenceView } from "./evidence_view.ts";
import { download } from "./download.ts";
import { memoryPanel, rddPanel, resultPanel, stagePanel, taskPanel, type ViewState } from "./run_panels.ts";
import {
  changesOf,
  isChanged,
  type Link,
  linkText,
  NO_CHANGES,
  type Scenario,
  scenarioOf,
  settingsOf,
  submitOptions,
} from "./scenario.ts";
import { settingsTable } from "./settings_table.ts";
import { SweepPanel } from "./sweep_panel.ts";
import { verdictList } from "./verdict.ts";
import { WhatIfPanel } from "./what_if_panel.ts";
import { type WorkerClient, WorkerProblem } from "./worker_client.ts";

/** So long after the last change the charts follow, ms. */
const SETTLED_MS = 180;

/** A prediction that takes longer than this is given up for a newer one, ms. */
const PATIENCE_MS = 400;

const RUNS: readonly (readonly [RunName, string])[] = [
  ["observed", "Observed"],
  ["replayed", "Replayed"],
  ["predicted", "Predicted"],
];

/** What the page needs. */
export interface RunPageOptions {
  readonly log: OpenedLog;
  readonly client: WorkerClient;
  /** Id of the recorded run that is shown, or null for a user's own log. */
  readonly sampleId: string | null;
  readonly openAnother: () => void;
}

/** The page of an open log. */
export class RunPage {
  readonly element = h("div", { class: "run" });
  readonly #log: OpenedLog;
  readonly #client: WorkerClient;
  readonly #sampleId: string | null;
  readonly #panels = h("div", { class: "run-panels" });
  readonly #runSwitch = h("div", { class: "segmented", role: "group", "aria-label": "Which run the charts show" });
  readonly #compare = h("div", { class: "panel-content" });
  readonly #model = h("div", {});
  readonly #whatIf: WhatIfPanel;
  readonly #state: ViewState = { shownAsTable: new Set() };
  readonly #runs: Partial<Record<RunName, RunView>>;
  #shown: RunName = "observed";
  #scenario: Scenario = NO_CHANGES;
  #predicted: Predicted | null = null;
  #isAsking = false;
  /** The prediction that is being made, and since when. */
  #asking: { readonly control: AbortController; readonly sinceMs: number } | null = null;
  #sweep: AbortController | null = null;
  #settled: ReturnType<typeof setTimeout> | undefined;

  constructor({ log, client, sampleId, openAnother }: RunPageOptions) {
    this.#log = log;
    this.#client = client;
    this.#sampleId = sampleId;
    this.#runs = { observed: log.observed };
    this.#whatIf = new WhatIfPanel(log.recorded, {
      changed: (scenario) => this.#changed(scenario),
      copyOptions: () => this.#copy(submitOptions(this.#scenario), "Copied: the options of spark-submit."),
      copyLink: () => this.#copy(location.href, "Copied: a link with the scenario, without the log."),
      downloadLog: () => this.#downloadLog(),
      downloadReport: () => this.#downloadReport(),
    });
    const sweep = new SweepPanel(log.recorded, {
      run: (vary, told) => this.#runSweep(vary, told),
      cancel: () => this.#sweep?.abort(),
      choose: (point) => this.#choose(point),
    });
    const advice = new AdvicePanel({
      run: (told, signal) => client.ask({ kind: "recommend" }, { signal, onProgress: ({ done }) => told(done) }),
      choose: (settings) => this.#choose(settings),
    });
    this.#build([advice.element, sweep.element], openAnother);
    this.#showRun("observed");
    this.#showCompare();
    this.#replay();
  }

  /** Shows a scenario, for example that of a link. */
  apply(scenario: Scenario): void {
    this.#whatIf.set(scenario, true);
  }

  #build(searches: readonly HTMLElement[], openAnother: () => void): void {
    const { observed, settings } = this.#log;
    const section = (id: string, title: string, ...content: (HTMLElement | null)[]) =>
      h(
        "section",
        { class: "card panel", id, "aria-labelledby": `${id}-title`, tabindex: -1 },
        h("h2", { id: `${id}-title` }, title),
        content,
      );
    const verdict = section(
      "verdict",
      "What happened",
      verdictList(observed.findings, (key) => this.#tryOf(key)),
    );
    fill(
      this.element,
      this.#header(observed, openAnother),
      this.#sections(),
      h(
        "div",
        { class: "run-columns" },
        h("div", { class: "run-first" }, verdict),
        h("div", { class: "run-aside" }, this.#whatIf.element),
        h(
          "div",
          { class: "run-rest" },
          section("compare", "What would change", this.#compare),
          this.#panels,
          searches,
          section("settings", "Settings", settingsTable(settings, observed.summary.app.sparkVersion)),
          section("model", "What the model rests on", this.#model),
        ),
      ),
    );
    fill(this.#model, h("p", { class: "muted" }, "Being made from the log…"));
  }

  /** What “Try it” does for a setting, or null without a control for it. */
  #tryOf(key: string): (() => void) | null {
    const control = key === "number of executors" ? "executors" : key === "storage level" ? "storageLevel" : key;
    return this.#whatIf.has(control) ? () => this.#whatIf.focus(control) : null;
  }

  #header({ summary }: RunView, openAnother: () => void): HTMLElement {
    const { app, outcome } = summary;
    const tone = { succeeded: "good", failed: "bad", unfinished: "warn" }[outcome.status];
    const tasks = summary.stages.reduce((sum, { tasks }) => sum + tasks.succeeded + tasks.failed + tasks.killed, 0);
    const fact = (name: string, value: string) => h("div", {}, h("dt", {}, name), h("dd", {}, value));
    return h(
      "header",
      { class: "run-header" },
      h(
        "div",
        { class: "run-title" },
        h("h1", {}, app.name || "Application without a name"),
        h("span", { class: `chip ${tone}` }, outcome.status),
        h("button", { type: "button", class: "btn", onclick: openAnother }, icon("upload"), "Open another"),
      ),
      h(
        "dl",
        { class: "run-facts" },
        fact("Spark", app.sparkVersion),
        app.id === null ? null : fact("Application", app.id),
        fact("Took", formatMs(summary.durationMs)),
        fact("Jobs", formatCount(summary.jobs.length)),
        fact("Stages", formatCount(summary.stages.length)),
        fact("Tasks", formatCount(tasks)),
        fact("Executors", formatCount(this.#log.recorded.executors)),
        fact("Log", formatBytes(this.#log.report.bytesRead)),
      ),
    );
  }

  #sections(): HTMLElement {
    const links = [
      ["verdict", "What happened"],
      ["what-if", "What if"],
      ["compare", "What would change"],
      ["memory", "Memory"],
      ["rdds", "Cached RDDs"],
      ["tasks", "Tasks"],
      ["stages", "Stages"],
      ["results", "Results"],
      ["advice", "Recommendation"],
      ["sweep", "Sweep"],
      ["settings", "Settings"],
    ] as const;
    const nav = h(
      "nav",
      { class: "sections", "aria-label": "Sections" },
      links.map(([id, name]) => h("a", { href: `#${id}` }, name)),
    );
    return h("div", { class: "run-bar" }, nav, this.#runSwitch);
  }

  #showRun(name: RunName): void {
    const run = this.#runs[name];
    if (run === undefined) return;
    this.#shown = name;
    const parts = [
      memoryPanel(run, this.#state),
      rddPanel(run, this.#state),
      taskPanel(run, this.#state),
      stagePanel(run, this.#state),
      resultPanel(run, this.#state),
    ].filter((part) => part !== null);
    this.#panels.replaceChildren(...parts);
    fill(
      this.#runSwitch,
      RUNS.map(([key, label]) =>
        h("button", {
          type: "button",
          "aria-pressed": String(key === this.#shown),
          disabled: this.#runs[key] === undefined,
          onclick: () => this.#showRun(key),
        }, label)
      ),
    );
  }

  #showCompare(): void {
    const predicted = this.#predicted;
    fill(
      this.#compare,
      predicted === null
        ? h(
          "p",
          { class: "muted" },
          "Observed is what the log says. Replayed is the model under the same settings: how close it comes shows how far it can be trusted here. Predicted is the model under the settings that you change.",
        )
        : verdictList(predicted.differences, null),
      compareTable({
        observed: this.#log.observed.summary,
        replayed: this.#runs.replayed?.summary ?? null,
        predicted: predicted?.summary ?? null,
      }),
    );
  }

  async #replay(): Promise<void> {
    let replayed: Replayed;
    try {
      replayed = await this.#client.ask({ kind: "replay" });
    } catch (error) {
      this.#refused(error);
      fill(this.#model, h("p", { class: "note bad" }, error instanceof Error ? error.message : String(error)));
      return;
    }
    this.#runs.replayed = replayed.run;
    fill(this.#model, evidenceView(replayed));
    this.#whatIf.replayed(replayed);
    if (isChanged(this.#scenario)) this.#predict();
    this.#showCompare();
    this.#showRun(this.#shown);
  }

  #changed(scenario: Scenario): void {
    this.#scenario = scenario;
    history.replaceState(null, "", `#${linkText(this.link)}`);
    clearTimeout(this.#settled);
    if (!isChanged(scenario)) return this.#backToRecorded();
    if (this.#runs.replayed === undefined) return;
    const { control, sinceMs } = this.#asking ?? {};
    if (sinceMs !== undefined && performance.now() - sinceMs > PATIENCE_MS) control?.abort();
    this.#predict();
  }

  /** What the address says of this page. */
  get link(): Link {
    return { run: this.#sampleId, app: this.#log.observed.summary.app.id, scenario: this.#scenario };
  }

  #backToRecorded(): void {
    this.#predicted = null;
    delete this.#runs.predicted;
    const { replayed } = this.#runs;
    if (replayed !== undefined) this.#whatIf.replayed({ run: replayed });
    this.#showCompare();
    this.#showRun(this.#shown === "predicted" ? "observed" : this.#shown);
  }

  /** Predicts without charts while settings move, one question at a time, then with charts once they rest. */
  async #predict(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    let asked: Scenario;
    do {
      asked = this.#scenario;
      await this.#askPrediction(asked, false);
    } while (asked !== this.#scenario && isChanged(this.#scenario));
    this.#isAsking = false;
    clearTimeout(this.#settled);
    this.#settled = setTimeout(() => this.#askPrediction(this.#scenario, true), SETTLED_MS);
  }

  async #askPrediction(scenario: Scenario, charts: boolean): Promise<void> {
    if (!isChanged(scenario)) return;
    const control = new AbortController();
    this.#asking = { control, sinceMs: performance.now() };
    try {
      const predicted = await this.#client.ask({ kind: "predict", changes: changesOf(scenario), charts }, {
        signal: control.signal,
      });
      if (scenario !== this.#scenario) return;
      this.#predicted = predicted;
      this.#whatIf.predicted(predicted);
      this.#showCompare();
      if (predicted.run === null) return;
      this.#runs.predicted = predicted.run;
      this.#showRun("predicted");
    } catch (error) {
      if (scenario === this.#scenario && !control.signal.aborted) this.#refused(error);
    } finally {
      this.#asking = null;
    }
  }

  #refused(error: unknown): void {
    if (!(error instanceof WorkerProblem)) throw error;
    this.#whatIf.refused(error.message);
    this.#predicted = null;
    delete this.#runs.predicted;
    if (this.#shown === "predicted") this.#showRun("observed");
    this.#showCompare();
  }

  #runSweep(vary: Vary, told: (result: SweepResult) => void): Promise<SweepAnswer> {
    this.#sweep = new AbortController();
    return this.#client.ask({ kind: "sweep", base: settingsOf(this.#scenario), vary }, {
      signal: this.#sweep.signal,
      onProgress: ({ result }) => {
        if (result !== undefined) told(result);
      },
    });
  }

  #choose(settings: SweepResult["settings"]): void {
    this.apply(scenarioOf(settings));
    toast("These settings are in the what-if panel.");
  }

  async #copy(text: string, said: string): Promise<void> {
    if (text === "") {
      toast("Nothing is changed yet.");
      return;
    }
    try {
      await navigator.clipboard.writeText(text);
      toast(said);
    } catch {
      // No clipboard without https or permission: the text is shown to be copied by hand.
      prompt("Copy:", text);
    }
  }

  async #downloadLog(): Promise<void> {
    try {
      const log = await this.#client.ask({ kind: "eventLog", changes: changesOf(this.#scenario) });
      download(log, `${this.#log.observed.summary.app.id ?? "application"}-simulated`);
    } catch (error) {
      if (!(error instanceof WorkerProblem)) throw error;
      toast(error.message);
    }
  }

  async #downloadReport(): Promise<void> {
    const { reportFile } = await import("./report_file.ts");
    const report = await reportFile({
      runs: this.#runs,
      shown: this.#shown,
      scenario: this.#scenario,
      predicted: this.#predicted,
      settings: this.#log.settings,
    });
    download(report, `${this.#log.observed.summary.app.id ?? "application"}.html`);
  }
}
