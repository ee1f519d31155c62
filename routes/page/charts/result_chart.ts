/**
 * Sizes of task results by the way they took, against the thresholds; and what each stage sent to the driver.
 *
 * @module
 */
import uPlot from "uplot";
import type { ResultChart } from "../../../src/report/charts_results.ts";
import { h } from "../ui/dom.ts";
import { formatBytes, formatCount, formatShare } from "../ui/format.ts";
import type { TableData } from "./panel.ts";
import { axisStyle, Plot, tipRow } from "./plot.ts";
import type { ColourToken, Theme } from "./theme.ts";

/** The limits, in bytes; 0 for maxResultSize is unlimited. */
export interface ResultThresholds {
  readonly effectiveDirectLimit: number;
  readonly maxResultSize: number;
}

const WAYS: readonly (readonly [name: "direct" | "indirect" | "dropped" | "lost", colour: ColourToken])[] = [
  ["direct", "storage"],
  ["indirect", "unroll"],
  ["dropped", "bad"],
  ["lost", "ink-3"],
];

/** The chart; null without results. */
export function resultChart(results: ResultChart, thresholds: ResultThresholds): HTMLElement | null {
  const { buckets } = results;
  if (buckets.length === 0) return null;
  const xs = buckets.map((_, i) => i);
  // Stacked: each way on top of those before it, drawn from the tallest to the shortest.
  const tops = WAYS.map((_, way) =>
    buckets.map((bucket) => WAYS.slice(0, way + 1).reduce((sum, [name]) => sum + bucket[name], 0))
  );
  const shown = WAYS.map(([name], way) => ({ name, way }))
    .filter(({ name }) => buckets.some((bucket) => bucket[name] > 0));
  const bars = uPlot.paths.bars!({ size: [0.86, 60], align: 0 });
  const total = buckets.reduce((sum, b) => sum + b.direct + b.indirect + b.dropped + b.lost, 0);
  const plot = new Plot({
    label: `Sizes of ${formatCount(total)} task results: ${
      shown.map(({ name }) => `${formatCount(buckets.reduce((sum, b) => sum + b[name], 0))} ${name}`).join(", ")
    }.`,
    height: 220,
    data: [xs, ...[...shown].reverse().map(({ way }) => tops[way])] as uPlot.AlignedData,
    configure: (theme) => ({
      padding: [22, 16, 0, 0],
      cursor: { drag: { x: false, y: false } },
      scales: {
        x: { time: false, range: [-0.6, buckets.length - 0.4] },
        y: { range: (_, __, max) => [0, max * 1.08] },
      },
      axes: [
        {
          ...axisStyle(theme),
          grid: { show: false },
          space: 64,
          incrs: [1, 2, 4, 8, 16],
          values: (_, ticks) => ticks.map((i) => buckets[i] === undefined ? "" : formatBytes(buckets[i].fromBytes)),
        },
        {
          ...axisStyle(theme),
          size: 56,
          values: (_, ticks) => ticks.map((v) => Number.isInteger(v) ? formatCount(v) : ""),
        },
      ],
      series: [
        {},
        ...[...shown].reverse().map(({ way }) => ({
          paths: bars,
          fill: theme.colour(WAYS[way][1]),
          width: 0,
          points: { show: false },
        })),
      ],
      hooks: { draw: [(u) => drawThresholds(u, theme, results, thresholds)] },
    }),
    tip: (index) => {
      const bucket = buckets[index];
      return [
        h("div", { class: "tip-time" }, `${formatBytes(bucket.fromBytes)} to ${formatBytes(bucket.toBytes)}`),
        ...shown.map(({ name }) => tipRow(name, formatCount(bucket[name]))),
      ];
    },
  });
  return h(
    "div",
    {},
    h(
      "div",
      { class: "chart-legend" },
      shown.map(({ name, way }) => h("span", {}, h("i", { class: `swatch way-${WAYS[way][1]}` }), name)),
    ),
    plot.element,
  );
}

/** Where a size lies on the axis of buckets, in fractions of a bucket. */
function positionOf(results: ResultChart, bytes: number): number | null {
  const { buckets } = results;
  const index = buckets.findIndex(({ fromBytes, toBytes }) => bytes >= fromBytes && bytes < toBytes);
  if (index >= 0) {
    const { fromBytes, toBytes } = buckets[index];
    return index - 0.5 + (bytes - fromBytes) / (toBytes - fromBytes);
  }
  return null;
}

function drawThresholds(plot: uPlot, theme: Theme, results: ResultChart, thresholds: ResultThresholds): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  const limits = [["direct up to", thresholds.effectiveDirectLimit], [
    "dropped above",
    thresholds.maxResultSize,
  ]] as const;
  ctx.save();
  ctx.font = `${11 * ratio}px ${theme.font.replace(/^\S+ /, "")}`;
  for (const [name, bytes] of limits) {
    const position = bytes > 0 ? positionOf(results, bytes) : null;
    if (position === null) continue;
    const x = plot.valToPos(position, "x", true);
    ctx.strokeStyle = ctx.fillStyle = theme.colour("ink");
    ctx.setLineDash([5 * ratio, 4 * ratio]);
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    const text = `${name} ${formatBytes(bytes)}`;
    const left = Math.min(x - 2 * ratio, bbox.left + bbox.width - ctx.measureText(text).width);
    ctx.fillText(text, Math.max(bbox.left, left), bbox.top - 7 * ratio);
  }
  ctx.restore();
}

/** The same as tables. */
export function resultTables(results: ResultChart, thresholds: ResultThresholds): TableData[] {
  const number = (name: string) => ({ name, isNumber: true });
  const limit = thresholds.maxResultSize;
  return [
    {
      caption: "Results by size",
      columns: [{ name: "Size" }, number("Direct"), number("Indirect"), number("Dropped"), number("Lost")],
      rows: results.buckets.map((bucket) => [
        `${formatBytes(bucket.fromBytes)} to ${formatBytes(bucket.toBytes)}`,
        formatCount(bucket.direct),
        formatCount(bucket.indirect),
        formatCount(bucket.dropped),
        formatCount(bucket.lost),
      ]),
    },
    {
      caption: "Stages that sent most to the driver",
      columns: [
        { name: "Stage" },
        number("Results"),
        number("Largest"),
        number("Total"),
        number("Share of maxResultSize"),
      ],
      rows: results.stages.map((stage) => [
        `${stage.stageId}${stage.attemptId > 0 ? `, attempt ${stage.attemptId}` : ""}`,
        formatCount(stage.count),
        formatBytes(stage.maxBytes),
        formatBytes(stage.totalBytes),
        limit === 0 ? "unlimited" : formatShare(stage.totalBytes, limit),
      ]),
    },
  ];
}
