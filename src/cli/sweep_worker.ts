/**
 * A worker of `sweep`: runs scenarios, one after the other, on the workload it was given or on inputs that the scenarios
 * name.
 *
 * @module
 */
import { InputError } from "../errors.ts";
import type { Workload } from "../simulator/workload.ts";
import { refusedResult, runScenario, type Scenario, type SweepResult } from "../what_if/sweep.ts";
import type { Io } from "./command.ts";
import { readWorkload } from "./workload_input.ts";

/** What a worker is sent: first what it works with, then scenarios. */
export type SweepMessage =
  | { readonly kind: "start"; readonly workload: Workload | null; readonly cwd: string }
  | { readonly kind: "scenario"; readonly number: number; readonly scenario: Scenario; readonly input: string | null };

/** What it answers. */
export interface SweepAnswer {
  readonly number: number;
  readonly result: SweepResult;
}

/** Inputs that are kept: scenarios over one log come one after another. */
const KEPT_INPUTS = 2;

/** Runs scenarios; also used without a worker, when one processor is all there is. */
export class ScenarioRunner {
  readonly #workload: Workload | null;
  readonly #io: Io;
  readonly #inputs = new Map<string, Workload>();

  constructor(workload: Workload | null, io: Io) {
    this.#workload = workload;
    this.#io = io;
  }

  /** Runs one; bad input is a line of its own. */
  async run(scenario: Scenario, input: string | null): Promise<SweepResult> {
    try {
      return runScenario(await this.#workloadOf(input), scenario);
    } catch (error) {
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
    const { workload } = await readWorkload([input], this.#io);
    if (this.#inputs.size >= KEPT_INPUTS) this.#inputs.delete(this.#inputs.keys().next().value!);
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
      runner = new ScenarioRunner(data.workload, io);
      return;
    }
    last = last.then(async () => {
      const result = await runner!.run(data.scenario, data.input);
      scope.postMessage({ number: data.number, result });
    });
  };
}
