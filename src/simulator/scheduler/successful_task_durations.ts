/**
 * The typical duration of a set's finished tasks, which speculation compares with (org.apache.spark.util.collection
 * MedianHeap, PercentileHeap).
 *
 * @module
 */

/** A binary heap of numbers; the least is on top. */
class MinHeap {
  readonly #items: number[] = [];

  get length(): number {
    return this.#items.length;
  }

  peek(): number {
    return this.#items[0];
  }

  /** The least but one, null when there is one alone. */
  second(): number | null {
    if (this.#items.length < 2) return null;
    return this.#items.length === 2 ? this.#items[1] : Math.min(this.#items[1], this.#items[2]);
  }

  push(value: number): void {
    const items = this.#items;
    let hole = items.length;
    items.push(value);
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (items[parent] <= value) break;
      items[hole] = items[parent];
      hole = parent;
    }
    items[hole] = value;
  }

  pop(): number {
    const items = this.#items;
    const top = items[0];
    const last = items.pop()!;
    if (items.length > 0) this.#sink(last);
    return top;
  }

  #sink(value: number): void {
    const items = this.#items;
    let hole = 0;
    for (let child = 1; child < items.length; child = 2 * hole + 1) {
      if (child + 1 < items.length && items[child + 1] < items[child]) child++;
      if (items[child] >= value) break;
      items[hole] = items[child];
      hole = child;
    }
    items[hole] = value;
  }
}

/**
 * Durations in two halves, so that the middle is at hand.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SuccessfulTaskDurations } from "./successful_task_durations.ts";
 *
 * const durations = new SuccessfulTaskDurations();
 * for (const ms of [40, 10, 30, 20]) durations.insert(ms);
 * assertEquals([durations.meanOfMiddle(), durations.upperMedian()], [25, 30]);
 * ```
 */
export class SuccessfulTaskDurations {
  /** The smaller half, negated. */
  readonly #lower = new MinHeap();
  /** The larger half; with an odd count it has one more. */
  readonly #upper = new MinHeap();

  get size(): number {
    return this.#lower.length + this.#upper.length;
  }

  insert(durationMs: number): void {
    this.#upper.push(durationMs);
    if (this.#lower.length > 0 && -this.#lower.peek() > this.#upper.peek()) {
      const lower = -this.#lower.pop();
      this.#lower.push(-this.#upper.pop());
      this.#upper.push(lower);
    }
    if (this.#upper.length > this.#lower.length + 1) {
      this.#lower.push(-this.#upper.pop());
    }
  }

  /** The element in the middle, or the mean of the two (MedianHeap, up to 3.3). */
  meanOfMiddle(): number {
    return this.#upper.length > this.#lower.length ? this.#upper.peek() : (this.#upper.peek() - this.#lower.peek()) / 2;
  }

  /** The element at round(count / 2) of the sorted ones, or the last (before MedianHeap, up to 2.1). */
  afterHalf(): number {
    return this.size % 2 === 1 ? this.#upper.second() ?? this.#upper.peek() : this.#upper.peek();
  }

  /** The element at floor(count / 2) of the sorted ones (PercentileHeap of 0.5, since 3.4). */
  upperMedian(): number {
    return this.#upper.peek();
  }
}
