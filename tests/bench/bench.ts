/**
 * What all benches have in common: a row is one work, ours against a peer's, timed in turns.
 *
 * @module
 */

/** How benches are run. */
export interface BenchOptions {
  /** Turns, ours and the peer's. */
  readonly rounds: number;
  /** Small inputs: for seeing that it works. */
  readonly quick: boolean;
  /** A folder with the traces recorded from the real Spark (conformance/memory/big), or null. */
  readonly traces: string | null;
  /** The folder of the harnesses around the real Spark (SPARKMEM_ORACLE), or null. */
  readonly oracle: string | null;
  /** Hears of each comparison when it is known: all of them take minutes, and a run that is cut off has said what it found. */
  readonly measured: (row: BenchRow) => void;
}

/** One comparison. */
export interface BenchRow {
  readonly work: string;
  readonly peer: string;
  /** Work done in a second, for example millions of operations. */
  readonly unit: string;
  readonly ours: number;
  readonly theirs: number;
  /** Median over the rounds of our speed divided by the peer's, with the lowest and the highest. */
  readonly ratio: number;
  readonly low: number;
  readonly high: number;
  /** What the project aims at; null where there is only a report. */
  readonly aim: number | null;
  /** The same for both, where both compute the same. */
  readonly checksum: string | null;
}

/** A group of comparisons. */
export interface Bench {
  readonly name: string;
  readonly what: string;
  run(options: BenchOptions): Promise<{ rows: BenchRow[]; notes: string[] }>;
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1];
}

/** One side of a comparison: runs once, in a process of its own where that matters. */
export type Side = () => Promise<{ readonly perSecond: number; readonly checksum: string | null }>;

/** Lets both sides run in turns and gives the row; throws when they do not compute the same. */
export async function compare(
  labels: { readonly work: string; readonly peer: string; readonly unit: string; readonly aim: number | null },
  ours: Side,
  theirs: Side,
  rounds: number,
): Promise<BenchRow> {
  const speeds: { ours: number; theirs: number }[] = [];
  let checksum: string | null = null;
  for (let round = 0; round < rounds; round++) {
    const a = await ours();
    const b = await theirs();
    if (a.checksum !== null && b.checksum !== null && a.checksum !== b.checksum) {
      throw new Error(`${labels.work}: ours gives ${a.checksum}, ${labels.peer} ${b.checksum}`);
    }
    checksum = a.checksum ?? b.checksum;
    speeds.push({ ours: a.perSecond, theirs: b.perSecond });
  }
  const ratios = speeds.map((speed) => speed.ours / speed.theirs);
  return {
    ...labels,
    ours: median(speeds.map((speed) => speed.ours)),
    theirs: median(speeds.map((speed) => speed.theirs)),
    ratio: median(ratios),
    low: Math.min(...ratios),
    high: Math.max(...ratios),
    checksum,
  };
}
