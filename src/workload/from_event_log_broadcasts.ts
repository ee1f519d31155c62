/**
 * The broadcast variables of an event log: task binaries, tables of broadcast joins, and the user's own.
 *
 * @module
 */
import type { Broadcast } from "../simulator/workload.ts";
import type { BroadcastRecord } from "./from_event_log_blocks.ts";

/**
 * Bytes in memory of what a broadcast's pieces unpack to, for one byte of them: pieces are compressed
 * (spark.broadcast.compress); a task binary of 2.4 KiB is a byte array of 4.3 KiB (Spark 3.5.9).
 */
const VALUE_BYTES_PER_PIECE_BYTE = 1.8;
/** Larger ones hold data, which may not compress; they are taken as they are. */
const TASK_BINARY_BYTES = 64 * 1024;

/**
 * Sizes of the recorded broadcasts. The size of the unpacked value is never reported (BlockManager.putIterator without
 * telling the master), so it is assumed from the pieces, except where `valueBytes` knows it.
 *
 * @param valueBytes sizes of values by broadcast id, where something else tells them
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { broadcastsOf } from "./from_event_log_broadcasts.ts";
 *
 * const record = { id: 4, pieces: new Map([[0, 1000]]), readers: new Set<number>(), removedBeforeJob: null };
 * assertEquals(broadcastsOf([record], new Map()), [{ id: 4, pieceBytes: 1000, valueBytes: 1800 }]);
 * ```
 */
export function broadcastsOf(
  records: Iterable<BroadcastRecord>,
  valueBytes: ReadonlyMap<number, number>,
): Broadcast[] {
  return [...records].sort((a, b) => a.id - b.id).map(({ id, pieces, removedBeforeJob }) => {
    const pieceBytes = [...pieces.values()].reduce((a, b) => a + b, 0);
    const factor = pieceBytes < TASK_BINARY_BYTES ? VALUE_BYTES_PER_PIECE_BYTE : 1;
    return {
      id,
      pieceBytes,
      valueBytes: valueBytes.get(id) ?? Math.round(pieceBytes * factor),
      ...removedBeforeJob === null ? {} : { removeBeforeJob: removedBeforeJob },
    };
  });
}
