/**
 * What happened to memory, counted by bucket of time, with the largest happening of each bucket as its example.
 *
 * @module
 */
import type { GridHolder, TimeGrid } from "./charts_time_grid.ts";

/** What is marked in the memory chart. */
export type MarkKind =
  | "evicted"
  | "refused"
  | "wait"
  | "spill"
  | "outOfMemory"
  | "removed";

/** What happened in one bucket of time on one executor, with the largest as the example. */
export interface MemoryMark {
  readonly kind: MarkKind;
  readonly timeMs: number;
  readonly count: number;
  /** How many of them concern blocks of RDDs; broadcasts are evicted like these. */
  readonly rddBlocks: number;
  readonly bytes: number;
  readonly example: MarkExample;
}

/** One of the happenings of a mark. */
export interface MarkExample {
  readonly timeMs: number;
  readonly bytes: number;
  /** The block or consumer that it happened to. */
  readonly subject: string;
  /** For whom: a block, a task or a consumer; null when not recorded. */
  readonly cause: string | null;
  readonly taskId: number | null;
  /** It went to disk. */
  readonly toDisk: boolean;
  readonly waitMs: number | null;
}

interface MutableMark {
  kind: MarkKind;
  bucket: number;
  count: number;
  rddBlocks: number;
  bytes: number;
  example: MarkExample;
}

/**
 * The marks of one executor.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { TimeGrid } from "./charts_time_grid.ts";
 * import { MarkTally } from "./charts_marks.ts";
 *
 * const grid = new TimeGrid(512);
 * const tally = new MarkTally();
 * const example = { subject: "rdd_1_0", cause: null, taskId: null, toDisk: false, waitMs: null };
 * tally.add("evicted", grid.bucketOf(1000), { ...example, timeMs: 1000, bytes: 10 });
 * tally.add("evicted", grid.bucketOf(1000), { ...example, timeMs: 1000, bytes: 30, subject: "rdd_1_1" });
 * const [mark] = tally.finish(grid);
 * assertEquals([mark.count, mark.rddBlocks, mark.bytes, mark.example.subject], [2, 2, 40, "rdd_1_1"]);
 * ```
 */
export class MarkTally implements GridHolder {
  #marks = new Map<string, MutableMark>();

  /** One more happening in a bucket. */
  add(kind: MarkKind, bucket: number, example: MarkExample): void {
    const { bytes } = example;
    const rddBlocks = example.subject.startsWith("rdd_") ? 1 : 0;
    merge(this.#marks, { kind, bucket, count: 1, rddBlocks, bytes, example });
  }

  halve(): void {
    const merged = new Map<string, MutableMark>();
    for (const mark of this.#marks.values()) {
      merge(merged, { ...mark, bucket: Math.floor(mark.bucket / 2) });
    }
    this.#marks = merged;
  }

  /** The marks in order of time. */
  finish(grid: TimeGrid): MemoryMark[] {
    return [...this.#marks.values()]
      .sort((a, b) => a.bucket - b.bucket || (a.kind < b.kind ? -1 : 1))
      .map(({ kind, bucket, count, rddBlocks, bytes, example }) => ({
        kind,
        timeMs: count === 1 ? example.timeMs : grid.timeOf(bucket),
        count,
        rddBlocks,
        bytes,
        example,
      }));
  }
}

function merge(marks: Map<string, MutableMark>, mark: MutableMark): void {
  const key = `${mark.kind} ${mark.bucket}`;
  const known = marks.get(key);
  if (known === undefined) {
    marks.set(key, mark);
    return;
  }
  known.count += mark.count;
  known.rddBlocks += mark.rddBlocks;
  known.bytes += mark.bytes;
  if (mark.example.bytes > known.example.bytes) known.example = mark.example;
}
