/**
 * The worker that explains pasted messages. It is loaded when the first one is pasted: all of Spark's messages and their
 * arithmetic are as much text as the rest of the page.
 *
 * @module
 */
import { explain } from "../../src/report/explain.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import { answerQuestions } from "./worker_loop.ts";

// Answers go to the page by postMessage.
answerQuestions((question) => {
  if (question.kind !== "explain") return Promise.reject(new Error("This worker explains messages only"));
  const { text, settings } = question;
  const options = settings === null ? {} : { conf: SparkConf.from(settings.conf, settings.sparkVersion) };
  return Promise.resolve(explain(text, options));
});
