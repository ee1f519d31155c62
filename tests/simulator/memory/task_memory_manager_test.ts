import { assertEquals } from "@std/assert";
import { FAILED, ON_HEAP, WAITING } from "../../../src/simulator/memory/execution_memory.ts";
import { MemoryConsumer } from "../../../src/simulator/memory/memory_consumer.ts";
import { FREED_PAGE, PAGE_TABLE_SIZE } from "../../../src/simulator/memory/page_table.ts";
import type { SpillRules } from "../../../src/simulator/memory/spill_rules.ts";
import { rulesFor } from "../../../src/spark/versions.ts";
import { MAXIMUM_PAGE_SIZE_BYTES, TaskMemoryManager } from "../../../src/simulator/memory/task_memory_manager.ts";
import { PlainExecutor } from "./plain_executor.ts";

const SPILL_RULES_2_4 = rulesFor("2.4.0").spilling;
const SPILL_RULES_3_5 = rulesFor("3.5.9").spilling;

/** Frees up to `step` bytes whenever it is asked, and notes what it was asked for. */
class Stepwise extends MemoryConsumer {
  readonly asked: number[] = [];
  readonly ends: number[] = [];
  constructor(
    manager: TaskMemoryManager,
    readonly name: string,
    readonly step = Infinity,
  ) {
    super(manager, ON_HEAP);
  }

  spill(size: number): number {
    this.asked.push(size);
    const freed = Math.min(this.step, this.used);
    if (freed > 0) this.freeMemory(freed);
    return freed;
  }

  override requestCompleted(result: number): void {
    this.ends.push(result);
  }
}

/** Gives up everything and takes a new array while it spills, as UnsafeExternalSorter of Spark 2.4.0 does. */
class TakesArrayInSpill extends MemoryConsumer {
  readonly name = "sorter";
  #freed = 0;

