/**
 * Cached RDDs: how much of each was in memory over time, and how much stayed.
 *
 * @module
 */
import uPlot from "uplot";
import type { ChartData } from "../../../src/report/charts.ts";
import type { RddChart } from "../../../src/report/charts_rdds.ts";
import { h } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs, formatShare } from "../ui/format.ts";
import type { TableData } from "./panel.ts";
import { axisStyle, Plot, tipRow } from "./plot.ts";

/** How many RDDs have a line. */
const MAX_LINES = 8;

function nameOf(rdd: RddChart): string {
  return rdd.name === "" ? `RDD ${rdd.rddId}` : `RDD ${rdd.rddId}: ${rdd.name}`;
}

/** The chart; null when no RDD was in memory. */
export function rddChart(data: ChartData): HTMLElement | null {
  const rdds = data.rdds.filter(({ peakMemoryBytes }) => peakMemoryBytes > 0).slice(0, MAX_LINES);
  if (rdds.length === 0) return null;
  const changes = rdds.flatMap(({ points }) => points.map(({ timeMs }) => timeMs));
  const times = [...new Set([data.startMs, ...changes, data.endMs])]
    .sort((a, b) => a - b);
  const lines = rdds.map(({ points }) => {
    let at = 0;
    let value: number | null = null;
    return times.map((time) => {
      while (at < points.length && points[at].timeMs <= time) value = points[at++].memoryBytes;
      return value;
    });
  });
  const stepped = uPlot.paths.stepped!({ align: 1 });
  const plot = new Plot({
    label: `Bytes in memory of ${rdds.length} cached RDDs over time.`,
    height: 200,
    syncKey: "run",
    data: [times.map((time) => (time - data.startMs) / 1000), ...lines] as uPlot.AlignedData,
    configure: (theme) => ({
      padding: [8, 12, 0, 0],
      scales: { x: { time: false } },
      axes: [
        { ...axisStyle(theme), values: (_, ticks) => ticks.map((s) => formatMs(s * 1000)), space: 70 },
        { ...axisStyle(theme), size: 84, values: (_, ticks) => ticks.map((bytes) => formatBytes(bytes)) },
      ],
      series: [
        {},
        ...rdds.map((_, i) => ({ paths: stepped, stroke: theme.stage(i), width: 2, points: { show: false } })),
      ],
    }),
    tip: (index) => [
      h("div", { class: "tip-time" }, formatMs(times[index] - data.startMs)),
      ...rdds.map((rdd, i) => tipRow(nameOf(rdd), formatBytes(lines[i][index] ?? 0), `series-${i % 6}`)),
    ],
  });
  return h(
    "div",
    {},
    h(
      "div",
      { class: "chart-legend" },
      rdds.map((rdd, i) => h("span", {}, h("i", { class: `swatch series-${i % 6}` }), nameOf(rdd))),
    ),
    plot.element,
  );
}

/** A bar: how much of an RDD's partitions is in memory at the end. */
function stays(rdd: RddChart): HTMLElement {
  const share = rdd.numPartitions === 0 ? 0 : Math.min(1, rdd.endMemoryBlocks / rdd.numPartitions);
  const bar = h("i", {});
  bar.style.width = `${share * 100}%`;
  return h(
    "span",
    { class: "share-bar" },
    h("span", { class: "track", "aria-hidden": "true" }, bar),
    formatShare(rdd.endMemoryBlocks, rdd.numPartitions),
  );
}

/** The same as a table, with what else is known. */
export function rddTable(rdds: readonly RddChart[]): TableData {
  const number = (name: string) => ({ name, isNumber: true });
  return {
    caption: "Cached RDDs",
    columns: [
      { name: "RDD" },
      { name: "Storage level" },
      number("Partitions"),
      { name: "In memory at the end" },
      number("Bytes"),
      number("Peak"),
      number("On disk"),
      number("Evictions"),
      number("Refused"),
      number("Reads from cache"),
      number("Computed"),
    ],
    rows: rdds.map((rdd) => [
      nameOf(rdd),
      rdd.storageLevel,
      formatCount(rdd.numPartitions),
      stays(rdd),
      formatBytes(rdd.endMemoryBytes),
      formatBytes(rdd.peakMemoryBytes),
      formatBytes(rdd.endDiskBytes),
      formatCount(rdd.evictions),
      formatCount(rdd.refused),
      formatCount(rdd.hits),
      formatCount(rdd.misses),
    ]),
  };
}
