/**
 * The worker: reads, replays and simulates away from the page's thread.
 *
 * @module
 */
import { InputError } from "../../src/errors.ts";
import { PageEngine } from "./engine.ts";
import type { FromWorker, Problem, Progress, Question, ToWorker } from "./protocol.ts";

/** What of a worker's global scope is used here; the DOM library describes windows only. */
interface Scope {
  addEventListener(type: "message", listener: (event: MessageEvent<ToWorker>) => void): void;
  postMessage(message: FromWorker): void;
}

const scope = globalThis as unknown as Scope;
const engine = new PageEngine(() => performance.now());
const running = new Map<number, AbortController>();

async function answer(id: number, question: Question, signal: AbortSignal): Promise<unknown> {
  const work = { signal, onProgress: (progress: Progress) => scope.postMessage({ id, progress }) };
  switch (question.kind) {
    case "open":
      return await engine.open(question.files, work);
    case "replay":
      return engine.replay();
    case "predict":
      return engine.predict(question.changes, question.charts);
    case "sweep":
      return await engine.sweep(question.base, question.vary, work);
    case "eventLog":
      return engine.eventLog(question.changes);
    case "explain":
      return engine.explain(question.text);
  }
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

scope.addEventListener("message", async ({ data }) => {
  if ("cancel" in data) {
    running.get(data.id)?.abort();
    return;
  }
  const control = new AbortController();
  running.set(data.id, control);
  try {
    scope.postMessage({ id: data.id, answer: await answer(data.id, data.question, control.signal) });
  } catch (error) {
    scope.postMessage({ id: data.id, problem: problemOf(error) });
  } finally {
    running.delete(data.id);
  }
});
