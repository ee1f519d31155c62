/**
 * The operations of a spilling trace, run on TaskMemoryManager and the kernel.
 *
 * @module
 */
import { InputError } from "../../errors.ts";
import { Kernel, type MemoryMode, OFF_HEAP, ON_HEAP } from "../../kernel.ts";
import { FAILED, WAITING } from "../../simulator/memory/execution_memory.ts";
import type { MemoryBlock } from "../../simulator/memory/memory_consumer.ts";
import { TaskMemoryManager } from "../../simulator/memory/task_memory_manager.ts";
import { defaultPageSize } from "../../spark/sizing.ts";
import type { SparkRules } from "../../spark/versions.ts";
import { memoryRules } from "../memory/trace_header.ts";
import { type Difference, sameJson, type TraceLine } from "../trace.ts";
import { type CallSink, SpillingExecutor } from "./spilling_executor.ts";
import { SPILL_RULES, type Spilled, TraceConsumer } from "./trace_consumer.ts";

/** One event of an operation: a spill call or an evicted block. */
type Event = readonly ["S", number, number | bigint, Spilled] | readonly ["E", string];

/** What one thread of the recording did during one operation. */
class ThreadRecord implements CallSink {
  readonly events: Event[] = [];
  readonly warnings: string[] = [];
  /** [task's bytes of no consumer, execution bytes, storage bytes] logged before an out-of-memory error. */
  memoryUsage: number[] | null = null;

  evicted(block: string): void {
    this.events.push(["E", block]);
  }

  warning(message: string): void {
    this.warnings.push(message);
  }

  /** The fields e, mu and w of a trace, where there is something. */
  fields(): Record<string, unknown> {
    const fields: Record<string, unknown> = {};
    if (this.events.length > 0) fields.e = this.events;
    if (this.memoryUsage !== null) fields.mu = this.memoryUsage;
    if (this.warnings.length > 0) fields.w = this.warnings;
    return fields;
  }
}

interface Task {
  readonly manager: TaskMemoryManager;
  /** Ascending by number. */
  readonly consumers: TraceConsumer[];
}

/** What an operation gave: a result or an exception. */
type Outcome = { r: unknown } | { x: string };

/** The acquire that waits; a trace has at most one at a time. */
interface Waiter {
  readonly at: number;
  readonly op: TraceLine;
  readonly task: Task;
  readonly consumer: TraceConsumer;
  ticket: number;
}

/** Operations that ask for memory. */
const REQUESTS = ["acquire", "allocPage", "allocArray", "tmmPage", "allocMany"];

/** Replays the operations of one trace. */
export class SpillingEngine {
  /** spark.buffer.pageSize of the trace, or Spark's default. */
  readonly pageSizeBytes: number;
  readonly #header: TraceLine;
  readonly #rules: SparkRules;
  readonly #executor: SpillingExecutor;
  readonly #tasks = new Map<number, Task>();
  #record = new ThreadRecord();
  #waiter: Waiter | null = null;

  /** @throws {MemoryError} EXECUTION_MEMORY_REQUIRED when the version refuses the layout */
  constructor(header: TraceLine, rules: SparkRules) {
    this.#header = header;
    this.#rules = rules;
    const onHeapStorageRegionSize = Math.trunc(header.heap * header.frac);
    const offHeapStorageRegionSize = rules.memory.offHeapStorage ? Math.trunc(header.off * header.frac) : 0;
    const memory = Kernel.create().createExecutor({
      maxHeapMemory: header.heap,
      onHeapStorageRegionSize,
      maxOffHeapMemory: header.off,
      offHeapStorageRegionSize,
      rules: memoryRules(rules),
      wakeOrder: "host",
    });
    this.#executor = new SpillingExecutor(memory, this.#record);
    const executionPool = modeOf(header.tungsten) === OFF_HEAP
      ? header.off - offHeapStorageRegionSize
      : header.heap - onHeapStorageRegionSize;
    this.pageSizeBytes = header.page > 0 ? header.page : defaultPageSize(executionPool, header.cores);
  }

  /** The 13 numbers of the memory manager. */
  state(): number[] {
    return this.#executor.state();
  }

  /**
   * Runs one operation; gives the outcomes in the fields of the traces.
   *
   * @throws {InputError} `replay.line` for an operation that is not known
   */
  apply(op: TraceLine): Record<string, unknown> {
    const waiter = this.#waiter;
    this.#startRecord();
    this.#executor.notified = false;
    const result = this.#run(op);
    const outcome: Record<string, unknown> = { ...result, ...this.#record.fields() };
    if (waiter !== null) this.#lookAt(waiter, op, outcome);
    if (op.t !== undefined) {
      const task = this.#tasks.get(op.t)!;
      outcome.u = task.consumers.map(({ used }) => used);
      outcome.tu = task.manager.memoryConsumption;
    }
    outcome.s = this.#executor.state();
    return outcome;
  }

  /** What of a recorded dump does not hold. */
  compareDump(dump: TraceLine): Difference[] {
    const consumers: Record<string, unknown> = {};
    for (const { consumers: all } of this.#tasks.values()) {
      for (const { name, used, rawBytes, pages, arrays, tablePages } of all) {
        consumers[name] = [used, rawBytes, sizes(pages), sizes(arrays), sizes(tablePages)];
      }
    }
    const waiting = this.#waiter?.at ?? null;
    return [
      ...this.#executor.compareDump(dump, this.#tasks.keys()),
      { what: "cons", recorded: dump.cons, computed: consumers },
      { what: "waiting", recorded: dump.waiting, computed: waiting },
    ].filter(({ recorded, computed }) => !sameJson(recorded, computed));
  }

  #startRecord(): void {
    this.#record = new ThreadRecord();
    this.#executor.sink = this.#record;
  }

