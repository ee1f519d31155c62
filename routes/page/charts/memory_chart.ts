/**
 * One executor's memory over time: storage from below, execution from above, the boundary of the pools moving between
 * them, the region line, and marks for what happened.
 *
 * @module
 */
import uPlot from "uplot";
import type { MarkKind, MemoryMark } from "../../../src/report/charts_marks.ts";
import type { ExecutorMemoryChart, MemoryPoint, MemoryValues } from "../../../src/report/charts_memory.ts";
import { h } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import type { TableData } from "./panel.ts";
import { axisStyle, Plot, tipRow } from "./plot.ts";
import { type ColourToken, type Theme, withAlpha } from "./theme.ts";

/** What a chart needs besides its data. */
export interface MemoryChartOptions {
  readonly startMs: number;
  readonly endMs: number;
  readonly mode: "onHeap" | "offHeap";
  /** Storage region in bytes, from the settings; null when not known. */
  readonly regionBytes: number | null;
  /** Unified memory, from the settings; null: what the block manager announced. */
  readonly maxBytes: number | null;
}

/** Kinds of mark: what they are called, one and many, and how they look. */
export const MARKS: Readonly<
  Record<
    MarkKind,
    { one: string; many: string; colour: ColourToken; shape: "down" | "cross" | "ring" | "diamond" | "square" }
  >
> = {
  evicted: { one: "eviction", many: "evictions", colour: "storage", shape: "down" },
  refused: { one: "put refused", many: "puts refused", colour: "bad", shape: "cross" },
  wait: { one: "wait", many: "waits", colour: "warn", shape: "ring" },
  spill: { one: "spill", many: "spills", colour: "execution", shape: "diamond" },
  outOfMemory: { one: "out of memory", many: "out of memory", colour: "bad", shape: "square" },
  removed: { one: "executor lost", many: "executor lost", colour: "ink", shape: "cross" },
};

const ROW = 15;

/** A mark in words. */
export function markText(mark: MemoryMark): string {
  const { one, many } = MARKS[mark.kind];
  const { example } = mark;
  const parts = [mark.count === 1 ? one : `${formatCount(mark.count)} ${many}`];
  if (mark.bytes > 0) parts.push(formatBytes(mark.bytes));
  const cause = example.cause === null || example.cause === example.subject ? "" : ` for ${example.cause}`;
  const disk = example.toDisk && mark.kind === "evicted" ? ", to disk" : "";
  const wait = example.waitMs === null ? "" : `, ${formatMs(example.waitMs)}`;
  const which = `${mark.count > 1 ? "largest: " : ""}${example.subject}${cause}${disk}${wait}`;
  return `${parts.join(", ")} (${which})`;
}

function valuesOf(point: MemoryPoint, mode: "onHeap" | "offHeap"): MemoryValues | null {
  return mode === "onHeap" ? point.onHeap : point.offHeap;
}

/** Columns: time in s, storage blocks, with unroll memory, boundary, lower edge of execution, maximum. */
function columns(chart: ExecutorMemoryChart, options: MemoryChartOptions, max: number): uPlot.AlignedData {
  const data: (number | null)[][] = [[], [], [], [], [], []];
  const push = (timeMs: number, values: MemoryValues) => {
    data[0].push((timeMs - options.startMs) / 1000);
    data[1].push(values.storageMemoryUsed - (values.unrollMemoryUsed ?? 0));
    data[2].push(values.storageMemoryUsed);
    data[3].push(values.storagePoolSize);
    data[4].push(Math.max(0, max - values.executionMemoryUsed));
    data[5].push(max);
  };
  // All charts of a run begin and end together.
  data[0].push(0);
  for (const column of data.slice(1)) column.push(null);
  let last: MemoryValues | null = null;
  let lastTime = options.startMs;
  for (const point of chart.points) {
    const values = valuesOf(point, options.mode);
    if (values === null) continue;
    const timeMs = Math.max(point.timeMs, lastTime + (data[0].length > 1 ? 0 : 0.001));
    if (timeMs <= lastTime) continue;
    push(timeMs, values);
    last = values;
    lastTime = timeMs;
  }
  if (last !== null && options.endMs > lastTime) push(options.endMs, last);
  return data as uPlot.AlignedData;
}

function drawShape(ctx: CanvasRenderingContext2D, shape: string, x: number, y: number, r: number): void {
  ctx.beginPath();
  if (shape === "down") {
    ctx.moveTo(x - r, y - r * 0.8);
    ctx.lineTo(x + r, y - r * 0.8);
    ctx.lineTo(x, y + r);
    ctx.closePath();
    ctx.fill();
  } else if (shape === "diamond") {
    ctx.moveTo(x, y - r);
    ctx.lineTo(x + r, y);
    ctx.lineTo(x, y + r);
    ctx.lineTo(x - r, y);
    ctx.closePath();
    ctx.fill();
  } else if (shape === "square") ctx.fillRect(x - r, y - r, 2 * r, 2 * r);
  else if (shape === "ring") {
    ctx.arc(x, y, r * 0.9, 0, 2 * Math.PI);
    ctx.stroke();
  } else {
    ctx.moveTo(x - r, y - r);
    ctx.lineTo(x + r, y + r);
    ctx.moveTo(x + r, y - r);
    ctx.lineTo(x - r, y + r);
    ctx.stroke();
  }
}

