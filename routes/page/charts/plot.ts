/**
 * A uPlot chart with what every chart of the page needs: it follows the width and the theme, tells what is under the
 * cursor, is read by keyboard, zooms.
 *
 * @module
 */
import uPlot from "uplot";
import { fill, h } from "../ui/dom.ts";
import { readTheme, type Theme } from "./theme.ts";

/** What a chart is made of. */
export interface PlotOptions {
  /** What it shows, in a sentence, for screen readers. */
  readonly label: string;
  readonly height: number;
  /** The options of uPlot but for size, cursor and legend; asked again when the theme changes. */
  readonly configure: (theme: Theme) => Omit<uPlot.Options, "width" | "height">;
  readonly data: uPlot.AlignedData;
  /** What to say about a place: index into the data, position in CSS pixels within the plotting area; null: nothing. */
  readonly tip: (index: number, place: { x: number; y: number; plot: uPlot }) => Node[] | null;
  /** Charts of one key share cursor and zoom. */
  readonly syncKey?: string;
}

/** The chart. */
export class Plot {
  readonly element: HTMLElement;
  readonly #options: PlotOptions;
  readonly #canvas = h("div", { class: "plot-canvas" });
  readonly #tip = h("div", { class: "plot-tip", hidden: true });
  readonly #spoken = h("div", { class: "visually-hidden", role: "status", "aria-live": "polite" });
  readonly #reset: HTMLButtonElement;
  readonly #observer: ResizeObserver;
  #data: uPlot.AlignedData;
  #plot: uPlot | null = null;
  #byKeyboard = false;

  constructor(options: PlotOptions) {
    this.#options = options;
    this.#data = options.data;
    this.#reset = h("button", { type: "button", class: "btn plot-reset", hidden: true }, "Whole run");
    this.#reset.addEventListener("click", () => this.#plot?.setData(this.#data));
    this.#canvas.tabIndex = 0;
    this.#canvas.setAttribute("role", "img");
    this.#canvas.setAttribute("aria-label", `${options.label} Arrow keys read it point by point.`);
    this.#canvas.addEventListener("keydown", (event) => this.#key(event));
    this.#canvas.addEventListener("blur", () => this.#hide());
    this.element = h("div", { class: "plot" }, this.#canvas, this.#tip, this.#reset, this.#spoken);
    // The chart is made once its width is known; its height is there at once, so that nothing jumps.
    this.#canvas.style.minHeight = `${options.height}px`;
    this.#observer = new ResizeObserver(() => this.#resize());
    this.#observer.observe(this.element);
    document.addEventListener("themechange", this.#recreate);
  }

  /** Shows other data, in the same zoom. */
  update(data: uPlot.AlignedData): void {
    this.#data = data;
    this.#plot?.setData(data, this.#reset.hidden === true);
  }

  /** Takes it off the page. */
  destroy(): void {
    this.#observer.disconnect();
    document.removeEventListener("themechange", this.#recreate);
    this.#plot?.destroy();
    this.#plot = null;
  }

  readonly #recreate = (): void => {
    this.#plot?.destroy();
    this.#plot = null;
    // The chart was taken off the page: the theme no longer concerns it.
    if (this.element.isConnected) this.#resize();
    else this.destroy();
  };

  #resize(): void {
    const width = Math.floor(this.element.clientWidth);
    if (width === 0) return;
    if (this.#plot === null) this.#create(width);
    else if (this.#plot.width !== width) this.#plot.setSize({ width, height: this.#options.height });
  }

  #create(width: number): void {
    const { configure, height, syncKey } = this.#options;
    const configured = configure(readTheme(this.element));
    this.#plot = new uPlot(
      {
        ...configured,
        width,
        height,
        legend: { show: false },
        cursor: {
          y: false,
          points: { show: false },
          drag: { x: true, y: false, setScale: true },
          ...(syncKey === undefined ? {} : { sync: { key: syncKey, setSeries: false } }),
          ...configured.cursor,
        },
        hooks: {
          ...configured.hooks,
          setCursor: [(plot) => this.#pointed(plot)],
          setScale: [(plot, key) => this.#scaled(plot, key)],
        },
      },
      this.#data,
      this.#canvas,
    );
  }

  #scaled(plot: uPlot, key: string): void {
    if (key !== "x") return;
    const xs = plot.data[0];
    const { min, max } = plot.scales.x;
    this.#reset.hidden = !(xs.length > 1 && (min! > xs[0] || max! < xs[xs.length - 1]));
  }

  #pointed(plot: uPlot): void {
    const { idx, left = -1, top = -1 } = plot.cursor;
    const nodes = idx === null || idx === undefined || left < 0
      ? null
      : this.#options.tip(idx, { x: left, y: top, plot });
    if (nodes === null) {
      this.#tip.hidden = true;
      return;
    }
    fill(this.#tip, nodes);
    this.#tip.hidden = false;
    const room = this.element.clientWidth;
    const at = plot.over.offsetLeft + left;
    const width = this.#tip.offsetWidth;
    const beside = at + 14 + width > room ? at - 14 - width : at + 14;
    this.#tip.style.left = `${Math.max(0, Math.min(room - width, beside))}px`;
    this.#tip.style.top = `${plot.over.offsetTop + 6}px`;
    if (this.#byKeyboard) this.#spoken.textContent = this.#tip.innerText.replaceAll("\n", ", ");
  }

  #hide(): void {
    this.#byKeyboard = false;
    this.#tip.hidden = true;
    this.#plot?.setCursor({ left: -10, top: -10 });
  }

  #key(event: KeyboardEvent): void {
    const plot = this.#plot;
    if (plot === null) return;
    const last = plot.data[0].length - 1;
    const now = plot.cursor.idx ?? -1;
    const stride = event.shiftKey ? 10 : 1;
    let to: number;
    if (event.key === "ArrowRight") to = Math.min(last, now + stride);
    else if (event.key === "ArrowLeft") to = Math.max(0, now - stride);
    else if (event.key === "Home") to = 0;
    else if (event.key === "End") to = last;
    else if (event.key === "Escape") return this.#hide();
    else return;
    event.preventDefault();
    this.#byKeyboard = true;
    const left = plot.valToPos(plot.data[0][to], "x");
    plot.setCursor({ left, top: plot.over.clientHeight / 2 });
  }
}

/** The look that axes share. */
export function axisStyle(theme: Theme): Pick<uPlot.Axis, "stroke" | "font" | "grid" | "ticks"> {
  return {
    stroke: theme.colour("ink-3"),
    font: theme.font,
    grid: { stroke: theme.colour("line"), width: 1 },
    ticks: { stroke: theme.colour("line"), width: 1, size: 5 },
  };
}

/** A line of a tip: a name and its value. */
export function tipRow(name: string, value: string, swatch?: string): HTMLElement {
  return h(
    "div",
    { class: "tip-row" },
    swatch === undefined ? null : h("i", { class: `swatch ${swatch}` }),
    h("span", {}, name),
    h("b", {}, value),
  );
}
