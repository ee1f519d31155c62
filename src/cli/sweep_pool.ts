/**
 * Runs scenarios on all processors and gives the results in the order of the scenarios.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Workload } from "../simulator/workload.ts";
import type { Scenario, SweepResult } from "../what_if/sweep.ts";
import type { Io, StopSignal } from "./command.ts";
import { workerHeapBytes } from "./heap_budget.ts";
import { ScenarioRunner, type SweepAnswer, type SweepMessage } from "./sweep_worker.ts";

/** One scenario and, where it names one, its input; or a line that could not be read and its result. */
export type SweepTask =
  | { readonly scenario: Scenario; readonly input: string | null }
  | { readonly result: SweepResult };

/** Scenarios under way for each worker: it never waits for the next, and little is kept. */
const AHEAD = 2;

/** A worker died, of too little memory or of a bug: what it was to do is lost, and the sweep ends. */
class WorkerDied extends InputError {
  constructor(why: string) {
    super("sweep.worker", `Cannot go on with the sweep: a worker ended: ${why}`);
  }
}

/** The user, or the system, asked the sweep to stop. */
export class Interrupted extends Error {
  /** How. */
  readonly signal: StopSignal;

  constructor(signal: StopSignal) {
    super(`interrupted (${signal})`);
    this.signal = signal;
  }
}

/** Why no more results come. */
type Failure = WorkerDied | Interrupted;

/**
 * Results in the order of the tasks. Memory is bounded: only so many scenarios are under way as keep the workers busy.
 *
 * What is finished when a worker dies or the sweep is stopped comes before that is thrown, with gaps in the order.
 *
 * @param options.jobs Number of workers; with 1 the work is done here.
 * @param options.onStop {@linkcode Io.onStop}, where the sweep is to be stopped by it.
 * @throws {InputError} `sweep.worker` when a worker died.
 * @throws {Interrupted}
 */
export async function* sweepResults(
  tasks: AsyncIterable<SweepTask>,
  options: {
    readonly workload: Workload | null;
    readonly jobs: number;
    readonly io: Io;
    readonly onStop?: Io["onStop"];
  },
): AsyncGenerator<SweepResult> {
  if (options.jobs <= 1) return yield* resultsHere(tasks, options);
  const pool = new Pool(options.workload, options.jobs, options.io.cwd);
  const ignoreSignals = options.onStop?.((signal) => pool.fail(new Interrupted(signal)));
  try {
    yield* pool.results(tasks);
  } finally {
    ignoreSignals?.();
    pool.close();
  }
}

/** Time between two turns of the event loop, in which signals are heard. */
const TURN_MS = 100;

async function* resultsHere(
  tasks: AsyncIterable<SweepTask>,
  { workload, io, onStop }: { readonly workload: Workload | null; readonly io: Io; readonly onStop?: Io["onStop"] },
): AsyncGenerator<SweepResult> {
  let stopped: StopSignal | null = null;
  const ignoreSignals = onStop?.((signal) => stopped = signal);
  let turn = performance.now();
  const pause = onStop === undefined ? undefined : async () => {
    if (performance.now() - turn < TURN_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    turn = performance.now();
    if (stopped !== null) throw new Interrupted(stopped);
  };
  const runner = new ScenarioRunner(workload, io, { heapBytes: workerHeapBytes(1), pause });
  try {
    for await (const task of tasks) {
      yield "result" in task ? task.result : await runner.run(task.scenario, task.input);
    }
  } finally {
    ignoreSignals?.();
  }
}

class Pool {
  readonly #workers: { readonly worker: Worker; underWay: number }[] = [];
  readonly #waiting = new Map<number, (result: SweepResult | null) => void>();
  #number = 0;
  #failure: Failure | null = null;

  constructor(workload: Workload | null, jobs: number, cwd: string) {
    const heapBytes = workerHeapBytes(jobs);
    for (let i = 0; i < jobs; i++) {
      const worker = new Worker(new URL("./sweep_worker.ts", import.meta.url), { type: "module" });
      const entry = { worker, underWay: 0 };
      worker.onmessage = ({ data }: MessageEvent<SweepAnswer>) => {
        entry.underWay--;
        this.#settle(data.number, data.result);
      };
      worker.onerror = (event) => {
        event.preventDefault();
        this.fail(new WorkerDied(event.message));
      };
      worker.postMessage({ kind: "start", workload, cwd, heapBytes } satisfies SweepMessage);
      this.#workers.push(entry);
    }
  }

  /** Gives up what is under way; null stands for a result that does not come. */
  fail(failure: Failure): void {
    this.#failure ??= failure;
    for (const number of [...this.#waiting.keys()]) this.#settle(number, null);
  }

  async *results(tasks: AsyncIterable<SweepTask>): AsyncGenerator<SweepResult> {
    const queue: Promise<SweepResult | null>[] = [];
    const limit = this.#workers.length * AHEAD;
    for await (const task of tasks) {
      if (this.#failure !== null) break;
      queue.push("result" in task ? Promise.resolve(task.result) : this.#send(task.scenario, task.input));
      if (queue.length < limit) continue;
      const result = await queue.shift()!;
      if (result !== null) yield result;
    }
    for (const pending of queue) {
      const result = await pending;
      if (result !== null) yield result;
    }
    if (this.#failure !== null) throw this.#failure;
  }

  close(): void {
    for (const { worker } of this.#workers) worker.terminate();
  }

  #send(scenario: Scenario, input: string | null): Promise<SweepResult | null> {
    const number = this.#number++;
    const least = this.#workers.reduce((a, b) => b.underWay < a.underWay ? b : a);
    least.underWay++;
    least.worker.postMessage({ kind: "scenario", number, scenario, input } satisfies SweepMessage);
    return new Promise((resolve) => this.#waiting.set(number, resolve));
  }

  #settle(number: number, result: SweepResult | null): void {
    const resolve = this.#waiting.get(number);
    this.#waiting.delete(number);
    resolve?.(result);
  }
}
