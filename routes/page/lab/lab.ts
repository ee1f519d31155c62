/**
 * The learn page: the list of lessons, free play, recorded traces.
 *
 * @module
 */
import { InputError } from "../../../src/errors.ts";
import { fill, h, icon } from "../ui/dom.ts";
import { formatCount } from "../ui/format.ts";
import { toast } from "../ui/shell.ts";
import { FETCH_LESSON } from "./fetch_lesson.ts";
import { MEMORY_LESSONS, type MemoryLesson } from "./memory_lessons.ts";
import { MemoryView } from "./memory_view.ts";
import { RESULT_LESSON } from "./result_lesson.ts";
import { type LabScript, LabSession } from "./session.ts";
import type { Story } from "./story.ts";
import { StoryView } from "./story_view.ts";
import { readTraceFile } from "./trace_file.ts";

/** What there is at the start of free play. */
const FREE_PLAY: LabScript = {
  title: "Free play",
  header: { heap: 1000, off: 0, frac: 0.5, unrollThreshold: 100, checkPeriod: 16, growth: 1.5 },
  operations: [],
};

/** The lessons beyond one executor's memory. */
const STORIES: readonly Story[] = [RESULT_LESSON, FETCH_LESSON];

/** What stands in the place of a view: shows itself, and stops. */
interface Shown {
  readonly element: HTMLElement;
  stop(): void;
}

/** The lab. */
export class Lab {
  readonly #root: HTMLElement;
  readonly #stage = h("div", { class: "lab-stage" });
  readonly #links = new Map<string, HTMLButtonElement>();
  #shown: Shown | null = null;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  /** Builds the page and opens what the address names. */
  start(): void {
    const lessons = MEMORY_LESSONS.map((lesson, i) =>
      this.#link(lesson.id, `${i + 1}`, lesson.title, () => this.#openLesson(lesson))
    );
    const stories = STORIES.map((story, i) =>
      this.#link(story.id, `${MEMORY_LESSONS.length + i + 1}`, story.title, () => this.#openStory(story))
    );
    const file = h("input", { type: "file", hidden: true, accept: ".jsonl,.gz,.json" });
    file.addEventListener("change", () => {
      if (file.files?.[0]) this.#openFile(file.files[0]);
      file.value = "";
    });
    fill(
      this.#root,
      h(
        "div",
        { class: "lab" },
        h(
          "nav",
          { class: "lab-lessons", "aria-label": "Lessons" },
          h("h2", {}, "Six rules often got wrong"),
          h("ol", {}, lessons),
          h("h2", {}, "From task to job"),
          h("ol", {}, stories),
          h("h2", {}, "By yourself"),
          h(
            "ul",
            {},
            this.#link("free", "", "Free play", () => this.#openFree(FREE_PLAY)),
            h(
              "li",
              {},
              h(
                "button",
                { type: "button", class: "lesson-link", onclick: () => file.click() },
                h("span", { class: "num" }, ""),
                "Open a recorded trace",
              ),
            ),
          ),
          file,
        ),
        this.#stage,
      ),
    );
    addEventListener("hashchange", () => this.#openAddress());
    this.#acceptDrops();
    this.#openAddress();
  }

  #link(id: string, number: string, title: string, open: () => void): HTMLElement {
    const button = h(
      "button",
      { type: "button", class: "lesson-link", onclick: open },
      h("span", { class: "num" }, number),
      title,
    );
    this.#links.set(id, button);
    return h("li", {}, button);
  }

