import { assertEquals } from "@std/assert";
import { FAILED, ON_HEAP } from "../../../../src/simulator/memory/execution_memory.ts";
import type { MemoryBlock } from "../../../../src/simulator/memory/memory_consumer.ts";
import type { SpillRules } from "../../../../src/simulator/memory/spill_rules.ts";
import { rulesFor } from "../../../../src/spark/versions.ts";
import { TaskMemoryManager } from "../../../../src/simulator/memory/task_memory_manager.ts";
import { UnsafeExternalSorter } from "../../../../src/simulator/memory/consumers/unsafe_external_sorter.ts";
import type { ConsumerInput } from "../../../../src/simulator/memory/consumers/stepped_consumer.ts";
import { gzipLines } from "../../../support/gzip_lines.ts";
import { PlainExecutor } from "../plain_executor.ts";

const SPILL_RULES_2_4 = rulesFor("2.4.0").spilling;
const SPILL_RULES_3_5 = rulesFor("3.5.9").spilling;

const TRACES = new URL("../../../testdata/spilling/consumers/", import.meta.url);

type Log = (kind: string, numBytes: number, alsoHeld?: number) => void;

/** Writes the lines that the recording harness wrote at each acquire and release. */
class LoggingSorter extends UnsafeExternalSorter {
  constructor(manager: TaskMemoryManager, input: ConsumerInput, readonly log: Log) {
    super(manager, input);
  }

  override allocatePage(required: number): number {
    return this.#asked(Math.max(required, this.pageSize), () => super.allocatePage(required));
  }

  override allocateArray(numLongs: number): number {
    return this.#asked(numLongs * 8, () => super.allocateArray(numLongs));
  }

  override freePage(page: MemoryBlock): boolean {
    const done = super.freePage(page);
    this.log("rel", page.size);
    return done;
  }

  #asked(numBytes: number, request: () => number): number {
    this.log("ask", numBytes);
    const granted = request();
    const short = granted === FAILED ? this.taskMemoryManager.failure!.outOfMemory!.got : 0;
    // What is too small was still held when the recording wrote the line.
    this.log("got", granted === FAILED ? short : granted, short);
    if (short > 0) this.log("rel", short);
    return granted;
  }
}

/** Runs the sorters of a trace: records go to them in turn, as in the recording. */
// deno-lint-ignore no-explicit-any
function run(header: any, rules: SpillRules = SPILL_RULES_2_4) {
  const executor = new PlainExecutor({ onHeap: header.heap, storageFraction: 0.5 });
  const task = new TaskMemoryManager(executor, 0, {
    tungstenMemoryMode: ON_HEAP,
    pageSizeBytes: header.pageSizeBytes,
    rules,
  });
  const lines: unknown[][] = [];
  let rec = -1;
  const log: Log = (kind, numBytes, alsoHeld = 0) => {
    const held = kind === "ask" ? [] : [task.memoryConsumption + alsoHeld];
    lines.push([rec, kind, numBytes, ...held]);
  };
  const sorters = Array.from({ length: header.sorters }, (_, i) => {
    const records = Math.floor((header.records - i + header.sorters - 1) / header.sorters);
    return new LoggingSorter(task, { name: `sorter ${i}`, records, bytes: records * header.recordBytes }, log);
  });
  const recordOf = (i: number) => Math.round(sorters[i].nextAt * sorters[i].input.records) * header.sorters + i;
  const next = () => sorters.reduce((best, _, i) => recordOf(i) < recordOf(best) ? i : best, 0);
  let failed = sorters.some((sorter) => sorter.step() === "failed");
  while (!failed && sorters[next()].nextAt < 1) {
    rec = recordOf(next());
    failed = sorters[next()].step() === "failed";
  }
  if (failed) return { lines, sorters, task };
  rec = header.records;
  for (const sorter of sorters) while (sorter.step() !== "done");
  return { lines, sorters, task };
}

/** The recorded lines in the same form; the harness also wrote lines of its own. */
// deno-lint-ignore no-explicit-any
function recorded(lines: any[]): unknown[][] {
  return lines.filter(({ k }) => k === "ask" || k === "got" || k === "rel").map((line) =>
    line.k === "ask" ? [line.rec, "ask", line.n] : [line.rec, line.k, line.k === "rel" ? line.n : line.got, line.task]
  );
}

for await (const { name } of Deno.readDir(TRACES)) {
  if (!name.startsWith("sorter")) continue;
  // Recorded from the real UnsafeExternalSorter of Spark 2.4.0; every line must follow from the header.
  Deno.test(`asks for memory as Spark 2.4.0 does: ${name}`, async () => {
    const [header, ...rest] = await gzipLines(new URL(name, TRACES));
    const { lines, sorters } = run(header);
    assertEquals(lines, recorded(rest));
    const end = rest.at(-1);
    // The log of a sorter that could not be made knows no peak.
    if (lines.length > 3) assertEquals(Math.max(...sorters.map((s) => s.peakExecutionMemory)), end.peak);
    assertEquals(sorters.reduce((sum, s) => sum + s.memoryBytesSpilled, 0), end.memoryBytesSpilled);
  });
}
