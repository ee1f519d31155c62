/**
 * Many operations of one executor in one call.
 *
 * @module
 */
import type { Cause, EventReader } from "./event_reader.ts";
import type { KernelInstance } from "./instance.ts";
import type { MemoryStatus } from "./memory_error.ts";
import type { KernelExecutorMemory, MemoryEventVisitor, MemoryMode } from "./types.ts";

/** What an operation of a batch does; named as the methods of ExecutorMemory. */
export type OperationName =
  | "putBytes"
  | "get"
  | "remove"
  | "lockForReading"
  | "unlock"
  | "acquireStorageMemory"
  | "releaseStorageMemory"
  | "reserveUnrollMemory"
  | "releaseUnrollMemory"
  | "acquireExecutionMemory"
  | "releaseExecutionMemory"
  | "releaseAllExecutionMemoryForTask"
  | "setTaskContext"
  | "contains"
  | "getSize"
  | "getOrPut"
  | "clear"
  | "releaseAllStorageMemory";

/** The export of the kernel that holds an operation's code. */
const CODES: Readonly<Record<OperationName, string>> = {
  putBytes: "OP_PUT_BYTES",
  get: "OP_GET",
  remove: "OP_REMOVE",
  lockForReading: "OP_LOCK_FOR_READING",
  unlock: "OP_UNLOCK",
  acquireStorageMemory: "OP_ACQUIRE_STORAGE_MEMORY",
  releaseStorageMemory: "OP_RELEASE_STORAGE_MEMORY",
  reserveUnrollMemory: "OP_RESERVE_UNROLL_MEMORY",
  releaseUnrollMemory: "OP_RELEASE_UNROLL_MEMORY",
  acquireExecutionMemory: "OP_ACQUIRE_EXECUTION_MEMORY",
  releaseExecutionMemory: "OP_RELEASE_EXECUTION_MEMORY",
  releaseAllExecutionMemoryForTask: "OP_RELEASE_ALL_EXECUTION_MEMORY",
  setTaskContext: "OP_SET_TASK_CONTEXT",
  contains: "OP_CONTAINS",
  getSize: "OP_GET_SIZE",
  getOrPut: "OP_GET_OR_PUT",
  clear: "OP_CLEAR",
  releaseAllStorageMemory: "OP_RELEASE_ALL_STORAGE_MEMORY",
};

/** Shows the events of one operation. */
export type BatchEventVisitor = (operation: number) => MemoryEventVisitor;

/**
 * A batch of operations in the kernel's memory; a kernel has one. Fill it with `put`, run it on an executor, read the
 * answers: the operations are lost when they have run, the answers stand in their place.
 *
 * An answer is what the single call answers in the kernel: a number of bytes, 1 and 0 for yes and no, 2 for a block
 * that is locked (`remove`) or was in memory (`getOrPut`), and below 0 a status, or the ticket of a waiting acquire
 * (`ticketOf`).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { Kernel, ON_HEAP } from "../kernel.ts";
 *
 * const kernel = Kernel.create();
 * const executor = kernel.createExecutor({ maxHeapMemory: 1000, onHeapStorageRegionSize: 500 });
 * const block = executor.declareBlock();
 * const batch = kernel.createBatch(16);
 * batch.put("putBytes", block, 750, ON_HEAP);
 * batch.put("acquireExecutionMemory", 1, 400, ON_HEAP);
 * assertEquals(batch.run(executor), 2);
 * assertEquals([batch.answer(0), batch.answer(1)], [1, 400]);
 * const evicted: number[][] = [];
 * batch.drain((operation) => ({ evicted: (id) => evicted.push([operation, id]) }));
 * assertEquals(evicted, [[1, block]]);
 * ```
 */
export class OperationBatch {
  /** Most operations. */
  readonly capacity: number;
  readonly #kernel: KernelInstance;
  readonly #events: EventReader;
  readonly #codes: ReadonlyMap<OperationName, number>;
  readonly #forTask: ReadonlySet<number>;
  readonly #address: number;
  readonly #bytes: number;
  readonly #mode: number;
  readonly #flags: number;
  readonly #subject: number;
  readonly #amount: number;
  #length = 0;
  /** Operations at the front that have run, while others have not. */
  #done = 0;

