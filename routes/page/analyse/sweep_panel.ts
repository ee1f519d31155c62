/**
 * The sweep: a grid of two settings as a heat map, and the Pareto line of memory against time.
 *
 * @module
 */
import uPlot from "uplot";
import { STORAGE_LEVELS } from "../../../src/spark/storage_level.ts";
import { axisStyle, Plot, tipRow } from "../charts/plot.ts";
import type { Theme } from "../charts/theme.ts";
import type { SweepFigures, SweepResult, Vary } from "../../../src/what_if/sweep.ts";
import type { Recorded, SweepAnswer } from "../protocol.ts";
import { fill, h } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import { fractionSteps, heapSteps, sizeText } from "./steps.ts";

/** What a sweep is asked for and tells. */
export interface SweepActions {
  /** Runs it; `told` is called for each result. */
  readonly run: (vary: Vary, told: (result: SweepResult) => void) => Promise<SweepAnswer>;
  readonly cancel: () => void;
  /** Puts a result's settings into the what-if panel. */
  readonly choose: (settings: SweepResult["settings"]) => void;
}

/** One axis: a property, `executors` or `storageLevel`, and its values. */
interface SweepAxis {
  readonly key: string;
  readonly values: readonly string[];
}

interface Metric {
  readonly name: string;
  readonly value: (figures: SweepFigures) => number | null;
  readonly text: (value: number | null) => string;
}

const METRICS: readonly Metric[] = [
  { name: "Time", value: ({ durationMs }) => durationMs, text: formatMs },
  { name: "Evictions", value: ({ blocksEvicted }) => blocksEvicted, text: formatCount },
  { name: "Memory spilled", value: ({ memoryBytesSpilled }) => memoryBytesSpilled, text: formatBytes },
  { name: "Partitions computed", value: ({ cacheMisses }) => cacheMisses, text: formatCount },
  { name: "Out of memory", value: ({ oomTasks }) => oomTasks, text: formatCount },
];

/** So many values of an axis are proposed. */
const PROPOSED = 7;

/** Values around the recorded one, in the slider's steps. */
function around(steps: readonly number[], recorded: number, stride: number): number[] {
  const at = steps.indexOf(recorded);
  const chosen: number[] = [];
  for (let i = -2; i < PROPOSED - 2; i++) {
    const step = steps[at + i * stride];
    if (step !== undefined) chosen.push(step);
  }
  return chosen;
}

/** Counts from half to three times the recorded one. */
function multiplesOf(recorded: number): number[] {
  const counts = [0.5, 0.75, 1, 1.5, 2, 3].map((factor) => Math.max(1, Math.round(recorded * factor)));
  return [...new Set(counts)];
}

/** The axes that there are, with the values that are proposed. */
function axesOf(recorded: Recorded): SweepAxis[] {
  const memoryKey = recorded.isLocal ? "spark.driver.memory" : "spark.executor.memory";
  const axis = (key: string, values: readonly (number | string)[]) => ({ key, values: values.map(String) });
  const axes = [
    axis(memoryKey, around(heapSteps(recorded.heapBytes), recorded.heapBytes, 3).map(sizeText)),
    axis(
      "spark.memory.fraction",
      around(fractionSteps(0.1, 0.95, recorded.memoryFraction), recorded.memoryFraction, 2),
    ),
    axis(
      "spark.memory.storageFraction",
      around(fractionSteps(0, 0.95, recorded.storageFraction), recorded.storageFraction, 4),
    ),
  ];
  if (!recorded.isLocal) {
    axes.push(axis("executors", multiplesOf(recorded.executors)));
    axes.push(axis("spark.executor.cores", multiplesOf(recorded.cores)));
  }
  if (recorded.hasCachedRdds) {
    const common = ["MEMORY_ONLY", "MEMORY_AND_DISK", "MEMORY_ONLY_SER", "MEMORY_AND_DISK_SER", "DISK_ONLY"];
    axes.push(axis("storageLevel", common.filter((name) => name in STORAGE_LEVELS)));
  }
  return axes;
}

/** The panel of a sweep. */
export class SweepPanel {
  readonly element: HTMLElement;
  readonly #axes: readonly SweepAxis[];
  readonly #actions: SweepActions;
  readonly #result = h("div", { class: "panel-content" });
  readonly #status = h("p", { class: "small muted", role: "status", "aria-live": "polite" });
  readonly #across: HTMLSelectElement;
  readonly #down: HTMLSelectElement;
  readonly #valuesAcross = h("input", { type: "text", id: "sweep-across-values", class: "mono", autocomplete: "off" });
  readonly #valuesDown = h("input", { type: "text", id: "sweep-down-values", class: "mono", autocomplete: "off" });
  readonly #start = h("button", { type: "submit", class: "btn primary" }, "Run the sweep");
  #metric = METRICS[0];
  #results: SweepResult[] = [];
  /** Ids of the results on the Pareto line. */
  #best: ReadonlySet<string> = new Set();
  #grid: { across: SweepAxis; down: SweepAxis | null } | null = null;
  #isRunning = false;

