/**
 * Status updates on their way from executors to the driver.
 *
 * @module
 */
import type { EventQueue } from "./event_queue.ts";
import type { Task } from "./task.ts";
import type { TaskOutcome, TaskRunnerHost } from "./task_runner.ts";

/** A message that has arrived. */
export interface StatusMessage {
  readonly task: Task;
  readonly outcome: TaskOutcome;
}

/** Messages by task id: an attempt ends once. */
export class StatusMessages implements TaskRunnerHost {
  readonly #queue: EventQueue;
  readonly #kind: number;
  readonly #latencyMs: number;
  readonly #underWay = new Map<number, StatusMessage>();

  constructor(queue: EventQueue, options: { kind: number; latencyMs: number }) {
    this.#queue = queue;
    this.#kind = options.kind;
    this.#latencyMs = options.latencyMs;
  }

  sendStatus(task: Task, outcome: TaskOutcome): void {
    this.#underWay.set(task.id.tid, { task, outcome });
    this.#queue.schedule(this.#queue.timeMs + this.#latencyMs, this.#kind, task.id.tid);
  }

  /** The message that is due. */
  arrived(tid: number): StatusMessage {
    const message = this.#underWay.get(tid)!;
    this.#underWay.delete(tid);
    return message;
  }
}
