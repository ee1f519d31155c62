import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  type ExecutorMemoryOptions,
  Kernel,
  MemoryError,
  type MemoryEventVisitor,
  NO_TASK,
  OFF_HEAP,
  ON_HEAP,
  PutFlags,
  WAITING,
  WaitSet,
} from "../src/kernel.ts";

// Numbers with a name in brackets are those of a scenario in tests/testdata/memory/handmade, recorded from Spark 2.4.0.

const HALF: ExecutorMemoryOptions = { maxHeapMemory: 1000, onHeapStorageRegionSize: 500 };
const UNROLL = { memoryThreshold: 100, checkPeriod: 16, growthFactor: 1.5 };

function newExecutor(options: Partial<ExecutorMemoryOptions> = {}) {
  return Kernel.create().createExecutor({ ...HALF, ...options });
}

/** The events of the last call as short texts. */
function events(executor: ReturnType<typeof newExecutor>): string[] {
  const seen: string[] = [];
  const visitor: MemoryEventVisitor = {
    evicted: (block, bytes, mode, forBlock, forTask) =>
      seen.push(`evicted ${block} of ${bytes} mode ${mode} for block ${forBlock} task ${forTask}`),
    granted: (ticket, bytes, task) => seen.push(`granted ${bytes} to ticket ${ticket} task ${task}`),
    waitsOn: (ticket, task) => seen.push(`ticket ${ticket} task ${task} waits on`),
    failed: (ticket, status, task) => seen.push(`ticket ${ticket} task ${task} ${status}`),
    overRelease: (released, held, mode, pool) => seen.push(`${pool} ${mode}: ${released} of ${held}`),
  };
  executor.drain(visitor);
  return seen;
}

function status(call: () => unknown): string {
  return assertThrows(call, MemoryError).status;
}

Deno.test("acquireStorageMemory() never evicts execution and borrows what is free", () => {
  const executor = newExecutor();
  const [a, b] = [executor.declareBlock(), executor.declareBlock()];
  assertEquals(executor.acquireExecutionMemory(800, 0, ON_HEAP), 800);
  // [UMMSuite storage does not evict execution]
  assertEquals(executor.putBytes(a, 100, ON_HEAP), true);
  assertEquals(executor.putBytes(b, 250, ON_HEAP), false);
  assertEquals(executor.executionMemoryUsed(ON_HEAP), 800);
  assertEquals(executor.hasEvents, false);
});

Deno.test("execution evicts whole blocks, eldest first, and says for which task", () => {
  const executor = newExecutor();
  const blocks = [1, 2, 3].map(() => executor.declareBlock());
  for (const block of blocks) assertEquals(executor.putBytes(block, 300, ON_HEAP), true);
  executor.get(blocks[0]);
  assertEquals(executor.acquireExecutionMemory(200, 7, ON_HEAP), 200);
  assertEquals(events(executor), [`evicted ${blocks[1]} of 300 mode 0 for block -1 task 7`]);
  assertEquals(events(executor), []);
  assertEquals(executor.contains(blocks[1]), false);
});

Deno.test("a block evicts no block of its own RDD, and no locked one", () => {
  const executor = newExecutor({ onHeapStorageRegionSize: 1000 });
  const [r0, r1, other] = [executor.declareBlock(4), executor.declareBlock(4), executor.declareBlock(5)];
  executor.putBytes(r0, 400, ON_HEAP);
  executor.putBytes(other, 400, ON_HEAP);
  executor.lockForReading(other);
  assertEquals(executor.putBytes(r1, 300, ON_HEAP), false);
  executor.unlock(other);
  assertEquals(executor.putBytes(r1, 300, ON_HEAP), true);
  assertEquals(events(executor), [`evicted ${other} of 400 mode 0 for block ${r1} task -1`]);
});

