/**
 * Traces of a task's memory manager and its consumers (TaskMemoryManager, MemoryConsumer).
 *
 * @module
 */
import { MemoryError } from "../kernel.ts";
import { REFERENCE_SPARK_VERSION } from "../spark/spark_version.ts";
import { rulesFor, type SparkRules } from "../spark/versions.ts";
import { exceptionText } from "./memory/exceptions.ts";
import { SpillingEngine } from "./spilling/engine.ts";
import {
  type Difference,
  type ReplayOptions,
  type ReplayRecord,
  sameJson,
  type TraceFormat,
  type TraceLine,
} from "./trace.ts";

/** Fields of an operation's line that are outcomes; all others are inputs. */
const OUTCOMES = ["r", "x", "e", "mu", "w", "wk", "wait", "done", "u", "tu", "s"] as const;
/** Any of these says that a line holds its outcomes. */
const ALWAYS_THERE = ["r", "x", "s"] as const;

/**
 * The format of the spilling traces. Their headers name no version: 2.4.0, unless another is asked for or the header has
 * it in `spark`.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SPILLING_TRACE } from "./spilling.ts";
 *
 * const header = { heap: 100, off: 0, frac: 0, cores: 1, tungsten: "ON", page: 10, physical: 0 };
 * const records = [...SPILLING_TRACE.replay(header, [
 *   { i: 0, op: "newTask", t: 0 },
 *   { i: 1, op: "newConsumer", t: 0, c: 1, rule: "all", m: "ON", page: 0 },
 *   { i: 2, op: "acquire", t: 0, c: 1, n: 70 },
 * ], {})];
 * assertEquals((records[3].output as { r: number }).r, 70);
 * ```
 */
export const SPILLING_TRACE: TraceFormat = {
  name: "spilling",
  exactIntegers: true,
  detects: (header) =>
    header !== null && typeof header === "object" && "tungsten" in header && "heap" in header && "frac" in header,
  replay,
};

function* replay(header: TraceLine, lines: Iterable<TraceLine>, options: ReplayOptions): Generator<ReplayRecord> {
  const rules = rulesFor(options.sparkVersion ?? header.spark ?? REFERENCE_SPARK_VERSION);
  const engine = startEngine(header, rules);
  if (typeof engine === "string") {
    yield { line: 1, output: { refused: engine }, compared: false, differences: [] };
    return;
  }
  yield headerRecord(header, engine);
  let number = 1;
  for (const line of lines) {
    number++;
    if ("op" in line) yield operationRecord(number, line, engine.apply(line));
    else if ("dump" in line) {
      yield { line: number, output: null, compared: false, differences: engine.compareDump(line) };
    }
  }
}

/** The engine, or what Spark says when it refuses the layout. */
function startEngine(header: TraceLine, rules: SparkRules): SpillingEngine | string {
  try {
    return new SpillingEngine(header, rules);
  } catch (error) {
    if (!(error instanceof MemoryError) || error.status !== "EXECUTION_MEMORY_REQUIRED") throw error;
    return exceptionText(error.status, {}, rules);
  }
}

function headerRecord(header: TraceLine, engine: SpillingEngine): ReplayRecord {
  const computed = {
    pageSizeBytes: engine.pageSizeBytes,
    regionOn: Math.trunc(header.heap * header.frac),
    regionOff: Math.trunc(header.off * header.frac),
    init: engine.state(),
  };
  const differences = differencesOf(
    Object.keys(computed).filter((what) => what in header),
    header,
    computed,
  );
  return { line: 1, output: { ...header, ...computed }, compared: false, differences };
}

function operationRecord(number: number, line: TraceLine, computed: Record<string, unknown>): ReplayRecord {
  const output: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(line)) {
    if (!(OUTCOMES as readonly string[]).includes(field)) output[field] = value;
  }
  Object.assign(output, computed);
  const compared = ALWAYS_THERE.some((what) => what in line);
  return { line: number, output, compared, differences: compared ? differencesOf(OUTCOMES, line, computed) : [] };
}

function differencesOf(
  fields: readonly string[],
  recorded: TraceLine,
  computed: Record<string, unknown>,
): Difference[] {
  return fields.filter((what) => !sameJson(recorded[what], computed[what]))
    .map((what) => ({ what, recorded: recorded[what], computed: computed[what] }));
}
