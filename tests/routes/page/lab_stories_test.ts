import { assert, assertEquals } from "@std/assert";
import { FETCH_LESSON, FETCH_SCENARIO, picturesOf, replayFetchFailure } from "../../../routes/page/lab/fetch_lesson.ts";
import {
  pathsOf,
  replayScenario,
  RESULT_LESSON,
  RESULT_SCENARIO,
  RESULT_SIZES,
} from "../../../routes/page/lab/result_lesson.ts";
import { traceLines } from "../../support/traces.ts";

// Recorded from the real Spark 2.4.0: see tests/testdata/scheduler/README.md.
const SCHEDULER = new URL("../../testdata/scheduler/2.4.0/", import.meta.url);

interface Scenario {
  readonly name: string;
  readonly header: Readonly<Record<string, unknown>>;
  readonly events: readonly object[];
}

/** The recorded lines of a scenario in a file of many: the header, then its events. */
async function recorded(file: string, name: string) {
  const lines = await traceLines(new URL(file, SCHEDULER).pathname);
  const from = lines.findIndex((line) => line.name === name);
  const length = lines.slice(from + 1).findIndex((line) => "format" in line);
  return { header: lines[from], lines: lines.slice(from + 1, from + 1 + length) };
}

async function compare(file: string, scenario: Scenario, observed: readonly unknown[]): Promise<void> {
  const { header, lines } = await recorded(file, scenario.name);
  for (const [key, value] of Object.entries(scenario.header)) assertEquals(value, header[key], key);
  assertEquals(scenario.events, lines.map(({ event }) => event));
  assertEquals(observed, lines.map((line) => line.observed));
}

Deno.test("the fetch failure's lesson is its recorded scenario, and the engine does what Spark did", async () => {
  await compare("handmade-a.jsonl.gz", FETCH_SCENARIO, replayFetchFailure());
});

Deno.test("the result's lesson is its recorded scenario, and the engine does what Spark did", async () => {
  await compare("handmade-b.jsonl.gz", RESULT_SCENARIO, replayScenario());
});

// Real Executor 2.4.0 with maxDirectResultSize 4000 and maxResultSize 8000: equal is not over.
Deno.test("the result's lesson sends each size the way the real executor did", () => {
  assertEquals(pathsOf(RESULT_SIZES), ["direct", "indirect", "dropped"]);
  assertEquals(pathsOf([8000]), ["indirect"]);
});

Deno.test("the fetch failure loses one map output and keeps the result that has arrived", () => {
  const pictures = picturesOf(replayFetchFailure());
  assertEquals(pictures[4].map.map(({ status }) => status), ["lost", "done"]);
  assertEquals(pictures[4].reduce.map(({ status }) => status), ["done", "failed"]);
  assertEquals(pictures[5].map[0], { status: "running", attempt: 1, exec: null });
  assertEquals(pictures[7].reduce.map(({ status, attempt }) => [status, attempt]), [["done", 0], ["done", 1]]);
});

Deno.test("each story has a question, and as many steps as are told", () => {
  for (const story of [FETCH_LESSON, RESULT_LESSON]) {
    const steps = story.steps();
    assert(steps.length >= 7, story.id);
    assert(steps.some(({ question }) => question !== undefined), story.id);
    for (const { question } of steps) {
      if (question !== undefined) assert(question.right < question.choices.length, story.id);
    }
  }
});
