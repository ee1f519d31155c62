/**
 * Long work in steps, so that a host with a deadline or with other work can go on between them.
 *
 * @module
 */

/** Work that yields the number of simulated events of each step and returns its result. */
export type Steps<T> = Generator<number, T, void>;

/**
 * Does all steps at once.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { finish } from "./steps.ts";
 *
 * function* work() {
 *   yield 1000;
 *   yield 200;
 *   return "done";
 * }
 * assertEquals(finish(work()), "done");
 * ```
 */
export function finish<T>(steps: Steps<T>): T {
  for (;;) {
    const { value, done } = steps.next();
    if (done) return value;
  }
}
