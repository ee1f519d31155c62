/**
 * How much of V8's heap a simulation may use. A heap at its limit ends the whole process, all workers with it, and no
 * program can catch that: so it is looked at in time, between steps.
 *
 * @module
 */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { LimitError } from "../errors.ts";

/** The part of the old generation that may be alive: a step, and what V8 needs to collect, fit in the rest. */
const USABLE = 0.85;

/** What V8 adds for the young generation to the limit that it tells: three semi-spaces of 32 MiB on a large heap. */
const YOUNG_BYTES = 96 * 2 ** 20;

/** V8 takes a quarter of the machine's memory for an isolate's limit, at most: all workers together get three of them. */
const ISOLATES = 3;

/**
 * Bytes of its heap that each of some workers may use.
 *
 * @param heapSizeLimit V8's own limit for one isolate: by the machine, a container's limit, or --max-old-space-size.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { workerHeapBytes } from "./heap_budget.ts";
 *
 * // --max-old-space-size=4096, of which V8 makes a limit of 4,192 MiB
 * const [limit, mib] = [4192 * 2 ** 20, 2 ** 20];
 * assertEquals(workerHeapBytes(2, limit), Math.floor(0.85 * 4096 * mib));
 * assertEquals(workerHeapBytes(8, limit), 3 * 4096 / 8 * mib);
 * ```
 */
export function workerHeapBytes(workers: number, heapSizeLimit: number = getHeapStatistics().heap_size_limit): number {
  const old = heapSizeLimit - Math.min(YOUNG_BYTES, heapSizeLimit * 2 / 3);
  return Math.floor(Math.min(USABLE * old, ISOLATES * old / workers));
}

/**
 * Refuses to go on when more than `limit` bytes of the heap are used, by what is alive: garbage is collected first.
 *
 * @throws {LimitError} `limit.memory`.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { checkHeap } from "./heap_budget.ts";
 *
 * checkHeap(2 ** 40);
 * assertThrows(() => checkHeap(2 ** 20), TypeError, "must take at most 1 MiB of a worker's memory");
 * ```
 */
export function checkHeap(limit: number): void {
  if (getHeapStatistics().used_heap_size <= limit) return;
  collectGarbage();
  const received = getHeapStatistics().used_heap_size;
  if (received <= limit) return;
  const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;
  throw new LimitError(
    "limit.memory",
    `Cannot simulate: must take at most ${mib(limit)} of a worker's memory: received ${mib(received)}; fewer workers ` +
      "(--jobs) have more each",
    { parameters: { limit, received } },
  );
}

/** V8's gc(), which contexts made after the flag have. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const gc: () => void = runInNewContext("gc");
  gc();
}
