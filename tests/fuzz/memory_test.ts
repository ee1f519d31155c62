import { assert, assertEquals, assertThrows } from "@std/assert";
import { Kernel, MemoryError } from "../../src/kernel.ts";
import { Prng } from "../../src/prng.ts";
import { fuzzAbi } from "./memory_abi_fuzz.ts";
import { fuzzBatches } from "./memory_batch_fuzz.ts";
import { fuzzMemory } from "./memory_fuzz.ts";
import { fuzzLimit } from "./memory_limit_fuzz.ts";
import { applyOp, type Op } from "./memory_operations.ts";
import { mirroredKernel } from "./mirrored_kernel.ts";

Deno.test("kernel and model give the same results, events and states", () => {
  const counts = fuzzMemory({ seed: 1, ops: 40_000 });
  assert(counts.operations >= 40_000);
  assert(counts.evictions > 500 && counts.waits > 500 && counts.hostWakes > 500 && counts.statuses > 500);
});

Deno.test("batches do what single calls do", () => {
  assert(fuzzBatches({ seed: 1, ops: 30_000 }).operations >= 30_000);
  // A batch whose log has no room for all warnings.
  assert(fuzzBatches({ seed: 600_010_006, ops: 1000 }).operations >= 1000);
});

Deno.test("a run of the fuzzer is the same every time", () => {
  assertEquals(fuzzMemory({ seed: 7, ops: 4_000 }), fuzzMemory({ seed: 7, ops: 4_000 }));
});

Deno.test("garbage gets a status, never a trap, and reaches no other executor", () => {
  for (let seed = 1; seed <= 4; seed++) {
    const counts = fuzzAbi({ seed, ops: 50_000 });
    assert(counts.statuses > 10_000 && counts.batches > 50);
  }
});

Deno.test("each export that gets no memory says so and leaves all executors as they were", () => {
  const { refused } = fuzzLimit({ seed: 1, ops: 30_000 });
  // acquireStorageMemory needs none: the log has room for what it evicts since the blocks were put.
  assertEquals(Object.keys(refused).sort(), [
    "acquireExecutionMemory",
    "batchBuffer",
    "createExecutor",
    "declareBlock",
    "finishUnroll",
    "putBytes",
    "putIterator",
    "reserveUnrollMemory",
    "runBatch",
  ]);
});

Deno.test("when the kernel may not grow, the operation has not happened", () => {
  const refused = new Map<string, number>();
  for (let seed = 1; seed <= 30; seed++) {
    const limit = 60_000 + 5_000 * seed;
    const kernel = Kernel.create(undefined, { maxMemoryBytes: limit });
    const prng = new Prng(seed);
    const executor = kernel.createExecutor({ maxHeapMemory: 1e9, onHeapStorageRegionSize: 5e8 });
    const blocks = [executor.declareBlock()];
    for (let i = 0; i < 6000; i++) {
      const op = growingOp(prng, blocks, i, seed % 2 === 0 ? 4 : 2);
      const before = Array.from(executor.stateNumbers());
      const result = applyOp(executor, op, 100);
      if (op.op === "declare" && typeof result === "number") blocks.push(result);
      if (result !== "OUT_OF_MEMORY") continue;
      refused.set(op.op, (refused.get(op.op) ?? 0) + 1);
      assertEquals(Array.from(executor.stateNumbers()), before);
      assertEquals(executor.hasEvents, false);
    }
    assertEquals(kernel.memoryBytes <= limit + 65_536, true); // it grows in pages
    // what needs no more memory still works
    executor.clear();
    assertEquals([executor.contains(blocks[0]), executor.lockForReading(blocks[0])], [false, false]);
  }
  assertEquals([...refused.keys()].sort(), ["acquireExecution", "declare", "putBytes", "reserveUnroll"]);
});

Deno.test("a put whose evictions could not be told is refused", () => {
  const kernel = Kernel.create(undefined, { maxMemoryBytes: 1 << 20 });
  const options = { maxHeapMemory: 1e9, onHeapStorageRegionSize: 5e8 };
  const executor = kernel.createExecutor(options);
  const blocks = Array.from({ length: 1500 }, () => executor.declareBlock());
  // others take all memory that there is, also what growing tables have left behind
  assertThrows(() => {
    for (;;) {
      const other = kernel.createExecutor(options);
      while (applyOp(other, { op: "declare", rdd: -1 }, 100) !== "OUT_OF_MEMORY");
    }
  }, MemoryError);
  const stored = blocks.findIndex((block) => applyOp(executor, put(block), 100) === "OUT_OF_MEMORY");
  assert(stored > 500);
  assertEquals(executor.state().entries, stored);
  // all of them can still be evicted in one go
  executor.remove(blocks[0]);
  assertEquals(executor.putBytes(blocks[1499], 1e9, 0), true);
  let evicted = 0;
  executor.drain({ evicted: () => evicted++ });
  assertEquals(evicted, stored - 1);
});

