// The kernel in Node or Bun: node replay.mjs KERNEL.WASM TRACE.TXT
import { readFileSync } from "node:fs";

const [wasmFile, traceFile] = process.argv.slice(2);
const { exports } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasmFile)), {});
if (exports.ABI_VERSION.value !== 1) throw new Error(`the kernel's ABI is version ${exports.ABI_VERSION.value}`);
const firstTicket = exports.FIRST_TICKET.value;

// a line: NAME ARGUMENT... = ANSWER; first createExecutor, last the state
const lines = readFileSync(traceFile, "utf8").trimEnd().split("\n").map((line) => line.split(" "));
const layout = lines.shift().slice(1, -2).map(Number);
const state = lines.pop().slice(1).map(Number);
const calls = lines.map((line) => ({
  name: line[0],
  call: exports[line[0]],
  args: line.slice(1, -2).map(Number),
  answer: line.at(-1),
}));

/** A negative answer is an error's status, from FIRST_TICKET down the ticket of a waiting task. */
const meaning = (answer) => answer >= 0 ? String(answer) : answer > firstTicket ? "fails" : "waits";

function replay(check) {
  const executor = exports.createExecutor(...layout);
  for (const { name, call, args, answer } of calls) {
    const given = call(executor, ...args);
    if (check && meaning(given) !== answer) throw new Error(`${name} ${args}: ${given}, in Spark ${answer}`);
  }
  return executor;
}

const executor = replay(true);
const reached = state.map((_, i) => exports.stateNumber(executor, i));
if (reached.join() !== state.join()) throw new Error(`state ${reached}, in Spark ${state}`);
exports.destroyExecutor(executor);

const start = performance.now();
let rounds = 0;
for (; performance.now() - start < 500; rounds++) exports.destroyExecutor(replay(false));
const perSecond = rounds * calls.length / (performance.now() - start) * 1000;
console.log(`state ${reached.join(" ")}`);
console.log(`${Math.round(perSecond)} operations per second`);