/** Draws the marks in rows above the plotting area, one row a kind. */
function drawMarks(
  plot: uPlot,
  theme: Theme,
  rows: readonly (readonly [MarkKind, readonly MemoryMark[]])[],
  startMs: number,
): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.lineWidth = 1.5 * ratio;
  rows.forEach(([kind, marks], row) => {
    const { colour, shape } = MARKS[kind];
    ctx.strokeStyle = ctx.fillStyle = theme.colour(colour);
    const y = bbox.top - (rows.length - row - 0.45) * ROW * ratio;
    for (const mark of marks) {
      const x = plot.valToPos((mark.timeMs - startMs) / 1000, "x", true);
      if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) continue;
      const r = (4 + Math.min(3, Math.log10(mark.count) * 1.5)) * ratio;
      drawShape(ctx, shape, x, y, r);
    }
  });
  ctx.restore();
}

function drawRegion(plot: uPlot, theme: Theme, regionBytes: number): void {
  const { ctx, bbox } = plot;
  const y = plot.valToPos(regionBytes, "y", true);
  ctx.save();
  ctx.strokeStyle = theme.colour("region");
  ctx.lineWidth = 1.5 * devicePixelRatio;
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.restore();
}

/** The memory that the chart reaches up to: what there is of it, or the most that was used where that is not told. */
function largest(chart: ExecutorMemoryChart, { mode, maxBytes }: MemoryChartOptions): number {
  const announced = mode === "onHeap" ? chart.maxOnHeapMemory : chart.maxOffHeapMemory;
  const fullest = chart.points.reduce((most, point) => {
    const values = valuesOf(point, mode);
    return values === null ? most : Math.max(most, values.storageMemoryUsed + values.executionMemoryUsed);
  }, 0);
  const pools = chart.points.reduce((most, point) => {
    const values = valuesOf(point, mode);
    return Math.max(most, (values?.storagePoolSize ?? 0) + (values?.executionPoolSize ?? 0));
  }, 0);
  return Math.max(maxBytes ?? 0, announced ?? 0, pools) || fullest;
}

/** The chart of one executor and memory mode; null when the run tells nothing of it. */
export function memoryChart(chart: ExecutorMemoryChart, options: MemoryChartOptions): HTMLElement | null {
  const max = largest(chart, options);
  const data = columns(chart, options, max);
  if (data[0].length < 2 || max === 0) return null;
  const { startMs } = options;
  const kinds = (Object.keys(MARKS) as MarkKind[])
    .map((kind) => [kind, chart.marks.filter((mark) => mark.kind === kind)] as const)
    .filter(([, marks]) => marks.length > 0);
  const isObserved = chart.points.every((point) => point.onHeap.storagePoolSize === null);
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const plot = new Plot({
    label: `Memory of executor ${chart.executorId} over time: ${summaryText(chart, max)}`,
    height: 210 + kinds.length * ROW,
    syncKey: "run",
    data,
    configure: (theme) => {
      const axis = axisStyle(theme);
      const line = { paths: stepped, points: { show: false } };
      return {
        padding: [kinds.length * ROW + 6, 12, 0, 0],
        scales: { x: { time: false }, y: { range: [0, max * 1.02] } },
        axes: [
          { ...axis, values: (_, ticks) => ticks.map((s) => formatMs(s * 1000)), space: 70 },
          { ...axis, values: (_, ticks) => ticks.map((bytes) => formatBytes(bytes)), size: 84, incrs: byteSteps(max) },
        ],
        series: [
          {},
          { ...line, width: 0, fill: withAlpha(theme.colour("storage"), 0.85) },
          { ...line, width: 0 },
          { ...line, stroke: theme.colour("ink"), width: 1.5 },
          { ...line, stroke: theme.colour("execution"), width: 1 },
          { ...line, stroke: theme.colour("line-strong"), width: 1 },
        ],
        bands: [
          { series: [2, 1], fill: withAlpha(theme.colour("unroll"), 0.85) },
          { series: [5, 4], fill: withAlpha(theme.colour("execution"), isObserved ? 0.35 : 0.85) },
        ],
        hooks: {
          draw: [
            (u) => {
              if (options.regionBytes !== null) drawRegion(u, theme, options.regionBytes);
              drawMarks(u, theme, kinds, startMs);
            },
          ],
        },
      };
    },
    tip: (index, { x, plot: u }) => tipOf(chart, { options, data, index, x, plot: u, max, isObserved }),
  });
  return h(
    "figure",
    { class: "memory-figure" },
    h(
      "figcaption",
      {},
      h("b", {}, chart.executorId === "driver" ? "Driver" : `Executor ${chart.executorId}`),
      h("span", { class: "muted" }, ` ${chart.host}${chart.cores === null ? "" : `, ${chart.cores} cores`}`),
      options.mode === "offHeap" ? h("span", { class: "chip" }, "off-heap") : null,
      h("span", { class: "mark-legend" }, kinds.map(([kind, marks]) => markLegend(kind, marks))),
    ),
    plot.element,
  );
}

