/**
 * The what-if panel: sliders and fields for the settings, and what they make of the run.
 *
 * @module
 */
import type { Summary } from "../../../src/report/summary.ts";
import { STORAGE_LEVELS } from "../../../src/spark/storage_level.ts";
import { byteFromString } from "../../../src/spark/sizes.ts";
import { KNOWN_LINES } from "../../../src/spark/spark_version.ts";
import type { Predicted, Recorded, Replayed } from "../protocol.ts";
import { fill, h, icon } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import { isChanged, NO_CHANGES, type Scenario } from "./scenario.ts";
import { choiceControl, type Control, sliderControl } from "./setting_control.ts";
import { countSteps, fractionSteps, heapSteps, offHeapSteps, sizeText } from "./steps.ts";

/** What the panel asks for. */
export interface WhatIfActions {
  readonly changed: (scenario: Scenario) => void;
  readonly copyOptions: () => void;
  readonly copyLink: () => void;
  readonly downloadLog: () => void;
  readonly downloadReport: () => void;
}

/** A figure that the tiles show: name, value as text, a number that is better when smaller. */
const TILES: readonly (readonly [name: string, text: (s: Summary) => string, weight: (s: Summary) => number | null])[] =
  [
    ["Outcome", ({ outcome }) => outcome.status, ({ outcome }) => outcome.status === "succeeded" ? 0 : 1],
    ["Time", ({ durationMs }) => formatMs(durationMs), ({ durationMs }) => durationMs],
    ["Evictions", ({ storage }) => formatCount(storage.blocksEvicted), ({ storage }) => storage.blocksEvicted],
    [
      "Spilled",
      ({ execution }) => formatBytes(execution.memoryBytesSpilled),
      ({ execution }) => execution.memoryBytesSpilled,
    ],
    [
      "Computed again or first",
      ({ storage }) => formatCount(storage.cacheMisses),
      ({ storage }) => storage.cacheMisses,
    ],
    ["Out of memory", ({ execution }) => formatCount(execution.oomTasks), ({ execution }) => execution.oomTasks],
  ];

/** The versions that can be simulated: from 1.6 on storage and execution share their memory, the newest first. */
const UNIFIED_MEMORY_LINES = KNOWN_LINES.slice(KNOWN_LINES.indexOf("1.6")).toReversed();

/** A size as Spark reads it, in bytes; null when Spark would refuse it. Without a unit it is MiB, as for a JVM's heap. */
function parseSize(text: string): number | null {
  const written = text.trim();
  try {
    return byteFromString(/^\d+$/.test(written) ? `${written}m` : written, "BYTE");
  } catch {
    return null;
  }
}

function parseFraction(text: string): number | null {
  const value = Number(text);
  return text.trim() !== "" && value >= 0 && value <= 1 ? value : null;
}

function parseCount(text: string): number | null {
  const value = Number(text);
  return Number.isInteger(value) && value > 0 && value <= 10_000 ? value : null;
}

/** The panel. */
export class WhatIfPanel {
  readonly element: HTMLElement;
  readonly #recorded: Recorded;
  readonly #actions: WhatIfActions;
  readonly #controls = new Map<string, Control>();
  readonly #tiles = h("dl", { class: "tiles" });
  readonly #status = h("p", { class: "small what-if-status", role: "status", "aria-live": "polite" });
  readonly #others = h("div", { class: "other-settings" });
  readonly #buttons: HTMLElement;
  #replayed: Summary | null = null;
  #scenario: Scenario = NO_CHANGES;

