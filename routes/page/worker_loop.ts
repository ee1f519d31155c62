/**
 * How a worker hears questions and answers them.
 *
 * @module
 */
import { InputError } from "../../src/errors.ts";
import type { FromWorker, Problem, Progress, Question, ToWorker } from "./protocol.ts";

/** What of a worker's global scope is used here; the DOM library describes windows only. */
interface Scope {
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
  postMessage(message: FromWorker): void;
}

/** What long work is told of and tells. */
export interface WorkOptions {
  readonly onProgress: (progress: Progress) => void;
  readonly signal: AbortSignal;
}

function problemOf(error: unknown): Problem {
  if (error instanceof InputError) {
    const where = error.line === undefined ? "" : ` (line ${error.line})`;
    return { code: error.code, message: error.message + where };
  }
  if (error instanceof DOMException && error.name === "AbortError") {
    return { code: "page.cancelled", message: "Cancelled." };
  }
  // A bug: said as it is, so that it can be reported.
  return { code: "page.bug", message: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
}

/** Answers what the page asks, each question by itself; a question can be cancelled. */
export function answerQuestions(answer: (question: Question, work: WorkOptions) => Promise<unknown>): void {
  const scope = globalThis as unknown as Scope;
  const running = new Map<number, AbortController>();
  scope.addEventListener("message", async ({ data }) => {
    if ("cancel" in data) {
      running.get(data.id)?.abort();
      return;
    }
    const { id, question } = data;
    const control = new AbortController();
    running.set(id, control);
    const onProgress = (progress: Progress) => scope.postMessage({ id, progress });
    try {
      scope.postMessage({ id, answer: await answer(question, { onProgress, signal: control.signal }) });
    } catch (error) {
      scope.postMessage({ id, problem: problemOf(error) });
    } finally {
      running.delete(id);
    }
  });
}