  spill(): number {
    if (this.#freed > 0) return 0;
    this.#freed = this.used;
    this.freeMemory(this.used);
    const result = this.allocateArray(2);
    return result < 0 ? result : this.#freed;
  }

  override resumeSpill(result: number): number {
    return result < 0 ? result : this.#freed;
  }
}

function taskOn(
  executor: PlainExecutor,
  taskAttemptId = 0,
  rules: SpillRules = SPILL_RULES_2_4,
): TaskMemoryManager {
  return new TaskMemoryManager(executor, taskAttemptId, {
    tungstenMemoryMode: ON_HEAP,
    pageSizeBytes: 10,
    rules,
  });
}

// Spark 2.4.0, rule 6 of the recorded traces: exactly one call of the requester, whatever it frees.
Deno.test("2.4: a requester spills itself once, last", () => {
  const task = taskOn(new PlainExecutor({ onHeap: 1000 }));
  const other = new Stepwise(task, "other");
  const requester = new Stepwise(task, "requester", 100);
  assertEquals(other.acquireMemory(300), 300);
  assertEquals(requester.acquireMemory(700), 700);
  assertEquals(requester.acquireMemory(700), 400);
  assertEquals(other.asked, [700, 400]);
  assertEquals(requester.asked, [400]);
  assertEquals(requester.used, 1000);
});

// SPARK-35486 and Spark 3.5.9, difference (a): asked again until the request is met or nothing is freed.
Deno.test("3.5: a requester spills itself until the request is met", () => {
  const task = taskOn(
    new PlainExecutor({ onHeap: 1000 }),
    0,
    SPILL_RULES_3_5,
  );
  const requester = new Stepwise(task, "requester", 100);
  assertEquals(requester.acquireMemory(1000), 1000);
  assertEquals(requester.acquireMemory(350), 350);
  assertEquals(requester.asked, [350, 250, 150, 50]);
});

// Spark 3.5.9, difference (b).
Deno.test("3.5: a requester that holds nothing is not asked", () => {
  const task = taskOn(new PlainExecutor({ onHeap: 100 }), 0, SPILL_RULES_3_5);
  const keeper = new Stepwise(task, "keeper", 0);
  const requester = new Stepwise(task, "requester");
  assertEquals(keeper.acquireMemory(100), 100);
  assertEquals(requester.acquireMemory(10), 0);
  assertEquals([keeper.asked, requester.asked], [[10], []]);
});

Deno.test("3.2: a requester is asked again, also when it is not registered", () => {
  const rules: SpillRules = { ...SPILL_RULES_2_4, selfSpill: "repeated" };
  const task = taskOn(new PlainExecutor({ onHeap: 100 }), 0, rules);
  const keeper = new Stepwise(task, "keeper", 0);
  const requester = new Stepwise(task, "requester", 10);
  assertEquals(keeper.acquireMemory(70), 70);
  assertEquals(requester.acquireMemory(30), 30);
  assertEquals(requester.acquireMemory(30), 30);
  assertEquals(requester.asked, [30, 20, 10]);
});

// TaskMemoryManager of Spark 2.3.4: a consumer leaves the list before its spill is called.
Deno.test("until 2.3 a consumer is asked once in a request", () => {
  const rules: SpillRules = { ...SPILL_RULES_2_4, asksAgain: false };
  const task = taskOn(new PlainExecutor({ onHeap: 100 }), 0, rules);
  const part = new Stepwise(task, "part", 10);
  const requester = new Stepwise(task, "requester", 0);
  assertEquals(part.acquireMemory(100), 100);
  assertEquals(requester.acquireMemory(50), 10);
  assertEquals(part.asked, [50]);
});

// SEMANTICS 5: two active tasks, so 1/2N of 1000 is 250; the first holds all.
Deno.test("a request that waits goes on with spilling when it is resumed", () => {
  const executor = new PlainExecutor({ onHeap: 1000 });
  const first = taskOn(executor, 1);
  const second = taskOn(executor, 2);
  const hog = new Stepwise(first, "hog");
  const own = new Stepwise(second, "own");
  const requester = new Stepwise(second, "requester");
  assertEquals(hog.acquireMemory(900), 900);
  assertEquals(own.acquireMemory(150), WAITING);
  assertEquals(second.waiting, true);
  hog.freeMemory(50);
  const [served] = executor.serve();
  assertEquals(second.resume(served.granted), 150);
  assertEquals([own.used, own.ends, second.waiting], [150, [150], false]);
  assertEquals(requester.acquireMemory(450), WAITING);
  hog.freeMemory(100);
  const [again] = executor.serve();
  // 100 are free, which makes 250 = 1/2N; the rest has to come from the consumer of the same task.
  assertEquals(again.granted, 100);
  assertEquals(second.resume(again.granted), 250);
  assertEquals([own.used, own.asked], [0, [350, 200]]);
  assertEquals(requester.ends, [250]);
});

Deno.test("a request made inside of a spill may wait, too", () => {
  const executor = new PlainExecutor({ onHeap: 100 });
  const task = taskOn(executor, 1);
  const sorter = new TakesArrayInSpill(task, ON_HEAP);
  const requester = new Stepwise(task, "requester");
  assertEquals(sorter.acquireMemory(90), 90);
  assertEquals(requester.acquireMemory(10), 10);
  // Other tasks take the freed bytes before the array is asked for: N is 4, so 1/2N is 12 and the task has 10.
  const release = executor.releaseExecutionMemory.bind(executor);
  executor.releaseExecutionMemory = (...args) => {
    executor.releaseExecutionMemory = release;
    release(...args);
    assertEquals(executor.acquireExecutionMemory(50, 2, ON_HEAP), 50);
    assertEquals(executor.acquireExecutionMemory(33, 3, ON_HEAP), 33);
    assertEquals(executor.acquireExecutionMemory(7, 4, ON_HEAP), 7);
  };
  assertEquals(requester.acquireMemory(30), WAITING);
  executor.releaseExecutionMemory(50, 2, ON_HEAP);
  const [array] = executor.serve();
  assertEquals(array, { taskAttemptId: 1, granted: 16 });
  // The array is there. Of the 30 the share of 33 leaves 7; the requester's own 10 make it 17.
  assertEquals(task.resume(array.granted), 17);
  assertEquals([sorter.used, sorter.page?.size], [16, 16]);
  assertEquals([requester.asked, requester.used], [[23], 17]);
  assertEquals(requester.ends, [17]);
});

Deno.test("a waiting request that is interrupted keeps what it got", () => {
  const executor = new PlainExecutor({ onHeap: 1000 });
  const hog = new Stepwise(taskOn(executor, 1), "hog");
  const task = taskOn(executor, 2);
  const requester = new Stepwise(task, "requester");
  assertEquals(hog.acquireMemory(1000), 1000);
  assertEquals(requester.acquireMemory(100), WAITING);
  const failure = {
    className: "java.lang.InterruptedException",
    message: null,
    outOfMemory: null,
  };
  assertEquals(task.abort(failure), FAILED);
  assertEquals([task.failure, task.waiting], [failure, false]);
  assertEquals(requester.ends, [FAILED]);
});

// Message: MemoryConsumer.throwOom of 2.4.0; numbers as TaskMemoryManager.showMemoryUsage logs them.
Deno.test("a page that is too small is given back and the failure has the numbers", () => {
  const executor = new PlainExecutor({ onHeap: 100 });
  const task = taskOn(executor);
  const keeper = new Stepwise(task, "keeper", 0);
  const requester = new Stepwise(task, "requester", 0);
  assertEquals(keeper.acquireMemory(70), 70);
  assertEquals(requester.allocatePage(40), FAILED);
  assertEquals(task.failure, {
    className: "org.apache.spark.memory.SparkOutOfMemoryError",
    message: "Unable to acquire 40 bytes of memory, got 30",
    outOfMemory: {
      consumer: "requester",
      required: 40,
      got: 30,
      notAccountedFor: 0,
      executionMemoryUsed: 70,
      storageMemoryUsed: 0,
    },
  });
  assertEquals([requester.used, requester.page], [0, null]);
  assertEquals(requester.allocatePage(25), 25);
  assertEquals(requester.page, { size: 25, pageNumber: 0 });
});

// TaskMemoryManager.MAXIMUM_PAGE_SIZE_BYTES = ((1L << 31) - 1) * 8L = 17179869176.
Deno.test("a page above the maximum is refused before anything else", () => {
  assertEquals(MAXIMUM_PAGE_SIZE_BYTES, 17179869176);
  const task = taskOn(new PlainExecutor({ onHeap: 100 }));
  const requester = new Stepwise(task, "requester");
  assertEquals(requester.allocatePage(MAXIMUM_PAGE_SIZE_BYTES + 1), FAILED);
  assertEquals(
    task.failure?.message,
    "Cannot allocate a page of 17179869177 bytes.",
  );
});

Deno.test("page numbers: the lowest that is free, 8192 at most", () => {
  const task = taskOn(new PlainExecutor({ onHeap: 1e6 }));
  const consumer = new Stepwise(task, "consumer");
  const pages = Array.from({ length: PAGE_TABLE_SIZE }, () => {
    consumer.allocatePage(1);
    return consumer.page!;
  });
  assertEquals(pages.at(-1)!.pageNumber, PAGE_TABLE_SIZE - 1);
  assertEquals(consumer.allocatePage(1), FAILED);
  assertEquals(
    task.failure?.message,
    "Have already allocated a maximum of 8192 pages",
  );
  assertEquals(consumer.used, PAGE_TABLE_SIZE * 10);
  consumer.freePage(pages[77]);
  consumer.freePage(pages[5]);
  assertEquals(pages[5].pageNumber, FREED_PAGE);
  consumer.allocatePage(1);
  assertEquals(consumer.page!.pageNumber, 5);
  consumer.allocatePage(1);
  assertEquals(consumer.page!.pageNumber, 77);
});

Deno.test("clean-up returns what was leaked and forgets the consumers", () => {
  const executor = new PlainExecutor({ onHeap: 100 });
  const task = taskOn(executor);
  const consumer = new Stepwise(task, "consumer");
  consumer.allocatePage(10);
  const page = consumer.page!;
  consumer.acquireMemory(5);
  assertEquals(task.cleanUpAllAllocatedMemory(), 15);
  assertEquals(executor.executionMemoryUsed(ON_HEAP), 0);
  assertEquals([consumer.registered, consumer.used], [false, 15]);
  assertEquals(consumer.freePage(page), false);
});

// Spark 4.0: TaskMemoryManager counts at the end of each acquire and at each release.
Deno.test("the task's peak is the most it held after a request", () => {
  const task = taskOn(new PlainExecutor({ onHeap: 100 }));
  const consumer = new Stepwise(task, "consumer");
  consumer.acquireMemory(60);
  consumer.acquireMemory(20);
  consumer.freeMemory(50);
  consumer.acquireMemory(40);
  assertEquals([task.peakOnHeapMemory, task.peakOffHeapMemory], [80, 0]);
});
