/**
 * The lab's main view: a session drawn step by step, each step explained, with the buttons to go on by oneself.
 *
 * @module
 */
import { InputError } from "../../../src/errors.ts";
import { fill, h } from "../ui/dom.ts";
import { toast } from "../ui/shell.ts";
import { MemoryDrawing } from "./drawing.ts";
import type { LessonQuestion, MemoryLesson } from "./memory_lessons.ts";
import { callOf, narrate } from "./narrate.ts";
import { OperationsPanel } from "./operations.ts";
import { Scrubber } from "./scrubber.ts";
import type { LabSession } from "./session.ts";
import type { LabOperation, LabState, LabStep } from "./state.ts";
import { answerNote, askedStep, toldStep } from "./step_text.ts";

/** How many steps before and after the current one the history lists. */
const HISTORY_REACH = 50;

/** What is shown, and where. */
export interface MemoryViewOptions {
  readonly lesson: MemoryLesson | null;
  /** Told whenever the position changes. */
  readonly moved: (position: number) => void;
}

/** Shows a session. */
export class MemoryView {
  readonly element: HTMLElement;
  readonly #session: LabSession;
  readonly #lesson: MemoryLesson | null;
  readonly #moved: (position: number) => void;
  readonly #on: MemoryDrawing;
  readonly #off: MemoryDrawing | null;
  readonly #said = h("div", { class: "step", role: "status", "aria-live": "polite", tabindex: -1 });
  readonly #history = h("ol", { class: "history", "aria-label": "Steps" });
  readonly #operations: OperationsPanel;
  readonly #scrubber: Scrubber;
  readonly #answered = new Set<number>();
  #position = 0;

  constructor(session: LabSession, options: MemoryViewOptions) {
    this.#session = session;
    this.#lesson = options.lesson;
    this.#moved = options.moved;
    this.#operations = new OperationsPanel((operation) => this.#add(operation));
    const choose = {
      block: (name: string) => this.#operations.chooseBlock(name),
      task: (id: number) => this.#operations.chooseTask(id),
    };
    this.#on = new MemoryDrawing("On-heap memory", choose);
    this.#off = session.header.off > 0 ? new MemoryDrawing("Off-heap memory", choose) : null;
    this.#scrubber = new Scrubber((position) => this.show(position));
    this.element = h(
      "div",
      { class: "lab-stage" },
      h("div", { class: "card" }, this.#on.element, this.#off?.element),
      h("div", { class: "card step-card" }, this.#scrubber.element, this.#said),
      h(
        "details",
        { class: "card", open: this.#lesson === null },
        h("summary", {}, "Operations"),
        this.#operations.element,
      ),
      h("details", { class: "card", open: this.#lesson === null }, h("summary", {}, "All steps"), this.#history),
    );
  }

  /** Stops what runs by itself. */
  stop(): void {
    this.#scrubber.stop();
  }

  /** Shows the state after `position` operations, or the question before the last of them. */
  show(position: number): void {
    const { operations } = this.#session;
    const at = Math.max(0, Math.min(position, operations.length));
    this.#position = at;
    const question = this.#pendingQuestion(at);
    if (question !== null) this.#scrubber.stop();
    const step = at > 0 ? this.#session.step(at - 1) : null;
    const state = step === null ? this.#session.initial : question === null ? step.after : step.before;
    this.#draw(state, step === null || question !== null ? null : step);
    if (step === null) this.#tellStart(operations.length);
    else if (question !== null) this.#ask(at - 1, question);
    else this.#tell(step);
    this.#scrubber.update(at, operations.length);
    this.#operations.update(state);
    this.#listHistory();
    this.#moved(at);
  }

  #draw(state: LabState, step: LabStep | null): void {
    const touched = new Set<string>();
    if (step !== null) {
      const { b, t } = step.operation;
      if (b !== undefined) touched.add(`block ${b}`);
      if (t !== undefined) touched.add(`task ${t}`);
      if (t !== undefined && step.operation.op.includes("nroll")) touched.add(`unroll ${t}`);
      for (const event of step.events) if (event.kind === "granted") touched.add(`task ${event.task}`);
    }
    this.#on.update(state.on, touched);
    this.#off?.update(state.off, touched);
  }

  #pendingQuestion(position: number): LessonQuestion | null {
    const index = position - 1;
    if (this.#lesson === null || this.#answered.has(index)) return null;
    if (this.#session.operations[index] !== this.#lesson.operations[index]) return null;
    return this.#lesson.questions[index] ?? null;
  }

  #tellStart(length: number): void {
    fill(
      this.#said,
      h(
        "p",
        {},
        length > 0
          ? "The executor as it starts: the storage pool has its region, the execution pool the rest. Go on with “One step on”, or play."
          : "The executor as it starts: the storage pool has its region, the execution pool the rest. Press a button below.",
      ),
    );
  }

  #tell(step: LabStep): void {
    const narration = narrate(step);
    const note = this.#noteOf(step);
    const isLast = this.#lesson !== null && this.#position === this.#lesson.operations.length &&
      this.#session.operations.length === this.#position;
    fill(this.#said, toldStep({ ...narration, note, ...(isLast ? { takeaway: this.#lesson!.takeaway } : {}) }));
  }

  #noteOf(step: LabStep): string | undefined {
    if (this.#lesson === null || this.#lesson.operations[step.index] !== step.operation) return undefined;
    return this.#lesson.notes[step.index];
  }

  #ask(index: number, question: LessonQuestion): void {
    const answer = (choice: number | null) => {
      this.#answered.add(index);
      this.show(this.#position);
      // The buttons are gone: whoever pressed one by keyboard goes on from the explanation.
      this.#said.focus({ preventScroll: true });
      if (choice !== null) this.#said.prepend(answerNote(question, choice));
    };
    fill(this.#said, askedStep(callOf(this.#session.operations[index]), question, answer));
  }

  #add(operation: LabOperation): void {
    const length = this.#position;
    const cut = length < this.#session.operations.length;
    this.#session.continueWith(operation, length);
    try {
      this.show(length + 1);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      this.#session.operations.length = length;
      this.show(length);
      toast(error.message);
      return;
    }
    if (cut) toast(`Going on from step ${length}; the steps after it are gone.`);
  }

  #listHistory(): void {
    const { operations } = this.#session;
    const from = Math.max(0, this.#position - HISTORY_REACH);
    const to = Math.min(operations.length, this.#position + HISTORY_REACH);
    fill(
      this.#history,
      operations.slice(from, to).map((operation, i) => {
        const position = from + i + 1;
        return h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              "aria-current": position === this.#position ? "step" : null,
              onclick: () => this.show(position),
            },
            h("span", { class: "at" }, position),
            h("span", { class: "mono" }, callOf(operation)),
          ),
        );
      }),
    );
    // Only the list scrolls: the page stays where it is.
    const current = this.#history.querySelector<HTMLElement>("[aria-current]");
    if (current !== null) this.#history.scrollTop = current.offsetTop - this.#history.clientHeight / 2;
  }
}
