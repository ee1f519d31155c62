/** Situations from public reports (tests/testdata/cases/cases.jsonl): what was seen, the right answer, its arithmetic. */
export interface PublicCase {
  readonly id: string;
  readonly kind: string;
  readonly spark_version: string | null;
  // deno-lint-ignore no-explicit-any
  readonly config: any;
  // deno-lint-ignore no-explicit-any
  readonly observed: any;
  // deno-lint-ignore no-explicit-any
  readonly answer: any;
  readonly arithmetic: string;
}

const CASES: readonly PublicCase[] = (await Deno.readTextFile(
  new URL("../testdata/cases/cases.jsonl", import.meta.url),
)).trim().split("\n").map((line) => JSON.parse(line));

/** All cases. */
export function publicCases(): readonly PublicCase[] {
  return CASES;
}

/** Ids of the cases that tests of this file have asked for. */
const asked = new Set<string>();

/** The cases of some kinds; fails when there is none of one. */
export function casesOf(...kinds: string[]): PublicCase[] {
  return kinds.flatMap((kind) => {
    const found = CASES.filter((one) => one.kind === kind);
    if (found.length === 0) throw new Error(`no case of kind ${kind}`);
    for (const { id } of found) asked.add(id);
    return found;
  });
}

/** One case. */
export function caseOf(id: string): PublicCase {
  const found = CASES.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no case ${id}`);
  asked.add(id);
  return found;
}

/** Ids of the cases of some kinds that no test of this file has asked for; for the last test of the file. */
export function casesLeft(...kinds: string[]): string[] {
  return CASES.filter(({ id, kind }) => kinds.includes(kind) && !asked.has(id)).map(({ id }) => id);
}

/** A version to run a case with: the first one that its description names. */
export function versionOf({ spark_version }: PublicCase): string {
  const match = /(\d+)\.(\d+|x)(?:\.(\d+))?/.exec(spark_version ?? "2.4.0");
  if (match === null) return "2.4.0";
  const [, major, minor, patch] = match;
  if (minor !== "x") return `${major}.${minor}.${patch ?? "0"}`;
  return { "1": "1.6.3", "2": "2.4.0", "3": "3.5.0" }[major] ?? "2.4.0";
}

/** Bytes of so many MiB, truncated. */
export function mib(value: number): number {
  return Math.trunc(value * 1048576);
}
