/**
 * A what-if as text: what changes first, then the figures side by side.
 *
 * @module
 */
import { findingText } from "../report/text.ts";
import type { Recorded, Summary } from "../report/summary.ts";
import { duration, size } from "../report/verdict/finding.ts";
import type { WhatIf } from "./what_if.ts";

const count = (value: Recorded) => value === null ? "-" : value.toLocaleString("en-US");
const bytes = (value: Recorded) => value === null ? "-" : size(value);

type Row = readonly [label: string, value: (summary: Summary) => string];

const ROWS: readonly Row[] = [
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

/**
 * The report of a what-if.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { whatIfText } from "./text.ts";
 * import { whatIf } from "./what_if.ts";
 *
 * const text = whatIfText(whatIf(emptyWorkload("nothing"), null, {}));
 * assertEquals(text.includes("As recorded the application succeeds."), true);
 * ```
 */
export function whatIfText(answer: WhatIf): string {
  const parts = [answer.verdict.map(findingText).join("\n"), table(answer)];
  if (answer.changes.length > 0) {
    const lines = answer.changes.map(({ key, from, to }) => `  ${key}: ${from ?? "not set"} -> ${to ?? "not set"}`);
    parts.unshift(["What if", ...lines].join("\n"));
  }
  if (answer.warnings.length > 0) {
    parts.push(["Warnings", ...answer.warnings.map(({ message }) => `  ${message}`)].join("\n"));
  }
  const assumed = answer.evidence.filter(({ grade }) => grade === "assumed");
  if (assumed.length > 0) {
    const lines = assumed.slice(0, 12).map(({ subject, field, how, wouldRecord }) =>
      `  ${subject}, ${field}: ${how}${wouldRecord === undefined ? "" : ` (recorded with ${wouldRecord})`}`
    );
    const more = assumed.length > lines.length ? [`  and ${assumed.length - lines.length} more`] : [];
    parts.push(["Assumed, because the log does not tell", ...lines, ...more].join("\n"));
  }
  return parts.join("\n\n") + "\n";
}

function table({ observed, replayed, predicted, changes }: WhatIf): string {
  const columns: (readonly [string, Summary])[] = [];
  if (observed !== null) columns.push(["log", observed]);
  columns.push(["replayed", replayed]);
  if (changes.length > 0) columns.push(["predicted", predicted]);
  const lines = [
    ["", ...columns.map(([title]) => title)],
    ...ROWS.map(([label, value]) => [
      label,
      ...columns.map(([, summary]) => value(summary)),
    ]),
  ];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return lines.map((line) =>
    ("  " + line.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join("  ")).trimEnd()
  ).join("\n");
}
