/**
 * Makes happen what a workload says goes wrong: executors that are lost, slow hosts, results that get lost. What fails
 * within a task is in task_body.ts.
 *
 * @module
 */
import type { Fault, Workload } from "./workload.ts";

type ExecutorLost = Extract<Fault, { kind: "executorLost" }>;
type ResultUnreadable = Extract<Fault, { kind: "resultUnreadable" }>;
type ResultHandlerException = Extract<Fault, { kind: "resultHandlerException" }>;

/** What the injector does to the simulation. */
export interface FaultHost {
  readonly workload: Workload;
  /** Calls back after so many ms. */
  after(delayMs: number, work: () => void): void;
  /** The executor with this id dies; nothing when it is not there. */
  loseExecutor(executorId: string, loss: ExecutorLost): void;
}

/** Faults by what they concern. */
export class FaultInjector {
  readonly #host: FaultHost;
  readonly #byDemand = new Map<number, Fault[]>();
  readonly #slowness = new Map<string, number>();
  /** Losses that wait for a number of tasks, by executor id. */
  readonly #afterTasks = new Map<string, ExecutorLost[]>();

  constructor(host: FaultHost) {
    this.#host = host;
    for (const fault of host.workload.faults) this.#note(fault);
  }

  /** Plans the faults that have a time. */
  start(): void {
    for (const fault of this.#host.workload.faults) {
      if (fault.kind !== "executorLost" || fault.atMs === null) continue;
      this.#host.after(fault.atMs, () => this.#host.loseExecutor(fault.executorId, fault));
    }
  }

  /** Faults of the tasks of one demand. */
  of(demand: number): readonly Fault[] {
    return this.#byDemand.get(demand) ?? NONE;
  }

  slowness(host: string): number {
    return this.#slowness.get(host) ?? 1;
  }

  /** A result of a successful attempt is to get lost on its way. */
  losesResult(demand: number, partition: number, attempt: number): boolean {
    return this.of(demand).some((fault) =>
      fault.kind === "resultLost" && fault.partition === partition && attempt < fault.attempts
    );
  }

  /** What the driver meets when it reads the result of an attempt; null: nothing. */
  unreadable(demand: number, partition: number, attempt: number): ResultUnreadable | null {
    for (const fault of this.of(demand)) {
      if (fault.kind === "resultUnreadable" && fault.partition === partition && attempt < fault.attempts) return fault;
    }
    return null;
  }

  /** What the program's handler throws on the result of a partition; null: nothing. */
  handlerException(demand: number, partition: number): ResultHandlerException | null {
    for (const fault of this.of(demand)) {
      if (fault.kind === "resultHandlerException" && fault.partition === partition) return fault;
    }
    return null;
  }

  /** An executor has started its nth task. */
  taskStarted(executorId: string, started: number): void {
    const faults = this.#afterTasks.get(executorId);
    if (faults !== undefined) this.#loseAfter(faults, started);
  }

  #loseAfter(faults: readonly ExecutorLost[], started: number): void {
    for (const fault of faults) {
      if (fault.afterTasks === started) this.#host.after(0, () => this.#host.loseExecutor(fault.executorId, fault));
    }
  }

  #note(fault: Fault): void {
    if (fault.kind === "slowHost") {
      this.#slowness.set(fault.host, fault.factor);
    } else if (fault.kind === "executorLost") {
      if (fault.afterTasks !== null) push(this.#afterTasks, fault.executorId, fault);
    } else {
      push(this.#byDemand, fault.demand, fault);
    }
  }
}

const NONE: readonly Fault[] = Object.freeze([]);

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
