/**
 * A stage's work dealt out over another number of tasks.
 *
 * @module
 */
import type { Column, ConsumerDemand, Rdd, StageDemand } from "../simulator/workload.ts";

/** A task result without data: what does not grow with a partition. */
export const EMPTY_RESULT_BYTES = 1500;

/** The same time, dealt out by shares that add up to 1. */
function spreadTime(column: Column, shares: Column): Column {
  let sum = 0;
  for (const value of column) sum += value;
  return shares.map((share) => sum * share);
}

/** The same whole number, dealt out in whole numbers by shares that add up to 1. */
export function spread(column: Column, shares: Column): Column {
  let sum = 0;
  for (const value of column) sum += value;
  let dealt = 0;
  let share = 0;
  return shares.map((own) => {
    share += own;
    const before = dealt;
    dealt = Math.round(sum * share);
    return dealt - before;
  });
}

function spreadOrNull(column: Column | null, shares: Column): Column | null {
  return column === null ? null : spread(column, shares);
}

function spreadTimeOrNull(column: Column | null, shares: Column): Column | null {
  return column === null ? null : spreadTime(column, shares);
}

function mean(column: Column): number {
  let sum = 0;
  for (const value of column) sum += value;
  return column.length === 0 ? 0 : sum / column.length;
}

/** A figure that each task has whatever its share of the data: the mean. */
function repeated(column: Column, shares: Column): Column {
  return new Float64Array(shares.length).fill(mean(column));
}

export function spreadConsumer(consumer: ConsumerDemand, shares: Column): ConsumerDemand {
  return {
    ...consumer,
    records: spread(consumer.records, shares),
    bytes: spread(consumer.bytes, shares),
    keys: spreadOrNull(consumer.keys, shares),
    absentIn: null,
  };
}

/** A map task's result says only where its output is; a result task's grows with what it returns. */
function spreadResult(column: Column, shares: Column, isMapStage: boolean): Column {
  if (isMapStage) return repeated(column, shares).map(Math.round);
  const overhead = Math.min(EMPTY_RESULT_BYTES, mean(column));
  const data = spread(column.map((value) => Math.max(0, value - EMPTY_RESULT_BYTES)), shares);
  return data.map((value) => Math.round(overhead) + value);
}

/**
 * The demand of a stage whose tasks have other shares of its work.
 *
 * @param shares One for each task; they add up to 1.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { spreadDemand } from "./spread_work.ts";
 *
 * const of = (...values: number[]) => Float64Array.from(values);
 * const zeros = of(0, 0);
 * const demand = {
 *   name: "s", details: "", recordedStageId: 0, computeMs: of(30, 10), deserializeMs: of(2, 4),
 *   resultSerializationMs: zeros, speculativeComputeMs: null, commitMs: null, resultBytes: of(1000, 1000), valueBytes: null,
 *   serializedTaskBytes: null, inputBytes: zeros, inputRecords: zeros, outputBytes: zeros, outputRecords: zeros,
 *   shuffleReadBytes: of(100, 300), shuffleReadRecords: zeros, shuffleWriteBytes: zeros, shuffleWriteRecords: zeros,
 *   consumers: [], broadcastIds: [],
 * };
 * const { computeMs, deserializeMs, shuffleReadBytes } = spreadDemand(demand, of(0.5, 0.25, 0.25), true);
 * assertEquals([...computeMs], [20, 10, 10]);
 * assertEquals([...deserializeMs], [3, 3, 3]);
 * assertEquals([...shuffleReadBytes], [200, 100, 100]);
 * ```
 */
export function spreadDemand(demand: StageDemand, shares: Column, isMapStage: boolean): StageDemand {
  return {
    ...demand,
    computeMs: spreadTime(demand.computeMs, shares),
    deserializeMs: repeated(demand.deserializeMs, shares),
    resultSerializationMs: repeated(demand.resultSerializationMs, shares),
    speculativeComputeMs: spreadTimeOrNull(demand.speculativeComputeMs, shares),
    commitMs: demand.commitMs === null ? null : repeated(demand.commitMs, shares),
    resultBytes: spreadResult(demand.resultBytes, shares, isMapStage),
    valueBytes: demand.valueBytes === null ? null : spreadResult(demand.valueBytes, shares, isMapStage),
    serializedTaskBytes: demand.serializedTaskBytes === null ? null : repeated(demand.serializedTaskBytes, shares),
    inputBytes: spread(demand.inputBytes, shares),
    inputRecords: spread(demand.inputRecords, shares),
    outputBytes: spread(demand.outputBytes, shares),
    outputRecords: spread(demand.outputRecords, shares),
    shuffleReadBytes: spread(demand.shuffleReadBytes, shares),
    shuffleReadRecords: spread(demand.shuffleReadRecords, shares),
    shuffleWriteBytes: spread(demand.shuffleWriteBytes, shares),
    shuffleWriteRecords: spread(demand.shuffleWriteRecords, shares),
    consumers: demand.consumers.map((consumer) => spreadConsumer(consumer, shares)),
  };
}

/**
 * An RDD whose partitions have other shares of its data.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { spreadRdd } from "./spread_work.ts";
 *
 * const rdd = {
 *   id: 1, name: "ShuffledRowRDD", callSite: "", scope: null, numPartitions: 2, storageLevel: null, dependencies: [],
 *   deserializedBytes: Float64Array.of(60, 40), serializedBytes: null, diskBytes: null, elements: null,
 *   computeMs: null, inputBytes: null, shuffleReadBytes: null, shuffleReadRecords: null, consumers: [],
 *   unpersistBeforeJob: null, alwaysSerialized: false, preferredHosts: null,
 * };
 * assertEquals([...spreadRdd(rdd, Float64Array.of(0.75, 0.25)).deserializedBytes!], [75, 25]);
 * ```
 */
export function spreadRdd(rdd: Rdd, shares: Column): Rdd {
  return {
    ...rdd,
    numPartitions: shares.length,
    deserializedBytes: spreadOrNull(rdd.deserializedBytes, shares),
    serializedBytes: spreadOrNull(rdd.serializedBytes, shares),
    diskBytes: spreadOrNull(rdd.diskBytes, shares),
    elements: spreadOrNull(rdd.elements, shares),
    computeMs: spreadTimeOrNull(rdd.computeMs, shares),
    inputBytes: spreadOrNull(rdd.inputBytes, shares),
    shuffleReadBytes: spreadOrNull(rdd.shuffleReadBytes, shares),
    shuffleReadRecords: spreadOrNull(rdd.shuffleReadRecords, shares),
    consumers: rdd.consumers.map((consumer) => spreadConsumer(consumer, shares)),
    preferredHosts: null,
  };
}
