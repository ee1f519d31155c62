/**
 * What the descriptions of a plan's operators tell: keys of joins and exchanges, columns of rows.
 *
 * @module
 */

/** A join by keys, as its description has it. */
export interface JoinText {
  readonly leftKeys: readonly string[];
  readonly rightKeys: readonly string[];
  /** `Inner`, `LeftOuter`, `LeftSemi`, ... */
  readonly type: string;
  /** Which input is built of; null where no table is. */
  readonly build: "left" | "right" | null;
}

/**
 * Keys, type and build side of `BroadcastHashJoin [a#1L], [b#2L], Inner, BuildRight, ...`; null for joins without keys.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { joinText } from "./plan_text.ts";
 *
 * assertEquals(joinText("SortMergeJoin [a#1L, b#2], [c#3L, d#4], LeftOuter"), {
 *   leftKeys: ["a#1L", "b#2"], rightKeys: ["c#3L", "d#4"], type: "LeftOuter", build: null,
 * });
 * ```
 */
export function joinText(description: string): JoinText | null {
  const left = bracketed(description, description.indexOf("["));
  if (left === null) return null;
  const right = bracketed(description, description.indexOf("[", left.end));
  if (right === null) return null;
  const rest = /^, (\w+)(?:\([^)]*\))?(?:, Build(Left|Right))?/.exec(description.slice(right.end));
  if (rest === null || left.items.length === 0 || left.items.length !== right.items.length) return null;
  const build = rest[2] === undefined ? null : rest[2] === "Left" ? "left" : "right";
  return { leftKeys: left.items, rightKeys: right.items, type: rest[1], build };
}

/**
 * Keys by whose hash an exchange spreads its rows; null where it does otherwise.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { hashKeys } from "./plan_text.ts";
 *
 * assertEquals(hashKeys("Exchange hashpartitioning(k#2L, coalesce(x#3, 0), 8), ENSURE_REQUIREMENTS"), [
 *   "k#2L", "coalesce(x#3, 0)",
 * ]);
 * assertEquals(hashKeys("Exchange SinglePartition"), null);
 * ```
 */
export function hashKeys(description: string): readonly string[] | null {
  const call = "hashpartitioning(";
  const at = description.indexOf(call);
  const found = at < 0 ? null : bracketed(description, at + call.length - 1);
  return found === null ? null : found.items.slice(0, -1);
}

/**
 * Keys of an aggregation, without what they are computed of.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { groupingKeys } from "./plan_text.ts";
 *
 * assertEquals(groupingKeys("HashAggregate(keys=[a#1L, f(b#2) AS c#3], functions=[sum(d#4L)])"), ["a#1L", "c#3"]);
 * ```
 */
export function groupingKeys(description: string): readonly string[] {
  const at = /\bkeys?=\[/.exec(description);
  const found = at === null ? null : bracketed(description, at.index + at[0].length - 1);
  return found === null ? [] : found.items.map(outputName);
}

/**
 * Columns that an operator gives, as far as its own description lists them; null where it hands on its child's.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { columnsOf } from "./plan_text.ts";
 *
 * const scan = "FileScan parquet [a#1L,b#2] Batched: true, ReadSchema: struct<a:bigint,b:string>";
 * assertEquals(columnsOf("Scan parquet", scan), [{ name: "a#1L", isText: false }, { name: "b#2", isText: true }]);
 * assertEquals(columnsOf("Filter", "Filter isnotnull(a#1L)"), null);
 * ```
 */
export function columnsOf(name: string, description: string): readonly PlanColumn[] | null {
  if (/Aggregate$/.test(name)) return [...groupingKeys(description), ...functions(description)].map(numeric);
  if (name !== "Project" && !/Scan/.test(name)) return null;
  const found = bracketed(description, description.indexOf("["));
  if (found === null) return null;
  const text = new Set([...description.matchAll(/[<,](\w+):(?:string|binary)\b/g)].map(([, column]) => column));
  const more = found.items.map((item) => /^\.\.\. (\d+) more fields$/.exec(item)?.[1]).find((n) => n !== undefined);
  const listed = found.items.filter((item) => !item.startsWith("... ")).map((item) => {
    const column = outputName(item);
    return { name: column, isText: text.has(column.replace(/#\d+L?$/, "")) };
  });
  return [...listed, ...Array.from({ length: Number(more ?? 0) }, (_, i) => numeric(`more ${i}`))];
}

/**
 * Columns that a sort orders by.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { sortKeys } from "./plan_text.ts";
 *
 * assertEquals(sortKeys("Sort [a#1L ASC NULLS FIRST, b#2 DESC NULLS LAST], false, 0"), ["a#1L", "b#2"]);
 * ```
 */
export function sortKeys(description: string): readonly string[] {
  const items = bracketed(description, description.indexOf("["))?.items ?? [];
  return items.map((item) => item.replace(/ (?:ASC|DESC)(?: NULLS (?:FIRST|LAST))?$/, ""));
}

/** A column of rows. */
export interface PlanColumn {
  /** With the id of its expression: `k#2L`. */
  readonly name: string;
  /** Of variable length, as far as the plan shows it. */
  readonly isText: boolean;
}

function numeric(name: string): PlanColumn {
  return { name, isText: false };
}

/** One buffer or result for each function. */
function functions(description: string): readonly string[] {
  const at = /\bfunctions=\[/.exec(description);
  return at === null ? [] : bracketed(description, at.index + at[0].length - 1)?.items ?? [];
}

/** The name of what an expression gives. */
function outputName(item: string): string {
  const alias = item.lastIndexOf(" AS ");
  return alias < 0 ? item : item.slice(alias + " AS ".length);
}

/** The items between a bracket and its match, separated by commas outside of further brackets. */
function bracketed(text: string, open: number): { readonly items: readonly string[]; readonly end: number } | null {
  if (open < 0) return null;
  const items: string[] = [];
  let depth = 0;
  let start = open + 1;
  for (let i = open; i < text.length; i++) {
    const character = text[i];
    if (character === "[" || character === "(") depth++;
    else if (character === "]" || character === ")") depth--;
    const isEnd = depth === 0;
    if (!isEnd && !(depth === 1 && character === ",")) continue;
    const item = text.slice(start, i).trim();
    if (item !== "") items.push(item);
    if (isEnd) return { items, end: i + 1 };
    start = i + 1;
  }
  return null;
}
