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
  readonly #log: number;
  readonly #bytes: number;
  readonly #mode: number;
  readonly #pool: number;
  readonly #subject: number;
  readonly #value: number;
  readonly #evicted: number;
  readonly #woken: number;
  readonly #granted: number;
  readonly #waitsOn: number;
  readonly #failed: number;
  readonly #overRelease: number;

  constructor(kernel: KernelInstance) {
    this.#kernel = kernel;
    this.#log = kernel.constant("EVENT_LOG") >> 2;
    this.#bytes = kernel.constant("EVENT_BYTES");
    this.#mode = kernel.constant("EVENT_MODE");
    this.#pool = kernel.constant("EVENT_POOL");
    this.#subject = kernel.constant("EVENT_SUBJECT");
    this.#value = kernel.constant("EVENT_VALUE");
    this.#evicted = kernel.constant("EVENT_EVICTED");
    this.#woken = kernel.constant("EVENT_WOKEN");
    this.#granted = kernel.constant("EVENT_GRANTED");
    this.#waitsOn = kernel.constant("EVENT_WAITS_ON");
    this.#failed = kernel.constant("EVENT_FAILED");
    this.#overRelease = kernel.constant("EVENT_OVER_RELEASE");
  }

  /** Records in the log. */
  get count(): number {
    return this.#kernel.i32[this.#log];
  }

  /** Empties the log. */
  clear(): void {
    this.#kernel.i32[this.#log] = 0;
  }

  /** Shows the records from `start` up to `end` to a visitor; `cause` is that of the operation. */
  visit(start: number, end: number, cause: Cause, visitor: MemoryEventVisitor): void {
    const { u8, i32, f64 } = this.#kernel;
    const first = i32[this.#log + 2] >>> 0;
    let { block: forBlock, task: forTask } = cause;
    let ticket = -1;
    for (let i = start; i < end; i++) {
      const record = first + i * this.#bytes;
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
        case this.#overRelease: {
          const held = f64[(record + this.#bytes + this.#value) >>> 3];
          visitor.overRelease?.(value, held, mode, u8[record + this.#pool] === 0 ? "storage" : "execution");
          break;
        }
      }
    }
  }
}
