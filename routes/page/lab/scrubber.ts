/**
 * Goes back and forth through steps: buttons, a range, and playing.
 *
 * @module
 */
import { fill, h, icon } from "../ui/dom.ts";

/** How long a step is shown while playing, ms. */
const PLAY_MS = 1800;

/** The scrubber; position 0 is before the first step. */
export class Scrubber {
  readonly element: HTMLElement;
  readonly #range = h("input", { type: "range", min: 0, value: 0, "aria-label": "Step" });
  readonly #at = h("span", { class: "scrub-at" });
  readonly #play: HTMLButtonElement;
  readonly #go: (position: number) => void;
  #position = 0;
  #length = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** @param go shows the step at a position; may refuse by not calling `update` */
  constructor(go: (position: number) => void) {
    this.#go = go;
    const button = (label: string, name: Parameters<typeof icon>[0], to: () => number) =>
      h("button", {
        type: "button",
        class: "btn icon",
        "aria-label": label,
        title: label,
        onclick: () => {
          this.stop();
          this.#go(Math.max(0, Math.min(this.#length, to())));
        },
      }, icon(name));
    this.#play = h("button", { type: "button", class: "btn icon", onclick: () => this.#toggle() });
    this.#showPlay();
    this.#range.addEventListener("input", () => {
      this.stop();
      this.#go(Number(this.#range.value));
    });
    this.element = h(
      "div",
      { class: "scrub", role: "group", "aria-label": "Steps" },
      h(
        "div",
        { class: "btn-row" },
        button("To the start", "first", () => 0),
        button("One step back", "previous", () => this.#position - 1),
        this.#play,
        button("One step on", "next", () => this.#position + 1),
        button("To the end", "last", () => this.#length),
      ),
      this.#range,
      this.#at,
    );
  }

  /** Where it stands now. */
  update(position: number, length: number): void {
    this.#position = position;
    this.#length = length;
    this.#range.max = String(length);
    this.#range.value = String(position);
    this.#range.setAttribute("aria-valuetext", `step ${position} of ${length}`);
    this.#at.textContent = `${position} / ${length}`;
    if (position >= length) this.stop();
  }

  /** Stops playing. */
  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#showPlay();
  }

  #toggle(): void {
    if (this.#timer !== undefined) return this.stop();
    if (this.#position >= this.#length) this.#go(0);
    this.#timer = setInterval(() => this.#go(this.#position + 1), PLAY_MS);
    this.#showPlay();
    this.#go(this.#position + 1);
  }

  #showPlay(): void {
    const plays = this.#timer !== undefined;
    fill(this.#play, icon(plays ? "pause" : "play"));
    this.#play.setAttribute("aria-label", plays ? "Pause" : "Play");
    this.#play.title = plays ? "Pause" : "Play";
  }
}
