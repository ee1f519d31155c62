/**
 * The queue of a discrete-event simulation: the earliest event first, events of equal time in the order in which
 * they were scheduled.
 *
 * @module
 */

const ARITY = 4;

/**
 * A 4-ary heap in typed arrays: no object for an event, so that millions of events a second pass through it.
 * An event is a time, a kind and a subject (both small integers that the simulation gives meaning to).
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { EventQueue } from "./event_queue.ts";
 *
 * const queue = new EventQueue();
 * queue.schedule(20, 1, 7);
 * queue.schedule(10, 2, 8);
 * queue.schedule(10, 3, 9);
 * const order: number[] = [];
 * while (queue.next()) order.push(queue.kind, queue.subject, queue.timeMs);
 * assertEquals(order, [2, 8, 10, 3, 9, 10, 1, 7, 20]);
 * ```
 */
export class EventQueue {
  /** Time of the event that `next()` took, in ms; the queue's clock. */
  timeMs = 0;
  /** Kind of the event that `next()` took. */
  kind = 0;
  /** Subject of the event that `next()` took. */
  subject = 0;
  #length = 0;
  #sequence = 0;
  #times = new Float64Array(1024);
  #sequences = new Float64Array(1024);
  #kinds = new Int32Array(1024);
  #subjects = new Int32Array(1024);

  /** Sets the clock before anything is scheduled. */
  startAt(timeMs: number): void {
    this.timeMs = timeMs;
  }

  /** Number of events that wait. */
  get length(): number {
    return this.#length;
  }

  /**
   * Adds an event. A time before the clock is an error in the caller: simulated time never runs backwards.
   *
   * @throws {RangeError} when `timeMs` is NaN or lies before the clock.
   */
  schedule(timeMs: number, kind: number, subject: number): void {
    if (!(timeMs >= this.timeMs)) {
      throw new RangeError(
        `Cannot schedule an event: must be at ${this.timeMs} ms or later: received ${timeMs}`,
      );
    }
    if (this.#length === this.#times.length) this.#grow();
    const sequence = this.#sequence++;
    let hole = this.#length++;
    const times = this.#times;
    while (hole > 0) {
      const parent = (hole - 1) >>> 2;
      if (times[parent] <= timeMs) break;
      this.#move(parent, hole);
      hole = parent;
    }
    this.#put(hole, timeMs, sequence, kind, subject);
  }

  /** Takes the earliest event into `timeMs`, `kind` and `subject`; false when none is left. */
  next(): boolean {
    if (this.#length === 0) return false;
    this.timeMs = this.#times[0];
    this.kind = this.#kinds[0];
    this.subject = this.#subjects[0];
    const last = --this.#length;
    if (last > 0) this.#sink(last);
    return true;
  }

  /** Puts the entry at `last` where it belongs, starting from the root. */
  #sink(last: number): void {
    const times = this.#times;
    const sequences = this.#sequences;
    const timeMs = times[last];
    const sequence = sequences[last];
    let hole = 0;
    for (;;) {
      const first = hole * ARITY + 1;
      if (first >= last) break;
      let least = first;
      const end = first + ARITY < last ? first + ARITY : last;
      for (let child = first + 1; child < end; child++) {
        if (
          times[child] < times[least] ||
          (times[child] === times[least] && sequences[child] < sequences[least])
        ) {
          least = child;
        }
      }
      if (
        times[least] > timeMs ||
        (times[least] === timeMs && sequences[least] > sequence)
      ) break;
      this.#move(least, hole);
      hole = least;
    }
    this.#put(hole, timeMs, sequence, this.#kinds[last], this.#subjects[last]);
  }

  #move(from: number, to: number): void {
    this.#times[to] = this.#times[from];
    this.#sequences[to] = this.#sequences[from];
    this.#kinds[to] = this.#kinds[from];
    this.#subjects[to] = this.#subjects[from];
  }

  #put(
    at: number,
    timeMs: number,
    sequence: number,
    kind: number,
    subject: number,
  ): void {
    this.#times[at] = timeMs;
    this.#sequences[at] = sequence;
    this.#kinds[at] = kind;
    this.#subjects[at] = subject;
  }

  #grow(): void {
    const capacity = this.#times.length * 2;
    const doubled = <T extends Float64Array | Int32Array>(
      from: T,
      to: T,
    ): T => {
      to.set(from);
      return to;
    };
    this.#times = doubled(this.#times, new Float64Array(capacity));
    this.#sequences = doubled(this.#sequences, new Float64Array(capacity));
    this.#kinds = doubled(this.#kinds, new Int32Array(capacity));
    this.#subjects = doubled(this.#subjects, new Int32Array(capacity));
  }
}
