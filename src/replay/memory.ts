/**
 * Traces of Spark's memory manager and block store (UnifiedMemoryManager, MemoryStore, BlockInfoManager).
 *
 * @module
 */
import type { ExecutorMemory } from "../kernel.ts";
import { compareDump } from "./memory/dump.ts";
import { type CreateExecutor, MemoryEngine, type OperationOutcome } from "./memory/engine.ts";
import { type MemoryTraceSettings, readTraceHeader } from "./memory/trace_header.ts";
import {
  type Difference,
  type ReplayOptions,
  type ReplayRecord,
  sameJson,
  type TraceFormat,
  type TraceLine,
} from "./trace.ts";

/** Fields of an operation's line that are outcomes; all others are inputs. Of `wk` the order is an input. */
const OUTCOMES = ["r", "x", "ev", "done", "wk", "wev", "w", "s", "u"] as const;
/** Outcomes that are left out when empty. */
const LISTS: ReadonlySet<string> = new Set(["ev", "done", "wk", "wev", "w"]);
/** Any of these says that a line holds its outcomes. */
const ALWAYS_THERE = ["r", "x", "s"] as const;

/** The format of the memory traces. */
export const MEMORY_TRACE: TraceFormat = {
  name: "memory",
  exactIntegers: true,
  detects: (header) =>
    header !== null && typeof header === "object" && "unrollThreshold" in header && !("blocks" in header),
  replay: replayMemoryTrace,
};

/**
 * Replays a memory trace.
 *
 * @param createExecutor makes the executor's memory, in the kernel unless a test runs another implementation
 */
export function* replayMemoryTrace(
  header: TraceLine,
  lines: Iterable<TraceLine>,
  options: ReplayOptions,
  createExecutor?: CreateExecutor,
): Generator<ReplayRecord> {
  const settings = readTraceHeader(header, options);
  if (settings.refusal !== null) {
    yield refusedRecord(settings.refusal);
    return;
  }
  const engine = new MemoryEngine(settings, createExecutor);
  yield headerRecord(header, settings, engine.executor);
  let number = 1;
  for (const line of lines) {
    number++;
    if ("op" in line) yield operationRecord(number, line, engine.apply(line, number));
    else if ("dump" in line) {
      yield { line: number, output: null, compared: false, differences: compareDump(line, engine) };
    }
  }
}

/** The only record of a trace whose layout the version refuses: nothing runs. */
export function refusedRecord(refusal: string): ReplayRecord {
  return { line: 1, output: { refused: refusal }, compared: false, differences: [] };
}

/** The header with what it must hold, compared with what it holds. */
export function headerRecord(
  header: TraceLine,
  settings: MemoryTraceSettings,
  executor: ExecutorMemory,
): ReplayRecord {
  const computed: Record<string, unknown> = {
    regionOn: settings.executor.onHeapStorageRegionSize,
    regionOff: settings.executor.offHeapStorageRegionSize,
    ...(settings.pageSizeBytes === null ? {} : { pageSizeBytes: settings.pageSizeBytes }),
    init: Array.from(executor.stateNumbers()),
  };
  const differences: Difference[] = [];
  for (const [what, value] of Object.entries(computed)) {
    if (what in header && !sameJson(header[what], value)) {
      differences.push({ what, recorded: header[what], computed: value });
    }
  }
  return { line: 1, output: { ...header, ...computed }, compared: false, differences };
}

function operationRecord(number: number, line: TraceLine, outcome: OperationOutcome): ReplayRecord {
  const computed: Record<string, unknown> = {};
  for (const what of OUTCOMES) {
    const value = outcome[what];
    if (value === undefined || (LISTS.has(what) && (value as unknown[]).length === 0)) continue;
    computed[what] = value;
  }
  const output: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(line)) {
    if (!(OUTCOMES as readonly string[]).includes(field)) output[field] = value;
  }
  Object.assign(output, computed);
  const compared = ALWAYS_THERE.some((what) => what in line);
  return { line: number, output, compared, differences: compared ? differencesOf(line, computed) : [] };
}

function differencesOf(line: TraceLine, computed: Record<string, unknown>): Difference[] {
  const differences: Difference[] = [];
  for (const what of OUTCOMES) {
    // counters of unmanaged memory are recorded from 4.1 on only
    if (what === "u" && !("u" in line)) continue;
    if (!sameJson(line[what], computed[what])) {
      differences.push({ what, recorded: line[what], computed: computed[what] });
    }
  }
  return differences;
}
