/**
 * A recorded trace of Spark's memory manager as calls of the kernel, one a line, which any language reads by splitting
 * at spaces.
 *
 * @module
 */

/** An operation of a recorded trace, or its header; tests/testdata/memory/README.md says what the fields mean. */
// deno-lint-ignore no-explicit-any
type TraceLine = Record<string, any>;

/** Bytes beyond all that there is: Java's Long.MAX_VALUE, as a whole task's unroll memory is released. */
const ALL_BYTES = "9223372036854775808";

/**
 * Turns the lines of a trace with at most one waiting task, none cancelled, into calls:
 * `EXPORT ARGUMENT... = ANSWER`, the executor's handle left out. ANSWER is what Spark gave: a number (of a Boolean 0 or
 * 1), `fails` where Spark threw, `waits` where the task waited. The last line is `state` and Spark's 13 numbers.
 */
export function neutralTrace(jsonLines: string): string {
  const [header, ...lines]: TraceLine[] = jsonLines.trimEnd().split("\n").map((line) => JSON.parse(line));
  const operations = lines.filter((line) => "op" in line);
  const region = (bytes: number) => Math.trunc(bytes * header.frac);
  const calls = [
    `createExecutor ${header.heap} ${region(header.heap)} ${header.off} ${region(header.off)} 0 = 0`,
  ];
  const ids = new Map<string, number>();
  for (const operation of operations) {
    if ("b" in operation && !ids.has(operation.b)) {
      calls.push(`declareBlock ${/^rdd_(\d+)_\d+$/.exec(operation.b)?.[1] ?? -1} = ${ids.size}`);
      ids.set(operation.b, ids.size);
    }
    calls.push(`${call(operation, ids.get(operation.b), header)} = ${answer(operation)}`);
  }
  return `${calls.join("\n")}\nstate ${operations.at(-1)!.s.join(" ")}\n`;
}

function call(op: TraceLine, block: number | undefined, header: TraceLine): string {
  const mode = op.m === "OFF" ? 1 : 0;
  switch (op.op) {
    case "putBytes":
      return `putBytes ${block} ${op.n} ${mode} 0`;
    case "unrollPut": // objects on-heap, bytes off-heap, as the recorder built them
      return `putIterator ${block} ${op.t} ${mode} ${header.unrollThreshold} ${header.checkPeriod} ${header.growth} ` +
        `${op.cnt} ${op.el} ${op.p} ${1 - mode}`;
    case "get":
    case "getBytes":
    case "getValues":
    case "getSize":
    case "contains":
    case "remove":
      return `${op.op} ${block}`;
    case "lockRead":
      return `lockForReading ${block}`;
    case "unlockRead":
      return `unlock ${block}`;
    case "clear":
      return "clear";
    case "acqStorage":
    case "acqUnroll":
      return `acquireStorageMemory ${block} ${op.n} ${mode}`;
    case "relStorage":
    case "relUnroll":
      return `releaseStorageMemory ${op.n} ${mode}`;
    case "relAllStorage":
      return "releaseAllStorageMemory";
    case "reserveUnroll":
      return `reserveUnrollMemory ${block} ${op.n} ${op.t} ${mode}`;
    case "releaseUnrollTask":
      return `releaseUnrollMemory ${op.n ?? ALL_BYTES} ${op.t} ${mode}`;
    case "acqExec":
      return `acquireExecutionMemory ${op.n} ${op.t} ${mode}`;
    case "relExec":
      return `releaseExecutionMemory ${op.n} ${op.t} ${mode}`;
    case "relAllExec":
      return `releaseAllExecutionMemoryForTask ${op.t}`;
    default:
      throw new Error(`no call for operation ${op.op}`);
  }
}

function answer({ r, x, op }: TraceLine): string {
  if (x !== undefined) return "fails";
  if (r === "blocked") return "waits";
  if (r === "locked") return "2";
  if (op === "unrollPut") return "stored" in r ? "1" : "0";
  return String(Number(r ?? 0));
}

if (import.meta.main) {
  const file = new URL(`../../testdata/memory/random/${Deno.args[0]}.jsonl.gz`, import.meta.url);
  const body = (await Deno.open(file)).readable.pipeThrough(new DecompressionStream("gzip"));
  Deno.stdout.writeSync(new TextEncoder().encode(neutralTrace(await new Response(body).text())));
}
