/**
 * The other way round: what went into a consumer, from what an event log records of a task.
 *
 * @module
 */
import type { ConsumerKind, Grade } from "../../workload.ts";
import { diskBytesPerByte } from "./disk_ratio.ts";
import { FastHashMap } from "./fast_hash_map.ts";
import { keyRangeOf, pagesAndArray, recordBytesFromPages } from "./recorded_pages.ts";
import type { TaskSettings } from "./solo_run.ts";
import type { ConsumerInput } from "./stepped_consumer.ts";

/** What a log tells of one consumer in one task; null where it does not. */
export interface RecordedConsumer {
  readonly kind: ConsumerKind;
  readonly name: string;
  readonly records: number;
  /** Groups of an aggregation ("number of output rows"), keys of a map. */
  readonly keys: number | null;
  /**
   * Mean size in the consumer's form, where an exchange next to it tells ("data size" by records). An aggregation keeps
   * key and buffer in two rows: 8 bytes more than the exchange's.
   */
  readonly recordBytes: number | null;
  /** The operator's "peak memory", or the task's peakExecutionMemory where it is the only consumer that records one. */
  readonly peakMemory: number | null;
  readonly memoryBytesSpilled: number;
  readonly diskBytesSpilled: number;
  /** All that went in as it is on disk: what the task fetched, or wrote where the consumer writes the shuffle. */
  readonly serializedBytes: number | null;
  /** As the kind's model documents them. */
  readonly parameters: Readonly<Record<string, number>>;
}

/** A consumer's input, and how it was found. */
export interface InferredInput {
  readonly input: ConsumerInput;
  readonly grade: Grade;
  readonly how: string;
}

/** A row of which nothing is known: some six columns. */
const ASSUMED_RECORD_BYTES = 64;

/**
 * What a consumer was fed with.
 *
 * - Sorters: records times row size. Without a row size the peak tells it: what is left of it after a pointer array that
 *   holds the records is whole pages (kinds of sort whose remainder is no whole number of pages are ruled out), and that
 *   many records fill that many pages.
 * - Aggregations: likewise, with the map's array and the groups that its first level leaves to it.
 * - Collections of RDD jobs: the peak is Spark's estimate of all of it, where nothing was spilled. Where something was,
 *   the spilled estimate divided by the share of the bytes that went to disk, but not more than one more spill's worth.
 * - Builds of hash joins: `peakMemory` is the metric "data size of build side", array and pages together. On long keys
 *   it tells whether the array was made dense; the size of a row is assumed where no exchange tells it.
 * - Disk bytes: see {@linkcode diskBytesPerByte}.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { rulesFor } from "../../../spark/versions.ts";
 * import { ON_HEAP } from "../execution_memory.ts";
 * import { inferDemand } from "./infer_demand.ts";
 *
 * // A sort task of Spark 3.5.9 that spilled once: 524288 rows of 64 bytes were in memory then.
 * const { input, grade } = inferDemand({
 *   kind: "UnsafeExternalSorter", name: "Sort", records: 970151, keys: null, recordBytes: 64,
 *   peakMemory: 58720176, memoryBytesSpilled: 41942960, diskBytesSpilled: 23741517, serializedBytes: null,
 *   parameters: { radixSort: 1 },
 * }, { pageSizeBytes: 8388592, tungstenMemoryMode: ON_HEAP, rules: rulesFor("3.5.9").spilling });
 * assertEquals([input.bytes, grade], [970151 * 64, "observed"]);
 * assertEquals(input.diskBytesPerByte?.toFixed(4), (23741517 / (524288 * 64)).toFixed(4));
 * ```
 */
export function inferDemand(recorded: RecordedConsumer, settings: TaskSettings): InferredInput {
  const { bytes, grade, how, parameters } = bytesOf(recorded, settings);
  const { name, records, keys } = recorded;
  const input: ConsumerInput = { name, records, bytes, keys: keys ?? undefined, parameters };
  const { kind, memoryBytesSpilled, diskBytesSpilled, peakMemory } = recorded;
  const spilled = { consumers: [{ kind, input }], memoryBytesSpilled, diskBytesSpilled, peakMemory };
  const diskRatio = diskBytesPerByte([spilled], settings);
  return { input: diskRatio === null ? input : { ...input, diskBytesPerByte: diskRatio }, grade, how };
}

