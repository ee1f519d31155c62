/**
 * Runs scenarios on all processors and gives the results in the order of the scenarios.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Workload } from "../simulator/workload.ts";
import type { Scenario, SweepResult } from "../what_if/sweep.ts";
import type { Io } from "./command.ts";
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

/**
 * Results in the order of the tasks. Memory is bounded: only so many scenarios are under way as keep the workers busy.
 *
 * @param options.jobs Number of workers; with 1 the work is done here.
 */
export async function* sweepResults(
  tasks: AsyncIterable<SweepTask>,
  options: { readonly workload: Workload | null; readonly jobs: number; readonly io: Io },
): AsyncGenerator<SweepResult> {
  if (options.jobs <= 1) {
    const runner = new ScenarioRunner(options.workload, options.io);
    for await (const task of tasks) {
      yield "result" in task ? task.result : await runner.run(task.scenario, task.input);
    }
    return;
  }
  const pool = new Pool(options.workload, options.jobs, options.io.cwd);
  try {
    yield* pool.results(tasks);
  } finally {
    pool.close();
  }
}

class Pool {
  readonly #workers: { readonly worker: Worker; underWay: number }[] = [];
  readonly #waiting = new Map<number, (result: SweepResult | WorkerDied) => void>();
  #number = 0;

  constructor(workload: Workload | null, jobs: number, cwd: string) {
    for (let i = 0; i < jobs; i++) {
      const worker = new Worker(new URL("./sweep_worker.ts", import.meta.url), { type: "module" });
      const entry = { worker, underWay: 0 };
      worker.onmessage = ({ data }: MessageEvent<SweepAnswer>) => {
        entry.underWay--;
        this.#settle(data.number, data.result);
      };
      worker.onerror = (event) => {
        event.preventDefault();
        for (const number of [...this.#waiting.keys()]) this.#settle(number, new WorkerDied(event.message));
      };
      worker.postMessage({ kind: "start", workload, cwd } satisfies SweepMessage);
      this.#workers.push(entry);
    }
  }

  async *results(tasks: AsyncIterable<SweepTask>): AsyncGenerator<SweepResult> {
    const queue: Promise<SweepResult | WorkerDied>[] = [];
    const limit = this.#workers.length * AHEAD;
    for await (const task of tasks) {
      queue.push("result" in task ? Promise.resolve(task.result) : this.#send(task.scenario, task.input));
      if (queue.length >= limit) yield this.#taken(await queue.shift()!);
    }
    for (const result of queue) yield this.#taken(await result);
  }

  close(): void {
    for (const { worker } of this.#workers) worker.terminate();
  }

  #taken(result: SweepResult | WorkerDied): SweepResult {
    if (result instanceof WorkerDied) throw result;
    return result;
  }

  #send(scenario: Scenario, input: string | null): Promise<SweepResult | WorkerDied> {
    const number = this.#number++;
    const least = this.#workers.reduce((a, b) => b.underWay < a.underWay ? b : a);
    least.underWay++;
    least.worker.postMessage({ kind: "scenario", number, scenario, input } satisfies SweepMessage);
    return new Promise((resolve) => this.#waiting.set(number, resolve));
  }

  #settle(number: number, result: SweepResult | WorkerDied): void {
    const resolve = this.#waiting.get(number);
    this.#waiting.delete(number);
    resolve?.(result);
  }
}
