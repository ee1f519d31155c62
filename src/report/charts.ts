/**
 * What the charts of a run show, as a fold over its events: the same for real and simulated runs, in one pass, with a
 * bounded number of points whatever the run's length.
 *
 * @module
 */
import type { EventSink, SparkEvent } from "../spark/events.ts";
import { type ExecutorMemoryChart, MemoryCharts } from "./charts_memory.ts";
import { type RddChart, RddCharts } from "./charts_rdds.ts";
import { type ResultChart, ResultCharts } from "./charts_results.ts";
import { type StageGraph, StageGraphs } from "./charts_stages.ts";
import { type ExecutorTimeline, TaskTimelines } from "./charts_tasks.ts";
import { TimeGrid } from "./charts_time_grid.ts";

/** The data of all charts; times in ms since the epoch, sizes in bytes. */
export interface ChartData {
  readonly startMs: number;
  readonly endMs: number;
  /** Width of the time buckets. */
  readonly bucketMs: number;
  readonly executors: readonly ExecutorMemoryChart[];
  readonly timelines: readonly ExecutorTimeline[];
  readonly graph: StageGraph;
  readonly results: ResultChart;
  readonly rdds: readonly RddChart[];
}

/** How much the charts hold. */
export interface ChartLimits {
  /** Buckets of time; 512 by default. */
  readonly timeBuckets?: number;
  /** Tasks that are shown one by one; 4,000 by default. */
  readonly taskBars?: number;
  /** Stages of the graph; 2,000 by default. */
  readonly stages?: number;
  /** Cached RDDs, those with the largest peaks; 50 by default. */
  readonly rdds?: number;
}

/**
 * The fold.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Charts } from "./charts.ts";
 *
 * const charts = new Charts();
 * charts.event({ kind: "executorAdded", time: 1000, executorId: "1", host: "a", totalCores: 2 });
 * charts.event({ kind: "executorRemoved", time: 4000, executorId: "1", reason: "lost" });
 * const data = charts.finish();
 * assertEquals([data.startMs, data.endMs], [1000, 4000]);
 * assertEquals(data.executors[0].marks[0].kind, "removed");
 * ```
 */
export class Charts implements EventSink {
  readonly #grid: TimeGrid;
  readonly #memory: MemoryCharts;
  readonly #tasks: TaskTimelines;
  readonly #stages: StageGraphs;
  readonly #results: ResultCharts;
  readonly #rdds: RddCharts;

  constructor(limits: ChartLimits = {}) {
    this.#grid = new TimeGrid(limits.timeBuckets ?? 512);
    this.#memory = new MemoryCharts(this.#grid);
    this.#tasks = new TaskTimelines(this.#grid, limits.taskBars ?? 4000);
    this.#stages = new StageGraphs(limits.stages ?? 2000);
    this.#results = new ResultCharts(20);
    this.#rdds = new RddCharts(this.#grid, limits.rdds ?? 50);
  }

  event(event: SparkEvent): void {
    this.#grid.advance(timeOf(event));
    this.#memory.event(event);
    this.#stages.event(event);
    this.#results.event(event);
    this.#rdds.event(event);
    if (event.kind === "taskEnd") this.#tasks.taskEnd(event);
  }

  /** The data of the charts so far. */
  finish(): ChartData {
    return {
      startMs: this.#grid.startMs ?? 0,
      endMs: this.#grid.nowMs,
      bucketMs: this.#grid.widthMs,
      executors: this.#memory.finish(),
      timelines: this.#tasks.finish(),
      graph: this.#stages.finish(),
      results: this.#results.finish(),
      rdds: this.#rdds.finish(),
    };
  }
}

/** When an event happened; 0 for those that tell no time. */
function timeOf(event: SparkEvent): number {
  switch (event.kind) {
    case "taskStart":
      return event.launchTime;
    case "taskEnd":
      return event.finishTime;
    case "taskGettingResult":
      return event.gettingResultTime;
    case "stageSubmitted":
      return event.stageInfo.submissionTime ?? 0;
    case "stageCompleted":
      return event.stageInfo.completionTime ?? 0;
    default:
      return "time" in event ? event.time ?? 0 : 0;
  }
}
