import { assertEquals } from "@std/assert";
import { FAILED, OFF_HEAP, ON_HEAP } from "../../../../src/simulator/memory/execution_memory.ts";
import type { MemoryConsumer } from "../../../../src/simulator/memory/memory_consumer.ts";
import { TaskMemoryManager } from "../../../../src/simulator/memory/task_memory_manager.ts";
import { makeConsumer } from "../../../../src/simulator/memory/consumers/mod.ts";
import type { ConsumerInput } from "../../../../src/simulator/memory/consumers/stepped_consumer.ts";
import type { ConsumerKind } from "../../../../src/simulator/workload.ts";
import { rulesFor } from "../../../../src/spark/versions.ts";
import { PlainExecutor } from "../plain_executor.ts";
import recorded from "../../../testdata/spilling/recorded_tasks.json" with { type: "json" };

/**
 * A task of a real run: what it was fed with (rows and sizes from its event log, types from the plan), how much memory
 * it could have, and what TaskMemoryManager logged at DEBUG: "acquired SIZE CONSUMER", equal lines counted.
 */
interface RecordedTask {
  readonly run: string;
  readonly spark: string;
  readonly task: number;
  readonly limit: number;
  readonly pageSizeBytes: number;
  readonly mode: string;
  readonly consumers: readonly { readonly kind: string; readonly input: ConsumerInput }[];
  readonly memoryBytesSpilled: number;
  readonly peakExecutionMemory: number;
  readonly lines: readonly string[];
}

/** Logs as Spark does at the end of each acquire and release. */
class LoggingTask extends TaskMemoryManager {
  readonly #lines: string[] = [];
  readonly #numbers = new Map<MemoryConsumer, number>();

  override requestMemory(numBytes: number, consumer: MemoryConsumer): number {
    return this.#acquired(super.requestMemory(numBytes, consumer), consumer);
  }

  override requestPage(required: number, consumer: MemoryConsumer): number {
    return this.#acquired(super.requestPage(required, consumer), consumer);
  }

  override requestArray(required: number, consumer: MemoryConsumer): number {
    return this.#acquired(super.requestArray(required, consumer), consumer);
  }

  override releaseExecutionMemory(numBytes: number, consumer: MemoryConsumer): void {
    super.releaseExecutionMemory(numBytes, consumer);
    this.#write("released", numBytes, consumer);
  }

  /** The lines, equal ones that follow each other counted. */
  get lines(): string[] {
    const counted: string[] = [];
    for (let i = 0, n = 1; i < this.#lines.length; i++, n++) {
      if (this.#lines[i] === this.#lines[i + 1]) continue;
      counted.push(n > 1 ? `${this.#lines[i]} x${n}` : this.#lines[i]);
      n = 0;
    }
    return counted;
  }

  #acquired(granted: number, consumer: MemoryConsumer): number {
    if (granted !== FAILED) {
      this.#write("acquired", granted, consumer);
      return granted;
    }
    // What is too small is logged as acquired before it is given back.
    const given = this.failure!.outOfMemory!.got > 0 ? this.#lines.pop() : undefined;
    this.#write("acquired", this.failure!.outOfMemory!.got, consumer);
    if (given !== undefined) this.#lines.push(given);
    return granted;
  }

  #write(what: string, numBytes: number, consumer: MemoryConsumer): void {
    if (!this.#numbers.has(consumer)) this.#numbers.set(consumer, this.#numbers.size);
    this.#lines.push(`${what} ${bytesToString(numBytes)} ${this.#numbers.get(consumer)}`);
  }
}

/** Utils.bytesToString of Spark 3. */
function bytesToString(numBytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (unit < units.length - 1 && numBytes >= 2 * 1024 ** (unit + 1)) unit++;
  return `${(numBytes / 1024 ** unit).toFixed(1)} ${units[unit]}`;
}

for (const recording of recorded as readonly RecordedTask[]) {
  const { run, spark, task: id, limit, pageSizeBytes, mode, lines } = recording;
  Deno.test(`asks for memory as task ${id} of a Spark ${spark} run did: ${run}`, () => {
    const offHeap = mode === "OFF";
    const executor = new PlainExecutor({ onHeap: offHeap ? 1 : limit, offHeap: offHeap ? limit : 0 });
    const task = new LoggingTask(executor, id, {
      tungstenMemoryMode: offHeap ? OFF_HEAP : ON_HEAP,
      pageSizeBytes,
      rules: rulesFor(spark).spilling,
    });
    // A merge join reads the first row of its left side before it fills the right one.
    const host = { position: () => 1e-6 };
    const consumers = recording.consumers.map(({ kind, input }) =>
      makeConsumer(kind as ConsumerKind, task, input, { host })
    );
    for (const consumer of consumers) consumer.step();
    for (const consumer of consumers) while (consumer.phase === "fill") consumer.step();
    const acquired = lines.findLastIndex((line) => line.startsWith("acquired")) + 1;
    assertEquals(task.lines.slice(0, acquired), lines.slice(0, acquired));
    assertEquals(sum(consumers, (consumer) => consumer.memoryBytesSpilled), recording.memoryBytesSpilled);
    assertEquals(sum(consumers, (consumer) => consumer.peakExecutionMemory), recording.peakExecutionMemory);
    // What is let go when results are read comes in no order that matters.
    for (const consumer of consumers) while (consumer.step() === "progress");
    assertEquals(task.lines.toSorted(), lines.toSorted());
    assertEquals(task.memoryConsumption, 0);
  });
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
