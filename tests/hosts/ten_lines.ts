/**
 * The program in ten lines that a host's README has.
 *
 * @module
 */

/** The program, what it prints, and how many lines it has besides imports, comments, the head of main and closing braces. */
export function tenLinesOf(readme: string): { program: string; prints: string; lines: number } {
  const match = /^## In ten lines\n\n```\w+\n(.*?)^```\n\nIt (?:prints|shows) `(.*)`\.$/ms.exec(readme);
  if (match === null) throw new Error("no program in ten lines");
  const [, program, prints] = match;
  const counted = program.replace(/^import \([^)]*\)$/m, "").split("\n").filter((line) =>
    !/^\s*(?:|[})\]]+|(?:(?:import|from|use|package|public) |func main|fn main).*|\/\/.*|#.*|<\/?script.*>)$/.test(line)
  );
  return { program, prints, lines: counted.length };
}
