// The kernel in Node or Bun: node replay.mjs KERNEL.WASM TRACE.TXT
import { readFileSync } from "node:fs";

const [wasmFile, traceFile] = process.argv.slice(2);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasmFile)), {});
if (exports.ABI_VERSION.value !== 1) throw new Error(`the kernel's ABI is version ${exports.ABI_VERSION.value}`);

// createExecutor, declareBlock with all RDDs, then CODE MODE FLAGS SUBJECT BYTES = ANSWER, last the state
const lines = readFileSync(traceFile, "utf8").trimEnd().split("\n").map((line) => line.split(" "));
const [layout, rdds] = lines.splice(0, 2).map((words) => words.slice(1).map(Number));
const state = lines.pop().slice(1).join(" ");

const batch = new DataView(new ArrayBuffer(16 * lines.length));
for (const [i, [code, mode, flags, subject, bytes]] of lines.entries()) {
  batch.setUint8(16 * i, exports[code].value);
  batch.setUint8(16 * i + 1, Number(mode));
  batch.setUint16(16 * i + 2, Number(flags), true);
  batch.setInt32(16 * i + 4, Number(subject), true);
  batch.setBigInt64(16 * i + 8, BigInt(bytes), true);
}
const records = new Uint8Array(batch.buffer);
const address = exports.batchBuffer(lines.length);

function replay() {
  const executor = exports.createExecutor(...layout);
  for (const rdd of rdds) exports.declareBlock(executor, rdd);
  new Uint8Array(exports.memory.buffer).set(records, address);
  const run = exports.runBatch(executor, lines.length);
  if (run !== lines.length) throw new Error(`ran ${run} of ${lines.length} operations`);
  return executor;
}

/** A negative answer is an error's status, from FIRST_TICKET down the ticket of a waiting task. */
const meaning = (answer) => answer >= 0 ? String(answer) : answer > exports.FIRST_TICKET.value ? "fails" : "waits";

const executor = replay();
const answers = new DataView(exports.memory.buffer, address);
for (const [i, line] of lines.entries()) {
  const given = meaning(answers.getFloat64(16 * i + 8, true));
  if (given !== line.at(-1)) throw new Error(`${line.join(" ")}: ${given}`);
}
const reached = Array.from({ length: 13 }, (_, i) => exports.stateNumber(executor, i)).join(" ");
if (reached !== state) throw new Error(`state ${reached}, in Spark ${state}`);
exports.destroyExecutor(executor);

const start = performance.now();
let rounds = 0;
for (; performance.now() - start < 500; rounds++) exports.destroyExecutor(replay());
const perSecond = rounds * lines.length / (performance.now() - start) * 1000;
console.log(`state ${reached}\n${Math.round(perSecond)} operations per second`);
