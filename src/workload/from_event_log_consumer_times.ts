/**
 * When in a task's computing its memory consumers are filled and let go.
 *
 * @module
 */
import type { ConsumerDemand } from "../simulator/workload.ts";
import type { UnplacedConsumer } from "./from_event_log_sql_consumers.ts";

/** Share of the computing in which the last consumer's result is read. */
const READING_SHARE = 0.3;

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
 *   toTheEnd: false,
 * };
 * assertEquals(placeConsumers([sort]).map(({ start, fillEnd, release }) => [start, fillEnd, release]), [[0, 0.7, 1]]);
 * ```
 */
export function placeConsumers(consumers: readonly UnplacedConsumer[]): ConsumerDemand[] {
  const weights = consumers.map(({ records }) => records.reduce((a, b) => a + b, 0));
  const all = weights.reduce((a, b) => a + b, 0);
  if (all === 0) return [];
  const ends: number[] = [];
  let end = 0;
  for (const weight of weights) ends.push(end += weight / all * (1 - READING_SHARE));
  return consumers.map(({ toTheEnd, readBy, ...consumer }, i) => ({
    ...consumer,
    start: i === 0 ? 0 : ends[i - 1],
    fillEnd: ends[i],
    release: toTheEnd || readBy === null ? 1 : ends[readBy],
  }));
}
