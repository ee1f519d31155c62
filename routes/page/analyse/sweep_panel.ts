/**
 * The sweep: a grid of two settings as a heat map, and the Pareto line of memory against time.
 *
 * @module
 */
import uPlot from "uplot";
import { STORAGE_LEVELS } from "../../../src/spark/storage_level.ts";
import { axisStyle, Plot, tipRow } from "../charts/plot.ts";
import type { Recorded, SweepAxis, SweepFigures, SweepPoint } from "../protocol.ts";
import { fill, h } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import { paretoFront } from "./pareto.ts";
import { countSteps, fractionSteps, heapSteps, sizeText } from "./steps.ts";

/** What a sweep is asked for and tells. */
export interface SweepActions {
  /** Runs it; `told` is called for each point. */
  readonly run: (vary: readonly SweepAxis[], told: (point: SweepPoint) => void) => Promise<void>;
  readonly cancel: () => void;
  /** Puts a point's settings into the what-if panel. */
  readonly choose: (point: SweepPoint) => void;
}

interface Metric {
  readonly name: string;
  readonly value: (figures: SweepFigures) => number;
  readonly text: (value: number) => string;
}

const METRICS: readonly Metric[] = [
  { name: "Time", value: ({ durationMs }) => durationMs, text: formatMs },
  { name: "Evictions", value: ({ evictions }) => evictions, text: formatCount },
  { name: "Memory spilled", value: ({ spilledBytes }) => spilledBytes, text: formatBytes },
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
    axes.push(axis("executors", around(countSteps(recorded.executors, 8), recorded.executors, 1)));
    axes.push(axis("spark.executor.cores", around(countSteps(recorded.cores, 8), recorded.cores, 1)));
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
  #points: SweepPoint[] = [];
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
    this.#points = [];
    this.#grid = { across, down };
    const total = across.values.length * (down?.values.length ?? 1);
    this.#setRunning(true);
    try {
      await this.#actions.run(down === null ? [across] : [down, across], (point) => {
        this.#points.push(point);
        this.#status.textContent = `${this.#points.length} of ${total} combinations`;
        this.#show();
      });
      this.#status.textContent = `${this.#points.length} combinations. Choose one to see it in full.`;
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
    if (this.#grid === null || this.#points.length === 0) return;
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

  #valueOf(point: SweepPoint, key: string): string | null {
    if (key === "executors") return point.executors === null ? null : String(point.executors);
    if (key === "storageLevel") return point.storageLevel;
    return point.conf[key] ?? null;
  }

  #heatMap(across: SweepAxis, down: SweepAxis | null): HTMLElement {
    const known = this.#points.flatMap(({ figures }) => figures === null ? [] : [this.#metric.value(figures)]);
    const [low, high] = [Math.min(...known), Math.max(...known)];
    const rows = down?.values ?? [null];
    const cellOf = (row: string | null, column: string) =>
      this.#points.find((point) =>
        this.#valueOf(point, across.key) === column && (down === null || this.#valueOf(point, down.key) === row)
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

  #cell(point: SweepPoint | undefined, low: number, high: number): HTMLElement {
    if (point === undefined) return h("td", { class: "num muted" }, "…");
    const { figures } = point;
    if (figures === null) {
      return h("td", { class: "num muted", title: point.refusal }, h("span", {}, "refused"));
    }
    const value = this.#metric.value(figures);
    const heat = high > low ? Math.round((value - low) / (high - low) * 8) : 0;
    const text = this.#metric.text(value);
    return h(
      "td",
      { class: `num heat-${heat}${figures.succeeded ? "" : " failed"}` },
      h(
        "button",
        {
          type: "button",
          onclick: () => this.#actions.choose(point),
          title: figures.succeeded ? null : "the job fails",
        },
        text,
        figures.succeeded ? null : h("span", { class: "fails" }, " fails"),
      ),
    );
  }

  /** Memory against time, with the line of those points than which none is better in both. */
  #pareto(): HTMLElement | null {
    const points = this.#points
      .flatMap((point) => point.figures?.succeeded ? [{ point, figures: point.figures }] : [])
      .sort((a, b) => a.figures.memoryBytes - b.figures.memoryBytes || a.figures.durationMs - b.figures.durationMs);
    if (points.length < 2) return null;
    const best = paretoFront(points.map(({ figures }) => figures));
    const label = (i: number) =>
      Object.entries(this.#settingsOf(points[i].point)).map((pair) => pair.join(" ")).join(", ");
    const plot = new Plot({
      label: `Memory against time of ${points.length} combinations; ${best.size} are not bettered in both.`,
      height: 260,
      data: [
        points.map(({ figures }) => figures.memoryBytes),
        points.map(({ figures }) => figures.durationMs),
        points.map(({ figures }, i) => best.has(i) ? figures.durationMs : null),
      ] as uPlot.AlignedData,
      configure: (theme) => ({
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
      }),
      tip: (index) => [
        h("div", {}, label(index)),
        tipRow("memory in all", formatBytes(points[index].figures.memoryBytes)),
        tipRow("time", formatMs(points[index].figures.durationMs)),
        ...(best.has(index) ? [h("div", { class: "tip-time" }, "on the Pareto line")] : []),
      ],
    });
    const front = [...best].map((i) => points[i]);
    return h(
      "div",
      { class: "panel-content" },
      h("h3", {}, "Memory against time"),
      h(
        "p",
        { class: "muted small" },
        "All combinations that succeed; the line joins those than which none needs less memory and less time.",
      ),
      plot.element,
      h(
        "ol",
        { class: "pareto-list" },
        front.map(({ point, figures }) =>
          h(
            "li",
            {},
            h(
              "button",
              { type: "button", class: "btn quiet", onclick: () => this.#actions.choose(point) },
              Object.entries(this.#settingsOf(point)).map((pair) => pair.join(" ")).join(", "),
            ),
            h("span", { class: "muted" }, ` ${formatBytes(figures.memoryBytes)}, ${formatMs(figures.durationMs)}`),
          )
        ),
      ),
    );
  }

  #settingsOf(point: SweepPoint): Record<string, string> {
    const { across, down } = this.#grid!;
    const settings: Record<string, string> = {};
    for (const key of [across.key, ...(down === null ? [] : [down.key])]) settings[key] = this.#valueOf(point, key)!;
    return settings;
  }
}

function padded(min: number, max: number): [number, number] {
  const room = (max - min) * 0.08 || max * 0.1 || 1;
  return [Math.max(0, min - room), max + room];
}
