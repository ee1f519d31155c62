/**
 * A recorded trace of Spark's memory manager as one batch for the kernel, an operation a line, which any language reads
 * by splitting at spaces.
 *
 * @module
 */

/** An operation of a recorded trace, or its header; tests/testdata/memory/README.md says what the fields mean. */
// deno-lint-ignore no-explicit-any
type TraceLine = Record<string, any>;

/** What an operation of a trace is in the kernel's batch. */
const CODES: Readonly<Record<string, string>> = {
  putBytes: "OP_PUT_BYTES",
  get: "OP_GET",
  getSize: "OP_GET_SIZE",
  contains: "OP_CONTAINS",
  remove: "OP_REMOVE",
  lockRead: "OP_LOCK_FOR_READING",
  unlockRead: "OP_UNLOCK",
  clear: "OP_CLEAR",
  acqStorage: "OP_ACQUIRE_STORAGE_MEMORY",
  acqUnroll: "OP_ACQUIRE_STORAGE_MEMORY",
  relStorage: "OP_RELEASE_STORAGE_MEMORY",
  relUnroll: "OP_RELEASE_STORAGE_MEMORY",
  relAllStorage: "OP_RELEASE_ALL_STORAGE_MEMORY",
  reserveUnroll: "OP_RESERVE_UNROLL_MEMORY",
  releaseUnrollTask: "OP_RELEASE_UNROLL_MEMORY",
  acqExec: "OP_ACQUIRE_EXECUTION_MEMORY",
  relExec: "OP_RELEASE_EXECUTION_MEMORY",
  relAllExec: "OP_RELEASE_ALL_EXECUTION_MEMORY",
};

/**
 * Turns the lines of a trace with at most one waiting task, none cancelled and nothing unrolled in one call:
 * `createExecutor` with its arguments, `declareBlock` with the RDD of each block, then the operations as
 * `CODE MODE FLAGS SUBJECT BYTES = ANSWER`. ANSWER is what Spark gave: a number (of a Boolean 0 or 1), `fails` where
 * Spark threw, `waits` where the task waited. The last line is `state` and Spark's 13 numbers.
 */
export function neutralTrace(jsonLines: string): string {
  const [header, ...lines]: TraceLine[] = linesOf(jsonLines);
  const operations = lines.filter((line) => "op" in line);
  const names = [...new Set(operations.flatMap(({ b }) => b === undefined ? [] : [b]))];
  const region = (bytes: number) => Math.trunc(bytes * header.frac);
  const layout = [header.heap, region(header.heap), header.off, region(header.off), 0];
  const rdds = names.map((name) => /^rdd_(\d+)_\d+$/.exec(name)?.[1] ?? -1);
  const batch: string[] = [];
  let context = "-1";
  for (const operation of operations) {
    const { op, b, t, n, m } = operation;
    if (/Unroll/.test(op) && t !== undefined && t !== context) {
      batch.push(`OP_SET_TASK_CONTEXT 0 0 ${context = t} 0 = 0`);
    }
    const subject = b === undefined ? t ?? 0 : names.indexOf(b);
    batch.push(`${codeOf(op)} ${m === "OFF" ? 1 : 0} 0 ${subject} ${n ?? 0} = ${answer(operation)}`);
  }
  const state = operations.at(-1)!.s;
  return [
    `createExecutor ${layout.join(" ")}`,
    `declareBlock ${rdds.join(" ")}`,
    ...batch,
    `state ${state.join(" ")}`,
    "",
  ].join("\n");
}

/** The lines with their numbers as texts, since some do not fit a number. */
function linesOf(jsonLines: string): TraceLine[] {
  return jsonLines.trimEnd().split("\n").map((line) =>
    JSON.parse(line.replace(/"(n|t)":(-?\d+)/g, (_, key, digits) => `"${key}":"${digits}"`))
  );
}

function codeOf(op: string): string {
  const code = CODES[op];
  if (code === undefined) throw new Error(`no batch has operation ${op}`);
  return code;
}

function answer({ r, x }: TraceLine): string {
  if (x !== undefined) return "fails";
  if (r === "blocked") return "waits";
  if (r === "locked") return "2";
  return String(Number(r ?? 0));
}

if (import.meta.main) {
  const file = new URL(`../../testdata/memory/batch/${Deno.args[0]}.jsonl.gz`, import.meta.url);
  const body = (await Deno.open(file)).readable.pipeThrough(new DecompressionStream("gzip"));
  Deno.stdout.writeSync(new TextEncoder().encode(neutralTrace(await new Response(body).text())));
}
