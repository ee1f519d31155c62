/**
 * The verdict: what went wrong or well, why, what shows it, what to set.
 *
 * @module
 */
import type { Finding, Severity } from "../../../src/report/verdict.ts";
import { h } from "../ui/dom.ts";

const TONES: Readonly<Record<Severity, { tone: string; word: string }>> = {
  failure: { tone: "bad", word: "Failed" },
  problem: { tone: "warn", word: "Problem" },
  notice: { tone: "", word: "Note" },
  good: { tone: "good", word: "Well" },
};

/** Sections of the page that show what a finding rests on, by the beginning of its code. */
const EVIDENCE: readonly (readonly [prefix: string, sections: readonly (readonly [id: string, name: string])[]])[] = [
  ["memory.evict", [["memory", "memory over time"], ["rdds", "cached RDDs"]]],
  ["memory.cache", [["rdds", "cached RDDs"], ["memory", "memory over time"]]],
  ["memory", [["memory", "memory over time"], ["stages", "stages"]]],
  ["results", [["results", "results"]]],
  ["executor", [["tasks", "tasks"], ["stages", "stages"]]],
  ["tasks", [["tasks", "tasks"], ["stages", "stages"]]],
  ["stages", [["stages", "stages"]]],
  ["job", [["stages", "stages"]]],
  ["application", [["stages", "stages"], ["tasks", "tasks"]]],
  ["settings", [["settings", "settings"]]],
];

function evidenceLinks(code: string): HTMLElement | null {
  const found = EVIDENCE.find(([prefix]) => code.startsWith(prefix));
  if (found === undefined) return null;
  return h(
    "p",
    { class: "small finding-links" },
    "See: ",
    found[1].flatMap(([id, name], i) => [i > 0 ? ", " : "", h("a", { href: `#${id}` }, name)]),
  );
}

/** What a button beside a setting does; null: no button. */
export type TrySetting = ((key: string) => (() => void) | null) | null;

function settingsOf(finding: Finding, trySetting: TrySetting): HTMLElement | null {
  if (finding.settings.length === 0) return null;
  return h(
    "ul",
    { class: "finding-settings" },
    finding.settings.map(({ key, value, advice }) => {
      const open = trySetting?.(key) ?? null;
      return h(
        "li",
        {},
        h(
          "span",
          { class: "finding-key" },
          h("code", {}, key),
          value === null ? null : h("span", { class: "muted" }, ` ${value}`),
        ),
        h("span", {}, advice),
        open === null ? null : h("button", { type: "button", class: "btn quiet", onclick: open }, "Try it"),
      );
    }),
  );
}

function findingOf(finding: Finding, isFirst: boolean, trySetting: TrySetting): HTMLElement {
  const { tone, word } = TONES[finding.severity];
  const details = [
    finding.why === null ? null : h("p", { class: "finding-why" }, h("b", {}, "Why: "), finding.why, "."),
    finding.evidence.length === 0
      ? null
      : h("ul", { class: "finding-evidence" }, finding.evidence.map((text) => h("li", {}, text))),
    settingsOf(finding, trySetting),
    evidenceLinks(finding.code),
  ];
  const head = [
    h("span", { class: `chip ${tone}` }, word),
    h("span", { class: "finding-sentence" }, finding.sentence),
  ];
  if (details.every((part) => part === null)) {
    return h("li", { class: `finding ${tone}` }, h("div", { class: "finding-head" }, head));
  }
  return h(
    "li",
    { class: `finding ${tone}` },
    h(
      "details",
      { open: isFirst },
      h("summary", {}, head),
      h("div", { class: "finding-body" }, details),
    ),
  );
}

/** The list of findings, the worst first; that one is open. */
export function verdictList(findings: readonly Finding[], trySetting: TrySetting): HTMLElement {
  return h("ol", { class: "findings" }, findings.map((finding, i) => findingOf(finding, i === 0, trySetting)));
}
