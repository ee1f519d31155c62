/**
 * The figures by which runs are compared, as a person reads them.
 *
 * @module
 */
import type { Recorded, Summary } from "../report/summary.ts";
import { duration, size } from "../report/verdict/finding.ts";

const count = (value: Recorded) => value === null ? "-" : value.toLocaleString("en-US");
const bytes = (value: Recorded) => value === null ? "-" : size(value);

/** A figure: what it is called and how it reads; "-" where it was not recorded. */
export type FigureRow = readonly [label: string, value: (summary: Summary) => string];

/**
 * The figures of a run that people compare, in the order of a table.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { FIGURE_ROWS } from "./figure_rows.ts";
 *
 * assertEquals(FIGURE_ROWS[0][0], "outcome");
 * ```
 */
export const FIGURE_ROWS: readonly FigureRow[] = [
  ["outcome", ({ outcome }) => outcome.status],
  ["duration", ({ durationMs }) => durationMs === null ? "-" : duration(durationMs)],
  ["executors", ({ executors }) => count(executors.length)],
  [
    "memory of an executor",
    ({ executors }) => bytes(executors.find(({ maxMemory }) => maxMemory !== null)?.maxMemory ?? null),
  ],
  ["tasks succeeded", ({ stages }) => count(stages.reduce((sum, { tasks }) => sum + tasks.succeeded, 0))],
  ["failed or killed", ({ stages }) => count(stages.reduce((sum, { tasks }) => sum + tasks.failed + tasks.killed, 0))],
  ["blocks evicted", ({ storage }) => count(storage.blocksEvicted)],
  ["blocks dropped to disk", ({ storage }) => count(storage.blocksDroppedToDisk)],
  ["cached partitions found", ({ storage }) => count(storage.cacheHits)],
  ["cached partitions computed", ({ storage }) => count(storage.cacheMisses)],
  ["blocks in memory at the end", ({ storage }) => count(storage.cachedAtEnd.memoryBlocks)],
  ["memory spilled", ({ execution }) => bytes(execution.memoryBytesSpilled)],
  ["tasks that spilled", ({ execution }) => count(execution.spilledTasks)],
  ["out of memory", ({ execution }) => count(execution.oomTasks)],
  ["waits for memory", ({ execution }) => count(execution.waits)],
  ["results direct", ({ results }) => count(results.direct)],
  ["results indirect", ({ results }) => count(results.indirect)],
  ["results dropped", ({ results }) => count(results.dropped)],
];

/** "blocks evicted: 24 instead of 0" for each figure in which two runs differ, and their messages when they fail differently. */
export function figureDifferences(summary: Summary, without: Summary): string[] {
  const differences: string[] = [];
  for (const [label, value] of FIGURE_ROWS) {
    const [now, otherwise] = [value(summary), value(without)];
    if (now !== otherwise) differences.push(`${label}: ${now} instead of ${otherwise}`);
  }
  const [now, otherwise] = [summary.outcome.reason, without.outcome.reason];
  if (now !== null && otherwise !== null && now !== otherwise) {
    differences.push(`message: "${now}" instead of "${otherwise}"`);
  }
  return differences;
}
