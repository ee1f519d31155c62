/**
 * All that is shown once a log is open.
 *
 * @module
 */
import type { OpenedLog, RunView } from "../protocol.ts";
import { fill, h, icon } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import { memoryPanel, rddPanel, resultPanel, stagePanel, taskPanel } from "./run_panels.ts";
import { settingsTable } from "./settings_table.ts";
import { verdictList } from "./verdict.ts";

/** What the page can do besides showing. */
export interface RunPageActions {
  readonly openAnother: () => void;
}

/** The page of an open log. */
export class RunPage {
  readonly element = h("div", { class: "run" });
  readonly #log: OpenedLog;
  readonly #actions: RunPageActions;
  readonly #panels = h("div", { class: "run-panels" });

  constructor(log: OpenedLog, actions: RunPageActions) {
    this.#log = log;
    this.#actions = actions;
    const { observed, settings } = log;
    fill(
      this.element,
      this.#header(observed),
      this.#sections(),
      h(
        "section",
        { class: "card panel", id: "verdict", "aria-labelledby": "verdict-title", tabindex: -1 },
        h("h2", { id: "verdict-title" }, "What happened"),
        verdictList(observed.findings, null),
      ),
      this.#panels,
      h(
        "section",
        { class: "card panel", id: "settings", "aria-labelledby": "settings-title", tabindex: -1 },
        h("h2", { id: "settings-title" }, "Settings"),
        settingsTable(settings, observed.summary.app.sparkVersion),
      ),
    );
    this.#showRun(observed);
  }

  #showRun(run: RunView): void {
    fill(
      this.#panels,
      memoryPanel(run, this.#log.storageFraction),
      rddPanel(run),
      taskPanel(run),
      stagePanel(run),
      resultPanel(run),
    );
  }

  #header({ summary, charts }: RunView): HTMLElement {
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
        h(
          "button",
          { type: "button", class: "btn", onclick: this.#actions.openAnother },
          icon("upload"),
          "Open another",
        ),
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
        fact("Executors", formatCount(charts.executors.filter(({ executorId }) => executorId !== "driver").length)),
        fact("Log", formatBytes(this.#log.report.bytesRead)),
      ),
    );
  }

  #sections(): HTMLElement {
    const links = [
      ["verdict", "What happened"],
      ["memory", "Memory"],
      ["rdds", "Cached RDDs"],
      ["tasks", "Tasks"],
      ["stages", "Stages"],
      ["results", "Results"],
      ["settings", "Settings"],
    ] as const;
    return h(
      "nav",
      { class: "sections", "aria-label": "Sections" },
      links.map(([id, name]) => h("a", { href: `#${id}` }, name)),
    );
  }
}