  /**
   * The recording ran every operation under the memory manager's lock: an acquire that waited before it is looked at
   * once, afterwards, if anything in it notified.
   */
  #lookAt(waiter: Waiter, op: TraceLine, outcome: Record<string, unknown>): void {
    this.#startRecord();
    const interrupted = op.op === "cancel" && outcome.r === true;
    const end = interrupted ? { x: "java.lang.InterruptedException" } : this.#evaluate(waiter);
    const fields = this.#record.fields();
    if (end === "notWoken") return;
    if (end === "waits") {
      outcome.wk = 1;
      if (Object.keys(fields).length > 0) outcome.wait = { at: waiter.at, ...fields };
      return;
    }
    this.#waiter = null;
    const { t, c } = waiter.op;
    const u = waiter.task.consumers.map(({ used }) => used);
    outcome.done = { at: waiter.at, t, c, ...end, ...fields, u };
  }

  #evaluate(waiter: Waiter): Outcome | "waits" | "notWoken" {
    if (!this.#executor.notified) return "notWoken";
    const woken = this.#executor.wake(waiter.ticket);
    if (woken.kind === "waits") return "waits";
    const { manager } = waiter.task;
    if (woken.kind === "notActive") {
      const message = `key not found: ${waiter.op.t}`;
      manager.abort({ className: "java.util.NoSuchElementException", message, outOfMemory: null });
      return this.#failure(manager);
    }
    const result = manager.resume(woken.granted);
    if (result !== WAITING) return this.#completed(waiter.op, waiter.task, waiter.consumer, result);
    waiter.ticket = this.#executor.waitingTicket;
    return "waits";
  }

  #run(op: TraceLine): Outcome {
    switch (op.op) {
      case "newTask":
        return this.#newTask(op);
      case "putBytes":
      case "get":
      case "remove":
      case "lockRead":
      case "unlockRead":
        return this.#block(op);
      case "cancel":
        return { r: this.#cancel(op.at) };
      default:
        return this.#taskOperation(op);
    }
  }

  #newTask(op: TraceLine): Outcome {
    const { tungsten, physical } = this.#header;
    const manager = new TaskMemoryManager(this.#executor, op.t, {
      tungstenMemoryMode: modeOf(tungsten),
      pageSizeBytes: this.pageSizeBytes,
      rules: this.#rules.spilling,
      largestAllocation: physical > 0 ? physical : undefined,
      allocationFailed: (bytes) => this.#record.warning(`Failed to allocate a page (${bytes} bytes), try again.`),
    });
    this.#tasks.set(op.t, { manager, consumers: [] });
    return { r: tungsten };
  }

  #block(op: TraceLine): Outcome {
    switch (op.op) {
      case "putBytes": {
        const stored = this.#executor.putBytes(op.b, op.n, modeOf(op.m));
        return stored !== null ? { r: stored } : {
          x: `java.lang.IllegalArgumentException: requirement failed: Block ${op.b} is already present in the MemoryStore`,
        };
      }
      case "get":
        return { r: this.#executor.get(op.b) };
      case "remove": {
        const removed = this.#executor.remove(op.b);
        return { r: removed === "locked" ? removed : removed === "removed" };
      }
      case "lockRead":
        return { r: this.#executor.lockForReading(op.b) };
      default:
        this.#executor.unlock(op.b);
        return { r: null };
    }
  }

  #cancel(at: number): boolean {
    if (this.#waiter === null || this.#waiter.at !== at) return false;
    this.#executor.cancel(this.#waiter.ticket);
    this.#waiter.task.manager.abort({
      className: "java.lang.InterruptedException",
      message: null,
      outOfMemory: null,
    });
    return true;
  }

  #taskOperation(op: TraceLine): Outcome {
    const task = this.#tasks.get(op.t);
    if (task === undefined) throw lineError(op, `there is no task ${op.t}`);
    if (op.op === "newConsumer") return this.#newConsumer(op, task);
    if (op.op === "cleanUp") return { r: task.manager.cleanUpAllAllocatedMemory() };
    const consumer = task.consumers.find(({ number }) => number === op.c);
    if (consumer === undefined) throw lineError(op, `task ${op.t} has no consumer ${op.c}`);
    // A second thread of a task that waits would be held up at the task's lock.
    if (task.manager.waiting && REQUESTS.includes(op.op)) return { r: "blocked" };
    switch (op.op) {
      case "acquire":
        return this.#asked(op, task, consumer, consumer.acquireMemory(Number(op.n)));
      case "allocPage":
        return this.#asked(op, task, consumer, consumer.allocatePage(op.n));
      case "allocArray":
        return this.#asked(op, task, consumer, consumer.allocateArray(op.n));
      case "tmmPage":
        return this.#asked(op, task, consumer, task.manager.allocatePage(op.n, consumer));
      case "allocMany":
        return { r: tablePages(op.k, () => task.manager.allocatePage(op.n, consumer), consumer) };
      default:
        return giveBack(op, task.manager, consumer);
    }
  }

  #newConsumer(op: TraceLine, task: Task): Outcome {
    if (!SPILL_RULES.includes(op.rule)) throw lineError(op, `there is no rule ${op.rule}`);
    const consumer = new TraceConsumer(task.manager, modeOf(op.m), {
      number: op.c,
      rule: op.rule,
      pageSize: op.page > 0 ? op.page : undefined,
      sink: (number, asked, freed) => this.#record.events.push(["S", number, asked, freed]),
    });
    const { consumers } = task;
    const at = consumers.findIndex(({ number }) => number >= op.c);
    if (at < 0) consumers.push(consumer);
    else consumers.splice(at, consumers[at].number === op.c ? 1 : 0, consumer);
    return { r: null };
  }

  /** The outcome of a request, now or blocked. */
  #asked(op: TraceLine, task: Task, consumer: TraceConsumer, result: number): Outcome {
    if (result !== WAITING) return this.#completed(op, task, consumer, result);
    this.#waiter = { at: op.i, op, task, consumer, ticket: this.#executor.waitingTicket };
    return { r: "blocked" };
  }

  #completed(op: TraceLine, task: Task, consumer: TraceConsumer, result: number): Outcome {
    if (result === FAILED) return this.#failure(task.manager);
    if (op.op === "acquire") {
      consumer.rawBytes += result;
      return { r: result };
    }
    const { page } = consumer;
    if (page === null) return { r: null };
    if (op.op === "allocPage") consumer.pages.push(page);
    else if (op.op === "allocArray") consumer.arrays.push(page);
    else consumer.tablePages.push(page);
    return { r: [page.size, page.pageNumber] };
  }

  #failure(manager: TaskMemoryManager): Outcome {
    const { className, message, outOfMemory } = manager.failure!;
    if (outOfMemory !== null) {
      const { notAccountedFor, executionMemoryUsed, storageMemoryUsed } = outOfMemory;
      this.#record.memoryUsage = [notAccountedFor, executionMemoryUsed, storageMemoryUsed];
    }
    return { x: message === null ? className : `${className}: ${message}` };
  }
}

