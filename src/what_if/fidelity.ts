/**
 * How well runs are predicted: figures that a run was measured to have against those that the model gives.
 *
 * @module
 */
import type { Summary } from "../report/summary.ts";

/** Figures of a run; null where the run does not tell. */
export interface RunFigures {
  readonly succeeded: boolean;
  /** Why it failed. */
  readonly message: string;
  readonly direct: number;
  readonly indirect: number;
  readonly dropped: number;
  readonly evicted: number | null;
  /** RDD blocks in memory at the end. */
  readonly cachedInMemory: number | null;
  readonly memorySpilled: number;
  readonly diskSpilled: number;
  readonly spilledTasks: number;
  /** Stages in which a task spilled. */
  readonly spilledStages: number;
  /** Submitted stage attempts. */
  readonly stageAttempts: number;
  /** From the first stage's submission to the last one's end. */
  readonly durationMs: number | null;
}

/** Names of the figures that are compared. */
export type FigureName = keyof RunFigures;

/** One figure of one prediction. */
export interface FigureResult {
  readonly figure: FigureName;
  readonly measured: number | string | boolean;
  readonly predicted: number | string | boolean;
  /** It differs between the run that was predicted and the one it was predicted from. */
  readonly changed: boolean;
  readonly right: boolean;
}

/** A prediction and the run it is about. */
export interface Prediction {
  /** The run whose log was used. */
  readonly from: string;
  /** The run that was predicted; the same for a replay. */
  readonly of: string;
  readonly results: readonly FigureResult[];
}

/** Counts of right figures. */
export interface Tally {
  right: number;
  all: number;
}

/** Share by which a predicted amount may be off: of another run, and of a replay. */
const TOLERANCE = 0.1;
const REPLAY_TOLERANCE = 0.05;
/** Blocks by which two runs with equal settings differ, one an executor; attempts that differ with placement. */
const SLACK_BLOCKS = 2;

/** The part of a message that names what happened; numbers in it depend on which result came first. */
const MESSAGE_KINDS = /Total size of serialized results|exceeds max allowed|OutOfMemory|failed \d+ times/;

/**
 * Figures of a Summary.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { applyChanges } from "./apply_changes.ts";
 * import { figuresOf } from "./fidelity.ts";
 * import { runWorkload } from "./run_workload.ts";
 *
 * assertEquals(figuresOf(runWorkload(applyChanges(emptyWorkload("nothing"), {}))).succeeded, true);
 * ```
 */
export function figuresOf(summary: Summary): RunFigures {
  const { storage, execution, results, outcome, stages } = summary;
  const begins = stages.map(({ submittedAtMs }) => submittedAtMs).filter((at) => at !== null);
  const ends = stages.map(({ completedAtMs }) => completedAtMs).filter((at) => at !== null);
  return {
    succeeded: outcome.status === "succeeded",
    message: outcome.reason ?? "",
    direct: results.direct ?? 0,
    indirect: results.indirect ?? 0,
    dropped: results.dropped ?? 0,
    evicted: storage.blocksEvicted,
    cachedInMemory: storage.cachedAtEnd.memoryBlocks,
    memorySpilled: execution.memoryBytesSpilled ?? 0,
    diskSpilled: execution.diskBytesSpilled ?? 0,
    spilledTasks: execution.spilledTasks ?? 0,
    spilledStages: stages.filter(({ memoryBytesSpilled }) => (memoryBytesSpilled ?? 0) > 0).length,
    stageAttempts: stages.length,
    durationMs: begins.length === 0 || ends.length === 0 ? null : Math.max(...ends) - Math.min(...begins),
  };
}

/**
 * Compares a prediction with what was measured. `base` are the figures of the run it was predicted from, which tell
 * what an echo would have got right; null for a replay. Of a run that failed only the outcome and the message count:
 * how far it had got depends on the order in which results came.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { compareFigures } from "./fidelity.ts";
 *
 * const run = (evicted: number) => ({
 *   succeeded: true, message: "", direct: 8, indirect: 0, dropped: 0, evicted, cachedInMemory: 8, memorySpilled: 0,
 *   diskSpilled: 0, spilledTasks: 0, spilledStages: 0, stageAttempts: 2, durationMs: null,
 * });
 * const wrong = compareFigures(run(24), run(0), run(24)).filter(({ right }) => !right);
 * assertEquals(wrong, [{ figure: "evicted", measured: 0, predicted: 24, changed: true, right: false }]);
 * ```
 */