Deno.test("a locked block keeps its place in the access order", () => {
  const executor = newExecutor({ onHeapStorageRegionSize: 1000 });
  const blocks = Array.from({ length: 6 }, () => executor.declareBlock());
  for (const block of blocks) executor.putBytes(block, 100, ON_HEAP);
  const order = () => {
    const ids: number[] = [];
    executor.blocks(ON_HEAP, (block) => ids.push(block));
    return ids;
  };
  for (const block of blocks.slice(0, 3)) executor.lockForReading(block);
  const extra = executor.declareBlock();
  assertEquals(executor.putBytes(extra, 701, ON_HEAP), false); // 400 are free, 300 not locked
  // passes over the three locked ones and evicts block 3
  assertEquals(executor.putBytes(extra, 401, ON_HEAP), true);
  assertEquals(events(executor), [`evicted ${blocks[3]} of 100 mode 0 for block ${extra} task -1`]);
  assertEquals(order(), [0, 1, 2, 4, 5, extra]);
  executor.unlock(blocks[1]);
  executor.get(blocks[0]);
  assertEquals(order(), [1, 2, 4, 5, extra, 0]);
  executor.remove(extra);
  executor.acquireStorageMemory(extra, 501, ON_HEAP); // 500 free
  assertEquals(events(executor), [`evicted ${blocks[1]} of 100 mode 0 for block ${extra} task -1`]);
});

Deno.test("of N tasks each gets at most 1/N, and waits for its 1/2N", () => {
  const executor = newExecutor();
  // [MMSuite block for 1 of 2N]
  assertEquals(executor.acquireExecutionMemory(1000, 1, ON_HEAP), 1000);
  assertEquals(executor.acquireExecutionMemory(250, 2, ON_HEAP), WAITING);
  const ticket = executor.waitingTicket;
  assertEquals(executor.waitingTickets(), [ticket]);
  executor.releaseExecutionMemory(250, 1, ON_HEAP);
  assertEquals(events(executor), [`granted 250 to ticket ${ticket} task 2`]);
  assertEquals(executor.waitingTickets(), []);
  assertEquals(executor.executionMemoryUsageForTask(2, ON_HEAP), 250);
  assertEquals(executor.activeTasks(ON_HEAP), 2);
});

Deno.test("waiting tasks are woken first come first, and those that get too little wait on", () => {
  const executor = newExecutor();
  executor.acquireExecutionMemory(1000, 1, ON_HEAP);
  executor.acquireExecutionMemory(400, 2, ON_HEAP);
  const second = executor.waitingTicket;
  executor.acquireExecutionMemory(400, 3, ON_HEAP);
  const third = executor.waitingTicket;
  // the newcomer is served before it wakes the others
  assertEquals(events(executor), [`ticket ${second} task 2 waits on`]);
  executor.releaseExecutionMemory(300, 1, ON_HEAP);
  assertEquals(events(executor), [`granted 300 to ticket ${second} task 2`, `ticket ${third} task 3 waits on`]);
});

Deno.test("the host may wake the waiting tasks in its own order", () => {
  const executor = newExecutor({ wakeOrder: "host" });
  executor.acquireExecutionMemory(1000, 1, ON_HEAP);
  executor.acquireExecutionMemory(400, 2, ON_HEAP);
  executor.acquireExecutionMemory(400, 3, ON_HEAP);
  assertEquals(executor.notified, true);
  const [second, third] = executor.waitingTickets();
  executor.releaseExecutionMemory(300, 1, ON_HEAP);
  assertEquals([executor.notified, executor.hasEvents], [true, false]);
  executor.wake(third);
  assertEquals(events(executor), [`granted 300 to ticket ${third} task 3`]);
  executor.wake(second);
  assertEquals(events(executor), [`ticket ${second} task 2 waits on`]);
  assertEquals(status(() => executor.wake(third)), "NOT_WAITING");
});

Deno.test("a cancelled acquire ends, its task stays active; releasing a waiting task fails its acquire", () => {
  const executor = newExecutor();
  executor.acquireExecutionMemory(1000, 1, ON_HEAP);
  executor.acquireExecutionMemory(400, 2, ON_HEAP);
  const cancelled = executor.waitingTicket;
  assertEquals(executor.cancel(cancelled), true);
  assertEquals(events(executor), [`ticket ${cancelled} task 2 INTERRUPTED`]);
  assertEquals(executor.cancel(cancelled), false);
  assertEquals(executor.activeTasks(ON_HEAP), 2);
  // [probe releasing a waiting task kills its waiter]
  executor.acquireExecutionMemory(400, 3, ON_HEAP);
  const killed = executor.waitingTicket;
  assertEquals(executor.releaseAllExecutionMemoryForTask(3), 0);
  assertEquals(events(executor), [`ticket ${killed} task 3 TASK_NOT_ACTIVE`]);
});

