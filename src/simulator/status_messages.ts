/**
 * Status updates on their way from executors to the driver.
 *
 * @module
 */
import type { EventQueue } from "./event_queue.ts";
import type { Task } from "./task.ts";
import type { TaskRunnerHost } from "./task_runner.ts";

/** Messages by task id: an attempt ends once. */
export class StatusMessages implements TaskRunnerHost {
  readonly #queue: EventQueue;
  readonly #kind: number;
  readonly #latencyMs: number;
  readonly #underWay: (Task | null)[] = [];

  constructor(queue: EventQueue, options: { kind: number; latencyMs: number }) {
    this.#queue = queue;
    this.#kind = options.kind;
    this.#latencyMs = options.latencyMs;
  }

  sendStatus(task: Task): void {
    this.#underWay[task.id.tid] = task;
    this.#queue.schedule(this.#queue.timeMs + this.#latencyMs, this.#kind, task.id.tid);
  }

  /** The attempt whose message is due. */
  arrived(tid: number): Task {
    const task = this.#underWay[tid]!;
    this.#underWay[tid] = null;
    return task;
  }
}