function markLegend(kind: MarkKind, marks: readonly MemoryMark[]): HTMLElement {
  const count = marks.reduce((sum, mark) => sum + mark.count, 0);
  const ofRdds = marks.reduce((sum, mark) => sum + mark.rddBlocks, 0);
  const others = kind === "evicted" && ofRdds < count ? `, ${formatCount(ofRdds)} of RDD blocks` : "";
  const { one, many, shape } = MARKS[kind];
  const signs = { down: "▼", cross: "✕", ring: "○", diamond: "◆", square: "■" };
  return h(
    "span",
    { class: `mark-count ${kind}` },
    h("i", { "aria-hidden": "true" }, signs[shape]),
    ` ${formatCount(count)} ${count === 1 ? one : many}${others}`,
  );
}

function summaryText(chart: ExecutorMemoryChart, max: number): string {
  const peak = (of: (values: MemoryValues) => number) =>
    chart.points.reduce((most, { onHeap }) => Math.max(most, of(onHeap)), 0);
  return `of ${formatBytes(max)}, storage used at most ${
    formatBytes(peak((v) => v.storageMemoryUsed))
  }, execution at ` +
    `most ${formatBytes(peak((v) => v.executionMemoryUsed))}.`;
}

interface TipContext {
  readonly options: MemoryChartOptions;
  readonly data: uPlot.AlignedData;
  readonly index: number;
  readonly x: number;
  readonly plot: uPlot;
  readonly max: number;
  readonly isObserved: boolean;
}

function tipOf(chart: ExecutorMemoryChart, context: TipContext): Node[] | null {
  const { data, index, x, plot, max, isObserved } = context;
  const at = (series: number) => data[series][index] as number | null;
  if (at(1) === null) return null;
  const storage = at(2) ?? 0;
  const boundary = at(3);
  const execution = max - (at(4) ?? max);
  const rows = [
    h("div", { class: "tip-time" }, formatMs((data[0][index] as number) * 1000)),
    tipRow("storage", formatBytes(at(1)), "storage"),
    ...(storage > (at(1) ?? 0) ? [tipRow("unroll", formatBytes(storage - (at(1) ?? 0)), "unroll")] : []),
    tipRow(isObserved ? "execution, at most" : "execution", formatBytes(execution), "execution"),
    ...(boundary === null
      ? []
      : [tipRow("storage pool", formatBytes(boundary)), tipRow("execution pool", formatBytes(max - boundary))]),
  ];
  const near = chart.marks
    .filter((mark) => Math.abs(plot.valToPos((mark.timeMs - context.options.startMs) / 1000, "x") - x) < 6)
    .slice(0, 6);
  for (const mark of near) rows.push(h("div", { class: `tip-mark ${mark.kind}` }, markText(mark)));
  return rows;
}

/** Steps of the byte axis in binary units. */
function byteSteps(max: number): number[] {
  const steps: number[] = [];
  for (let step = 1; step <= max; step *= 2) steps.push(step);
  return steps;
}

/** The same as tables: values over time, and what happened. */
export function memoryTables(chart: ExecutorMemoryChart, startMs: number): TableData[] {
  const time = (timeMs: number) => formatMs(timeMs - startMs);
  const who = chart.executorId === "driver" ? "Driver" : `Executor ${chart.executorId}`;
  const number = (name: string) => ({ name, isNumber: true });
  const optional = (bytes: number | null) => bytes === null ? "not recorded" : formatBytes(bytes);
  return [
    {
      caption: `${who}: on-heap memory over time`,
      columns: [
        { name: "Time" },
        number("Storage pool"),
        number("Storage used"),
        number("of it unroll"),
        number("Execution pool"),
        number("Execution used"),
      ],
      rows: chart.points.map(({ timeMs, onHeap }) => [
        time(timeMs),
        optional(onHeap.storagePoolSize),
        formatBytes(onHeap.storageMemoryUsed),
        optional(onHeap.unrollMemoryUsed),
        optional(onHeap.executionPoolSize),
        formatBytes(onHeap.executionMemoryUsed),
      ]),
    },
    {
      caption: `${who}: what happened`,
      columns: [{ name: "Time" }, { name: "What" }, number("Bytes")],
      rows: chart.marks.map((mark) => [time(mark.timeMs), markText(mark), formatBytes(mark.bytes)]),
    },
  ];
}
