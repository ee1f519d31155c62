/**
 * The panels that show one run: memory over time, tasks, stages, results, cached RDDs.
 *
 * @module
 */
import { memoryChart, type MemoryChartOptions, memoryTables } from "../charts/memory_chart.ts";
import { panel } from "../charts/panel.ts";
import { rddChart, rddTable } from "../charts/rdd_chart.ts";
import { resultChart, resultTables } from "../charts/result_chart.ts";
import { stageDetails, stageGraph, stageTable } from "../charts/stage_graph.ts";
import { taskChart, taskTables } from "../charts/task_chart.ts";
import type { ExecutorMemoryChart } from "../../../src/report/charts_memory.ts";
import type { JobNode, StageNode } from "../../../src/report/charts_stages.ts";
import type { RunView } from "../protocol.ts";
import { fill, h } from "../ui/dom.ts";
import { formatBytes, formatCount } from "../ui/format.ts";

/** What a user has chosen in the panels; it outlives their being made anew for another run. */
export interface ViewState {
  readonly shownAsTable: Set<string>;
  /** null: all; undefined: not chosen. */
  executorId?: string | null;
  jobId?: number;
}

/** So many executors are shown together before one has to be chosen. */
const TOGETHER = 4;

/** Executors with something to show, the driver last. */
function shownExecutors(run: RunView): ExecutorMemoryChart[] {
  const busy = run.charts.executors.filter(({ executorId, points, marks, maxOnHeapMemory }) => {
    // The driver holds pieces of broadcasts at least; it is shown when that is something to see.
    const enough = executorId === "driver" ? (maxOnHeapMemory ?? 0) / 100 : 0;
    const peak = Math.max(0, ...points.map(({ onHeap }) => onHeap.storageMemoryUsed + onHeap.executionMemoryUsed));
    return points.length > 0 && peak >= enough || marks.length > 0;
  });
  return busy.sort((a, b) => Number(a.executorId === "driver") - Number(b.executorId === "driver"));
}

/** Memory over time. */
export function memoryPanel(run: RunView, state: ViewState): HTMLElement {
  const { storageFraction } = run;
  const executors = shownExecutors(run);
  const { startMs, endMs } = run.charts;
  const isObserved = run.name === "observed";
  const isThere = executors.some(({ executorId }) => executorId === state.executorId);
  let chosen: string | null = isThere || state.executorId === null
    ? state.executorId!
    : executors.length > TOGETHER
    ? executors[0].executorId
    : null;
  const figures = h("div", { class: "memory-grid" });
  const show = () => {
    const wanted = executors.filter(({ executorId }) => chosen === null || executorId === chosen);
    figures.classList.toggle("many", wanted.length > 1);
    fill(figures, wanted.flatMap((executor) => figuresOf(executor, { startMs, endMs, storageFraction })));
  };
  const chooser = executors.length < 2 ? null : h(
    "select",
    {
      "aria-label": "Executor",
      onchange: (event: Event) => {
        const { value } = event.target as HTMLSelectElement;
        chosen = state.executorId = value === "" ? null : value;
        show();
      },
    },
    executors.length <= 3 * TOGETHER ? h("option", { value: "", selected: chosen === null }, "All executors") : null,
    executors.map(({ executorId }) =>
      h(
        "option",
        { value: executorId, selected: executorId === chosen },
        executorId === "driver" ? "Driver" : `Executor ${executorId}`,
      )
    ),
  );
  const chart = () => {
    show();
    return h("div", {}, memoryLegend(isObserved), figures);
  };
  return panel({
    id: "memory",
    title: "Memory over time",
    intro: isObserved
      ? "What the log records: cached blocks from its block updates; execution memory as the sum of the running tasks’ peaks, an upper bound."
      : "Storage fills from below, execution from above; the line between them is the boundary of the two pools.",
    controls: [chooser],
    shownAsTable: state.shownAsTable,
    chart: executors.length === 0 ? null : chart,
    tables: () => executors.flatMap((executor) => memoryTables(executor, startMs)),
  });
}

function figuresOf(
  executor: ExecutorMemoryChart,
  options: { startMs: number; endMs: number; storageFraction: number },
): HTMLElement[] {
  const region = (max: number | null) => max === null || max === 0 ? null : Math.trunc(max * options.storageFraction);
  const common = { startMs: options.startMs, endMs: options.endMs, maxBytes: null };
  const modes: MemoryChartOptions[] = [
    { ...common, mode: "onHeap", regionBytes: region(executor.maxOnHeapMemory) },
    { ...common, mode: "offHeap", regionBytes: region(executor.maxOffHeapMemory) },
  ];
  return modes.flatMap((mode) => memoryChart(executor, mode) ?? []);
}

function memoryLegend(isObserved: boolean): HTMLElement {
  const item = (swatch: string, text: string) => h("span", {}, h("i", { class: `swatch ${swatch}` }), text);
  return h(
    "div",
    { class: "chart-legend" },
    item("storage", "storage"),
    isObserved ? null : item("unroll", "unroll"),
    item("execution", isObserved ? "execution, at most" : "execution"),
    isObserved ? null : item("line", "boundary of the pools"),
    item("dashed", "storage region"),
  );
}

/** When tasks ran. */
export function taskPanel(run: RunView, state: ViewState): HTMLElement {
  const total = run.charts.timelines.reduce((sum, { tasks }) => sum + tasks, 0);
  const asBars = run.charts.timelines.some(({ bars }) => bars !== null);
  return panel({
    id: "tasks",
    title: "Tasks",
    intro: asBars
      ? "Stage attempts above, below each task in its executor; failed ones in red. Drag to look closer."
      : `Stage attempts above, below how busy each executor was (${formatCount(total)} tasks); failures in red.`,
    shownAsTable: state.shownAsTable,
    chart: total === 0 ? null : () => taskChart(run.charts),
    tables: () => taskTables(run.charts),
  });
}

