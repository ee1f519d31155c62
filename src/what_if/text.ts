/**
 * A what-if as text: what changes first, then the figures side by side.
 *
 * @module
 */
import { findingText } from "../report/text.ts";
import type { Summary } from "../report/summary.ts";
import { FIGURE_ROWS } from "./figure_rows.ts";
import { versionEffectsText } from "./version_effects_text.ts";
import type { WhatIf } from "./what_if.ts";

/**
 * The report of a what-if.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { emptyWorkload } from "../simulator/workload.ts";
 * import { whatIfText } from "./text.ts";
 * import { whatIf } from "./what_if.ts";
 *
 * const text = whatIfText(whatIf(emptyWorkload("nothing"), null, {}));
 * assertEquals(text.includes("As recorded the application succeeds."), true);
 * ```
 */
export function whatIfText(answer: WhatIf): string {
  const parts = [answer.verdict.map(findingText).join("\n"), table(answer)];
  if (answer.changes.length > 0) {
    const lines = answer.changes.map(({ key, from, fromDefault, to }) =>
      `  ${key}: ${from ?? "not set"}${fromDefault ? " (default)" : ""} -> ${to ?? "not set"}`
    );
    parts.unshift(["What if", ...lines].join("\n"));
  }
  if (answer.versionEffects !== null) parts.push(versionEffectsText(answer.versionEffects));
  if (answer.warnings.length > 0) {
    parts.push(["Warnings", ...answer.warnings.map(({ message }) => `  ${message}`)].join("\n"));
  }
  const assumed = answer.evidence.filter(({ grade }) => grade === "assumed");
  if (assumed.length > 0) {
    const lines = assumed.slice(0, 12).map(({ subject, field, how, wouldRecord }) =>
      `  ${subject}, ${field}: ${how}${wouldRecord === undefined ? "" : ` (recorded with ${wouldRecord})`}`
    );
    const more = assumed.length > lines.length ? [`  and ${assumed.length - lines.length} more`] : [];
    parts.push(["Assumed, because the log does not tell", ...lines, ...more].join("\n"));
  }
  return parts.join("\n\n") + "\n";
}

function table({ observed, replayed, predicted, changes }: WhatIf): string {
  const columns: (readonly [string, Summary])[] = [];
  if (observed !== null) columns.push(["log", observed]);
  columns.push(["replayed", replayed]);
  if (changes.length > 0) columns.push(["predicted", predicted]);
  const lines = [
    ["", ...columns.map(([title]) => title)],
    ...FIGURE_ROWS.map(([label, value]) => [
      label,
      ...columns.map(([, summary]) => value(summary)),
    ]),
  ];
  const widths = lines[0].map((_, i) => Math.max(...lines.map((line) => line[i].length)));
  return lines.map((line) =>
    ("  " + line.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i])).join("  ")).trimEnd()
  ).join("\n");
}