  constructor(recorded: Recorded, actions: SweepActions) {
    this.#axes = axesOf(recorded);
    this.#actions = actions;
    const options = () => this.#axes.map(({ key }) => h("option", { value: key }, key));
    this.#across = h("select", { id: "sweep-across" }, options());
    this.#down = h("select", { id: "sweep-down" }, h("option", { value: "" }, "nothing"), options());
    this.#down.value = this.#axes[this.#axes.length > 3 ? 3 : 2].key;
    this.#propose(this.#across, this.#valuesAcross);
    this.#propose(this.#down, this.#valuesDown);
    const form = h(
      "form",
      { class: "sweep-form" },
      h("div", { class: "field" }, h("label", { for: "sweep-across" }, "Across"), this.#across),
      h(
        "div",
        { class: "field wide" },
        h("label", { for: "sweep-across-values" }, "Values across"),
        this.#valuesAcross,
      ),
      h("div", { class: "field" }, h("label", { for: "sweep-down" }, "Down"), this.#down),
      h("div", { class: "field wide" }, h("label", { for: "sweep-down-values" }, "Values down"), this.#valuesDown),
      this.#start,
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#isRunning) actions.cancel();
      else this.#run();
    });
    this.element = h(
      "section",
      { class: "card panel", id: "sweep", "aria-labelledby": "sweep-title", tabindex: -1 },
      h("h2", { id: "sweep-title" }, "Sweep"),
      h(
        "p",
        { class: "muted" },
        "Every combination of two settings’ values, on top of the scenario in the what-if panel.",
      ),
      form,
      this.#status,
      this.#result,
    );
  }

  /** Proposes values for an axis, now and when another setting is chosen for it. */
  #propose(select: HTMLSelectElement, field: HTMLInputElement): void {
    const propose = () => {
      field.value = this.#axes.find(({ key }) => key === select.value)?.values.join(", ") ?? "";
      field.disabled = select.value === "";
    };
    select.addEventListener("change", propose);
    propose();
  }

  async #run(): Promise<void> {
    const axis = (select: HTMLSelectElement, field: HTMLInputElement): SweepAxis => ({
      key: select.value,
      values: [...new Set(field.value.split(",").map((text) => text.trim()).filter((text) => text !== ""))],
    });
    const across = axis(this.#across, this.#valuesAcross);
    const hasDown = this.#down.value !== "" && this.#down.value !== this.#across.value;
    const down = hasDown ? axis(this.#down, this.#valuesDown) : null;
    if (across.values.length === 0 || down?.values.length === 0) {
      this.#status.textContent = "Each axis needs values.";
      return;
    }
    this.#results = [];
    this.#best = new Set();
    this.#grid = { across, down };
    const total = across.values.length * (down?.values.length ?? 1);
    const vary: Vary = { ...(down === null ? {} : { [down.key]: down.values }), [across.key]: across.values };
    this.#setRunning(true);
    try {
      const { pareto } = await this.#actions.run(vary, (result) => {
        this.#results.push(result);
        this.#status.textContent = `${this.#results.length} of ${total} combinations`;
        this.#show();
      });
      this.#best = new Set(pareto);
      this.#status.textContent = `${this.#results.length} combinations. Choose one to see it in full.`;
    } catch (error) {
      this.#status.textContent = error instanceof Error ? error.message : String(error);
    } finally {
      this.#setRunning(false);
      this.#show();
    }
  }