Deno.test("unrolling in one call and in steps is the same", () => {
  const run = (inSteps: boolean) => {
    const executor = newExecutor({ onHeapStorageRegionSize: 1000 });
    const [old, block] = [executor.declareBlock(1), executor.declareBlock(2)];
    executor.putBytes(old, 300, ON_HEAP);
    let stored: boolean;
    if (inSteps) {
      const unrolling = executor.beginUnroll(block, 5, ON_HEAP, UNROLL);
      for (let i = 0; i < 40 && unrolling.keepUnrolling; i++) {
        if (i % UNROLL.checkPeriod === 0) unrolling.check((i + 1) * 20);
      }
      stored = unrolling.finish(800, PutFlags.DESERIALIZED);
      assertEquals(unrolling.reservedBytes, executor.unrollMemoryForTask(5, ON_HEAP));
    } else {
      const values = { elementCount: 40, elementBytes: 20 };
      stored = executor.putIterator(block, 5, ON_HEAP, UNROLL, values, PutFlags.DESERIALIZED).stored;
    }
    return { stored, state: executor.state(), values: stored && executor.getValues(block) };
  };
  const once = run(false);
  assertEquals(once.stored, true);
  assertEquals(once.values, true);
  assertEquals(run(true), once);
});

Deno.test("a refused unroll keeps its reservation until the task releases it", () => {
  const executor = newExecutor();
  const block = executor.declareBlock(3);
  executor.acquireExecutionMemory(500, 9, ON_HEAP);
  // reserves 100; element 17: 510 bytes, 510 x 1.5 - 100 = 665 more, but 500 are all there is
  const values = { elementCount: 100, elementBytes: 30 };
  assertEquals(executor.putIterator(block, 9, ON_HEAP, UNROLL, values), {
    stored: false,
    bytes: 100,
    elementsUnrolled: 17,
  });
  assertEquals(executor.unrollMemoryForTask(9, ON_HEAP), 100);
  assertEquals(executor.storageMemoryUsed(ON_HEAP), 100);
  executor.releaseUnrollMemoryForTask(9, ON_HEAP);
  assertEquals(executor.storageMemoryUsed(ON_HEAP), 0);
});

Deno.test("a block whose level uses disk stays known when it is evicted, others do not", () => {
  const executor = newExecutor({ onHeapStorageRegionSize: 1000 });
  const [onDisk, gone, big] = [executor.declareBlock(), executor.declareBlock(), executor.declareBlock()];
  executor.putBytes(onDisk, 400, ON_HEAP, PutFlags.USE_DISK);
  executor.putBytes(gone, 400, ON_HEAP);
  executor.putBytes(big, 1000, ON_HEAP);
  assertEquals([executor.contains(onDisk), executor.contains(gone)], [false, false]);
  assertEquals([executor.lockForReading(onDisk), executor.lockForReading(gone)], [true, false]);
  assertEquals(executor.remove(onDisk), "locked");
  executor.unlock(onDisk);
  assertEquals(executor.remove(onDisk), "absent");
  assertEquals(executor.lockForReading(onDisk), false);
});

Deno.test("a drop that fails keeps what was dropped before, and the failing block is the youngest", () => {
  // [MSSuite SPARK-22083 eviction failure after 3 drops]
  const executor = newExecutor({ maxHeapMemory: 100, onHeapStorageRegionSize: 100 });
  const blocks = Array.from({ length: 10 }, () => executor.declareBlock(1));
  for (const block of blocks) executor.putBytes(block, 10, ON_HEAP);
  executor.setDropFailure(3);
  const other = executor.declareBlock(2);
  assertEquals(status(() => executor.putBytes(other, 100, ON_HEAP)), "DROP_FAILED");
  assertEquals(events(executor).length, 3);
  const order: number[] = [];
  executor.blocks(ON_HEAP, (block) => order.push(block));
  assertEquals(order, [4, 5, 6, 7, 8, 9, 3]);
  executor.setDropFailure(null);
  assertEquals(executor.putBytes(other, 60, ON_HEAP), true);
});

Deno.test("what Spark throws is a status", () => {
  const executor = newExecutor();
  const block = executor.declareBlock();
  assertEquals(status(() => executor.getSize(block)), "BLOCK_NOT_IN_MEMORY");
  assertEquals(status(() => executor.unlock(block)), "BLOCK_NOT_FOUND");
  assertEquals(status(() => executor.acquireExecutionMemory(0, 1, ON_HEAP)), "INVALID_NUMBER_OF_BYTES");
  assertEquals(status(() => executor.acquireExecutionMemory(-1, 1, ON_HEAP)), "ASSERTION_FAILED");
  executor.putBytes(block, 10, ON_HEAP);
  assertEquals(status(() => executor.putBytes(block, 10, ON_HEAP)), "BLOCK_ALREADY_PRESENT");
  assertEquals(status(() => executor.beginUnroll(block, 1, ON_HEAP, UNROLL)), "BLOCK_ALREADY_PRESENT");
  assertEquals(status(() => executor.unlock(block)), "BLOCK_NOT_LOCKED");
  assertEquals(status(() => executor.getValues(block)), "BLOCK_NOT_DESERIALIZED");
  executor.releaseExecutionMemory(10, 1, ON_HEAP);
  assertEquals(events(executor), ["execution 0: 10 of 0"]);
});

