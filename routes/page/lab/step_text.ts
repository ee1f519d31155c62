/**
 * How a step is told, and asked about before it is shown.
 *
 * @module
 */
import { h } from "../ui/dom.ts";
import type { LessonQuestion } from "./memory_lessons.ts";

/** What is told of a step. */
export interface ToldStep {
  readonly call: string;
  readonly answer: string;
  readonly tone: "good" | "warn" | "bad" | "plain";
  readonly sentences: readonly string[];
  readonly note?: string;
  readonly numbers?: readonly (readonly [what: string, value: string, how?: string])[];
  /** Said after the last step of a lesson. */
  readonly takeaway?: string;
}

/** The parts of a told step. */
export function toldStep(step: ToldStep): (HTMLElement | null)[] {
  const { numbers = [] } = step;
  return [
    h(
      "div",
      { class: "step-head" },
      h("code", {}, step.call),
      h("span", { class: step.tone === "plain" ? "chip" : `chip ${step.tone}` }, step.answer),
    ),
    h("div", { class: "step-said" }, h("p", {}, step.sentences.join(" "))),
    step.note === undefined ? null : h("p", { class: "note" }, step.note),
    numbers.length === 0 ? null : h(
      "dl",
      { class: "step-numbers" },
      numbers.map(([what, value, how]) =>
        h("div", {}, h("dt", {}, what), h("dd", {}, value, how === undefined ? null : h("span", {}, `= ${how}`)))
      ),
    ),
    step.takeaway === undefined ? null : h("p", { class: "note good" }, h("b", {}, "To remember: "), step.takeaway),
  ];
}

/** The parts of a question; `answer` is told the choice, or null for “just show me”. */
export function askedStep(
  call: string,
  question: LessonQuestion,
  answer: (choice: number | null) => void,
): HTMLElement[] {
  return [
    h("div", { class: "step-head" }, h("code", {}, call)),
    h(
      "div",
      { class: "ask", role: "group", "aria-label": "What will happen?" },
      h("p", {}, question.text),
      question.choices.map((choice, i) =>
        h("button", { type: "button", class: "btn", onclick: () => answer(i) }, choice)
      ),
      h("button", { type: "button", class: "btn quiet", onclick: () => answer(null) }, "Just show me"),
    ),
  ];
}

/** What is said to an answer. */
export function answerNote(question: LessonQuestion, choice: number): HTMLElement {
  const right = choice === question.right;
  const chosen = question.choices[question.right];
  const text = right ? "That is it." : `Not so: ${chosen[0].toLowerCase()}${chosen.slice(1)}.`;
  return h("p", { class: right ? "note good" : "note warn" }, h("b", {}, text));
}
