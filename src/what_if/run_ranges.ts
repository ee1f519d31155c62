/**
 * How far a prediction hangs on chance: several runs of it, of which each gives the tasks of a stage their times in another
 * order, and offers executors in another one.
 *
 * @module
 */
import type { Recorded, Summary } from "../report/summary.ts";
import { size } from "../report/verdict/finding.ts";
import type { Changed } from "./apply_changes.ts";
import { type RunOptions, runSteps } from "./run_workload.ts";
import type { Steps } from "./steps.ts";
import { variedTimes } from "./varied_times.ts";

/** Least and greatest value of a figure over the runs. */
export interface FigureRange {
  /** The least. */
  readonly min: number;
  /** The greatest. */
  readonly max: number;
}

/** What several runs of the same prediction came to. */
export interface RunRanges {
  /** The predicted run and those that were made besides. */
  readonly runs: number;
  /** How many succeeded. */
  readonly succeeded: number;
  /** By figure. */
  readonly figures: Readonly<Record<RangeFigure, FigureRange>>;
}

/** Figures that are compared. */
export type RangeFigure =
  | "blocksEvicted"
  | "blocksInMemoryAtEnd"
  | "memoryBytesSpilled"
  | "spilledTasks"
  | "directResults"
  | "indirectResults"
  | "droppedResults";

const FIGURES: Readonly<Record<RangeFigure, (summary: Summary) => Recorded>> = {
  blocksEvicted: ({ storage }: Summary) => storage.blocksEvicted,
  blocksInMemoryAtEnd: ({ storage }: Summary) => storage.cachedAtEnd.memoryBlocks,
  memoryBytesSpilled: ({ execution }: Summary) => execution.memoryBytesSpilled,
  spilledTasks: ({ execution }: Summary) => execution.spilledTasks,
  directResults: ({ results }: Summary) => results.direct,
  indirectResults: ({ results }: Summary) => results.indirect,
  droppedResults: ({ results }: Summary) => results.dropped,
};

const LABELS: Readonly<Record<RangeFigure, string>> = {
  blocksEvicted: "blocks evicted",
  blocksInMemoryAtEnd: "blocks in memory at the end",
  memoryBytesSpilled: "memory spilled",
  spilledTasks: "tasks that spilled",
  directResults: "direct results",
  indirectResults: "indirect results",
  droppedResults: "dropped results",
};

/**
 * Runs a workload some more times.
 *
 * @param first The run that was predicted, one of them.
 * @param runs How many together.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { applyChanges } from "./apply_changes.ts";
 * import { rangeSteps } from "./run_ranges.ts";
 * import { runWorkload } from "./run_workload.ts";
 * import { finish } from "./steps.ts";
 *
 * const changed = applyChanges(emptyWorkload("nothing"), {});
 * const { runs, succeeded } = finish(rangeSteps(changed, runWorkload(changed), 3, {}));
 * assertEquals([runs, succeeded], [3, 3]);
 * ```
 */
export function* rangeSteps(changed: Changed, first: Summary, runs: number, options: RunOptions): Steps<RunRanges> {
  const summaries = [first];
  const seed = options.seed ?? changed.workload.seed;
  for (let run = 1; run < runs; run++) {
    const varied = { ...changed, workload: variedTimes(changed.workload, run) };
    summaries.push(yield* runSteps(varied, { ...options, seed: (seed + run) % 2 ** 32 }));
  }
  return rangesOf(summaries);
}

/**
 * The ranges over summaries of runs.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { applyChanges } from "./apply_changes.ts";
 * import { rangesOf } from "./run_ranges.ts";
 * import { runWorkload } from "./run_workload.ts";
 *
 * const summary = runWorkload(applyChanges(emptyWorkload("nothing"), {}));
 * const { runs, figures } = rangesOf([summary, summary]);
 * assertEquals([runs, figures.blocksEvicted], [2, { min: 0, max: 0 }]);
 * ```
 */
export function rangesOf(summaries: readonly Summary[]): RunRanges {
  const figures = {} as Record<RangeFigure, FigureRange>;
  for (const [figure, value] of Object.entries(FIGURES) as [RangeFigure, (summary: Summary) => Recorded][]) {
    const values = summaries.map((summary) => value(summary) ?? 0);
    figures[figure] = { min: Math.min(...values), max: Math.max(...values) };
  }
  const succeeded = summaries.filter(({ outcome }) => outcome.status === "succeeded").length;
  return { runs: summaries.length, succeeded, figures };
}

/**
 * "blocks evicted: 0 to 8" for each figure in which the runs differ.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { applyChanges } from "./apply_changes.ts";
 * import { rangeLines, rangesOf } from "./run_ranges.ts";
 * import { runWorkload } from "./run_workload.ts";
 *
 * const summary = runWorkload(applyChanges(emptyWorkload("nothing"), {}));
 * const spilled = { ...summary, execution: { ...summary.execution, spilledTasks: 3 } };
 * assertEquals(rangeLines(rangesOf([summary, spilled])), ["tasks that spilled: 0 to 3"]);
 * ```
 */
export function rangeLines({ figures, runs, succeeded }: RunRanges): string[] {
  const lines = (Object.entries(figures) as [RangeFigure, FigureRange][])
    .filter(([, { min, max }]) => min !== max)
    .map(([figure, { min, max }]) => {
      const text = (value: number) => figure === "memoryBytesSpilled" ? size(value) : value.toLocaleString("en-US");
      return `${LABELS[figure]}: ${text(min)} to ${text(max)}`;
    });
  return succeeded === 0 || succeeded === runs ? lines : [`succeeds in ${succeeded} of ${runs} runs`, ...lines];
}
