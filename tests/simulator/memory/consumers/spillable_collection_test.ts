import { assertEquals } from "@std/assert";
import { basename } from "node:path";
import { ON_HEAP } from "../../../../src/simulator/memory/execution_memory.ts";
import { TaskMemoryManager } from "../../../../src/simulator/memory/task_memory_manager.ts";
import type { CollectionSize } from "../../../../src/simulator/memory/consumers/collection_size.ts";
import { ExternalAppendOnlyMap } from "../../../../src/simulator/memory/consumers/external_append_only_map.ts";
import { UnsafeExternalSorter } from "../../../../src/simulator/memory/consumers/unsafe_external_sorter.ts";
import type { SteppedConsumer } from "../../../../src/simulator/memory/consumers/stepped_consumer.ts";
import { rulesFor } from "../../../../src/spark/versions.ts";
import { traceFiles, traceLines } from "../../../support/traces.ts";
import { PlainExecutor } from "../plain_executor.ts";
import { AcquisitionLog, recordedLines, type TraceLine } from "./consumer_traces.ts";

/** Bytes of a record that goes to the sorter beside the map, and how many go with each record of the map. */
const SORTER_RECORD_BYTES = 64;
const SORTER_RECORDS = 4;

/** The estimates that Spark's sampling gave, read off the recorded requests: here they are input, not outcome. */
class RecordedEstimates implements CollectionSize {
  /** For each time the map was empty: the record before which it was, and the estimates until it was emptied. */
  readonly #epochs: { from: number; points: { rec: number; bytes: number }[] }[] = [{ from: 0, points: [] }];

  constructor(initialThreshold: number, lines: readonly TraceLine[]) {
    let threshold = initialThreshold;
    for (const line of lines) {
      if (line.who !== "map") continue;
      const { points } = this.#epochs[this.#epochs.length - 1];
      if (line.k === "ask") points.push({ rec: line.rec, bytes: (line.n + threshold) / 2 });
      if (line.k === "got") threshold += line.got;
      if (line.k !== "rel") continue;
      threshold -= line.n;
      this.#epochs.push({ from: line.rec, points: [] });
    }
  }

  bytesAfter(records: number, before: number): number {
    const { points } = this.#epochs.findLast(({ from }) => from <= before)!;
    return points.findLast(({ rec }) => rec <= before + records)?.bytes ?? 0;
  }

  recordsUntil(bytes: number, from: number, until: number, before: number): number {
    const { points } = this.#epochs.findLast((epoch) => epoch.from <= before)!;
    const first = points.find((point) => point.rec >= before + from && point.bytes >= bytes);
    return first === undefined || first.rec > before + until ? Infinity : first.rec - before;
  }
}

/** Runs the consumers of a trace record by record: the map's record first, then the sorter's. */
function run(header: TraceLine, size: CollectionSize) {
  const executor = new PlainExecutor({ onHeap: header.heap, storageFraction: 0.5 });
  const task = new TaskMemoryManager(executor, 0, {
    tungstenMemoryMode: ON_HEAP,
    pageSizeBytes: header.pageSizeBytes,
    rules: rulesFor("2.4.0").spilling,
  });
  const log = new AcquisitionLog();
  const { records, initialMemoryThreshold } = header;
  const host = { position: () => Math.max(0, log.rec + 1) / records };
  const map = new ExternalAppendOnlyMap(task, { name: "map", records, bytes: 0 }, {
    size,
    host,
    settings: { initialMemoryThreshold },
  });
  const consumers: SteppedConsumer[] = [log.watch(map, "map")];
  if (header.withSorter) {
    const sorted = records * SORTER_RECORDS;
    const input = { name: "sorter", records: sorted, bytes: sorted * SORTER_RECORD_BYTES };
    consumers.push(log.watch(new UnsafeExternalSorter(task, input), "sorter"));
  }
  for (const consumer of consumers) consumer.step();
  const recordOf = (consumer: SteppedConsumer) => Math.floor(consumer.nextAt * records + 1e-6);
  const next = () => consumers.reduce((best, other) => recordOf(other) < recordOf(best) ? other : best);
  while (next().nextAt < 1) {
    log.rec = recordOf(next());
    next().step();
  }
  log.rec = records;
  for (const consumer of consumers.slice(1)) while (consumer.step() !== "done");
  return { lines: log.lines, map };
}

for (const path of traceFiles("spilling/consumers")) {
  const name = basename(path, ".jsonl.gz");
  if (!name.startsWith("map")) continue;
  // Recorded from the real ExternalAppendOnlyMap of Spark 2.4.0; its estimates are taken from the recording.
  Deno.test(`asks for memory as Spark 2.4.0 does: ${name}`, async () => {
    const [header, ...rest] = await traceLines(path);
    const { lines, map } = run(header, new RecordedEstimates(header.initialMemoryThreshold, rest));
    assertEquals(lines, recordedLines(rest));
    assertEquals(map.memoryBytesSpilled, rest.at(-1).memoryBytesSpilled);
  });
}
