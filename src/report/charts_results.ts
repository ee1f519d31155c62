/**
 * Sizes of task results, as a fold: how many of which size went which way, and what each stage sent to the driver.
 *
 * @module
 */
import type { SparkEvent } from "../spark/events.ts";

/** How a result travelled. */
export type ResultPath = "direct" | "indirect" | "dropped" | "lost";

/** Results of one range of sizes: from `fromBytes` up to, and without, `toBytes`. */
export interface ResultBucket {
  readonly fromBytes: number;
  readonly toBytes: number;
  readonly direct: number;
  readonly indirect: number;
  readonly dropped: number;
  readonly lost: number;
}

/** What one stage attempt sent to the driver, against maxResultSize. */
export interface StageResults {
  readonly stageId: number;
  readonly attemptId: number;
  readonly count: number;
  readonly totalBytes: number;
  readonly maxBytes: number;
}

/** The chart. */
export interface ResultChart {
  /** Ascending, without gaps between the smallest and the largest. */
  readonly buckets: readonly ResultBucket[];
  /** Stage attempts with the largest totals, largest first. */
  readonly stages: readonly StageResults[];
}

/**
 * Number of the half octave that a size lies in: 2 e for [2^e, 1.5 2^e), 2 e + 1 for the rest up to 2^(e + 1);
 * sizes below 1 are in 0. Without logarithms, which differ between engines.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { halfOctave, halfOctaveStart } from "./charts_results.ts";
 *
 * assertEquals([1, 2, 3, 4, 1023, 1024, 1536].map(halfOctave), [0, 2, 3, 4, 19, 20, 21]);
 * assertEquals([19, 20, 21].map(halfOctaveStart), [768, 1024, 1536]);
 * ```
 */
export function halfOctave(bytes: number): number {
  let exponent = 0;
  let rest = bytes;
  while (rest >= 2) {
    rest /= 2;
    exponent++;
  }
  return 2 * exponent + (rest >= 1.5 ? 1 : 0);
}

/** Where a half octave begins. */
export function halfOctaveStart(index: number): number {
  return (index % 2 === 1 ? 1.5 : 1) * 2 ** Math.floor(index / 2);
}

interface Stage {
  stageId: number;
  attemptId: number;
  count: number;
  totalBytes: number;
  maxBytes: number;
}

/** Counts from one kind of event. */
class Tally {
  readonly buckets = new Map<number, Record<ResultPath, number>>();
  readonly stages = new Map<string, Stage>();

  add(
    stageId: number,
    attemptId: number,
    path: ResultPath,
    bytes: number,
  ): void {
    const index = halfOctave(bytes);
    let bucket = this.buckets.get(index);
    if (bucket === undefined) {
      bucket = { direct: 0, indirect: 0, dropped: 0, lost: 0 };
      this.buckets.set(index, bucket);
    }
    bucket[path]++;
    const key = `${stageId}.${attemptId}`;
    let stage = this.stages.get(key);
    if (stage === undefined) {
      stage = { stageId, attemptId, count: 0, totalBytes: 0, maxBytes: 0 };
      this.stages.set(key, stage);
    }
    stage.count++;
    stage.totalBytes += bytes;
    stage.maxBytes = Math.max(stage.maxBytes, bytes);
  }
}

/** The fold. */
export class ResultCharts {
  /** From taskResult, which simulated runs have. */
  readonly #told = new Tally();
  /** From the metrics of taskEnd. */
  readonly #measured = new Tally();
  readonly #maxStages: number;

  /** @param maxStages how many of the stages with the largest totals are kept */
  constructor(maxStages: number) {
    this.#maxStages = maxStages;
  }

  event(event: SparkEvent): void {
    if (event.kind === "taskResult") {
      this.#told.add(
        event.stageId,
        event.stageAttemptId,
        event.path,
        event.numBytes,
      );
    } else if (event.kind === "taskEnd" && event.metrics !== null) {
      const { resultSize } = event.metrics;
      if (resultSize <= 0) return;
      // Spark records when it began to fetch a result, and only results in blocks are fetched.
      const path = event.gettingResultTime > 0 ? "indirect" : "direct";
      this.#measured.add(
        event.stageId,
        event.stageAttemptId,
        path,
        resultSize,
      );
    }
  }

  finish(): ResultChart {
    const tally = this.#told.buckets.size > 0 ? this.#told : this.#measured;
    const indexes = [...tally.buckets.keys()].sort((a, b) => a - b);
    const buckets: ResultBucket[] = [];
    for (let i = indexes[0]; i <= indexes[indexes.length - 1]; i++) {
      buckets.push({
        fromBytes: halfOctaveStart(i),
        toBytes: halfOctaveStart(i + 1),
        ...(tally.buckets.get(i) ??
          { direct: 0, indirect: 0, dropped: 0, lost: 0 }),
      });
    }
    const stages = [...tally.stages.values()]
      .sort((a, b) => b.totalBytes - a.totalBytes || a.stageId - b.stageId)
      .slice(0, this.#maxStages);
    return { buckets, stages };
  }
}
