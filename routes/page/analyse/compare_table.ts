/**
 * Observed, replayed and predicted side by side.
 *
 * @module
 */
import type { Summary } from "../../../src/report/summary.ts";
import { dataTable } from "../charts/panel.ts";
import { h } from "../ui/dom.ts";
import { formatBytes, formatCount, formatMs } from "../ui/format.ts";

type Row = readonly [name: string, value: (summary: Summary) => string];

const ROWS: readonly Row[] = [
  ["Outcome", ({ outcome }) => outcome.status],
  ["Time", ({ durationMs }) => formatMs(durationMs)],
  ["Executors", ({ executors }) => formatCount(executors.filter(({ executorId }) => executorId !== "driver").length)],
  ["Unified memory of an executor", ({ executors }) => formatBytes(memoryOf(executors))],
  ["Tasks succeeded", ({ stages }) => formatCount(stages.reduce((sum, { tasks }) => sum + tasks.succeeded, 0))],
  [
    "Failed or killed",
    ({ stages }) => formatCount(stages.reduce((sum, { tasks }) => sum + tasks.failed + tasks.killed, 0)),
  ],
  ["Blocks evicted", ({ storage }) => formatCount(storage.blocksEvicted)],
  ["Bytes evicted", ({ storage }) => formatBytes(storage.bytesEvicted)],
  ["Dropped to disk", ({ storage }) => formatCount(storage.blocksDroppedToDisk)],
  ["Puts refused", ({ storage }) => formatCount(storage.putsRefused)],
  ["Read from the cache", ({ storage }) => formatCount(storage.cacheHits)],
  ["Computed", ({ storage }) => formatCount(storage.cacheMisses)],
  ["Cached at the end", ({ storage }) => formatBytes(storage.cachedAtEnd.memoryBytes)],
  ["Memory spilled", ({ execution }) => formatBytes(execution.memoryBytesSpilled)],
  ["Tasks that spilled", ({ execution }) => formatCount(execution.spilledTasks)],
  ["Waits for memory", ({ execution }) => formatCount(execution.waits)],
  ["Out of memory", ({ execution }) => formatCount(execution.oomTasks)],
  ["Results direct", ({ results }) => formatCount(results.direct)],
  ["Results indirect", ({ results }) => formatCount(results.indirect)],
  ["Results dropped", ({ results }) => formatCount(results.dropped)],
];

function memoryOf(executors: Summary["executors"]): number | null {
  const worker = executors.find(({ executorId, maxMemory }) => executorId !== "driver" && maxMemory !== null);
  return worker?.maxMemory ?? executors.find(({ maxMemory }) => maxMemory !== null)?.maxMemory ?? null;
}

/** The runs that there are. */
export interface ComparedRuns {
  readonly observed: Summary;
  readonly replayed: Summary | null;
  readonly predicted: Summary | null;
}

/** The table: what differs between replayed and predicted is marked. */
export function compareTable({ observed, replayed, predicted }: ComparedRuns): HTMLElement {
  const waiting = h("span", { class: "muted" }, "…");
  return dataTable({
    caption: "Observed, replayed and predicted",
    columns: [
      { name: "" },
      { name: "Observed", isNumber: true },
      { name: "Replayed", isNumber: true },
      { name: "Predicted", isNumber: true },
    ],
    rows: ROWS.map(([name, value]) => {
      const after = predicted === null ? null : value(predicted);
      const differs = after !== null && replayed !== null && after !== value(replayed);
      return [
        name,
        value(observed),
        replayed === null ? waiting.cloneNode(true) : value(replayed),
        after === null ? h("span", { class: "muted" }, "–") : differs ? h("strong", {}, after) : after,
      ];
    }),
  });
}