export function compareFigures(predicted: RunFigures, measured: RunFigures, base: RunFigures | null): FigureResult[] {
  const tolerance = base === null ? REPLAY_TOLERANCE : TOLERANCE;
  const results: FigureResult[] = [];
  const add = (figure: FigureName, right: (a: number, b: number) => boolean) => {
    const [a, b] = [predicted[figure], measured[figure]];
    if (typeof a !== "number" || typeof b !== "number") return;
    const before = base?.[figure];
    const changed = typeof before === "number" && !right(before, b);
    results.push({ figure, measured: b, predicted: a, changed, right: right(a, b) });
  };
  results.push({
    figure: "succeeded",
    measured: measured.succeeded,
    predicted: predicted.succeeded,
    changed: base !== null && base.succeeded !== measured.succeeded,
    right: predicted.succeeded === measured.succeeded,
  });
  if (!measured.succeeded) return [...results, ...compareMessages(predicted, measured)];
  const near = (slack: number) => (a: number, b: number) => Math.abs(a - b) <= Math.max(tolerance * Math.abs(b), slack);
  const same = (a: number, b: number) => a === b;
  add("direct", (a, b) => Math.abs(a - b) <= Math.max(0.02 * b, 1));
  add("indirect", same);
  add("dropped", same);
  add("evicted", near(SLACK_BLOCKS));
  add("cachedInMemory", near(SLACK_BLOCKS));
  const nearSpill = (a: number, b: number) => (a > 0) === (b > 0) && near(0)(a, b);
  add("memorySpilled", nearSpill);
  add("diskSpilled", nearSpill);
  add("spilledTasks", near(1));
  add("spilledStages", same);
  add("stageAttempts", same);
  return [...results, ...compareDurations(predicted, measured, base)];
}

function compareMessages(predicted: RunFigures, measured: RunFigures): FigureResult[] {
  const kind = MESSAGE_KINDS.exec(measured.message)?.[0];
  if (kind === undefined) return [];
  return [{
    figure: "message",
    measured: kind,
    predicted: predicted.message.slice(0, 160),
    changed: false,
    right: predicted.message.includes(kind),
  }];
}

/**
 * Time: repeated runs with equal settings differ by a factor of two and more on a busy machine, so at most the direction
 * can be judged of what changes by more than that; it is counted apart.
 */
function compareDurations(predicted: RunFigures, measured: RunFigures, base: RunFigures | null): FigureResult[] {
  const [a, b, before] = [predicted.durationMs, measured.durationMs, base?.durationMs ?? null];
  if (a === null || b === null || before === null || before <= 0 || b <= 0) return [];
  const real = b / before;
  if (real < 2 && real > 0.5) return [];
  return [{
    figure: "durationMs",
    measured: Math.round(b),
    predicted: Math.round(a),
    changed: true,
    right: (real > 1) === (a > before),
  }];
}

/** What {@linkcode tallyOf} counts. */
export interface Tallies {
  /** Outcomes and messages that do not change with the setting. */
  readonly outcome: Tally;
  /** Figures that stay as they were. */
  readonly same: Tally;
  /** Figures that change with the setting: what an echo of the log gets wrong. */
  readonly changed: Tally;
  /** Directions of durations, where the measured ones differ by more than twice. */
  readonly time: Tally;
  readonly byFigure: Readonly<Record<string, Tally>>;
}

/**
 * Counts of all predictions: outcomes, figures that stay and figures that change.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { tallyOf } from "./fidelity.ts";
 *
 * const right = { figure: "succeeded" as const, measured: true, predicted: true, changed: false, right: true };
 * assertEquals(tallyOf([{ from: "a", of: "b", results: [right] }]).outcome, { right: 1, all: 1 });
 * ```
 */
export function tallyOf(predictions: readonly Prediction[]): Tallies {
  const tallies = {
    outcome: { right: 0, all: 0 },
    same: { right: 0, all: 0 },
    changed: { right: 0, all: 0 },
    time: { right: 0, all: 0 },
    byFigure: {} as Record<string, Tally>,
  };
  for (const { figure, changed, right } of predictions.flatMap(({ results }) => results)) {
    const kind = figure === "durationMs"
      ? "time"
      : changed
      ? "changed"
      : figure === "succeeded" || figure === "message"
      ? "outcome"
      : "same";
    for (const tally of [tallies[kind], tallies.byFigure[figure] ??= { right: 0, all: 0 }]) {
      tally.all++;
      if (right) tally.right++;
    }
  }
  return tallies;
}

/**
 * The predictions as text: the counts, and every figure that is wrong.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { fidelityText } from "./fidelity.ts";
 *
 * assertEquals(fidelityText([]).startsWith("0 predictions"), true);
 * ```
 */
export function fidelityText(predictions: readonly Prediction[]): string {
  const { outcome, same, changed, time, byFigure } = tallyOf(predictions);
  const of = ({ right, all }: Tally) => `${right} of ${all}`;
  const lines = [
    `${predictions.length} predictions: outcomes ${of(outcome)}, figures that stay ${of(same)}, ` +
    `figures that change ${of(changed)}; directions of time ${of(time)}`,
    "",
    ...Object.entries(byFigure).map(([figure, tally]) => `  ${figure.padEnd(15)} ${of(tally)}`),
    "",
  ];
  for (const { from, of: run, results } of predictions) {
    for (const { figure, measured, predicted, changed: differs, right } of results) {
      if (right) continue;
      const what = from === run ? `replay of ${run}` : `${from} -> ${run}`;
      lines.push(`  ${what}: ${figure} ${predicted}, measured ${measured}${differs ? "" : " (as before)"}`);
    }
  }
  return lines.join("\n") + "\n";
}
