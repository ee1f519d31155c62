/**
 * Reads a recorded trace for the lab: of the memory manager, one operation a line or in the compact form of the large
 * traces, of the scheduler, or of task memory. Only inputs are taken; outcomes are computed again.
 *
 * @module
 */
import { InputError } from "../../../src/errors.ts";
import { readTraceHeader } from "../../../src/replay/memory/trace_header.ts";
import { traceFormat } from "../../../src/replay/mod.ts";
import { SCHEDULER_TRACES } from "../../../src/replay/scheduler/mod.ts";
import { SPILLING_TRACE } from "../../../src/replay/spilling.ts";
import type { LabScript } from "./session.ts";
import type { LabOperation } from "./state.ts";
import type { Story } from "./story.ts";
import { traceStory } from "./trace_story.ts";

// deno-lint-ignore no-explicit-any
type Line = any;

/** Operations whose subject is a block. */
const BLOCK_OPERATIONS: ReadonlySet<string> = new Set([
  ...["putBytes", "unrollPut", "get", "getBytes", "getValues", "getSize", "contains", "remove"],
  ...["lockRead", "unlockRead", "acqStorage", "acqUnroll", "reserveUnroll", "unmReg", "unmSet", "unmUnreg"],
]);

const OTHER_OPERATIONS: ReadonlySet<string> = new Set([
  ...["relStorage", "relUnroll", "relAllStorage", "releaseUnrollTask", "acqExec", "relExec", "relAllExec"],
  ...["cancel", "clear", "setDrop", "unmClear", "unmPoll", "sleep"],
]);

/** The inputs of an operation; numbers beyond the range of doubles' integers stand for Long.MAX_VALUE and MIN_VALUE. */
function operationOf(line: Line, number: number): LabOperation {
  const { op } = line;
  if (!BLOCK_OPERATIONS.has(op) && !OTHER_OPERATIONS.has(op)) {
    throw new InputError("lab.operation", `Cannot open the trace: the lab has no operation ${JSON.stringify(op)}`, {
      line: number,
    });
  }
  if (BLOCK_OPERATIONS.has(op) && typeof line.b !== "string") {
    throw new InputError("lab.operation", `Cannot open the trace: ${op} must name a block in b`, { line: number });
  }
  const operation: Record<string, unknown> = { op };
  for (const key of ["m", "t", "b", "n", "cnt", "el", "p", "at", "mode", "wk"]) {
    if (line[key] !== undefined) operation[key] = line[key];
  }
  return operation as unknown as LabOperation;
}

/** The compact form: `[code, block or task, bytes, off heap, ...]`. */
function compactOperation(line: Line, header: Line, number: number): LabOperation {
  const op = header.codes?.[line[0]];
  const m = line[3] ? "OFF" : "ON";
  const isBlock = BLOCK_OPERATIONS.has(op);
  const subject = isBlock ? { b: header.blocks?.[line[1]] ?? `block_${line[1]}` } : { t: line[1] };
  const task = op === "reserveUnroll" || op === "releaseUnrollTask" ? { t: -1 } : {};
  return operationOf({ op, m, n: line[2], ...subject, ...task }, number);
}

function parsedLine(text: string, number: number): Line {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new InputError("lab.trace", "Cannot open the trace: each line must be JSON", { line: number, cause });
  }
}

/**
 * Parses a trace of the memory manager.
 *
 * @param text lines of JSON
 * @throws {InputError} `lab.trace`, `lab.operation` with the line; `replay.header`, `replay.version`
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { parseTrace } from "./trace_file.ts";
 *
 * const script = parseTrace('{"name":"two","heap":1000,"off":0,"frac":0.5}\n{"op":"acqExec","t":1,"n":5,"m":"ON","r":5}');
 * assertEquals(script.operations, [{ op: "acqExec", m: "ON", t: 1, n: 5 }]);
 * ```
 */
export function parseTrace(text: string): LabScript {
  return memoryScript(numberedLines(text));
}

/** A line of a trace and its number. */
interface NumberedLine {
  readonly line: Line;
  readonly number: number;
}

function numberedLines(text: string): NumberedLine[] {
  return text.split("\n").flatMap((raw, i) =>
    raw.trim() === "" ? [] : [{ line: parsedLine(raw, i + 1), number: i + 1 }]
  );
}

function memoryScript([first, ...rest]: readonly NumberedLine[]): LabScript {
  if (first === undefined) throw new InputError("lab.trace", "Cannot open the trace: it is empty", { line: 1 });
  const header: Line = { unrollThreshold: 1048576, checkPeriod: 16, growth: 1.5, off: 0, ...first.line };
  readTraceHeader(header, {});
  const operations: LabOperation[] = [];
  for (const { line, number } of rest) {
    if (Array.isArray(line)) operations.push(compactOperation(line, header, number));
    else if (typeof line === "object" && line !== null && "op" in line) operations.push(operationOf(line, number));
    // Other lines hold checkpoints and dumps: outcomes.
  }
  return { title: typeof header.name === "string" ? header.name : "Recorded trace", header, operations };
}

/** What a file holds: operations of the memory manager, or the steps of another trace. */
export type OpenedTrace =
  | { readonly kind: "memory"; readonly script: LabScript }
  | { readonly kind: "story"; readonly story: Story };

function openTrace(text: string): OpenedTrace {
  const lines = numberedLines(text);
  const header: Line = lines[0]?.line;
  if (typeof header !== "object" || header === null) throw notATrace();
  const format = traceFormat(header);
  return format === SCHEDULER_TRACES || format === SPILLING_TRACE
    ? { kind: "story", story: traceStory(format, header, lines.slice(1).map(({ line }) => line)) }
    : { kind: "memory", script: memoryScript(lines) };
}

function notATrace(): InputError {
  return new InputError("lab.trace", "Cannot open the trace: its first line must be a header", { line: 1 });
}

/**
 * Reads a trace of any recorded format from a file, gzip'd or not.
 *
 * @throws {InputError} as parseTrace and traceStory do
 */
export async function readTraceFile(file: Blob): Promise<OpenedTrace> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const isGzip = head[0] === 0x1f && head[1] === 0x8b;
  const stream = isGzip ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
  try {
    return openTrace(await new Response(stream).text());
  } catch (cause) {
    if (cause instanceof InputError) throw cause;
    throw new InputError("lab.trace", "Cannot open the trace: the file is damaged", { cause });
  }
}