  constructor(recorded: Recorded, actions: WhatIfActions) {
    this.#recorded = recorded;
    this.#actions = actions;
    this.#buttons = this.#makeButtons();
    this.element = h(
      "aside",
      { class: "what-if card", id: "what-if", "aria-labelledby": "what-if-title", tabindex: -1 },
      h(
        "div",
        { class: "panel-head" },
        h("h2", { id: "what-if-title" }, "What if"),
        h(
          "div",
          { class: "panel-controls" },
          h("button", { type: "button", class: "btn quiet", onclick: () => this.set(NO_CHANGES, true) }, "As recorded"),
        ),
      ),
      this.#tiles,
      this.#status,
      h("div", { class: "setting-list" }, this.#makeControls()),
      h("details", {}, h("summary", {}, "Other settings"), this.#others),
      this.#buttons,
    );
    this.#listOthers();
    fill(this.#status, "Simulating the run as it was recorded…");
  }

  /** Whether a setting has a control here. */
  has(key: string): boolean {
    return this.#controls.has(key);
  }

  /** Moves the focus to a setting's control. */
  focus(key: string): void {
    this.element.scrollIntoView({ block: "nearest" });
    this.#controls.get(key)?.focus();
  }

  /** Shows a scenario, and tells of it when asked. */
  set(scenario: Scenario, tell: boolean): void {
    this.#scenario = scenario;
    const { conf } = scenario;
    for (const [key, control] of this.#controls) {
      if (key === "executors") control.set(scenario.executors === null ? null : String(scenario.executors));
      else if (key === "storageLevel") control.set(scenario.storageLevel);
      else if (key === "sparkVersion") control.set(scenario.sparkVersion ?? null);
      else control.set(conf[key] ?? null);
    }
    this.#listOthers();
    if (tell) this.#actions.changed(scenario);
  }

  /** The model's run under the recorded settings is there; it is shown unless something is changed already. */
  replayed({ run }: Pick<Replayed, "run">): void {
    this.#replayed = run.summary;
    if (isChanged(this.#scenario)) return;
    this.#showTiles(run.summary, false);
    fill(this.#status, "As recorded, replayed by the model. Move a slider.");
  }

  /** The model's run under changed settings is there. */
  predicted({ summary, warnings, tookMs }: Predicted): void {
    this.#showTiles(summary, true);
    fill(
      this.#status,
      `Simulated in ${Math.max(1, Math.round(tookMs))} ms.`,
      warnings.map(({ message }) => h("span", { class: "what-if-warning" }, ` ${message}.`)),
    );
  }

  /** What was asked is refused, or could not be simulated. */
  refused(message: string): void {
    fill(this.#tiles);
    fill(this.#status, h("span", { class: "note bad" }, message));
  }

  #update(change: Partial<Scenario>): void {
    this.#scenario = { ...this.#scenario, ...change };
    this.#actions.changed(this.#scenario);
  }

  #updateConf(settings: Readonly<Record<string, string | null>>): void {
    const conf = { ...this.#scenario.conf };
    for (const [key, value] of Object.entries(settings)) {
      if (value === null) delete conf[key];
      else conf[key] = value;
    }
    this.#update({ conf });
  }

  #makeControls(): HTMLElement[] {
    const { isLocal, heapBytes, memoryFraction, storageFraction, executors, cores, offHeapBytes } = this.#recorded;
    const memoryKey = isLocal ? "spark.driver.memory" : "spark.executor.memory";
    const add = (key: string, control: Control) => {
      this.#controls.set(key, control);
      return control.element;
    };
    const size = { format: sizeText, parse: parseSize };
    const fraction = { format: String, parse: parseFraction };
    const controls = [
      add(
        memoryKey,
        sliderControl({
          id: "set-memory",
          label: isLocal ? "Memory of the driver" : "Memory of an executor",
          property: memoryKey,
          steps: heapSteps(heapBytes),
          recorded: heapBytes,
          ...size,
          changed: this.#setter(memoryKey, sizeText),
        }),
      ),
      add(
        "spark.memory.fraction",
        sliderControl({
          id: "set-fraction",
          label: "Share for execution and storage",
          property: "spark.memory.fraction",
          steps: fractionSteps(0.1, 0.95, memoryFraction),
          recorded: memoryFraction,
          ...fraction,
          changed: this.#setter("spark.memory.fraction", String),
        }),
      ),
      add(
        "spark.memory.storageFraction",
        sliderControl({
          id: "set-storage-fraction",
          label: "Storage region",
          property: "spark.memory.storageFraction",
          steps: fractionSteps(0, 0.95, storageFraction),
          recorded: storageFraction,
          ...fraction,
          changed: this.#setter("spark.memory.storageFraction", String),
        }),
      ),
    ];
    if (!isLocal) {
      controls.push(
        add("executors", this.#executorsControl(executors)),
        add("spark.executor.cores", this.#coresControl(cores)),
      );
    }
    controls.push(add("spark.memory.offHeap.size", this.#offHeapControl(offHeapBytes)));
    if (this.#recorded.hasCachedRdds) controls.push(add("storageLevel", this.#levelControl()));
    controls.push(add("sparkVersion", this.#versionControl()));
    return controls;
  }

  /** What a control of a property does with its value; null: as recorded. */
  #setter(key: string, write: (value: number) => string): (value: number | null) => void {
    return (value) => this.#updateConf({ [key]: value === null ? null : write(value) });
  }

  #executorsControl(recorded: number): Control {
    return sliderControl({
      id: "set-executors",
      label: "Executors",
      property: "number of executors",
      steps: countSteps(recorded, 8),
      recorded,
      format: String,
      parse: parseCount,
      changed: (value) => this.#update({ executors: value }),
    });
  }

  #coresControl(recorded: number): Control {
    return sliderControl({
      id: "set-cores",
      label: "Cores of an executor",
      property: "spark.executor.cores",
      steps: countSteps(recorded, 8),
      recorded,
      format: String,
      parse: parseCount,
      changed: this.#setter("spark.executor.cores", String),
    });
  }

  #offHeapControl(recorded: number): Control {
    return sliderControl({
      id: "set-off-heap",
      label: "Off-heap memory of an executor",
      property: "spark.memory.offHeap.size",
      steps: offHeapSteps(recorded),
      recorded,
      format: (bytes) => bytes === 0 ? "off" : sizeText(bytes),
      parse: (text) => /^(off|0)$/.test(text.trim()) ? 0 : parseSize(text),
      changed: (value) =>
        this.#updateConf({
          "spark.memory.offHeap.size": value === null ? null : sizeText(value),
          "spark.memory.offHeap.enabled": value === null ? null : String(value > 0),
        }),
    });
  }

  #levelControl(): Control {
    return choiceControl({
      id: "set-level",
      label: "Storage level of cached RDDs",
      property: "persist(…)",
      choices: Object.keys(STORAGE_LEVELS).filter((name) => name !== "NONE"),
      recorded: this.#recorded.storageLevel ?? "several",
      changed: (value) => this.#update({ storageLevel: value }),
    });
  }

  /** What an upgrade does: the verdict names each rule that differs. */
  #versionControl(): Control {
    return choiceControl({
      id: "set-version",
      label: "Spark version",
      property: "rules and defaults",
      choices: UNIFIED_MEMORY_LINES,
      recorded: this.#recorded.sparkVersion,
      changed: (value) => {
        const { sparkVersion: _, ...rest } = this.#scenario;
        this.#scenario = value === null ? rest : { ...rest, sparkVersion: value };
        this.#actions.changed(this.#scenario);
      },
    });
  }

  /** Settings without a slider: what is changed of them, and a line for one more. */
  #listOthers(): void {
    const key = h("input", {
      type: "text",
      id: "other-key",
      class: "mono",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "spark.driver.maxResultSize",
    });
    const value = h("input", {
      type: "text",
      id: "other-value",
      class: "mono",
      autocomplete: "off",
      spellcheck: "false",
    });
    const form = h(
      "form",
      { class: "other-form" },
      h("div", { class: "field" }, h("label", { for: "other-key" }, "Property"), key),
      h("div", { class: "field" }, h("label", { for: "other-value" }, "Value"), value),
      h("button", { type: "submit", class: "btn" }, "Set"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (key.value.trim() === "") return;
      this.#updateConf({ [key.value.trim()]: value.value.trim() });
      this.set(this.#scenario, false);
    });
    const changed = Object.entries(this.#scenario.conf)
      .filter(([name]) => !this.#controls.has(name) && name !== "spark.memory.offHeap.enabled");
    fill(
      this.#others,
      changed.length === 0 ? null : h(
        "ul",
        { class: "other-list" },
        changed.map(([name, text]) =>
          h(
            "li",
            {},
            h("code", {}, `${name}=${text}`),
            h("button", {
              type: "button",
              class: "btn quiet icon",
              "aria-label": `${name}: as recorded`,
              onclick: () => {
                this.#updateConf({ [name]: null });
                this.set(this.#scenario, false);
              },
            }, icon("cross")),
          )
        ),
      ),
      form,
    );
  }

  #makeButtons(): HTMLElement {
    const button = (name: Parameters<typeof icon>[0], label: string, press: () => void) =>
      h("button", { type: "button", class: "btn", onclick: press }, icon(name), label);
    const { copyOptions, copyLink, downloadLog, downloadReport } = this.#actions;
    return h(
      "div",
      { class: "btn-row what-if-buttons" },
      button("copy", "Copy as --conf", copyOptions),
      button("link", "Copy link", copyLink),
      button("download", "Report", downloadReport),
      button("download", "Simulated log", downloadLog),
    );
  }

  #showTiles(summary: Summary, isPrediction: boolean): void {
    fill(
      this.#tiles,
      TILES.map(([name, text, weight]) => {
        const before = this.#replayed;
        const differs = isPrediction && before !== null && text(before) !== text(summary);
        const [from, to] = [before === null ? null : weight(before), weight(summary)];
        const tone = !differs || from === null || to === null ? "" : to < from ? "good" : "bad";
        return h(
          "div",
          { class: `tile ${tone}` },
          h("dt", {}, name),
          h("dd", {}, text(summary), differs ? h("span", {}, `was ${text(before!)}`) : null),
        );
      }),
    );
  }
}