  #setRunning(isRunning: boolean): void {
    this.#isRunning = isRunning;
    this.#start.textContent = isRunning ? "Cancel" : "Run the sweep";
    this.#start.classList.toggle("primary", !isRunning);
  }

  #show(): void {
    if (this.#grid === null || this.#results.length === 0) return;
    const chooser = h(
      "div",
      { class: "segmented", role: "group", "aria-label": "Figure" },
      METRICS.map((metric) =>
        h("button", {
          type: "button",
          "aria-pressed": String(metric === this.#metric),
          onclick: () => {
            this.#metric = metric;
            this.#show();
          },
        }, metric.name)
      ),
    );
    fill(
      this.#result,
      chooser,
      this.#heatMap(this.#grid.across, this.#grid.down),
      this.#isRunning ? null : this.#pareto(),
    );
  }

  #heatMap(across: SweepAxis, down: SweepAxis | null): HTMLElement {
    const known = this.#results.flatMap(({ figures }) => figures === null ? [] : [this.#metric.value(figures) ?? 0]);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const rows = down?.values ?? [null];
    const cellOf = (row: string | null, column: string) =>
      this.#results.find(({ settings }) =>
        settings[across.key] === column && (down === null || settings[down.key] === row)
      );
    return h(
      "div",
      { class: "table-wrap", tabindex: 0, role: "region", "aria-label": `${this.#metric.name} by ${across.key}` },
      h(
        "table",
        { class: "data heat" },
        h("caption", {}, `${this.#metric.name} by ${across.key}${down === null ? "" : ` and ${down.key}`}`),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, down === null ? "" : down.key),
            across.values.map((value) => h("th", { scope: "col", class: "num" }, value)),
          ),
        ),
        h(
          "tbody",
          {},
          rows.map((row) =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, row ?? ""),
              across.values.map((column) => this.#cell(cellOf(row, column), low, high)),
            )
          ),
        ),
      ),
    );
  }

  #cell(result: SweepResult | undefined, low: number, high: number): HTMLElement {
    if (result === undefined) return h("td", { class: "num muted" }, "…");
    const { figures, settings, status, reason } = result;
    if (figures === null) return h("td", { class: "num muted", title: reason }, h("span", {}, "refused"));
    const value = this.#metric.value(figures);
    const heat = high > low ? Math.round(((value ?? 0) - low) / (high - low) * 8) : 0;
    const fails = status !== "succeeded";
    return h(
      "td",
      { class: `num heat-${heat}` },
      h(
        "button",
        {
          type: "button",
          onclick: () => this.#actions.choose(settings),
          title: fails ? reason ?? "it does not end" : null,
        },
        this.#metric.text(value),
        fails ? h("span", { class: "fails" }, " fails") : null,
      ),
    );
  }

  /** Memory against time, with the line of those results than which none is better in both. */
  #pareto(): HTMLElement | null {
    const points = this.#results
      .flatMap(({ id, settings, status, figures }) =>
        status === "succeeded" && figures !== null && figures.durationMs !== null
          ? [{ id, settings, memoryBytes: figures.clusterMemoryBytes, durationMs: figures.durationMs }]
          : []
      )
      .sort((a, b) => a.memoryBytes - b.memoryBytes || a.durationMs - b.durationMs);
    if (points.length < 2 || this.#best.size === 0) return null;
    const best = this.#best;
    const front = points.filter(({ id }) => best.has(id));
    const plot = new Plot({
      label: `Memory against time of ${points.length} combinations; ${best.size} are not bettered in both.`,
      height: 260,
      data: [
        points.map(({ memoryBytes }) => memoryBytes),
        points.map(({ durationMs }) => durationMs),
        points.map(({ id, durationMs }) => best.has(id) ? durationMs : null),
      ] as uPlot.AlignedData,
      configure: paretoChart,
      tip: (index) => [
        h("div", {}, this.#nameOf(points[index].settings)),
        tipRow("memory in all", formatBytes(points[index].memoryBytes)),
        tipRow("time", formatMs(points[index].durationMs)),
        ...(best.has(points[index].id) ? [h("div", { class: "tip-time" }, "on the Pareto line")] : []),
      ],
    });
    return h(
      "div",
      { class: "panel-content" },
      h("h3", {}, "Memory against time"),
      h(
        "p",
        { class: "muted small" },
        "All combinations that succeed, by the memory that they ask of the cluster; the line joins those than which none " +
          "needs less memory and less time.",
      ),
      plot.element,
      h(
        "ol",
        { class: "pareto-list" },
        front.map(({ settings, memoryBytes, durationMs }) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "btn quiet", onclick: () => this.#actions.choose(settings) },
              this.#nameOf(settings),
            ),
            h("span", { class: "muted" }, ` ${formatBytes(memoryBytes)}, ${formatMs(durationMs)}`),
          )
        ),
      ),
    );
  }

  /** What of a result's settings is varied. */
  #nameOf(settings: SweepResult["settings"]): string {
    const { across, down } = this.#grid!;
    return [across, down].flatMap((axis) => axis === null ? [] : [`${axis.key} ${settings[axis.key]}`]).join(", ");
  }
}

/** Points of all results, and the line of the best. */
function paretoChart(theme: Theme): Omit<uPlot.Options, "width" | "height"> {
  return {
    padding: [10, 16, 0, 0],
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: (_, min, max) => padded(min, max) },
      y: { range: (_, min, max) => padded(min, max) },
    },
    axes: [
      { ...axisStyle(theme), space: 90, values: (_, ticks) => ticks.map((bytes) => formatBytes(bytes)) },
      { ...axisStyle(theme), size: 84, values: (_, ticks) => ticks.map((ms) => formatMs(ms)) },
    ],
    series: [
      {},
      {
        paths: () => null,
        stroke: theme.colour("ink-3"),
        points: { show: true, size: 7, fill: theme.colour("surface") },
      },
      {
        stroke: theme.colour("accent"),
        width: 2,
        spanGaps: true,
        points: { show: true, size: 9, fill: theme.colour("accent") },
      },
    ],
  };
}

function padded(min: number, max: number): [number, number] {
  const room = (max - min) * 0.08 || max * 0.1 || 1;
  return [Math.max(0, min - room), max + room];
}
