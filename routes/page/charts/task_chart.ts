/**
 * When tasks ran: the stages' attempts above, below one row an executor, with each task or, where there are too many,
 * how busy the executor was.
 *
 * @module
 */
import uPlot from "uplot";
import type { ChartData } from "../../../src/report/charts.ts";
import type { StageAttempt } from "../../../src/report/charts_stages.ts";
import type { BusyBucket, ExecutorTimeline, TaskBar } from "../../../src/report/charts_tasks.ts";
import { h } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";
import type { TableData } from "./panel.ts";
import { axisStyle, Plot, tipRow } from "./plot.ts";
import { type Theme, withAlpha } from "./theme.ts";

/** How many executors have a row of their own; the others are left to the table. */
const MAX_ROWS = 40;
const MAX_HEIGHT = 640;

interface StageBar {
  readonly stageId: number;
  readonly name: string;
  readonly attempt: StageAttempt;
  readonly from: number;
  readonly to: number;
  readonly lane: number;
}

/** A block of rows on the y axis, in units of lanes. */
interface Row {
  readonly label: string;
  readonly top: number;
  readonly lanes: number;
  readonly timeline: ExecutorTimeline | null;
}

/** Stage attempts, each in the first lane that is free when it starts. */
function stageBars(data: ChartData): { bars: StageBar[]; lanes: number } {
  const all = data.graph.stages.flatMap(({ stageId, name, attempts }) =>
    attempts.flatMap((attempt) => {
      if (attempt.submissionTime === null) return [];
      const to = attempt.completionTime ?? data.endMs;
      return [{ stageId, name, attempt, from: attempt.submissionTime, to: Math.max(to, attempt.submissionTime) }];
    })
  ).sort((a, b) => a.from - b.from);
  const freeAt: number[] = [];
  const bars = all.map((bar) => {
    let lane = freeAt.findIndex((time) => time <= bar.from);
    if (lane < 0) lane = freeAt.length;
    freeAt[lane] = bar.to;
    return { ...bar, lane };
  });
  return { bars, lanes: Math.min(freeAt.length, 8) };
}

/** Executors in the order of their numbers. */
function byId(a: string, b: string): number {
  return Number(a) - Number(b) || (a < b ? -1 : a > b ? 1 : 0);
}

function rowsOf(data: ChartData, stageLanes: number): Row[] {
  const timelines = [...data.timelines].sort((a, b) => byId(a.executorId, b.executorId)).slice(0, MAX_ROWS);
  const rows: Row[] = [{ label: "stages", top: 0, lanes: stageLanes, timeline: null }];
  let top = stageLanes + 1;
  for (const timeline of timelines) {
    const lanes = timeline.bars === null ? 3 : Math.max(1, Math.min(timeline.lanes, 16));
    rows.push({
      label: timeline.executorId === "driver" ? "driver" : `executor ${timeline.executorId}`,
      top,
      lanes,
      timeline,
    });
    top += lanes + 1;
  }
  return rows;
}

/** The chart of stages and tasks. */
export function taskChart(data: ChartData): HTMLElement {
  const { bars, lanes } = stageBars(data);
  const rows = rowsOf(data, lanes);
  const last = rows[rows.length - 1];
  const total = last.top + last.lanes;
  const laneHeight = Math.max(3, Math.min(13, Math.floor(MAX_HEIGHT / total)));
  const seconds = (timeMs: number) => (timeMs - data.startMs) / 1000;
  const end = seconds(data.endMs);
  const steps = 400;
  const xs = Array.from({ length: steps + 1 }, (_, i) => end * i / steps);
  const plot = new Plot({
    label: `When ${formatCount(data.timelines.reduce((sum, { tasks }) => sum + tasks, 0))} tasks of ${bars.length} ` +
      `stage attempts ran on ${data.timelines.length} executors.`,
    height: total * laneHeight + 40,
    syncKey: "run",
    data: [xs, xs.map(() => null)] as uPlot.AlignedData,
    configure: (theme) => ({
      padding: [4, 12, 0, 0],
      scales: { x: { time: false }, y: { range: [0, total], dir: -1 } },
      axes: [
        { ...axisStyle(theme), values: (_, ticks) => ticks.map((s) => formatMs(s * 1000)), space: 70 },
        {
          ...axisStyle(theme),
          size: 84,
          grid: { show: false },
          ticks: { show: false },
          splits: () => rows.map(({ top, lanes }) => top + lanes / 2),
          values: () => rows.map(({ label }) => label.length > 12 ? label.slice(0, 11) + "…" : label),
        },
      ],
      series: [{}, { show: true, width: 0 }],
      hooks: { draw: [(u) => drawRows(u, theme, { rows, stages: bars, seconds })] },
    }),
    tip: (_, { x, y, plot: u }) => {
      const time = data.startMs + u.posToVal(x, "x") * 1000;
      return tipAt({ rows, stages: bars, time, lane: u.posToVal(y, "y"), startMs: data.startMs });
    },
  });
  return h("div", { class: "task-figure" }, plot.element);
}

