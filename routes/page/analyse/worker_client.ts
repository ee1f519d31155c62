/**
 * Asks the worker and waits for its answers.
 *
 * @module
 */
import type { Answers, FromWorker, Problem, Progress, Question, ToWorker } from "../protocol.ts";

/** What the worker could not do; `code` as in the library's errors, `page.cancelled`, `page.bug`. */
export class WorkerProblem extends Error {
  readonly code: string;

  constructor({ code, message }: Problem) {
    super(message);
    this.code = code;
  }
}

interface Pending {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: WorkerProblem) => void;
  readonly onProgress?: (progress: Progress) => void;
}

/** The worker. */
export class WorkerClient {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  #next = 0;

  constructor(url: string) {
    this.#worker = new Worker(url);
    this.#worker.addEventListener("message", ({ data }: MessageEvent<FromWorker>) => this.#heard(data));
    this.#worker.addEventListener("error", (event) => {
      const problem = { code: "page.bug", message: event.message || "The worker could not be started" };
      for (const { reject } of this.#pending.values()) reject(new WorkerProblem(problem));
      this.#pending.clear();
    });
  }

  /**
   * Asks; the answer comes as a promise.
   *
   * @throws {WorkerProblem}
   */
  ask<Q extends Question>(
    question: Q,
    options: { onProgress?: (progress: Progress) => void; signal?: AbortSignal } = {},
  ): Promise<Answers[Q["kind"]]> {
    const id = this.#next++;
    options.signal?.addEventListener("abort", () => this.#post({ id, cancel: true }));
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject, onProgress: options.onProgress });
      this.#post({ id, question });
    });
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #heard(message: FromWorker): void {
    const pending = this.#pending.get(message.id);
    if (pending === undefined) return;
    if ("progress" in message) return pending.onProgress?.(message.progress);
    this.#pending.delete(message.id);
    if ("problem" in message) pending.reject(new WorkerProblem(message.problem));
    else pending.resolve(message.answer as never);
  }
}