interface Bytes {
  readonly bytes: number;
  readonly grade: Grade;
  readonly how: string;
  readonly parameters: Readonly<Record<string, number>>;
}

function bytesOf(recorded: RecordedConsumer, settings: TaskSettings): Bytes {
  const { kind, records, recordBytes, parameters } = recorded;
  if (kind === "ExternalAppendOnlyMap" || kind === "ExternalSorter") return collectionBytes(recorded);
  if (recordBytes !== null) {
    return {
      bytes: Math.round(records * recordBytes),
      grade: "observed",
      how: "size of the exchange's rows",
      parameters: { ...parameters, ...keyRange(recorded, recordBytes) },
    };
  }
  return fromPages(recorded, settings) ?? {
    bytes: records * ASSUMED_RECORD_BYTES,
    grade: "assumed",
    how: `rows of ${ASSUMED_RECORD_BYTES} bytes`,
    parameters,
  };
}

/** Whether the array of a long-keyed relation was made dense shows in its size. */
function keyRange(
  { kind, records, peakMemory, parameters }: RecordedConsumer,
  recordBytes: number,
): Readonly<Record<string, number>> {
  if (kind !== "HashedRelation" || parameters.longKey !== 1 || peakMemory === null) return {};
  const range = keyRangeOf({ buildBytes: peakMemory, records, recordBytes });
  return range === null ? {} : { keyRange: range };
}

/** From the pages of a peak; null when it was not recorded or does not fit the kind. */
function fromPages(recorded: RecordedConsumer, settings: TaskSettings): Bytes | null {
  const { kind, records, peakMemory, memoryBytesSpilled, parameters } = recorded;
  if (peakMemory === null || peakMemory <= 0 || records <= 0 || parameters.longKey === 1) return null;
  const { pageSizeBytes } = settings;
  const found = pagesAndArray({
    kind,
    peakMemory,
    pageSizeBytes,
    records: recordsInPages(recorded),
    spilled: memoryBytesSpilled > 0,
    initialBufferSize: settings.consumers?.initialBufferSize ?? 4096,
    parameters,
  });
  if (found === null) return null;
  const recordBytes = recordBytesFromPages(kind, found, pageSizeBytes);
  return {
    bytes: Math.round(records * recordBytes),
    grade: "inferred",
    how: `${found.pages} pages in the recorded peak`,
    parameters: { ...parameters, ...found.parameters },
  };
}

/** Records that the pages of the peak hold, all together or at most. */
function recordsInPages({ kind, records, keys, parameters }: RecordedConsumer): number {
  if (kind !== "HashAggregation") return records;
  const groups = keys ?? records;
  if (parameters.fastMap !== 1) return groups;
  const capacity = 2 ** (parameters.capacityBit ?? 16);
  return Math.round(new FastHashMap(capacity, capacity).overflowOf(groups));
}

/** The estimated size of a whole collection. */
function collectionBytes(recorded: RecordedConsumer): Bytes {
  const { peakMemory, memoryBytesSpilled, diskBytesSpilled, serializedBytes, parameters } = recorded;
  if (memoryBytesSpilled <= 0) {
    return {
      bytes: peakMemory ?? recorded.records * ASSUMED_RECORD_BYTES,
      grade: peakMemory === null ? "assumed" : "observed",
      how: peakMemory === null ? `objects of ${ASSUMED_RECORD_BYTES} bytes` : "Spark's estimate of the collection",
      parameters,
    };
  }
  const share = serializedBytes !== null && diskBytesSpilled > 0
    ? Math.min(1, diskBytesSpilled / Math.max(1, serializedBytes))
    : 1;
  const most = memoryBytesSpilled + (peakMemory ?? 0);
  return {
    bytes: Math.round(Math.min(memoryBytesSpilled / share, most)),
    grade: "inferred",
    how: "what was spilled, by its share of the bytes on disk",
    parameters,
  };
}
