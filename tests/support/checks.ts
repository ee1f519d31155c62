/**
 * Checks of a suite that is a program of its own: they are counted, and `.ci/run` reads the last line.
 *
 * @module
 */
import type { Ran } from "./programs.ts";

/** Checks that are counted. */
export class Checks {
  #passed = 0;
  #failed = 0;

  /** Counts a check; of one that does not hold the detail is printed. */
  check(what: string, holds: boolean, detail: string | Ran = ""): void {
    if (holds) {
      this.#passed++;
      return;
    }
    this.#failed++;
    const shown = typeof detail === "string"
      ? detail
      : `exit ${detail.code}: ${(detail.stdout + detail.stderr).slice(-2000)}`;
    console.log(`${what}: ${shown}`);
  }

  /** Prints `N passed, N failed` and sets the exit status. */
  end(): void {
    console.log(`${this.#passed} passed, ${this.#failed} failed`);
    Deno.exitCode = this.#failed === 0 ? 0 : 1;
  }
}