  /** @internal Made by Kernel.createBatch. */
  constructor(kernel: KernelInstance, events: EventReader, capacity: number) {
    this.#kernel = kernel;
    this.#events = events;
    this.#address = kernel.checked(kernel.call.batchBuffer(capacity));
    this.capacity = capacity;
    this.#codes = new Map(
      Object.entries(CODES).map(([name, constant]) => [name as OperationName, kernel.constant(constant)]),
    );
    this.#forTask = new Set([this.code("acquireExecutionMemory")]);
    this.#bytes = kernel.constant("OPERATION_BYTES");
    this.#mode = kernel.constant("OPERATION_MODE");
    this.#flags = kernel.constant("OPERATION_FLAGS");
    this.#subject = kernel.constant("OPERATION_SUBJECT");
    this.#amount = kernel.constant("OPERATION_AMOUNT");
  }

  /** Operations that are still to be run. */
  get length(): number {
    return this.#length - this.#done;
  }

  /** The code of an operation, for `putCode`. */
  code(name: OperationName): number {
    return this.#codes.get(name)!;
  }

  /** Appends an operation; `subject` is a block id or a task attempt id, 0 where there is none. */
  put(name: OperationName, subject: number, bytes = 0, mode: MemoryMode = 0, flags = 0): void {
    this.putCode(this.code(name), subject, bytes, mode, flags);
  }

  /** `put` with the kernel's code, for long loops. */
  putCode(code: number, subject: number, bytes: number, mode: number, flags = 0): void {
    if (this.#length === this.capacity) throw new RangeError("Cannot put an operation: the batch is full");
    const { u8, i32 } = this.#kernel;
    const record = this.#record(this.#length++);
    u8[record] = code;
    u8[record + this.#mode] = mode;
    u8[record + this.#flags] = flags;
    u8[record + this.#flags + 1] = 0;
    i32[(record + this.#subject) >>> 2] = subject;
    const amount = (record + this.#amount) >>> 2;
    // a 64-bit integer in two halves; what does not fit saturates, as a Long does in Java
    const fits = bytes >= -(2 ** 63) && bytes < 2 ** 63;
    i32[amount] = fits ? bytes % 4294967296 : bytes > 0 ? -1 : 0;
    i32[amount + 1] = fits ? Math.floor(bytes / 4294967296) : bytes > 0 ? 0x7fffffff : -0x80000000;
  }

  /**
   * Runs the operations, and gives how many were run. They are fewer when the event log has to be read first, or when
   * the host is to wake waiting tasks; `length` says how many are left, and another call runs those.
   */
  run(executor: KernelExecutorMemory): number {
    this.#dropDone();
    const done = this.#kernel.checked(this.#kernel.call.runBatch(executor.handle, this.#length));
    if (done === this.#length) this.#length = 0;
    else this.#done = done;
    return done;
  }

  /** The answer of an operation of the last run; 0 is the first that it ran. */
  answer(operation: number): number {
    return this.#kernel.f64[(this.#record(operation) + this.#amount) >>> 3];
  }

  /** The number of an operation that answers NEGATIVE_ANSWER; null otherwise. To be read before `drain`. */
  negativeAnswer(operation: number): number | null {
    return this.#events.negativeAnswer(operation);
  }

  /** The name of the status that an answer below 0 is, unless it is a ticket. */
  statusOf(answer: number): MemoryStatus {
    return this.#kernel.statusName(answer);
  }

  /** The ticket when the answer says that the acquire waits, else -1. */
  ticketOf(answer: number): number {
    return answer <= this.#kernel.firstTicket ? this.#kernel.firstTicket - answer : -1;
  }

  /** Shows the events of the last run, operation by operation, once. */
  drain(visitorOf: BatchEventVisitor): void {
    this.#events.visitByOperation((operation) => this.#causeOf(operation), visitorOf);
    this.#events.clear();
  }

  /** Adds the number of blocks that each operation of the last run evicted; for hosts that only count. */
  countEvictions(counts: Uint32Array): void {
    this.#events.countEvictions(counts);
  }

  /** For which block or task an operation evicts. */
  #causeOf(operation: number): Cause {
    const record = this.#record(operation);
    const subject = this.#kernel.i32[(record + this.#subject) >>> 2];
    return this.#forTask.has(this.#kernel.u8[record]) ? { block: -1, task: subject } : { block: subject, task: -1 };
  }

  /** Moves the operations that have not run to the front. */
  #dropDone(): void {
    if (this.#done === 0) return;
    this.#kernel.u8.copyWithin(this.#address, this.#record(this.#done), this.#record(this.#length));
    this.#length -= this.#done;
    this.#done = 0;
  }

  #record(operation: number): number {
    return this.#address + operation * this.#bytes;
  }
}