Deno.test("misuse of the kernel is a status", () => {
  const executor = newExecutor();
  const block = executor.declareBlock();
  assertEquals(status(() => executor.get(block + 1)), "BAD_BLOCK");
  assertEquals(status(() => executor.putBytes(block, 0.5, ON_HEAP)), "BAD_ARGUMENT");
  assertEquals(status(() => executor.putBytes(block, NaN, ON_HEAP)), "BAD_ARGUMENT");
  executor.putBytes(block, 1, ON_HEAP);
  assertEquals(status(() => executor.forgetBlock(block)), "BLOCK_IN_USE");
  executor.remove(block);
  executor.forgetBlock(block);
  assertEquals(status(() => executor.get(block)), "BAD_BLOCK");
  assertEquals(executor.declareBlock(), block);
  executor.destroy();
  assertEquals(status(() => executor.get(block)), "BAD_EXECUTOR");
  assertEquals(status(() => newExecutor({ onHeapStorageRegionSize: 1001 })), "BAD_ARGUMENT");
});

Deno.test("Spark 3.0 and later refuse an execution pool of 0 bytes", () => {
  const options = { onHeapStorageRegionSize: 1000 };
  assertEquals(newExecutor(options).executionPoolSize(ON_HEAP), 0);
  const rules = { refusesEmptyExecutionPool: true };
  assertEquals(status(() => newExecutor({ ...options, rules })), "EXECUTION_MEMORY_REQUIRED");
});

Deno.test("Spark 1.6 borrows the whole request, and what execution evicts reaches it one request later", () => {
  // run on a real SparkContext of 1.6.3 with 1,000,000 bytes, storage fraction 0.5
  const rules = { borrowsOnlyWhatIsMissing: false, evictionReachesExecutionAtOnce: false, offHeapStorage: false };
  const executor = newExecutor({
    maxHeapMemory: 1_000_000,
    onHeapStorageRegionSize: 500_000,
    maxOffHeapMemory: 1000,
    rules,
  });
  const pools = () => Array.from(executor.stateNumbers().subarray(0, 4));
  const block = executor.declareBlock();
  assertEquals(executor.putBytes(block, 600_000, ON_HEAP), true);
  assertEquals(pools(), [1_000_000, 600_000, 0, 0]);
  assertEquals(executor.acquireExecutionMemory(700_000, 1, ON_HEAP), 400_000);
  assertEquals(events(executor).length, 1);
  assertEquals(pools(), [600_000, 0, 400_000, 400_000]);
  assertEquals(executor.acquireExecutionMemory(300_000, 1, ON_HEAP), 300_000);
  assertEquals(pools(), [300_000, 0, 700_000, 700_000]);
  // nothing is stored off-heap: all of it is execution memory
  assertEquals(executor.putBytes(block, 1, OFF_HEAP), false);
  assertEquals(executor.acquireExecutionMemory(1000, 1, OFF_HEAP), 1000);
});

Deno.test("unmanaged memory lowers the limits from Spark 4.1 on, and only there", () => {
  // [h03 of unmanaged-4.1: a single task waits although memory is free]
  const run = (unmanagedConsumers: boolean) => {
    const executor = newExecutor({ onHeapStorageRegionSize: 0, rules: { unmanagedConsumers } });
    executor.setUnmanagedMemory(ON_HEAP, 800);
    return [executor.acquireExecutionMemory(200, 1, ON_HEAP), executor.acquireExecutionMemory(500, 1, ON_HEAP)];
  };
  assertEquals(run(true), [200, WAITING]);
  assertEquals(run(false), [200, 500]);
});

