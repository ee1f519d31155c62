import { assertEquals } from "@std/assert";
import { basename } from "node:path";
import { ON_HEAP } from "../../../../src/simulator/memory/execution_memory.ts";
import { TaskMemoryManager } from "../../../../src/simulator/memory/task_memory_manager.ts";
import { UnsafeExternalSorter } from "../../../../src/simulator/memory/consumers/unsafe_external_sorter.ts";
import { rulesFor } from "../../../../src/spark/versions.ts";
import { traceFiles, traceLines } from "../../../support/traces.ts";
import { PlainExecutor } from "../plain_executor.ts";
import { AcquisitionLog, recordedLines, type TraceLine } from "./consumer_traces.ts";

/** Runs the sorters of a trace: records go to them in turn, as in the recording. */
function run(header: TraceLine) {
  const executor = new PlainExecutor({ onHeap: header.heap, storageFraction: 0.5 });
  const task = new TaskMemoryManager(executor, 0, {
    tungstenMemoryMode: ON_HEAP,
    pageSizeBytes: header.pageSizeBytes,
    rules: rulesFor("2.4.0").spilling,
  });
  const log = new AcquisitionLog();
  const sorters = Array.from({ length: header.sorters }, (_, i) => {
    const records = Math.floor((header.records - i + header.sorters - 1) / header.sorters);
    const input = { name: `sorter ${i}`, records, bytes: records * header.recordBytes };
    return log.watch(new UnsafeExternalSorter(task, input), "sorter");
  });
  const recordOf = (i: number) => Math.round(sorters[i].nextAt * sorters[i].input.records) * header.sorters + i;
  const next = () => sorters.reduce((best, _, i) => recordOf(i) < recordOf(best) ? i : best, 0);
  let failed = sorters.some((sorter) => sorter.step() === "failed");
  while (!failed && sorters[next()].nextAt < 1) {
    log.rec = recordOf(next());
    failed = sorters[next()].step() === "failed";
  }
  log.rec = header.records;
  if (!failed) { for (const sorter of sorters) while (sorter.step() !== "done"); }
  return { lines: log.lines, sorters, failed };
}

for (const path of traceFiles("spilling/consumers")) {
  const name = basename(path, ".jsonl.gz");
  if (!name.startsWith("sorter")) continue;
  // Recorded from the real UnsafeExternalSorter of Spark 2.4.0; every line must follow from the header.
  Deno.test(`asks for memory as Spark 2.4.0 does: ${name}`, async () => {
    const [header, ...rest] = await traceLines(path);
    const { lines, sorters, failed } = run(header);
    assertEquals(lines, recordedLines(rest));
    const end = rest.at(-1);
    assertEquals(sorters.reduce((sum, s) => sum + s.memoryBytesSpilled, 0), end.memoryBytesSpilled);
    // A sorter that could not be made has no peak.
    if (!failed) assertEquals(Math.max(...sorters.map((s) => s.peakExecutionMemory)), end.peak);
  });
}
