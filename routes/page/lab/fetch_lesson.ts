/**
 * The lesson on a fetch failure and what is run again: scenario a15-fetch-failed-basic, recorded from the real
 * DAGScheduler of Spark 2.4.0.
 *
 * @module
 */
import { SCHEDULER_TRACES } from "../../../src/replay/scheduler/mod.ts";
import { h } from "../ui/dom.ts";
import type { Story, StoryStep } from "./story.ts";

/** The scenario's header and events. */
export const FETCH_SCENARIO = {
  name: "a15-fetch-failed-basic",
  header: {
    format: "spark-dag-trace/1",
    spark: "2.4.0",
    conf: { maxConsecutiveAttempts: 4, externalShuffleService: false, unRegisterOutputOnHost: false },
    executors: [
      { id: "e1", host: "h1" },
      { id: "e2", host: "h1" },
      { id: "e3", host: "h2" },
      { id: "e4", host: "h3" },
      { id: "e9", host: "h9" },
    ],
    rdds: [
      { id: 0, partitions: 2, deps: [], persist: false },
      { id: 1, partitions: 2, deps: [{ shuffle: 0 }], persist: false },
    ],
    shuffles: [{ id: 0, rdd: 0, reducers: 2 }],
    jobs: [{ job: 0, rdd: 1, partitions: [0, 1] }],
  },
  events: [
    { type: "submitJob", rdd: 1 },
    { type: "taskSucceeded", stage: 0, attempt: 0, partition: 0, exec: "e1" },
    { type: "taskSucceeded", stage: 0, attempt: 0, partition: 1, exec: "e3" },
    { type: "taskSucceeded", stage: 1, attempt: 0, partition: 0, exec: "e1" },
    {
      type: "taskFailed",
      kind: "fetchFailed",
      stage: 1,
      attempt: 0,
      partition: 1,
      exec: "e9",
      shuffle: 0,
      map: 0,
      fromExec: "e1",
      message: "ff",
    },
    { type: "resubmitFailedStages" },
    { type: "taskSucceeded", stage: 0, attempt: 1, partition: 0, exec: "e3" },
    { type: "taskSucceeded", stage: 1, attempt: 1, partition: 1, exec: "e3" },
  ],
} as const;

// deno-lint-ignore no-explicit-any
type Observed = any;

/** What the engine does with the scenario, event by event. */
export function replayFetchFailure(): Observed[] {
  const lines = FETCH_SCENARIO.events.map((event) => ({ event }));
  return [...SCHEDULER_TRACES.replay(FETCH_SCENARIO.header, lines, {})]
    .map(({ output }) => (output as { observed: Observed }).observed);
}

/** What each partition is doing. */
interface Partition {
  status: "not yet" | "running" | "done" | "lost" | "failed";
  attempt: number;
  /** Where its output is. */
  exec: string | null;
}

/** The two stages after an event. */
export interface FetchPicture {
  readonly map: readonly Partition[];
  readonly reduce: readonly Partition[];
  readonly lost: readonly string[];
  readonly waiting: boolean;
}

/** The picture after each event, from what the scheduler did. */
export function picturesOf(observed: readonly Observed[]): FetchPicture[] {
  const fresh = (): Partition => ({ status: "not yet", attempt: 0, exec: null });
  const stages: [Partition[], Partition[]] = [[fresh(), fresh()], [fresh(), fresh()]];
  const lost = new Set<string>();
  return observed.map(({ actions, state }, i) => {
    const event = FETCH_SCENARIO.events[i];
    if (event.type === "taskSucceeded") {
      Object.assign(stages[event.stage][event.partition], { status: "done", exec: event.exec });
    }
    if (event.type === "taskFailed") stages[event.stage][event.partition].status = "failed";
    for (const action of actions) {
      if (action.a === "submitTasks") {
        for (const partition of action.partitions) {
          Object.assign(stages[action.stage as 0 | 1][partition], {
            status: "running",
            attempt: action.attempt,
            exec: null,
          });
        }
      } else if (action.a === "unregisterMapOutput" || action.a === "removeOutputsOnExecutor") {
        lost.add(action.exec);
        for (const map of action.removed["0"] ?? []) Object.assign(stages[0][map], { status: "lost", exec: null });
      }
    }
    return {
      map: stages[0].map((partition) => ({ ...partition })),
      reduce: stages[1].map((partition) => ({ ...partition })),
      lost: [...lost],
      waiting: state.waiting.length > 0 || state.failed.length > 0,
    };
  });
}