Deno.test("executors of one kernel share nothing", () => {
  const kernel = Kernel.create();
  const executors = Array.from({ length: 100 }, () => kernel.createExecutor(HALF));
  for (const [i, executor] of executors.entries()) {
    executor.putBytes(executor.declareBlock(), i + 1, ON_HEAP);
    executor.acquireExecutionMemory(i + 1, 1, ON_HEAP);
    executor.reserveUnrollMemoryForTask(0, i, NO_TASK, ON_HEAP);
  }
  for (const [i, executor] of executors.entries()) {
    assertEquals(executor.storageMemoryUsed(ON_HEAP), 2 * i + 1);
    assertEquals(executor.executionMemoryUsed(ON_HEAP), i + 1);
  }
});

Deno.test("sizes are exact up to 2^53 - 1", () => {
  const max = Number.MAX_SAFE_INTEGER;
  const executor = newExecutor({ maxHeapMemory: max, onHeapStorageRegionSize: max - 1 });
  const block = executor.declareBlock();
  assertEquals(executor.putBytes(block, max, ON_HEAP), true);
  assertEquals(executor.getSize(block), max);
  assertEquals(executor.acquireExecutionMemory(1, 1, ON_HEAP), 1);
  assertEquals(executor.executionPoolSize(ON_HEAP), max);
});

Deno.test("ten thousand executors, created and destroyed, leave the memory as large as it was", () => {
  const kernel = Kernel.create();
  const use = () => {
    const executor = kernel.createExecutor(HALF);
    for (let i = 0; i < 100; i++) executor.putBytes(executor.declareBlock(i), 1, ON_HEAP);
    for (let task = 0; task < 30; task++) executor.acquireExecutionMemory(1, task, ON_HEAP);
    executor.destroy();
  };
  for (let i = 0; i < 10; i++) use();
  const before = kernel.memoryBytes;
  for (let i = 0; i < 10_000; i++) use();
  assertEquals(kernel.memoryBytes, before);
});

Deno.test("a kernel that may not grow says so and stays as it was", () => {
  const kernel = Kernel.create(undefined, { maxMemoryBytes: 1 << 20 });
  const executor = kernel.createExecutor({ ...HALF, maxHeapMemory: 1e9, onHeapStorageRegionSize: 1e9 });
  let stored = 0;
  const refused = status(() => {
    for (;;) {
      executor.putBytes(executor.declareBlock(stored), 1, ON_HEAP);
      stored++;
    }
  });
  assertEquals(refused, "OUT_OF_MEMORY");
  assert(stored > 1000);
  assertEquals(executor.state().entries, stored);
  assertEquals(executor.storageMemoryUsed(ON_HEAP), stored);
  assertEquals(kernel.memoryBytes <= 1 << 20, true);
  assertEquals(executor.remove(0), "removed");
});

Deno.test("a request of Long.MaxValue when more is used than there is: Spark's subtraction overflows, and the task waits", () => {
  // 500 - 521 = -21 are free; Long.MaxValue + 21 is below 0, so that the 500 free bytes of storage are not borrowed
  const executor = Kernel.create().createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
  assertEquals(executor.acquireExecutionMemory(500, 1, ON_HEAP), 500);
  executor.releaseExecutionMemory(-21, 1, ON_HEAP);
  assertEquals(executor.acquireExecutionMemory(2 ** 63, 2, ON_HEAP), WAITING);
  // a smaller request borrows them, up to the share of one of three tasks
  assertEquals(executor.acquireExecutionMemory(2 ** 60, 3, ON_HEAP), 333);
});

Deno.test("a kernel has one batch, of as many operations as it was made for", () => {
  const kernel = Kernel.create();
  const batch = kernel.createBatch(1);
  assertThrows(() => kernel.createBatch(1), Error, "Cannot create a batch: the kernel must have none");
  batch.put("acquireStorageMemory", 1, 10);
  assertThrows(() => batch.put("acquireStorageMemory", 2, 10), RangeError, "the batch is full");
});

Deno.test("an unroll that was refused is not finished", () => {
  const executor = newExecutor();
  executor.acquireExecutionMemory(500, 9, ON_HEAP);
  const block = executor.declareBlock(2);
  // 500 are left for storage, and the first reservation is 501
  const unroll = executor.beginUnroll(block, 7, ON_HEAP, { ...UNROLL, memoryThreshold: 501 });
  assertEquals([unroll.keepUnrolling, unroll.finish(60)], [false, false]);
  assertEquals(executor.contains(block), false);
});

Deno.test("a wait set keeps who waits in the order in which they began", () => {
  const waiting = new WaitSet();
  for (const ticket of [5, 3, 9]) waiting.add(ticket);
  waiting.waitsAgain(5);
  assertEquals([...waiting.tickets], [3, 9, 5]);
});
