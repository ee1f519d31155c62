/**
 * The kernel's event log, read.
 *
 * @module
 */
import type { KernelInstance } from "./instance.ts";
import type { MemoryEventVisitor, MemoryMode } from "./types.ts";

/** Why the operation itself evicts: the block or the task for which it makes space, -1 when it is not that. */
export interface Cause {
  readonly block: number;
  readonly task: number;
}

/** Reads the event log of one kernel. */
export class EventReader {
  readonly #kernel: KernelInstance;
  readonly #first: number;
  readonly #next: number;
  readonly #bytes: number;
  readonly #mode: number;
  readonly #operation: number;
  readonly #subject: number;
  readonly #value: number;
  readonly #evicted: number;
  readonly #woken: number;
  readonly #granted: number;
  readonly #waitsOn: number;
  readonly #failed: number;
  readonly #storageOverRelease: number;
  readonly #executionOverRelease: number;
  readonly #answer: number;

  constructor(kernel: KernelInstance) {
    this.#kernel = kernel;
    this.#first = (kernel.constant("EVENT_LOG") + kernel.constant("EVENT_LOG_FIRST")) >>> 2;
    this.#next = (kernel.constant("EVENT_LOG") + kernel.constant("EVENT_LOG_NEXT")) >>> 2;
    this.#bytes = kernel.constant("EVENT_BYTES");
    this.#mode = kernel.constant("EVENT_MODE");
    this.#operation = kernel.constant("EVENT_OPERATION");
    this.#subject = kernel.constant("EVENT_SUBJECT");
    this.#value = kernel.constant("EVENT_VALUE");
    this.#evicted = kernel.constant("EVENT_EVICTED");
    this.#woken = kernel.constant("EVENT_WOKEN");
    this.#granted = kernel.constant("EVENT_GRANTED");
    this.#waitsOn = kernel.constant("EVENT_WAITS_ON");
    this.#failed = kernel.constant("EVENT_FAILED");
    this.#storageOverRelease = kernel.constant("EVENT_STORAGE_OVER_RELEASE");
    this.#executionOverRelease = kernel.constant("EVENT_EXECUTION_OVER_RELEASE");
    this.#answer = kernel.constant("EVENT_ANSWER");
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    const { i32 } = this.#kernel;
    return i32[this.#first] === i32[this.#next];
  }

  /** The answer below 0 of an operation; null when it has none. */
  negativeAnswer(operation = 0): number | null {
    const { u8, i32, f64 } = this.#kernel;
    const end = i32[this.#next] >>> 0;
    for (let record = i32[this.#first] >>> 0; record < end; record += this.#bytes) {
      if (u8[record] === this.#answer && this.#operationOf(record) === operation) {
        return f64[(record + this.#value) >>> 3];
      }
    }
    return null;
  }

  /** Empties the log. */
  clear(): void {
    const { i32 } = this.#kernel;
    i32[this.#next] = i32[this.#first];
  }

  /** Shows the records to a visitor; `cause` is that of the operation. */
  visit(cause: Cause, visitor: MemoryEventVisitor): void {
    const { i32 } = this.#kernel;
    this.#visitRange(i32[this.#first] >>> 0, i32[this.#next] >>> 0, cause, visitor);
  }

  /** Shows the records of a batch, those of each operation to its own visitor. */
  visitByOperation(causeOf: (operation: number) => Cause, visitorOf: (operation: number) => MemoryEventVisitor): void {
    const { i32 } = this.#kernel;
    const end = i32[this.#next] >>> 0;
    for (let start = i32[this.#first] >>> 0; start < end;) {
      const operation = this.#operationOf(start);
      let next = start + this.#bytes;
      while (next < end && this.#operationOf(next) === operation) next += this.#bytes;
      this.#visitRange(start, next, causeOf(operation), visitorOf(operation));
      start = next;
    }
  }

  /** Adds one for each eviction to the place of its operation. */
  countEvictions(counts: Uint32Array): void {
    const { u8, i32 } = this.#kernel;
    const end = i32[this.#next] >>> 0;
    for (let record = i32[this.#first] >>> 0; record < end; record += this.#bytes) {
      if (u8[record] === this.#evicted) counts[this.#operationOf(record)]++;
    }
  }

  #operationOf(record: number): number {
    const { u8 } = this.#kernel;
    return u8[record + this.#operation] | u8[record + this.#operation + 1] << 8;
  }

  #visitRange(start: number, end: number, cause: Cause, visitor: MemoryEventVisitor): void {
    const { u8, i32, f64 } = this.#kernel;
    let { block: forBlock, task: forTask } = cause;
    let ticket = -1;
    for (let record = start; record < end; record += this.#bytes) {
      const kind = u8[record];
      const mode = u8[record + this.#mode] as MemoryMode;
      const subject = i32[(record + this.#subject) >>> 2];
      const value = f64[(record + this.#value) >>> 3];
      switch (kind) {
        case this.#evicted:
          visitor.evicted?.(subject, value, mode, forBlock, forTask);
          break;
        case this.#woken:
          ticket = subject;
          forBlock = -1;
          forTask = value;
          break;
        case this.#granted:
          visitor.granted?.(ticket, value, forTask);
          break;
        case this.#waitsOn:
          visitor.waitsOn?.(ticket, forTask);
          break;
        case this.#failed:
          visitor.failed?.(ticket, this.#kernel.statusName(subject), forTask);
          break;
        case this.#storageOverRelease:
          visitor.overRelease?.(value, this.#valueBehind(record), mode, "storage");
          break;
        case this.#executionOverRelease:
          visitor.overRelease?.(value, this.#valueBehind(record), mode, "execution");
          break;
      }
    }
  }

  /** The value of the record behind this one. */
  #valueBehind(record: number): number {
    return this.#kernel.f64[(record + this.#bytes + this.#value) >>> 3];
  }
}