function draw(picture: FetchPicture | null): HTMLElement {
  const stage = (title: string, partitions: readonly Partition[], what: string) =>
    h(
      "section",
      { class: "story-stage", "aria-label": title },
      h("h3", {}, title),
      h(
        "ul",
        { class: "cells" },
        partitions.map(({ status, attempt, exec }, i) =>
          h(
            "li",
            { class: `cell ${status.replace(" ", "-")}` },
            h("b", {}, `Partition ${i}`),
            h("span", {}, status === "done" && exec !== null ? `${what} ${exec}` : status),
            h("span", { class: "small" }, status === "not yet" ? "" : `attempt ${attempt}`),
          )
        ),
      ),
    );
  const none: Partition[] = [0, 1].map(() => ({ status: "not yet", attempt: 0, exec: null }));
  return h(
    "div",
    { class: "story" },
    h(
      "div",
      { class: "story-stages" },
      stage("Stage 0: map", picture?.map ?? none, "output at"),
      h("div", { class: "story-arrow", "aria-hidden": "true" }, "→"),
      stage("Stage 1: reduce", picture?.reduce ?? none, "done at"),
    ),
    h(
      "p",
      { class: "small muted" },
      picture === null || picture.lost.length === 0
        ? "Executors: e1, e2, e3, e4, e9."
        : `The scheduler no longer counts on what ${picture.lost.join(", ")} has written.`,
    ),
  );
}

const TOLD: readonly Omit<StoryStep, "drawBefore" | "drawAfter">[] = [
  {
    call: "submitJob",
    answer: "stage 0 runs, stage 1 waits",
    tone: "plain",
    sentences: [
      "The job’s last stage reads a shuffle that nobody has written: its map stage is submitted first, two tasks.",
    ],
  },
  {
    call: "task of stage 0, partition 0, succeeds on e1",
    answer: "output registered",
    tone: "good",
    sentences: ["Its shuffle output lies on e1’s disk; the driver only remembers where."],
  },
  {
    call: "task of stage 0, partition 1, succeeds on e3",
    answer: "stage 0 done, stage 1 submitted",
    tone: "good",
    sentences: ["All map outputs are there: the stage is complete, and the stage that waited for it is submitted."],
  },
  {
    call: "task of stage 1, partition 0, succeeds on e1",
    answer: "1 of 2 results",
    tone: "good",
    sentences: ["A result that has arrived is never computed again, whatever happens to the stage."],
  },
  {
    call: "task of stage 1, partition 1, fails on e9: FetchFailed from e1",
    answer: "attempt 0 of stage 1 has failed",
    tone: "bad",
    sentences: [
      "The attempt is over at once, without counting as a failure of the task. Map output 0 is forgotten, and with it " +
      "everything else that e1 had written. In 200 ms both stages are submitted again.",
    ],
    question: {
      text: "A reduce task on e9 cannot fetch map output 0 from e1. What does the scheduler do?",
      choices: [
        "It runs the reduce task again, up to 4 times",
        "It ends the reduce stage’s attempt and makes the lost map outputs again",
        "It runs the whole job again",
      ],
      right: 1,
    },
  },
  {
    call: "resubmitFailedStages, 200 ms later",
    answer: "stage 0, attempt 1: 1 task",
    tone: "warn",
    sentences: ["Only the missing map output is made again; stage 1 waits once more."],
    note: "Failures that arrive within the 200 ms are handled together: one resubmission for all of them.",
  },
  {
    call: "task of stage 0, partition 0, attempt 1, succeeds on e3",
    answer: "stage 1, attempt 1: 1 task",
    tone: "good",
    sentences: ["All outputs are there again. Stage 1 runs again, for the one partition that has no result yet."],
  },
  {
    call: "task of stage 1, partition 1, attempt 1, succeeds on e3",
    answer: "job done",
    tone: "good",
    sentences: ["One lost executor cost one map task, one reduce task and 200 ms."],
  },
];

/** The lesson. */
export const FETCH_LESSON: Story = {
  id: "fetch",
  title: "A fetch failure and what runs again",
  belief: "A FetchFailedException is a failed task like any other.",
  start: "A job with one shuffle: two map tasks, two reduce tasks.",
  steps: () => {
    const pictures = picturesOf(replayFetchFailure());
    return TOLD.map((told, i) => ({
      ...told,
      drawBefore: () => draw(pictures[i - 1] ?? null),
      drawAfter: () => draw(pictures[i]),
    }));
  },
  takeaway:
    "It does not count against spark.task.maxFailures but against spark.stage.maxConsecutiveAttempts (4). What is " +
    "lost is made again, what is there is kept. When executors die of memory, that is the thing to cure.",
};
