/**
 * Recorded traces of the real Spark, run again through the engine: the formats that there are.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import { BIG_MEMORY_TRACE } from "./memory_big.ts";
import { MEMORY_TRACE } from "./memory.ts";
import { SCHEDULER_TRACES } from "./scheduler/mod.ts";
import { SPILLING_TRACE } from "./spilling.ts";
import type { TraceFormat, TraceLine } from "./trace.ts";

/** The formats, tried in this order: the memory manager's, the scheduler's, the task memory manager's. */
export const TRACE_FORMATS: readonly TraceFormat[] = [
  MEMORY_TRACE,
  BIG_MEMORY_TRACE,
  SCHEDULER_TRACES,
  SPILLING_TRACE,
];

/**
 * The format of a trace, from its header.
 *
 * @throws {InputError} `replay.format` when none fits.
 *
 * @example
 * ```ts
 * import { assertThrows } from "@std/assert";
 * import { InputError } from "../errors.ts";
 * import { traceFormat } from "./mod.ts";
 *
 * assertThrows(() => traceFormat({ name: "not a trace" }), InputError, "Cannot replay the trace");
 * ```
 */
export function traceFormat(header: TraceLine): TraceFormat {
  const format = TRACE_FORMATS.find((candidate) => candidate.detects(header));
  if (format === undefined) {
    throw new InputError(
      "replay.format",
      `Cannot replay the trace: its header must be that of a ${TRACE_FORMATS.map(({ name }) => name).join(", ")} trace`,
      { line: 1 },
    );
  }
  return format;
}
