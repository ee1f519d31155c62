/**
 * Batches against single calls: the same seeded operations, one at a time on one executor and in batches of any length
 * on another; answers, events and states must be the same.
 *
 * @module
 */
import { assertEquals } from "@std/assert";
import { Kernel, type KernelExecutorMemory, type MemoryEventVisitor, ON_HEAP } from "../../src/kernel.ts";
import type { OperationBatch, OperationName } from "../../src/kernel.ts";
import { Prng } from "../../src/prng.ts";
import { sameJson } from "../../src/replay/trace.ts";
import { applyOp, drawScenario, type Op, OpSource } from "./memory_operations.ts";

const SCENARIO_OPS = 3000;
const CAPACITY = 256;

interface Ran {
  readonly answer: unknown;
  readonly events: unknown[];
}

/** How an operation is put into a batch; null when batches do not have it. */
function inBatch(op: Op): [name: OperationName, subject: number, bytes: number, mode: number, flags: number] | null {
  switch (op.op) {
    case "putBytes":
      return ["putBytes", op.block, op.bytes, op.mode, op.flags];
    case "get":
    case "contains":
    case "getSize":
    case "remove":
    case "unlock":
      return [op.op, op.block, 0, 0, 0];
    case "lock":
      return ["lockForReading", op.block, 0, 0, 0];
    case "acquireStorage":
      return ["acquireStorageMemory", op.block, op.bytes, op.mode, 0];
    case "releaseStorage":
      return ["releaseStorageMemory", 0, op.bytes, op.mode, 0];
    case "acquireExecution":
      return ["acquireExecutionMemory", op.task, op.bytes, op.mode, 0];
    case "releaseExecution":
      return ["releaseExecutionMemory", op.task, op.bytes, op.mode, 0];
    case "releaseAllExecution":
      return ["releaseAllExecutionMemoryForTask", op.task, 0, 0, 0];
    case "clear":
      return ["clear", 0, 0, 0, 0];
    case "releaseAllStorage":
      return ["releaseAllStorageMemory", 0, 0, 0, 0];
    default:
      return null;
  }
}

function recorder(events: unknown[]): MemoryEventVisitor {
  const note = (kind: string) => (...values: unknown[]) => void events.push([kind, ...values]);
  return {
    evicted: note("evicted"),
    granted: note("granted"),
    waitsOn: note("waitsOn"),
    failed: note("failed"),
    overRelease: note("overRelease"),
  };
}

/** Runs scenarios until `ops` operations are done; throws with the seed at the first difference. */
export function fuzzBatches(options: { readonly seed: number; readonly ops: number }): { operations: number } {
  let operations = 0;
  const kernel = Kernel.create();
  const batch = kernel.createBatch(CAPACITY);
  for (let seed = options.seed; operations < options.ops; seed++) {
    try {
      operations += fuzzScenario(kernel, batch, seed);
    } catch (error) {
      throw new Error(`batch fuzz, seed ${seed}: ${(error as Error).message}`, { cause: error });
    }
  }
  return { operations };
}

function fuzzScenario(kernel: Kernel, batch: OperationBatch, seed: number): number {
  const prng = new Prng(seed);
  const scenario = drawScenario(prng);
  const single = kernel.createExecutor(scenario.options);
  const batched = kernel.createExecutor(scenario.options);
  const source = new OpSource(prng, scenario);
  const pending: { op: Op; ran: Ran }[] = [];
  let operations = 0;
  const flush = () => {
    runBatch(batch, batched, pending);
    assertEquals(Array.from(batched.stateNumbers()), Array.from(single.stateNumbers()), "state after a batch");
    pending.length = 0;
  };
  for (let i = 0; i < SCENARIO_OPS; i++) {
    const op = source.next(single);
    if (op.op === "forget") continue;
    operations++;
    const entry = inBatch(op);
    if (entry === null) flush();
    const events: unknown[] = [];
    const result = applyOp(single, op, scenario.unrollThreshold);
    single.drain(recorder(events));
    if (op.op === "declare") source.declared.push(result as number);
    if (entry === null) {
      assertEquals(applyOp(batched, op, scenario.unrollThreshold), result);
      continue;
    }
    batch.put(entry[0], entry[1], entry[2], entry[3] === ON_HEAP ? 0 : 1, entry[4]);
    const waits = op.op === "acquireExecution" && result === -1;
    pending.push({ op, ran: { answer: waits ? ["waits", single.waitingTicket] : result, events } });
    if (pending.length === CAPACITY || prng.integer(40) === 0) flush();
  }
  flush();
  single.destroy();
  batched.destroy();
  return operations;
}

/** Runs what has been put, in as many runs as it takes, and compares. */
function runBatch(batch: OperationBatch, executor: KernelExecutorMemory, pending: { op: Op; ran: Ran }[]): void {
  for (let start = 0; batch.length > 0;) {
    const done = batch.run(executor);
    const answers = Array.from({ length: done }, (_, i) => batch.answer(i));
    const negatives = answers.map((_, i) => batch.negativeAnswer(i));
    const events: unknown[][] = answers.map(() => []);
    batch.drain((operation) => recorder(events[operation]));
    for (let i = 0; i < done; i++) {
      const { op, ran } = pending[start + i];
      const negative = negatives[i];
      const answer = negative === null ? meaning(batch, op, answers[i]) : `NEGATIVE_ANSWER ${negative}`;
      if (sameJson(answer, ran.answer) && sameEvents(events[i], ran.events)) continue;
      assertEquals({ answer, events: events[i] }, ran, `outcome of ${JSON.stringify(op)}`);
    }
    start += done;
  }
}

/** Whether a batch told what the single call did; warnings for which its log had no room may be missing (logOverRelease). */
function sameEvents(batched: readonly unknown[], single: readonly unknown[]): boolean {
  let told = 0;
  for (const event of single) {
    if (told < batched.length && sameJson(batched[told], event)) told++;
    else if ((event as unknown[])[0] !== "overRelease") return false;
  }
  return told === batched.length;
}

/** A batch's answer as the single call's result. */
function meaning(batch: OperationBatch, op: Op, answer: number): unknown {
  const ticket = batch.ticketOf(answer);
  if (ticket >= 0) return ["waits", ticket];
  if (answer < 0) return batch.statusOf(answer);
  switch (op.op) {
    case "getSize":
    case "acquireExecution":
    case "releaseAllExecution":
      return answer;
    case "remove":
      return ["absent", "removed", "locked"][answer];
    case "releaseStorage":
    case "releaseExecution":
    case "unlock":
    case "clear":
    case "releaseAllStorage":
      return answer === 0 ? null : answer;
    default:
      return answer === 1;
  }
}
