/**
 * Shows a story step by step.
 *
 * @module
 */
import { fill, h } from "../ui/dom.ts";
import { Scrubber } from "./scrubber.ts";
import { answerNote, askedStep, toldStep } from "./step_text.ts";
import type { Story, StoryStep } from "./story.ts";

/** The view. */
export class StoryView {
  readonly element: HTMLElement;
  readonly #story: Story;
  readonly #steps: readonly StoryStep[];
  readonly #moved: (position: number) => void;
  readonly #drawing = h("div", { class: "card story-drawing" });
  readonly #said = h("div", { class: "step", role: "status", "aria-live": "polite", tabindex: -1 });
  readonly #scrubber: Scrubber;
  readonly #answered = new Set<number>();

  /** @param moved told whenever the position changes */
  constructor(story: Story, moved: (position: number) => void) {
    this.#story = story;
    this.#steps = story.steps();
    this.#moved = moved;
    this.#scrubber = new Scrubber((position) => this.show(position));
    this.element = h(
      "div",
      { class: "lab-stage" },
      this.#drawing,
      h("div", { class: "card step-card" }, this.#scrubber.element, this.#said),
    );
  }

  /** Stops what runs by itself. */
  stop(): void {
    this.#scrubber.stop();
  }

  /** Shows what there is after `position` steps, or the question before the last of them. */
  show(position: number): void {
    const at = Math.max(0, Math.min(position, this.#steps.length));
    const step = at === 0 ? null : this.#steps[at - 1];
    const question = step === null || this.#answered.has(at) ? undefined : step.question;
    if (question !== undefined) this.#scrubber.stop();
    if (step === null) {
      fill(this.#drawing, this.#steps[0].drawBefore());
      fill(this.#said, h("p", {}, this.#story.start));
    } else if (question !== undefined) {
      fill(this.#drawing, step.drawBefore());
      fill(
        this.#said,
        askedStep(step.call, question, (choice) => {
          this.#answered.add(at);
          this.show(at);
          // The buttons are gone: whoever pressed one by keyboard goes on from the explanation.
          this.#said.focus({ preventScroll: true });
          if (choice !== null) this.#said.prepend(answerNote(question, choice));
        }),
      );
    } else {
      fill(this.#drawing, step.drawAfter());
      const takeaway = at === this.#steps.length ? this.#story.takeaway : undefined;
      fill(this.#said, toldStep({ ...step, takeaway }));
    }
    this.#scrubber.update(at, this.#steps.length);
    this.#moved(at);
  }
}
