/**
 * A sequence of operations that can be looked at step by step, forwards and backwards. Going back runs the machine
 * again from the start: the kernel is fast enough, and a trace of a million operations needs no million snapshots.
 *
 * @module
 */
import { LabMachine } from "./machine.ts";
import type { LabHeader, LabOperation, LabState, LabStep } from "./state.ts";

/** What is stepped through. */
export interface LabScript {
  readonly title: string;
  readonly header: LabHeader;
  readonly operations: readonly LabOperation[];
}

/** How many steps are kept once they were looked at. */
const KEPT_STEPS = 2000;

/** Steps through a script, to which operations can be added. */
export class LabSession {
  readonly title: string;
  readonly header: LabHeader;
  readonly operations: LabOperation[];
  readonly #kept = new Map<number, LabStep>();
  #machine: LabMachine;
  #done = 0;

  constructor(script: LabScript) {
    this.title = script.title;
    this.header = script.header;
    this.operations = [...script.operations];
    this.#machine = new LabMachine(this.header);
  }

  /** The state before the first operation. */
  get initial(): LabState {
    return this.operations.length > 0 ? this.step(0).before : this.#machine.snapshot();
  }

  /** The step with this index. */
  step(index: number): LabStep {
    const kept = this.#kept.get(index);
    if (kept !== undefined) return kept;
    if (index < this.#done) {
      this.#machine.destroy();
      this.#machine = new LabMachine(this.header);
      this.#done = 0;
    }
    while (this.#done < index) this.#machine.run(this.operations[this.#done++]);
    const step = this.#machine.apply(this.operations[this.#done++]);
    if (this.#kept.size >= KEPT_STEPS) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(index, step);
    return step;
  }

  /** Drops what comes from `length` on and adds an operation there. */
  continueWith(operation: LabOperation, length: number): void {
    if (length < this.operations.length) {
      this.operations.length = length;
      for (const index of [...this.#kept.keys()]) {
        if (index >= length) this.#kept.delete(index);
      }
      if (this.#done > length) {
        this.#machine.destroy();
        this.#machine = new LabMachine(this.header);
        this.#done = 0;
      }
    }
    this.operations.push(operation);
  }
}
