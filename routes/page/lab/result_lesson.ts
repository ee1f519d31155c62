/**
 * The lesson on the way of a task's result: what the executor decides (rows of the real Executor, Spark 2.4.0) and what
 * the driver adds up (scenario b30-max-result-indirect of the real TaskSetManager and TaskResultGetter).
 *
 * @module
 */
import { SCHEDULER_TRACES } from "../../../src/replay/scheduler/mod.ts";
import { resultPath } from "../../../src/simulator/scheduler/result_path.ts";
import { rulesFor } from "../../../src/spark/versions.ts";
import { h } from "../ui/dom.ts";
import { formatCount } from "../ui/format.ts";
import type { Story, StoryStep } from "./story.ts";

/** The limits of the rows, in bytes; spark.rpc.message.maxSize is far above. */
const LIMITS = { maxDirectResultSize: 4000, rpcMessageMaxSize: 128 * 1024 * 1024, maxResultSize: 8000 };

/** Sizes of the rows. */
export const RESULT_SIZES = [4000, 4001, 8001] as const;

/** The scenario's header and events. */
export const RESULT_SCENARIO = {
  name: "b30-max-result-indirect",
  header: {
    format: "spark-tsm-trace/1",
    spark: "2.4.0",
    conf: {
      maxFailures: 4,
      externalShuffleService: false,
      maxResultSize: 10000,
      speculation: false,
      speculationQuantile: 0.75,
      speculationMultiplier: 1.5,
      minTimeToSpeculation: 100,
      localityWaitMs: 3000,
      offerOrder: "as given (no shuffle)",
      clockStart: 1000,
    },
  },
  events: [
    {
      type: "submitTaskSet",
      stage: 0,
      attempt: 0,
      kind: "result",
      priority: 0,
      tasks: [{ partition: 0, prefs: [] }, { partition: 1, prefs: [] }, { partition: 2, prefs: [] }],
    },
    { type: "offers", offers: [{ exec: "e1", host: "h1", cores: 3 }] },
    { type: "finishedIndirect", tid: 0, size: 6000, available: true },
    { type: "finishedIndirect", tid: 1, size: 6000, available: true },
    { type: "finishedDirect", tid: 2, valueBytes: 100, size: 582 },
  ],
} as const;

type Path = "direct" | "indirect" | "dropped";

/** Sends a result of each size by the rules of 2.4.0. */
export function pathsOf(sizes: readonly number[]): Path[] {
  return sizes.map((size) => resultPath(size, LIMITS, rulesFor("2.4.0")));
}

// deno-lint-ignore no-explicit-any
type Observed = any;

/** What the engine does with the scenario, event by event. */
export function replayScenario(): Observed[] {
  const lines = RESULT_SCENARIO.events.map((event) => ({ event }));
  return [...SCHEDULER_TRACES.replay(RESULT_SCENARIO.header, lines, {})]
    .map(({ output }) => (output as { observed: Observed }).observed);
}

/** The path of one result: the executor, the driver, and what travels between them. */
function drawPath(size: number, path: Path | null): HTMLElement {
  const ruler = h(
    "div",
    { class: "ruler" },
    bar(size, 10000, path === "dropped" ? "bad" : path === "indirect" ? "unroll" : "storage"),
    mark(LIMITS.maxDirectResultSize, 10000, "maxDirectResultSize 4,000"),
    mark(LIMITS.maxResultSize, 10000, "maxResultSize 8,000"),
  );
  const way = (name: Path, text: string) =>
    h("li", { class: path === name ? "way current" : "way", "aria-current": path === name ? "true" : null }, text);
  return h(
    "div",
    { class: "story" },
    h("p", { class: "small muted" }, `Serialized result: ${formatCount(size)} bytes`),
    ruler,
    h(
      "div",
      { class: "ways" },
      h("div", { class: "ways-end" }, h("b", {}, "Executor"), "serializes the result"),
      h(
        "ol",
        { class: "ways-list" },
        way("direct", "direct: the result itself, in the status update"),
        way("indirect", "indirect: stored as a block at the executor, in storage memory; the driver fetches it"),
        way("dropped", "dropped: only its size"),
      ),
      h("div", { class: "ways-end" }, h("b", {}, "Driver"), "adds up, then takes it"),
    ),
  );
}