interface Drawn {
  readonly rows: readonly Row[];
  readonly stages: readonly StageBar[];
  readonly seconds: (timeMs: number) => number;
}

function drawRows(plot: uPlot, theme: Theme, drawn: Drawn): void {
  const { ctx, bbox } = plot;
  const x = (timeMs: number) => plot.valToPos(drawn.seconds(timeMs), "x", true);
  const y = (lane: number) => plot.valToPos(lane, "y", true);
  const lane = Math.abs(y(1) - y(0));
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const { stageId, attempt, from, to, lane: at } of drawn.stages) {
    if (at >= drawn.rows[0].lanes) continue;
    ctx.fillStyle = attempt.status === "failed" ? theme.colour("bad") : theme.stage(stageId);
    ctx.fillRect(x(from), y(at) + 1, Math.max(1.5, x(to) - x(from)), lane - 2);
  }
  for (const { timeline, top, lanes } of drawn.rows) {
    if (timeline === null) continue;
    if (timeline.bars === null) drawBusy(ctx, theme, { timeline, x, top: y(top), height: lane * lanes });
    else {
      for (const bar of timeline.bars) {
        if (bar.lane >= lanes) continue;
        ctx.fillStyle = barColour(bar, theme);
        const left = x(bar.launchTime);
        const width = x(bar.finishTime) - left;
        ctx.fillRect(left, y(top + bar.lane) + 0.5, Math.max(1, width > 3 ? width - 1 : width), lane - 1);
      }
    }
    ctx.fillStyle = theme.colour("line");
    ctx.fillRect(bbox.left, y(top + lanes + 0.5), bbox.width, 1);
  }
  ctx.restore();
}

function barColour(bar: TaskBar, theme: Theme): string {
  if (bar.status === "failed") return theme.colour("bad");
  if (bar.status === "killed") return theme.colour("line-strong");
  return theme.stage(bar.stageId);
}

interface BusyRow {
  readonly timeline: ExecutorTimeline;
  readonly x: (timeMs: number) => number;
  readonly top: number;
  readonly height: number;
}

function drawBusy(ctx: CanvasRenderingContext2D, theme: Theme, row: BusyRow): void {
  const most = row.timeline.busy.reduce((max, { running }) => Math.max(max, running), 0) || 1;
  for (const bucket of row.timeline.busy) {
    const left = row.x(bucket.timeMs);
    const width = Math.max(1, row.x(bucket.timeMs + bucket.widthMs) - left);
    const height = row.height * bucket.running / most;
    ctx.fillStyle = withAlpha(theme.colour("accent"), 0.75);
    ctx.fillRect(left, row.top + row.height - height, width, height);
    if (bucket.failed > 0) {
      ctx.fillStyle = theme.colour("bad");
      ctx.fillRect(left, row.top, Math.max(2, width), row.height * Math.max(0.2, bucket.failed / bucket.ended));
    }
  }
}

interface TipPlace {
  readonly rows: readonly Row[];
  readonly stages: readonly StageBar[];
  readonly time: number;
  readonly lane: number;
  readonly startMs: number;
}

