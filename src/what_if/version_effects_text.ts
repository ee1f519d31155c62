/**
 * What an upgrade makes of a job, as text.
 *
 * @module
 */
import { plural } from "../report/verdict/finding.ts";
import type { VersionEffect, VersionEffects } from "./version_effects.ts";

/** A rule with its issue and what it decides, in one line. */
export function versionEffectLine({ kind, name, issue, summary, from, to }: VersionEffect): string {
  if (kind === "default") return `default of ${name}: ${to} instead of ${from}`;
  const values = typeof to === "boolean" ? "" : ` (${show(from)} -> ${show(to)})`;
  return `${name}${issue === null ? "" : `, ${issue}`}: ${to === false ? "no longer: " : ""}${summary}${values}`;
}

function show(value: unknown): string {
  const text = Array.isArray(value) ? value.join(", ") || "none" : String(value);
  return text.length > 40 ? `${text.slice(0, 37)}...` : text;
}

/** How many rules and defaults differ, and how many of them matter here. */
export function versionEffectsSentence({ from, to, effects }: VersionEffects): string {
  const of = (wanted: VersionEffect["effect"]) => effects.filter(({ effect }) => effect === wanted).length;
  if (effects.length === 0) return `No rule or default that is known differs between Spark ${from} and ${to}.`;
  const [changes, met, untried] = [of("changes"), of("met"), of("untried")];
  const rest = effects.length - changes - met - untried;
  const parts = [
    changes === 0 ? "none makes a difference to this job" : `${changes} ${verb(changes)} a difference to this job`,
    ...(met === 0 ? [] : [`${met} ${met === 1 ? "shows" : "show"} in its events without changing a figure`]),
    ...(untried === 0 ? [] : [`${untried} could not be tried, as the job is too large`]),
    `${rest} ${rest === 1 ? "is" : "are"} not met`,
  ];
  return `${plural(effects.length, "rule or default", "rules and defaults")} differ between Spark ${from} and ${to}: ` +
    `${parts.join(", ")}.`;
}

function verb(n: number): string {
  return n === 1 ? "makes" : "make";
}

const TITLES: readonly (readonly [effect: VersionEffect["effect"], title: string])[] = [
  ["changes", "makes a difference to this job"],
  ["met", "met by this job, without changing a figure"],
  ["untried", "not tried, as the job is too large"],
  ["unmet", "could matter, but is not met by this job"],
  ["notSimulated", "could matter, and is not simulated"],
];

/**
 * Every rule and default that differs, by what it does to the job.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { versionEffectsText } from "./version_effects_text.ts";
 *
 * const text = versionEffectsText({ from: "4.1.0", to: "4.2.0", effects: [] });
 * assertEquals(text, "No rule or default that is known differs between Spark 4.1.0 and 4.2.0.");
 * ```
 */
export function versionEffectsText(answer: VersionEffects): string {
  const lines = [versionEffectsSentence(answer)];
  for (const [effect, title] of TITLES) {
    const those = answer.effects.filter((one) => one.effect === effect);
    if (those.length > 0) lines.push(`  ${title}`);
    for (const one of those) {
      lines.push(`    ${versionEffectLine(one)}`);
      for (const figure of one.figures) lines.push(`      ${figure}`);
      if (one.together.length > 0) lines.push(`      only together with ${one.together.join(", ")}`);
      if (effect === "unmet" || effect === "notSimulated") lines.push(`      ${one.when}`);
    }
  }
  return lines.join("\n");
}
