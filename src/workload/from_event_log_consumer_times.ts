/**
 * When in a task's computing its memory consumers are filled and let go.
 *
 * @module
 */
import type { ConsumerDemand, ConsumerKind } from "../simulator/workload.ts";
import type { UnplacedConsumer } from "./from_event_log_sql_consumers.ts";

/**
 * Share of a task's computing that is left when a consumer is full, by what its operator does then: sort and hand on,
 * probe, or only hand on. Medians of the tasks that did not spill in 40 runs of Spark 2.4 to 4.1, by the times at which
 * they asked for and gave back memory (DEBUG log of org.apache.spark.memory).
 */
const READING_SHARE: Readonly<Record<ConsumerKind, number>> = {
  UnsafeExternalSorter: 0.5,
  ShuffleExternalSorter: 0.2,
  HashAggregation: 0.08,
  HashedRelation: 0.6,
  ExternalAppendOnlyMap: 0.05,
  ExternalSorter: 0.1,
  Raw: 0.3,
};

/** Share of the computing before the first record of a collection goes in; operators of Spark SQL begin at once. */
const COLLECTION_START = 0.2;

/**
 * Places consumers one after another, by the records that go in; one is let go when the one that reads it has been
 * filled. The events of a task do not tell more.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { placeConsumers } from "./from_event_log_consumer_times.ts";
 *
 * const sort = {
 *   kind: "UnsafeExternalSorter" as const, name: "Sort", tungsten: true, records: new Float64Array([10]),
 *   bytes: new Float64Array([640]), keys: null, diskBytesPerByte: null, parameters: {}, readBy: null,
 *   toTheEnd: false, absentIn: null,
 * };
 * assertEquals(placeConsumers([sort]).map(({ start, fillEnd, release }) => [start, fillEnd, release]), [[0, 0.5, 1]]);
 * ```
 */
export function placeConsumers(consumers: readonly UnplacedConsumer[]): ConsumerDemand[] {
  const weights = consumers.map(({ records }) => records.reduce((a, b) => a + b, 0));
  const all = weights.reduce((a, b) => a + b, 0);
  if (all === 0) return [];
  const begin = consumers[0].tungsten ? 0 : COLLECTION_START;
  const filling = 1 - READING_SHARE[consumers.at(-1)!.kind] - begin;
  const ends: number[] = [];
  let end = begin;
  for (const weight of weights) ends.push(end += weight / all * filling);
  return consumers.map(({ toTheEnd, readBy, readAfter, ...consumer }, i) => ({
    ...consumer,
    parameters: readAfter === undefined ? consumer.parameters : { ...consumer.parameters, readFrom: ends[readAfter] },
    start: i === 0 ? begin : ends[i - 1],
    fillEnd: ends[i],
    release: toTheEnd || readBy === null ? 1 : ends[readBy],
  }));
}
