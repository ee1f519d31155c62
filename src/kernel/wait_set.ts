/**
 * In which order a JVM wakes the threads that wait for execution memory.
 *
 * @module
 */

/**
 * The waiting acquires of one executor as HotSpot's monitor keeps them, for a host that wakes them itself
 * (`wakeOrder: "host"`). Spark leaves the order to the JVM: `notifyAll` moves the first waiting thread to the monitor's
 * entry list and every other one to the front of the queue behind it, so that the first goes on first and the others
 * follow, the last first. A thread that has to wait again stands at the end. So every recorded wake-up on JDK 17 went.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { WaitSet } from "./wait_set.ts";
 *
 * const waiting = new WaitSet();
 * for (const ticket of [7, 8, 9, 10]) waiting.add(ticket);
 * assertEquals(waiting.wakeOrder(), [7, 10, 9, 8]);
 * ```
 */
export class WaitSet {
  readonly #tickets: number[] = [];

  /** An acquire begins to wait. */
  add(ticket: number): void {
    this.#tickets.push(ticket);
  }

  /** An acquire waits no longer; false when it did not. */
  remove(ticket: number): boolean {
    const i = this.#tickets.indexOf(ticket);
    if (i >= 0) this.#tickets.splice(i, 1);
    return i >= 0;
  }

  /** An acquire was evaluated and waits again. */
  waitsAgain(ticket: number): void {
    if (this.remove(ticket)) this.add(ticket);
  }

  /** The tickets in the order in which they are evaluated when all are woken. */
  wakeOrder(): number[] {
    const [first, ...others] = this.#tickets;
    return first === undefined ? [] : [first, ...others.reverse()];
  }

  /** The tickets in the order in which they began to wait. */
  get tickets(): readonly number[] {
    return this.#tickets;
  }
}
