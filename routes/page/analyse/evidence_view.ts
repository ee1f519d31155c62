/**
 * Where the model's figures come from: recorded, inferred or assumed; and what the log cannot tell.
 *
 * @module
 */
import type { Evidence, Grade } from "../../../src/simulator/workload.ts";
import { dataTable } from "../charts/panel.ts";
import type { Replayed } from "../protocol.ts";
import { h } from "../ui/dom.ts";
import { formatCount } from "../ui/format.ts";

const GRADES: readonly (readonly [Grade, string, string])[] = [
  ["assumed", "warn", "Assumed"],
  ["inferred", "", "Inferred"],
  ["observed", "good", "Observed"],
];

function gradeSection(grade: Grade, tone: string, title: string, evidence: readonly Evidence[]): HTMLElement | null {
  const own = evidence.filter((one) => one.grade === grade);
  if (own.length === 0) return null;
  return h(
    "details",
    { open: grade === "assumed" && own.length <= 12 },
    h("summary", {}, h("span", { class: `chip ${tone}` }, title), ` ${formatCount(own.length)} figures`),
    dataTable({
      caption: `${title} figures`,
      columns: [{ name: "About" }, { name: "Figure" }, { name: "How" }],
      rows: own.map(({ subject, field, how, wouldRecord }) => [
        subject,
        h("code", {}, field),
        h(
          "span",
          {},
          how,
          wouldRecord === undefined ? null : h("span", { class: "muted" }, ` ${wouldRecord} would record it.`),
        ),
      ]),
    }),
  );
}

/** The evidence of a replayed run. */
export function evidenceView({ evidence, warnings }: Replayed): HTMLElement {
  return h(
    "div",
    { class: "evidence" },
    h(
      "p",
      { class: "muted" },
      "The log tells what the job did under its settings. For another setting the job is run again on a model of Spark’s " +
        "memory manager, scheduler and result path; these are the figures it starts from.",
    ),
    warnings.length === 0 ? null : h(
      "ul",
      { class: "evidence-warnings" },
      warnings.map(({ message, count }) => h("li", {}, message, count > 1 ? ` (${formatCount(count)} times)` : "")),
    ),
    GRADES.map(([grade, tone, title]) => gradeSection(grade, tone, title, evidence)),
  );
}
