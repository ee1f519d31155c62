/**
 * A worker of `sweep`: runs scenarios, one after the other, on the workload it was given or on inputs that the scenarios
 * name.
 *
 * @module
 */
import { InputError, LimitError } from "../errors.ts";
import type { Workload } from "../simulator/workload.ts";
import { runSteps } from "../what_if/run_workload.ts";
import { refusedResult, type Scenario, scenarioRun, type SweepResult, sweepResult } from "../what_if/sweep.ts";
import type { Io } from "./command.ts";
import { checkHeap } from "./heap_budget.ts";
import { readWorkload } from "./workload_input.ts";

/** What a worker is sent: first what it works with, then scenarios. */
export type SweepMessage =
  | { readonly kind: "start"; readonly workload: Workload | null; readonly cwd: string; readonly heapBytes: number }
  | { readonly kind: "scenario"; readonly number: number; readonly scenario: Scenario; readonly input: string | null };

/** What it answers. */
export interface SweepAnswer {
  readonly number: number;
  readonly result: SweepResult;
}

/** Inputs that are kept: scenarios over one log come one after another. */
const KEPT_INPUTS = 2;

/** Events between two looks at the heap: they leave a MiB or two. */
const STEP_EVENTS = 1 << 13;

/** Runs scenarios; also used without a worker, when one processor is all there is. */
export class ScenarioRunner {
  readonly #workload: Workload | null;
  readonly #io: Io;
  readonly #heapBytes: number;
  readonly #pause: (() => Promise<void>) | undefined;
  readonly #inputs = new Map<string, Workload>();

  /**
   * @param options.heapBytes What may be used of the heap (heap_budget.ts).
   * @param options.pause Is called between steps, and may end the run with what it throws.
   */
  constructor(
    workload: Workload | null,
    io: Io,
    options: { readonly heapBytes: number; readonly pause?: () => Promise<void> },
  ) {
    this.#workload = workload;
    this.#io = io;
    this.#heapBytes = options.heapBytes;
    this.#pause = options.pause;
  }

  /** Runs one; bad input, and too little memory for it, is a line of its own. */
  async run(scenario: Scenario, input: string | null): Promise<SweepResult> {
    try {
      const changed = scenarioRun(await this.#workloadOf(input), scenario);
      const steps = runSteps(changed, { stepEvents: STEP_EVENTS });
      for (;;) {
        const { value, done } = steps.next();
        if (done) return sweepResult(scenario, changed, value);
        checkHeap(this.#heapBytes);
        await this.#pause?.();
      }
    } catch (error) {
      // the next one finds all of the memory free
      if (error instanceof LimitError) this.#inputs.clear();
      return refusedResult(scenario, error);
    }
  }

  async #workloadOf(input: string | null): Promise<Workload> {
    if (input === null) {
      if (this.#workload !== null) return this.#workload;
      throw new InputError(
        "sweep.input",
        "Cannot run the scenario: must name its input, as the sweep has none of its own",
      );
    }
    const known = this.#inputs.get(input);
    if (known !== undefined) return known;
    if (this.#inputs.size >= KEPT_INPUTS) this.#inputs.delete(this.#inputs.keys().next().value!);
    const { workload } = await readWorkload([input], this.#io, { watch: () => checkHeap(this.#heapBytes) });
    this.#inputs.set(input, workload);
    return workload;
  }
}

/** The global scope of a worker; the types of this project's other scopes do not have it. */
interface WorkerScope {
  readonly WorkerGlobalScope?: new () => unknown;
  onmessage: (event: MessageEvent<SweepMessage>) => void;
  postMessage(answer: SweepAnswer): void;
}

const scope = globalThis as unknown as WorkerScope;
if (scope.WorkerGlobalScope !== undefined && globalThis instanceof scope.WorkerGlobalScope) answerMessages();

function answerMessages(): void {
  let runner: ScenarioRunner | null = null;
  let last: Promise<void> = Promise.resolve();
  scope.onmessage = ({ data }) => {
    if (data.kind === "start") {
      const nothing = () => {};
      const stdin = () => new ReadableStream<Uint8Array>();
      const io = { stdout: nothing, stderr: nothing, stdin, stderrIsTerminal: false, cwd: data.cwd };
      runner = new ScenarioRunner(data.workload, io, { heapBytes: data.heapBytes });
      return;
    }
    last = last.then(async () => {
      const result = await runner!.run(data.scenario, data.input);
      scope.postMessage({ number: data.number, result });
    });
  };
}