/** The graph of a job's stages. */
export function stagePanel(run: RunView, state: ViewState): HTMLElement {
  const { graph, startMs } = run.charts;
  const failed = graph.jobs.find(({ status }) => status === "failed");
  const again = graph.jobs.find((job) => stagesOf(run, job).some(({ attempts }) => attempts.length > 1));
  const largest = [...graph.jobs].sort((a, b) => b.stageIds.length - a.stageIds.length)[0];
  const before = graph.jobs.find(({ jobId }) => jobId === state.jobId);
  let job: JobNode | null = before ?? failed ?? again ?? largest ?? null;
  const content = h("div", { class: "panel-content" });
  const show = () => {
    const stages = job === null ? graph.stages : stagesOf(run, job);
    const details = h("div", { role: "status", "aria-live": "polite" });
    const drawn = stageGraph(stages, (stage) => fill(details, stageDetails(stage, startMs)));
    const attention = stages.find(({ attempts }) => attempts.some(({ status }) => status === "failed"));
    if (attention !== undefined) fill(details, stageDetails(attention, startMs));
    fill(
      content,
      job?.failure ? h("pre", { class: "reason", tabindex: 0 }, job.failure) : null,
      drawn ??
        h("p", { class: "muted" }, `${formatCount(stages.length)} stages: too many to draw; the table has them.`),
      details,
    );
  };
  const chooser = graph.jobs.length < 2 ? null : h(
    "select",
    {
      "aria-label": "Job",
      onchange: (event: Event) => {
        const id = Number((event.target as HTMLSelectElement).value);
        job = graph.jobs.find(({ jobId }) => jobId === id) ?? null;
        state.jobId = id;
        show();
      },
    },
    graph.jobs.slice(0, 500).map(({ jobId, description, status }) =>
      h(
        "option",
        { value: jobId, selected: jobId === job?.jobId },
        `Job ${jobId}${description === null ? "" : `: ${description.slice(0, 40)}`}${
          status === "failed" ? " (failed)" : ""
        }`,
      )
    ),
  );
  return panel({
    id: "stages",
    title: "Stages",
    intro: "What each stage waits for. A dashed stage was skipped: its output was there already.",
    controls: [chooser],
    shownAsTable: state.shownAsTable,
    chart: graph.stages.length === 0 ? null : () => {
      show();
      return content;
    },
    tables: () => [stageTable(graph, graph.stages, startMs)],
  });
}

function stagesOf(run: RunView, job: JobNode): StageNode[] {
  const ids = new Set(job.stageIds);
  return run.charts.graph.stages.filter(({ stageId }) => ids.has(stageId));
}

/** Sizes of results. */
export function resultPanel(run: RunView, state: ViewState): HTMLElement {
  const { results } = run.charts;
  const { thresholds } = run.summary;
  const limit = thresholds.maxResultSize;
  return panel({
    id: "results",
    title: "Results",
    intro:
      `Up to ${
        formatBytes(thresholds.effectiveDirectLimit)
      } a result is sent directly, above it by way of the block manager; ` +
      (limit === 0
        ? "the results of a stage may be of any size (spark.driver.maxResultSize is 0)."
        : `those of one stage may come to ${formatBytes(limit)} (spark.driver.maxResultSize).`),
    shownAsTable: state.shownAsTable,
    chart: results.buckets.length === 0 ? null : () => resultChart(results, thresholds)!,
    tables: () => resultTables(results, thresholds),
  });
}

/** Cached RDDs; null when there are none. */
export function rddPanel(run: RunView, state: ViewState): HTMLElement | null {
  const { rdds } = run.charts;
  if (rdds.length === 0) return null;
  const hasLines = rdds.some(({ peakMemoryBytes }) => peakMemoryBytes > 0);
  const section = panel({
    id: "rdds",
    title: "Cached RDDs",
    intro: hasLines
      ? "How much of each is in memory, and how much stays."
      : "The run does not record block updates: only what the stages say is known.",
    shownAsTable: state.shownAsTable,
    chart: hasLines ? () => h("div", { class: "panel-content" }, rddChart(run.charts)!, rddShares(run)) : null,
    tables: () => [rddTable(rdds)],
  });
  return section;
}

/** The few figures that matter most, beside the chart. */
function rddShares(run: RunView): HTMLElement {
  const { rdds } = run.charts;
  return h(
    "ul",
    { class: "rdd-shares" },
    rdds.slice(0, 8).map((rdd) => {
      const bar = h("i", {});
      bar.style.width = `${
        rdd.numPartitions === 0 ? 0 : Math.min(100, rdd.endMemoryBlocks / rdd.numPartitions * 100)
      }%`;
      return h(
        "li",
        {},
        h("b", {}, rdd.name === "" ? `RDD ${rdd.rddId}` : `RDD ${rdd.rddId}: ${rdd.name}`),
        h("span", { class: "share-bar" }, h("span", { class: "track", "aria-hidden": "true" }, bar)),
        h(
          "span",
          { class: "muted" },
          `${formatCount(rdd.endMemoryBlocks)} of ${formatCount(rdd.numPartitions)} partitions in memory at the end, ` +
            `${formatCount(rdd.evictions)} evictions`,
        ),
      );
    }),
  );
}
