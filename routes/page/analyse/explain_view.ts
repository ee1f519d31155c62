/**
 * What a pasted message means.
 *
 * @module
 */
import type { ExplainResult, Explanation, Severity } from "../../../src/report/explain.ts";
import { h } from "../ui/dom.ts";
import { formatCount } from "../ui/format.ts";

const TONES: Readonly<Record<Severity, { tone: string; word: string }>> = {
  failure: { tone: "bad", word: "Failure" },
  slow: { tone: "warn", word: "Slows the job down" },
  harmless: { tone: "good", word: "Harmless" },
  information: { tone: "", word: "Information" },
};

function listOf(title: string, items: readonly (string | HTMLElement)[]): HTMLElement | null {
  if (items.length === 0) return null;
  return h("div", { class: "explained-part" }, h("h4", {}, title), h("ul", {}, items.map((item) => h("li", {}, item))));
}

function explained(one: Explanation): HTMLElement {
  const { tone, word } = TONES[one.severity];
  const times = one.count > 1 ? `, ${formatCount(one.count)} times` : "";
  const versions = one.since === null && one.until === null
    ? ""
    : `, Spark ${one.since === null ? "" : `${one.since} `}${one.until === null ? "and later" : `to ${one.until}`}`;
  return h(
    "article",
    { class: "explained" },
    h(
      "div",
      { class: "step-head" },
      h("h3", {}, one.title[0].toUpperCase() + one.title.slice(1)),
      h("span", { class: `chip ${tone}` }, word),
    ),
    h("blockquote", { class: "quoted mono" }, one.quoted, times),
    h("p", {}, one.meaning),
    listOf("How its numbers come about", one.arithmetic),
    listOf("What to try", one.remedies),
    listOf(
      "Settings that govern it",
      one.settings.map(({ key, value, source, doc }) =>
        h(
          "span",
          {},
          h("code", {}, key),
          h(
            "span",
            { class: "muted" },
            ` ${value ?? "not set"}${value !== null && source === "default" ? " (default)" : ""}: `,
          ),
          doc,
        )
      ),
    ),
    h("p", { class: "small muted" }, `Printed by ${one.printedBy}${versions}.`),
  );
}

/** The explanations, or what is said when no message is known. */
export function explanationView(result: ExplainResult): HTMLElement {
  if (!result.unknown) return h("div", { class: "explanations" }, result.explanations.map(explained));
  return h(
    "div",
    { class: "note" },
    h("p", {}, "No known message of Spark’s memory and result path is in this text."),
    result.nearest === null
      ? null
      : h("p", {}, "The nearest known one is: ", h("span", { class: "mono" }, result.nearest.example)),
    h("p", {}, "Paste the whole line, or the exception with its “Caused by” lines."),
  );
}
