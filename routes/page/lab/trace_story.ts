/**
 * A recorded trace of the scheduler or of task memory as a story: each line of it is a step, computed again by the engine,
 * told and drawn with what there is after it.
 *
 * @module
 */
import { InputError } from "../../../src/errors.ts";
import type { TraceFormat } from "../../../src/replay/trace.ts";
import { h } from "../ui/dom.ts";
import { actionTold, eventTold, toneOf } from "./scheduler_told.ts";
import { answerTold, callTold, sentencesTold } from "./spilling_told.ts";
import type { Story, StoryStep } from "./story.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** Steps that a story may have; longer traces are for `deno task replay`. */
const MAX_STEPS = 200_000;

/** The 13 numbers of the memory manager's state in the traces: the first eight have these names. */
const STATE_NUMBERS = [
  "on-heap storage pool",
  "on-heap storage used",
  "on-heap execution pool",
  "on-heap execution used",
  "off-heap storage pool",
  "off-heap storage used",
  "off-heap execution pool",
  "off-heap execution used",
  "blocks in memory",
];

function shown(value: unknown): string {
  if (value === null) return "–";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(shown).join(", ");
  if (typeof value === "object") {
    const entries = Object.entries(value!);
    return entries.length === 0 ? "none" : entries.map(([key, inner]) => `${key}: ${shown(inner)}`).join("; ");
  }
  return String(value);
}

/** "tasksSuccessful" as "tasks successful". */
const words = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function figures(entries: readonly (readonly [name: string, value: unknown])[]): HTMLElement {
  return h(
    "dl",
    { class: "step-numbers" },
    entries.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, shown(value)))),
  );
}

function taskSetTable(sets: readonly Json[]): HTMLElement {
  const columns = ["zombie", "runningTids", "successful", "numFailures", "totalResultSize", "localityLevels"];
  return h(
    "div",
    { class: "table-scroll", tabindex: 0, role: "region", "aria-label": "Task sets" },
    h(
      "table",
      { class: "data" },
      h("caption", {}, "Task sets"),
      h(
        "thead",
        {},
        h("tr", {}, h("th", { scope: "col" }, "stage"), columns.map((c) => h("th", { scope: "col" }, words(c)))),
      ),
      h(
        "tbody",
        {},
        sets.map((set) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, `${set.stage} (attempt ${set.attempt})`),
            columns.map((column) => h("td", {}, shown(set[column]))),
          )
        ),
      ),
    ),
  );
}

function drawScheduler(observed: Json | null): HTMLElement {
  if (observed === null) return h("p", { class: "muted" }, "Nothing has reached the scheduler yet.");
  const { taskSets: inState, ...state } = observed.state ?? {};
  const sets = observed.taskSets ?? inState ?? [];
  return h(
    "div",
    { class: "story" },
    figures(Object.entries(state).map(([name, value]) => [words(name), value])),
    sets.length === 0 ? h("p", { class: "small muted" }, "No task set.") : taskSetTable(sets),
  );
}

function drawMemory(line: Json | null): HTMLElement {
  if (line?.s === undefined) return h("p", { class: "muted" }, "No memory is in use yet.");
  const pools = STATE_NUMBERS.map((name, i): [string, unknown] => [name, line.s[i]]).filter(([name, value]) =>
    value !== 0 || !name.startsWith("off-heap")
  );
  const used = (line.u ?? []).map((value: unknown, i: number): [string, unknown] => [`consumer ${i} uses`, value]);
  return h(
    "div",
    { class: "story" },
    figures(pools),
    used.length === 0 ? null : figures([...used, [`task ${line.t} holds`, line.tu]]),
  );
}

function schedulerSteps(outputs: readonly Json[]): StoryStep[] {
  return outputs.map(({ event, observed }, i) => ({
    call: event.type,
    answer: `${observed.actions.length} ${observed.actions.length === 1 ? "action" : "actions"}`,
    tone: toneOf(observed.actions),
    sentences: [`${sentence(eventTold(event))}.`, ...observed.actions.map(actionTold)],
    drawBefore: () => drawScheduler(i === 0 ? null : outputs[i - 1].observed),
    drawAfter: () => drawScheduler(observed),
  }));
}

function memorySteps(outputs: readonly Json[]): StoryStep[] {
  return outputs.map((line, i) => ({
    call: callTold(line),
    ...answerTold(line),
    sentences: sentencesTold(line),
    drawBefore: () => drawMemory(i === 0 ? null : outputs[i - 1]),
    drawAfter: () => drawMemory(line),
  }));
}

const sentence = (text: string) => text[0].toUpperCase() + text.slice(1);

/** What the format's lines look like when they are told. */
function stepsOf(format: TraceFormat, outputs: readonly Json[]): StoryStep[] {
  return format.name === "scheduler"
    ? schedulerSteps(outputs.filter((output) => output.event !== undefined))
    : memorySteps(outputs.filter((output) => output.op !== undefined));
}

/**
 * The story of a trace.
 *
 * @throws {InputError} `lab.trace` for one that is empty or too long, `replay.*` as replaying it does.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { SPILLING_TRACE } from "../../../src/replay/spilling.ts";
 * import { traceStory } from "./trace_story.ts";
 *
 * const header = { name: "one", heap: 1000, off: 0, frac: 0.5, cores: 1, tungsten: "ON", page: 16 };
 * const story = traceStory(SPILLING_TRACE, header, [{ i: 0, op: "newTask", t: 0 }]);
 * assertEquals(story.steps()[0].call, "new TaskMemoryManager(task 0)");
 * ```
 */
export function traceStory(format: TraceFormat, header: Json, lines: readonly Json[]): Story {
  if (lines.length > MAX_STEPS) {
    throw new InputError(
      "lab.trace",
      `Cannot open the trace: must have at most ${MAX_STEPS} steps: received ${lines.length}`,
    );
  }
  const outputs = [...format.replay(header, lines, {})].flatMap(({ output }) => output === null ? [] : [output]);
  const steps = stepsOf(format, outputs);
  if (steps.length === 0) throw new InputError("lab.trace", "Cannot open the trace: it has no steps");
  const title = typeof header.name === "string" ? header.name : "Recorded trace";
  return {
    id: "trace",
    title,
    belief: "",
    steps: () => steps,
    start: typeof header.description === "string" ? sentence(`${header.description}.`) : "One step on begins.",
    takeaway: "The trace ends here.",
  };
}
