/**
 * The text form of an explanation.
 *
 * @module
 */
import type { ExplainResult, Explanation, Severity } from "./explain.ts";

const SEVERITY_TEXT: Readonly<Record<Severity, string>> = {
  failure: "failure",
  slow: "slows the job down",
  harmless: "harmless",
  information: "information",
};

const WIDTH = 100;

/**
 * An explanation for people: one paragraph a message, its arithmetic, settings and what to try.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { explain } from "./explain.ts";
 * import { explanationText } from "./explain_text.ts";
 *
 * const text = explanationText(explain("MemoryStore started with capacity 366.3 MB"));
 * assertEquals(text.includes("-Xmx1024m (parallel): (954728448 - 314572800) x 0.6 = 384093388"), true);
 * ```
 */
export function explanationText(result: ExplainResult): string {
  if (result.unknown) return unknownText(result);
  return result.explanations.map(oneText).join("\n");
}

function unknownText({ nearest }: ExplainResult): string {
  const lines = ["No known message of Spark's memory and result path is in this text."];
  if (nearest !== null) {
    lines.push(`The nearest known one is "${nearest.example}": ${nearest.title} (${nearest.code}).`);
  }
  lines.push("Paste the whole line, or the exception with its 'Caused by' lines.");
  return lines.join("\n") + "\n";
}

function oneText(one: Explanation): string {
  const times = one.count > 1 ? ` (${one.count} times, first in line ${one.line})` : "";
  const lines = [
    `${one.title[0].toUpperCase()}${one.title.slice(1)} [${SEVERITY_TEXT[one.severity]}]${times}`,
    ...wrapped(one.quoted, "  > "),
    "",
    ...wrapped(one.meaning, "  "),
  ];
  const section = (title: string, items: readonly string[]) => {
    if (items.length === 0) return;
    lines.push("", `  ${title}`);
    for (const item of items) lines.push(...wrapped(item, "    - ", "      "));
  };
  section("Numbers", one.arithmetic);
  section("What to try", one.remedies);
  section(
    "Settings",
    one.settings.map(({ key, value, source, doc }) =>
      `${key} = ${value ?? "(not set)"}${value !== null && source === "default" ? " (default)" : ""}: ${doc}`
    ),
  );
  const versions = versionsText(one);
  lines.push("", `  ${one.code}, printed by ${one.printedBy}${versions}`);
  return lines.join("\n") + "\n";
}

function versionsText({ since, until }: Explanation): string {
  if (since === null && until === null) return "";
  if (until === null) return `, since Spark ${since}`;
  return since === null ? `, up to Spark ${until}` : `, Spark ${since} to ${until}`;
}

/** A text in lines of at most WIDTH characters; words are never cut. */
function wrapped(text: string, indent: string, next = indent): string[] {
  const lines: string[] = [];
  let line = indent;
  let empty = true;
  for (const word of text.split(/\s+/)) {
    if (!empty && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = next;
      empty = true;
    }
    line += empty ? word : ` ${word}`;
    empty = false;
  }
  lines.push(line);
  return lines;
}
