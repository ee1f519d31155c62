/**
 * Work that is due at a later virtual time and rare enough to be a closure.
 *
 * @module
 */
import type { EventQueue } from "./event_queue.ts";

/**
 * Closures by number, scheduled in an event queue.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventQueue } from "./event_queue.ts";
 * import { Timers } from "./timers.ts";
 *
 * const queue = new EventQueue();
 * const timers = new Timers(queue, 5);
 * const at: number[] = [];
 * timers.after(30, () => at.push(queue.timeMs));
 * while (queue.next()) timers.fire(queue.subject);
 * assertEquals(at, [30]);
 * ```
 */
export class Timers {
  readonly #work: (null | (() => void))[] = [];
  readonly #free: number[] = [];

  /** @param kind The queue's kind of event for `fire`. */
  constructor(private readonly queue: EventQueue, private readonly kind: number) {}

  /** Calls back after so many ms of virtual time. */
  after(delayMs: number, work: () => void): void {
    const slot = this.#free.pop() ?? this.#work.length;
    this.#work[slot] = work;
    this.queue.schedule(this.queue.timeMs + delayMs, this.kind, slot);
  }

  /** The event with this subject is due. */
  fire(slot: number): void {
    const work = this.#work[slot]!;
    this.#work[slot] = null;
    this.#free.push(slot);
    work();
  }
}