  #openAddress(): void {
    const wanted = new URLSearchParams(location.hash.slice(1));
    const lesson = MEMORY_LESSONS.find(({ id }) => id === wanted.get("lesson"));
    const step = Number(wanted.get("step") ?? 0);
    const position = Number.isSafeInteger(step) && step >= 0 ? step : 0;
    const story = STORIES.find(({ id }) => id === wanted.get("lesson"));
    if (lesson !== undefined) this.#openLesson(lesson, position);
    else if (story !== undefined) this.#openStory(story, position);
    else this.#openFree(FREE_PLAY);
  }

  #open(id: string, intro: HTMLElement, view: Shown): void {
    this.#shown?.stop();
    this.#shown = view;
    for (const [key, link] of this.#links) link.setAttribute("aria-current", String(key === id));
    fill(this.#stage, intro, view.element);
  }

  #openLesson(lesson: MemoryLesson, position = 0): void {
    const view = new MemoryView(new LabSession(lesson), { lesson, moved: addressOf(lesson.id) });
    this.#open(lesson.id, introOf(lesson), view);
    view.show(position);
  }

  #openStory(story: Story, position = 0): void {
    const view = new StoryView(story, addressOf(story.id));
    this.#open(story.id, introOf(story), view);
    view.show(position);
  }

  #openFree(script: LabScript): void {
    const view = new MemoryView(new LabSession(script), {
      lesson: null,
      moved: () => history.replaceState(null, "", "#free"),
    });
    const intro = h(
      "div",
      { class: "lab-intro" },
      h("h2", {}, "Free play"),
      this.#layoutForm(script),
    );
    this.#open("free", intro, view);
    view.show(0);
  }

  /** How the executor of free play is laid out; starting over is the only way to change it, as in Spark. */
  #layoutForm(script: LabScript): HTMLElement {
    const field = (id: string, label: string, value: number) =>
      h(
        "div",
        { class: "field" },
        h("label", { for: id }, label),
        h("input", { id, name: id, type: "text", inputmode: "decimal", value: String(value), autocomplete: "off" }),
      );
    const { heap, off, frac, unrollThreshold } = script.header;
    const form = h(
      "form",
      { class: "layout-form" },
      field("heap", "On-heap memory", heap),
      field("off", "Off-heap memory", off),
      field("frac", "spark.memory.storageFraction", frac),
      field("unrollThreshold", "unrollMemoryThreshold", unrollThreshold),
      h("button", { type: "submit", class: "btn" }, icon("reset"), "Start over"),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const data = new FormData(form);
      const number = (name: string) => Number(String(data.get(name)).replaceAll(/[, ]/g, ""));
      const header = {
        ...script.header,
        heap: number("heap"),
        off: number("off"),
        frac: number("frac"),
        unrollThreshold: number("unrollThreshold"),
      };
      this.#attempt(() => this.#openFree({ ...script, header }));
    });
    return form;
  }

  /** Bad input is said, and what is shown stays. */
  #attempt(open: () => void): void {
    try {
      open();
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      toast(error.message);
    }
  }

  async #openFile(file: File): Promise<void> {
    try {
      const trace = await readTraceFile(file);
      const view = trace.kind === "memory"
        ? new MemoryView(new LabSession(trace.script), { lesson: null, moved: () => {} })
        : new StoryView(trace.story, () => {});
      const [title, steps] = trace.kind === "memory"
        ? [trace.script.title, `${formatCount(trace.script.operations.length)} operations`]
        : [trace.story.title, `${formatCount(trace.story.steps().length)} steps`];
      history.replaceState(null, "", "#trace");
      const intro = h(
        "div",
        { class: "lab-intro" },
        h("h2", {}, title),
        h("p", { class: "muted" }, `Recorded trace, ${steps}: ${file.name}`),
      );
      this.#open("trace", intro, view);
      view.show(0);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      toast(error.line === undefined ? error.message : `${error.message} (line ${error.line})`);
    }
  }

  #acceptDrops(): void {
    addEventListener("dragover", (event) => event.preventDefault());
    addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file !== undefined) this.#openFile(file);
    });
  }
}

/** Keeps the lesson and its step in the address. */
function addressOf(id: string): (position: number) => void {
  return (at) => history.replaceState(null, "", `#lesson=${id}${at > 0 ? `&step=${at}` : ""}`);
}

function introOf({ title, belief }: { readonly title: string; readonly belief: string }): HTMLElement {
  return h(
    "div",
    { class: "lab-intro" },
    h("h2", {}, title),
    h("p", {}, h("span", { class: "muted" }, "Often believed: "), belief),
  );
}