function tipAt({ rows, stages, time, lane, startMs }: TipPlace): Node[] | null {
  const when = h("div", { class: "tip-time" }, formatMs(time - startMs));
  const row = rows.find(({ top, lanes }) => lane >= top && lane < top + lanes);
  if (row === undefined) return null;
  if (row.timeline === null) {
    const bar = stages.find((s) => s.lane === Math.floor(lane) && s.from <= time && time <= s.to);
    return bar === undefined ? null : [when, ...stageTip(bar)];
  }
  if (row.timeline.bars === null) {
    const bucket = row.timeline.busy.find((b) => b.timeMs <= time && time < b.timeMs + b.widthMs);
    return bucket === undefined ? null : [when, ...busyTip(row.timeline, bucket)];
  }
  const at = Math.floor(lane - row.top);
  const bar = row.timeline.bars.find((b) => b.lane === at && b.launchTime <= time && time <= b.finishTime);
  return bar === undefined ? null : [when, ...barTip(bar)];
}

function stageTip({ stageId, name, attempt, from, to }: StageBar): Node[] {
  return [
    h("b", {}, `Stage ${stageId}${attempt.attemptId > 0 ? `, attempt ${attempt.attemptId}` : ""}`),
    h("div", {}, name),
    tipRow("took", formatMs(to - from)),
    tipRow("tasks", formatCount(attempt.numTasks)),
    ...(attempt.failed > 0 ? [tipRow("failed", formatCount(attempt.failed))] : []),
    ...(attempt.memoryBytesSpilled > 0 ? [tipRow("spilled", formatBytes(attempt.memoryBytesSpilled))] : []),
    ...(attempt.failureReason === null ? [] : [h("div", { class: "tip-mark" }, attempt.failureReason.split("\n")[0])]),
  ];
}

function barTip(bar: TaskBar): Node[] {
  return [
    h("b", {}, `Task ${bar.taskId}`),
    h("div", {}, `stage ${bar.stageId}, partition ${bar.index}${bar.attempt > 0 ? `, attempt ${bar.attempt}` : ""}`),
    tipRow(bar.status, formatMs(bar.finishTime - bar.launchTime)),
    ...(bar.speculative ? [h("div", {}, "speculative")] : []),
    ...(bar.memoryBytesSpilled ? [tipRow("spilled", formatBytes(bar.memoryBytesSpilled))] : []),
    ...(bar.resultSize === null ? [] : [tipRow("result", formatBytes(bar.resultSize))]),
  ];
}

function busyTip(timeline: ExecutorTimeline, bucket: BusyBucket): Node[] {
  return [
    h("b", {}, `Executor ${timeline.executorId}`),
    tipRow("running", bucket.running.toFixed(1)),
    tipRow("ended", formatCount(bucket.ended)),
    ...(bucket.failed > 0 ? [tipRow("failed", formatCount(bucket.failed))] : []),
  ];
}

/** The same as tables: by executor and, while they are few, task by task. */
export function taskTables(data: ChartData): TableData[] {
  const number = (name: string) => ({ name, isNumber: true });
  const bars = data.timelines.flatMap(({ executorId, bars }) => (bars ?? []).map((bar) => ({ executorId, bar })));
  const tables: TableData[] = [{
    caption: "Tasks by executor",
    columns: [{ name: "Executor" }, number("Tasks"), number("Failed"), number("Killed"), number("At the same time")],
    rows: data.timelines.map(({ executorId, tasks, failed, killed, lanes, busy }) => [
      executorId,
      formatCount(tasks),
      formatCount(failed),
      formatCount(killed),
      lanes > 0 ? formatCount(lanes) : Math.max(0, ...busy.map(({ running }) => running)).toFixed(1),
    ]),
  }];
  if (bars.length > 0) {
    tables.push({
      caption: "Tasks",
      columns: [
        { name: "Task" },
        number("Stage"),
        number("Partition"),
        { name: "Executor" },
        { name: "Ended" },
        number("Start"),
        number("Took"),
        number("Spilled"),
        number("Result"),
      ],
      rows: bars.sort((a, b) => a.bar.taskId - b.bar.taskId).map(({ executorId, bar }) => [
        String(bar.taskId),
        `${bar.stageId}${bar.stageAttemptId > 0 ? `.${bar.stageAttemptId}` : ""}`,
        String(bar.index),
        executorId,
        bar.status,
        formatMs(bar.launchTime - data.startMs),
        formatMs(bar.finishTime - bar.launchTime),
        formatBytes(bar.memoryBytesSpilled),
        formatBytes(bar.resultSize),
      ]),
    });
  }
  return tables;
}
