/**
 * The recommendation: which settings the job should have, why, and what else would do.
 *
 * @module
 */
import type { Alternative, Reason, Recommendation } from "../../../src/what_if/recommend.ts";
import { dataTable } from "../charts/panel.ts";
import { fill, h } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import { submitOptions } from "./scenario.ts";

/** What the panel asks for. */
export interface AdviceActions {
  /** Makes the recommendation; `told` hears how many runs were simulated. */
  readonly run: (told: (runs: number) => void, signal: AbortSignal) => Promise<Recommendation>;
  /** Puts settings into the what-if panel. */
  readonly choose: (settings: Readonly<Record<string, string>>) => void;
}

/** The panel. */
export class AdvicePanel {
  readonly element: HTMLElement;
  readonly #actions: AdviceActions;
  readonly #result = h("div", { class: "panel-content" });
  readonly #status = h("p", { class: "small muted", role: "status", "aria-live": "polite" });
  readonly #button = h("button", { type: "button", class: "btn primary" }, "Find settings");
  #running: AbortController | null = null;

  constructor(actions: AdviceActions) {
    this.#actions = actions;
    this.#button.addEventListener("click", () => {
      if (this.#running === null) this.#run();
      else this.#running.abort();
    });
    this.element = h(
      "section",
      { class: "card panel", id: "advice", "aria-labelledby": "advice-title", tabindex: -1 },
      h("h2", { id: "advice-title" }, "Recommendation"),
      h(
        "p",
        { class: "muted" },
        "The least memory with which nothing is evicted and nothing spilled, and the limits that the results need, found " +
          "by simulating the job under one setting after another.",
      ),
      h("div", { class: "btn-row" }, this.#button),
      this.#status,
      this.#result,
    );
  }

  async #run(): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    this.#button.textContent = "Cancel";
    fill(this.#result);
    this.#status.textContent = "Simulating…";
    try {
      const told = (runs: number) => this.#status.textContent = `${formatCount(runs)} runs simulated`;
      const found = await this.#actions.run(told, running.signal);
      fill(this.#result, this.#view(found));
    } catch (error) {
      this.#status.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      this.#running = null;
      this.#button.textContent = "Find settings";
    }
  }

  #view({ recommended, gain, reasons, alternatives, violations, warnings }: Recommendation): HTMLElement {
    const settings = { ...recommended.conf, ...levelOf(recommended.storageLevel) };
    const scenario = { conf: recommended.conf, executors: null, storageLevel: recommended.storageLevel };
    const own = violations.length === 0
      ? "Under its own settings the job evicts and spills nothing."
      : `Under its own settings: ${violations.join("; ")}.`;
    return h(
      "div",
      { class: "panel-content" },
      h("p", {}, own, gain ? "" : " Of the settings that were tried none is better."),
      gain
        ? h(
          "div",
          { class: "advice-found" },
          h("pre", { class: "reason", tabindex: 0 }, submitOptions(scenario)),
          h(
            "button",
            { type: "button", class: "btn", onclick: () => this.#actions.choose(settings) },
            "Show what it changes",
          ),
        )
        : null,
      reasons.length === 0 ? null : reasonTable(reasons),
      alternatives.length === 0 ? null : this.#alternatives(alternatives),
      warnings.length === 0
        ? null
        : h("ul", { class: "evidence-warnings" }, warnings.map(({ message }) => h("li", {}, message))),
    );
  }

  #alternatives(alternatives: readonly Alternative[]): HTMLElement {
    return h(
      "div",
      { class: "panel-content" },
      h("h3", {}, "What else would do"),
      dataTable({
        caption: "Alternatives",
        columns: [
          { name: "Settings" },
          { name: "Note" },
          { name: "Memory in all", isNumber: true },
          { name: "Time", isNumber: true },
          { name: "Evictions", isNumber: true },
          { name: "Spilled", isNumber: true },
        ],
        rows: alternatives.map(
          ({ settings, note, clusterMemoryBytes, durationMs, blocksEvicted, memoryBytesSpilled }) => {
            const all = { ...settings.conf, ...levelOf(settings.storageLevel) };
            const name = Object.entries(all).map((pair) => pair.join("=")).join(", ") || "as recorded";
            return [
              h("button", { type: "button", class: "btn quiet", onclick: () => this.#actions.choose(all) }, name),
              note,
              formatBytes(clusterMemoryBytes),
              formatMs(durationMs),
              formatCount(blocksEvicted),
              formatBytes(memoryBytesSpilled),
            ];
          },
        ),
      }),
    );
  }
}

function levelOf(storageLevel: string | null): Record<string, string> {
  return storageLevel === null ? {} : { storageLevel };
}

function reasonTable(reasons: readonly Reason[]): HTMLElement {
  return dataTable({
    caption: "Reasons",
    columns: [{ name: "Setting" }, { name: "From" }, { name: "To" }, { name: "Why" }, { name: "Without it" }],
    rows: reasons.map(({ setting, from, to, why, effect, grade }) => [
      h("code", {}, setting),
      from ?? "not set",
      h("b", {}, to),
      h("span", {}, why, grade === "observed" ? null : h("span", { class: "muted" }, ` (${grade})`)),
      effect,
    ]),
  });
}
