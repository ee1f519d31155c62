/**
 * What a task's memory manager does in a recorded trace, in words: an operation of a consumer, who spilled for it, and
 * how it ended.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any
type Json = any;

const bytes = (n: unknown) => `${n} ${n === 1 ? "byte" : "bytes"}`;
const consumer = ({ t, c }: Json) => `consumer ${c} of task ${t}`;

/** Spark's method behind an operation of the trace. */
const CALLS: Readonly<Record<string, (line: Json) => string>> = {
  newTask: ({ t }) => `new TaskMemoryManager(task ${t})`,
  newConsumer: (line) => `new MemoryConsumer: ${consumer(line)}, ${line.m === "OFF" ? "off" : "on"} heap`,
  acquire: (line) => `acquireMemory(${line.n}) by ${consumer(line)}`,
  release: (line) => `freeMemory(${line.n}) by ${consumer(line)}`,
  allocPage: (line) => `allocatePage(${line.n}) by ${consumer(line)}`,
  freePage: (line) => `freePage by ${consumer(line)}`,
  allocArray: (line) => `allocateArray(${line.n}) by ${consumer(line)}`,
  freeArray: (line) => `freeArray by ${consumer(line)}`,
  allocMany: (line) => `${line.k} times allocatePage(${line.n}) by ${consumer(line)}`,
  tmmPage: (line) => `TaskMemoryManager.allocatePage(${line.n}) for ${consumer(line)}`,
  freeTmmPage: (line) => `TaskMemoryManager.freePage for ${consumer(line)}`,
  forceSpill: (line) => `spill() by ${consumer(line)} itself`,
  cleanUp: ({ t }) => `cleanUpAllAllocatedMemory of task ${t}`,
  putBytes: ({ b, n }) => `putBytes(${b}, ${n})`,
  get: ({ b }) => `get(${b})`,
  remove: ({ b }) => `remove(${b})`,
  lockRead: ({ b }) => `lockForReading(${b})`,
  unlockRead: ({ b }) => `unlock(${b})`,
  cancel: ({ at }) => `the task of operation ${at} is interrupted while it waits`,
};

/**
 * The call.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { callTold } from "./spilling_told.ts";
 *
 * assertEquals(callTold({ op: "acquire", t: 0, c: 1, n: 64 }), "acquireMemory(64) by consumer 1 of task 0");
 * ```
 */
export function callTold(line: Json): string {
  return CALLS[line.op]?.(line) ?? line.op;
}

/** How it ended: a short answer and its colour. */
export function answerTold(line: Json): { answer: string; tone: "good" | "warn" | "bad" | "plain" } {
  if (line.x !== undefined) return { answer: String(line.x).replace(/^[\w.]*\./, "").slice(0, 80), tone: "bad" };
  if (line.r === "blocked") return { answer: "waits", tone: "warn" };
  if (line.op === "acquire") {
    const granted = Number(line.r);
    return { answer: `${bytes(line.r)} granted`, tone: granted >= Number(line.n) ? "good" : "warn" };
  }
  if (line.r === false) return { answer: "no", tone: "warn" };
  return {
    answer: line.r === true ? "yes" : line.r === null || line.r === undefined ? "done" : JSON.stringify(line.r),
    tone: "plain",
  };
}

/** A spill, an eviction or what else happened on the way: `["S", consumer, asked, freed]`. */
function happened(entry: Json): string {
  const [kind, ...rest] = Array.isArray(entry) ? entry : [entry];
  if (kind !== "S") return JSON.stringify(entry);
  const [who, asked, freed] = rest;
  const wanted = Number(asked) >= 2 ** 62 ? "everything" : bytes(asked);
  return typeof freed === "number" && freed > 0
    ? `Consumer ${who} was asked to spill ${wanted} and freed ${bytes(freed)}.`
    : `Consumer ${who} was asked to spill ${wanted} and freed ${freed === 0 ? "nothing" : `: ${freed}`}.`;
}

/**
 * What happened on the way and afterwards.
 *
 * @example
 * ```ts
 * import { assertEquals } from "@std/assert";
 * import { sentencesTold } from "./spilling_told.ts";
 *
 * assertEquals(sentencesTold({ op: "acquire", e: [["S", 1, 591, 0]] }), [
 *   "Consumer 1 was asked to spill 591 bytes and freed nothing.",
 * ]);
 * ```
 */
export function sentencesTold(line: Json): string[] {
  const told = (line.e ?? []).map(happened);
  for (const block of line.ev ?? []) told.push(`${Array.isArray(block) ? block[0] : block} was evicted from storage.`);
  const woken = line.done === undefined ? [] : Array.isArray(line.done) ? line.done : [line.done];
  for (const { at, t, c, r, x } of woken) {
    told.push(
      `Consumer ${c} of task ${t}, which waited since operation ${at}, goes on: ` +
        `${x === undefined ? `${bytes(r)} granted` : String(x)}.`,
    );
  }
  if (line.r === "blocked") {
    told.push("The pool has less than the task’s minimum share: it waits until others release memory.");
  }
  return told;
}