function put(block: number): Op {
  return { op: "putBytes", block, bytes: 1, mode: 0, flags: 0 };
}

/** An operation that needs a new record somewhere: of a block, an RDD, a task, a waiting acquire, an event. */
function growingOp(prng: Prng, blocks: readonly number[], i: number, kinds: number): Op {
  const block = blocks[prng.integer(blocks.length)];
  switch (prng.integer(kinds)) {
    case 0:
      return { op: "declare", rdd: kinds === 2 ? -1 : prng.integer(5000) };
    case 1:
      return { op: "putBytes", block: blocks.at(-1)!, bytes: 1, mode: 0, flags: 0 };
    case 2:
      return { op: "reserveUnroll", block, task: 10_000 + i, bytes: 1, mode: 0 };
    default:
      return { op: "acquireExecution", task: i, bytes: prng.integer(20) === 0 ? 1e9 : 1, mode: 0 };
  }
}

Deno.test("a million operations on one instance leave its memory as large as it was", () => {
  const kernel = Kernel.create();
  const batch = kernel.createBatch(4096);
  const executor = kernel.createExecutor({ maxHeapMemory: 1e6, onHeapStorageRegionSize: 5e5 });
  const blocks = Array.from({ length: 500 }, (_, i) => executor.declareBlock(i % 20));
  const prng = new Prng(3);
  let before = 0;
  for (let i = 0; i < 1_000_000;) {
    for (; batch.length < 4096 && i < 1_000_000; i++) {
      // ever new task attempts, as a long job has them
      const task = i >> 4;
      if (i % 16 < 10) batch.put("getOrPut", blocks[prng.integer(500)], 1 + prng.integer(20_000), 0);
      else if (i % 16 < 14) batch.put("acquireExecutionMemory", task, 1000, 0);
      else batch.put("releaseAllExecutionMemoryForTask", task);
    }
    while (batch.length > 0) batch.run(executor);
    if (i < 100_000) before = kernel.memoryBytes;
  }
  assertEquals(kernel.memoryBytes, before);
});

/** A kernel whose release of execution memory does nothing. */
function brokenKernel(): Kernel {
  const kernel = Kernel.create();
  const create = kernel.createExecutor.bind(kernel);
  kernel.createExecutor = (options) => {
    const executor = create(options);
    executor.releaseExecutionMemory = () => {};
    return executor;
  };
  return kernel;
}

Deno.test("a mirrored kernel answers as a kernel does, and throws where the model answers otherwise", () => {
  const counts = { mirroredCalls: 0, mirroredEvictions: 0 };
  const run = (kernel: Kernel) => {
    const executor = kernel.createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
    const [block, other] = [executor.declareBlock(7), executor.declareBlock(8)];
    const answers: unknown[] = [executor.putBytes(block, 750, 0), executor.acquireExecutionMemory(400, 1, 0)];
    executor.drain({ evicted: (...event) => answers.push(event) });
    const settings = { memoryThreshold: 100, checkPeriod: 16, growthFactor: 1.5 };
    const unrolling = executor.beginUnroll(other, 1, 0, settings);
    answers.push(unrolling.check(200), unrolling.finish(250), executor.hasEvents);
    assertThrows(() => executor.putBytes(other, 1, 0), MemoryError, "BLOCK_ALREADY_PRESENT");
    executor.releaseExecutionMemory(100, 1, 0);
    answers.push(Array.from(executor.stateNumbers()));
    executor.destroy();
    return answers;
  };
  assertEquals(run(mirroredKernel(counts)), run(Kernel.create()));
  assertEquals(counts, { mirroredCalls: 9, mirroredEvictions: 1 });
  const message = "kernel and model: state after releaseExecutionMemory(100, 1, 0)";
  assertThrows(() => run(mirroredKernel(counts, brokenKernel())), Error, message);
});

Deno.test("a failure names the seed and the shortest operations that fail", () => {
  class Broken extends Error {}
  let message = "";
  try {
    fuzzMemory({ seed: 1, ops: 2000, kernel: brokenKernel() });
    throw new Broken();
  } catch (error) {
    if (error instanceof Broken || error instanceof MemoryError) throw error;
    message = (error as Error).message;
  }
  assert(/^memory fuzz, seed \d+, operation \d+: /.test(message));
  assert(message.trimEnd().split("\n").at(-1)!.includes("releaseExecution"));
});
