/**
 * The worker: reads, replays and simulates away from the page's thread.
 *
 * @module
 */
import { PageEngine } from "./engine.ts";
import { answerQuestions } from "./worker_loop.ts";

const engine = new PageEngine(() => performance.now());

// Answers go to the page by postMessage.
answerQuestions(async (question, work) => {
  switch (question.kind) {
    case "open":
      return await engine.open(question.files, work);
    case "replay":
      return await engine.replay(work);
    case "predict":
      return await engine.predict(question.changes, question.charts, work);
    case "sweep":
      return await engine.sweep(question.base, question.vary, work);
    case "recommend":
      return await engine.recommend(work);
    case "eventLog":
      return await engine.eventLog(question.changes, work);
    case "explain":
      throw new Error("Messages are explained by the other worker");
  }
});