/** Operations that free something. */
function giveBack(op: TraceLine, manager: TaskMemoryManager, consumer: TraceConsumer): Outcome {
  switch (op.op) {
    case "release":
      consumer.rawBytes = Math.max(0, consumer.rawBytes - op.n);
      consumer.freeMemory(op.n);
      return { r: null };
    case "freePage":
      return freeBlock(op, consumer.pages, (page) => consumer.freePage(page));
    case "freeArray":
      return freeBlock(op, consumer.arrays, (array) => consumer.freeArray(array));
    case "freeTmmPage":
      return freeBlock(op, consumer.tablePages, (page) => manager.freePage(page, consumer));
    case "forceSpill": {
      const thrown = consumer.forceSpill();
      return thrown === null ? { r: null } : { x: thrown };
    }
    default:
      throw lineError(op, `${op.op} is not known`);
  }
}

/**
 * Takes the block that an operation names out of the list and frees it. A block that a clean-up has freed before has -3
 * for a page number, which the JVM refuses as an index.
 */
function freeBlock(op: TraceLine, blocks: MemoryBlock[], free: (block: MemoryBlock) => boolean): Outcome {
  if (op.k >= blocks.length) {
    return { x: `java.lang.IndexOutOfBoundsException: Index ${op.k} out of bounds for length ${blocks.length}` };
  }
  const [block] = blocks.splice(op.k, 1);
  return free(block) ? { r: null } : {
    x: "java.lang.ArrayIndexOutOfBoundsException: Index -3 out of bounds for length 8192",
  };
}

/** Allocates pages until there are `count` or no more; gives how many there were. */
function tablePages(count: number, allocate: () => number, consumer: TraceConsumer): number {
  for (let i = 0; i < count; i++) {
    if (allocate() <= 0) return i;
    consumer.tablePages.push(consumer.page!);
  }
  return count;
}

function sizes(blocks: readonly MemoryBlock[]): number[][] {
  return blocks.map(({ size, pageNumber }) => [size, pageNumber]);
}

function modeOf(text: string): MemoryMode {
  return text === "OFF" ? OFF_HEAP : ON_HEAP;
}

function lineError(op: TraceLine, what: string): InputError {
  return new InputError("replay.line", `Cannot replay operation ${op.i}: ${what}`, {
    parameters: { i: op.i, op: op.op },
  });
}
