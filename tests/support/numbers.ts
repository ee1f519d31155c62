/**
 * Numbers of what the suites have looked at, in tests/README.md: the command that makes them writes them (`--record`).
 *
 * @module
 */

const README = new URL("../README.md", import.meta.url);
const BEGIN = "<!-- numbers: written by the commands that make them -->";
const END = "<!-- end of numbers -->";

/**
 * A document with one command's numbers in its table: its row is replaced, or is added as the last.
 *
 * @throws {Error} when the document has no table of numbers.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { withNumbers } from "./numbers.ts";
 *
 * const text = "<!-- numbers: written by the commands that make them -->\n| a | b |\n| - | - |\n<!-- end of numbers -->\n";
 * const once = withNumbers(text, "fuzz", { runs: 1000 });
 * assertEquals(once.split("\n")[3], "| `fuzz` | runs 1,000 |");
 * assertEquals(withNumbers(once, "fuzz", { runs: 2000 }).split("\n")[3], "| `fuzz` | runs 2,000 |");
 * ```
 */
export function withNumbers(text: string, command: string, numbers: Readonly<Record<string, number>>): string {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin < 0 || end < begin) throw new Error("Cannot keep the numbers: the document has no table of numbers");
  const rows = text.slice(begin + BEGIN.length, end).trim().split("\n");
  const figures = Object.entries(numbers).map(([name, value]) => `${name} ${value.toLocaleString("en-US")}`).join(", ");
  const row = `| \`${command}\` | ${figures} |`;
  const at = rows.findIndex((line) => line.startsWith(`| \`${command}\` |`));
  if (at < 0) rows.push(row);
  else rows[at] = row;
  return `${text.slice(0, begin)}${BEGIN}\n${rows.join("\n")}\n${text.slice(end)}`;
}

/** Keeps the numbers of a command. */
export function recordNumbers(command: string, numbers: Readonly<Record<string, number>>): void {
  Deno.writeTextFileSync(README, withNumbers(Deno.readTextFileSync(README), command, numbers));
}