/** The driver's total against its limit, and the three tasks. */
function drawTotal(observed: Observed | null): HTMLElement {
  const set = observed?.taskSets?.[0];
  const total = set?.totalResultSize ?? 0;
  const limit = RESULT_SCENARIO.header.conf.maxResultSize;
  const running = new Set<number>(set?.runningTids ?? []);
  const successful = new Set<number>(set?.successful ?? []);
  const stateOf = (task: number) =>
    successful.has(task) ? "succeeded" : running.has(task) ? "running" : set?.zombie ? "refused" : "waiting";
  return h(
    "div",
    { class: "story" },
    h(
      "p",
      { class: "small muted" },
      `Total of the task set: ${formatCount(total)} of ${formatCount(limit)} bytes, ${
        set?.calculatedTasks ?? 0
      } results`,
    ),
    h(
      "div",
      { class: "ruler" },
      bar(total, 15000, total > limit ? "bad" : "storage"),
      mark(limit, 15000, "maxResultSize 10,000"),
    ),
    h(
      "ul",
      { class: "cells" },
      [0, 1, 2].map((task) =>
        h("li", { class: `cell ${stateOf(task)}` }, h("b", {}, `Task ${task}`), h("span", {}, stateOf(task)))
      ),
    ),
  );
}

function bar(size: number, scale: number, tone: string): HTMLElement {
  const element = h("i", { class: `ruler-bar ${tone}` });
  element.style.width = `${Math.min(100, size / scale * 100)}%`;
  return element;
}

function mark(at: number, scale: number, text: string): HTMLElement {
  const element = h("span", { class: "ruler-mark" }, h("em", {}, text));
  element.style.left = `${at / scale * 100}%`;
  return element;
}

function pathSteps(): StoryStep[] {
  const paths = pathsOf(RESULT_SIZES);
  const texts: readonly string[][] = [
    ["4,000 is not more than spark.task.maxDirectResultSize: the result travels in the message that says the task is done."],
    [
      "One byte more, and it is stored as a block taskresult_… in the executor’s storage memory, where it may evict " +
      "cached blocks; the driver is told where it is, fetches it and has it removed.",
    ],
    [
      "Alone it exceeds spark.driver.maxResultSize (8,000): it is thrown away at the executor, and only its size goes to " +
      "the driver. That size still counts, and the job fails of it.",
    ],
  ];
  return RESULT_SIZES.map((size, i) => ({
    call: `task result of ${formatCount(size)} bytes`,
    answer: paths[i],
    tone: paths[i] === "direct" ? "good" : paths[i] === "indirect" ? "warn" : "bad",
    sentences: texts[i],
    ...(i === 1
      ? {
        question: {
          text: "maxDirectResultSize is 4,000. How does a result of 4,001 bytes reach the driver?",
          choices: [
            "As before, only slower",
            "As a block in the executor’s storage memory",
            "Not at all: the task fails",
          ],
          right: 1,
        },
      }
      : {}),
    drawBefore: () => drawPath(size, null),
    drawAfter: () => drawPath(size, paths[i]),
  }));
}

function totalSteps(): StoryStep[] {
  const observed = replayScenario();
  const messageOf = (index: number): string =>
    observed[index].actions.find(({ a }: { a: string }) => a === "dagTaskSetFailed").message;
  const step = (index: number, told: Omit<StoryStep, "drawBefore" | "drawAfter">): StoryStep => ({
    ...told,
    drawBefore: () => drawTotal(observed[index - 1] ?? null),
    drawAfter: () => drawTotal(observed[index]),
  });
  return [
    step(1, {
      call: "three tasks are launched",
      answer: "running",
      tone: "plain",
      sentences: ["Another job, another limit: the results of one stage may come to 10,000 bytes."],
    }),
    step(2, {
      call: "task 0: indirect result of 6,000 bytes",
      answer: "accepted",
      tone: "good",
      sentences: [
        `The total is ${formatCount(observed[2].taskSets[0].totalResultSize)}; the block is fetched and removed.`,
      ],
    }),
    step(3, {
      call: "task 1: indirect result of 6,000 bytes",
      answer: "the stage is aborted",
      tone: "bad",
      sentences: [
        "The size counts before anything is fetched, and 12,000 are more than 10,000. The job fails with:",
        `“${messageOf(3)}”.`,
      ],
      question: {
        text:
          "Each result is smaller than maxResultSize. Task 0 sent 6,000 bytes; now task 1 announces 6,000. What happens?",
        choices: [
          "It is fetched as well: it is below the limit",
          "The stage is aborted",
          "Task 1 alone fails and is tried again",
        ],
        right: 1,
      },
    }),
    step(4, {
      call: "task 2: direct result of 582 bytes",
      answer: "counted, refused",
      tone: "bad",
      sentences: [
        `Tasks that end later still add up: “${messageOf(4)}”. The number of tasks in the message is of results that ` +
        "arrived, not of the stage’s tasks.",
      ],
    }),
  ];
}

/** The lesson. */
export const RESULT_LESSON: Story = {
  id: "result",
  title: "The way of a task’s result",
  belief: "collect() just sends the data to the driver.",
  start: "A task is done and its result serialized. The size decides how it travels.",
  steps: () => [...pathSteps(), ...totalSteps()],
  takeaway:
    "Above maxDirectResultSize (and never above spark.rpc.message.maxSize) results go through storage memory. " +
    "spark.driver.maxResultSize limits the sum over a stage, dropped and unfetched results included; equal is not over.",
};
