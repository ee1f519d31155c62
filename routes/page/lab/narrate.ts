/**
 * A step in words: one or two sentences with that step's numbers.
 *
 * @module
 */
import { formatCount } from "../ui/format.ts";
import { type EvictionPlan, planExecution, planStorage } from "./rules.ts";
import { type LabBlock, type LabEvent, type LabOperation, type LabStep, poolsOf } from "./state.ts";

/** A step's explanation. */
export interface Narration {
  /** The call, as Spark names it. */
  readonly call: string;
  readonly answer: string;
  readonly tone: "good" | "warn" | "bad" | "plain";
  readonly sentences: readonly string[];
  /** The numbers of the step: what, how much, how it comes about. */
  readonly numbers: readonly (readonly [string, string, string?])[];
}

type Tone = Narration["tone"];

const n = (value: number) => formatCount(value);

/** The method of Spark behind an operation of the traces. */
export function callOf(operation: LabOperation): string {
  const { op, b, t, m, cnt, el } = operation;
  const bytes = operation.n === undefined ? "" : amount(operation.n);
  const mode = m === "OFF" ? "OFF_HEAP" : "ON_HEAP";
  switch (op) {
    case "acqExec":
      return `acquireExecutionMemory(${bytes}, task ${t}, ${mode})`;
    case "relExec":
      return `releaseExecutionMemory(${bytes}, task ${t}, ${mode})`;
    case "relAllExec":
      return `releaseAllExecutionMemoryForTask(task ${t})`;
    case "cancel":
      return "Thread.interrupt() while it waits";
    case "putBytes":
      return `putBytes(${b}, ${bytes}, ${mode})`;
    case "unrollPut":
      return `putIterator(${b}, ${n(cnt ?? 0)} values of ${n(el ?? 0)}, ${mode})`;
    case "get":
    case "getBytes":
    case "getValues":
    case "getSize":
    case "contains":
    case "remove":
      return `${op}(${b})`;
    case "lockRead":
      return `lockForReading(${b})`;
    case "unlockRead":
      return `unlock(${b})`;
    case "acqStorage":
      return `acquireStorageMemory(${b}, ${bytes}, ${mode})`;
    case "acqUnroll":
      return `acquireUnrollMemory(${b}, ${bytes}, ${mode})`;
    case "relStorage":
      return `releaseStorageMemory(${bytes}, ${mode})`;
    case "relUnroll":
      return `releaseUnrollMemory(${bytes}, ${mode})`;
    case "relAllStorage":
      return "releaseAllStorageMemory()";
    case "reserveUnroll":
      return `reserveUnrollMemoryForThisTask(${b}, ${bytes}, ${mode})`;
    case "releaseUnrollTask":
      return `releaseUnrollMemoryForThisTask(${mode}, ${bytes})`;
    case "clear":
      return "clear()";
    default:
      return op;
  }
}

/** Bytes of an operation: Long.MaxValue stands for "all". */
function amount(bytes: number): string {
  return bytes >= 2 ** 62 ? "all" : n(bytes);
}

/** Explains a step. */
export function narrate(step: LabStep): Narration {
  const call = callOf(step.operation);
  if (step.outcome.error !== null) {
    const text = errorText(step.outcome.error);
    return {
      call,
      answer: "throws",
      tone: "bad",
      sentences: [text, ...wokenSentences(step.events)],
      numbers: [],
    };
  }
  const told = tell(step);
  const woken = wokenSentences(
    step.operation.op === "acqExec" ? step.events.filter(notOwn(step)) : step.events,
  );
  return { call, ...told, sentences: [...told.sentences, ...woken] };
}

function notOwn(step: LabStep): (event: LabEvent) => boolean {
  return (event) => event.kind === "evicted" || event.task !== step.operation.t;
}

type Told = Omit<Narration, "call">;

function tell(step: LabStep): Told {
  switch (step.operation.op) {
    case "acqExec":
      return tellAcquire(step);
    case "relExec":
    case "relAllExec":
      return tellRelease(step);
    case "putBytes":
    case "acqStorage":
    case "acqUnroll":
    case "reserveUnroll":
      return tellStorage(step);
    case "unrollPut":
      return tellUnroll(step);
    default:
      return tellOther(step);
  }
}

function tellAcquire(step: LabStep): Told {
  const { t = 0, m = "ON", n: numBytes = 0 } = step.operation;
  const pools = poolsOf(step.before, m);
  const plan = planExecution(pools, t, numBytes);
  const sentences: string[] = [];
  if (plan.missing === 0) {
    sentences.push(
      `Task ${t} asks for ${n(numBytes)}; the execution pool has ${n(plan.free)} free.`,
    );
  } else {
    sentences.push(
      `Task ${t} asks for ${n(numBytes)}; the execution pool has ${n(plan.free)} free` +
        growth(plan.fromFreeStorage, plan.eviction, plan.missing),
    );
  }
  const limits = `With ${count(plan.activeTasks, "active task")}, a task may hold at most ` +
    `${n(plan.maxShare)} and is due at least ${n(plan.minShare)}`;
  let answer: string;
  let tone: Tone;
  if (step.outcome.answer === "blocked") {
    answer = "waits";
    tone = "warn";
    sentences.push(
      `${limits}. It holds ${n(plan.held)} and could get ${n(plan.grant)}: below its due, so it waits until ` +
        `memory is released or another task arrives.`,
    );
  } else {
    const granted = Number(step.outcome.answer);
    answer = `granted ${n(granted)}`;
    tone = granted === numBytes ? "good" : granted === 0 ? "bad" : "warn";
    sentences.push(
      granted === numBytes
        ? `${limits}: it gets all of it.`
        : `${limits}. It holds ${n(plan.held)}, so it gets ${n(granted)} and has to do with it: spill, or fail.`,
    );
  }
  return {
    answer,
    tone,
    sentences,
    numbers: [
      ["free in the execution pool", n(plan.free), `${n(pools.executionPoolSize)} − ${n(pools.executionMemoryUsed)}`],
      [
        "reclaimable from storage",
        n(Math.max(0, plan.reclaimable)),
        `max(free ${n(pools.storagePoolSize - pools.storageMemoryUsed)}, pool ${n(pools.storagePoolSize)} − region ${
          n(pools.region)
        })`,
      ],
      ["at most, 1/N", n(plan.maxShare), `${n(plan.maxPoolSize)} / ${plan.activeTasks}`],
      ["at least, 1/2N", n(plan.minShare), `${n(plan.poolSize)} / ${2 * plan.activeTasks}`],
    ],
  };
}

function growth(
  fromFree: number,
  eviction: EvictionPlan | null,
  missing: number,
): string {
  const parts: string[] = [];
  if (fromFree > 0) parts.push(`takes ${n(fromFree)} of free storage`);
  if (eviction !== null && eviction.suffices) {
    parts.push(
      `evicts ${names(eviction.victims)} (${n(eviction.freed)}${
        eviction.freed > eviction.space ? `, whole blocks, though ${n(eviction.space)} were wanted` : ""
      })`,
    );
  }
  if (parts.length > 0) {
    const rest = eviction !== null && !eviction.suffices
      ? `; for another ${n(eviction.space)} it would have to evict, and the blocks that may go do not suffice`
      : "";
    return `, so it ${parts.join(" and ")}${rest}.`;
  }
  if (eviction !== null) {
    const why = eviction.available === 0
      ? "no block may go"
      : `the blocks that may go hold ${n(eviction.available)}: none of them goes`;
    return `, ${n(missing)} are missing. Storage would have to give ${n(eviction.space)} back, but ${why}.`;
  }
  return `, ${n(missing)} are missing, and storage has nothing to give: what it uses lies within its region.`;
}

function tellRelease(step: LabStep): Told {
  const { op, t = 0, m = "ON" } = step.operation;
  const held = (state: LabStep["before"]) =>
    [state.on, state.off].reduce(
      (sum, pools) => sum + (pools.tasks.find(({ id }) => id === t)?.executionBytes ?? 0),
      0,
    );
  const freed = held(step.before) - held(step.after) +
    step.events.reduce((sum, e) => sum + (e.kind === "granted" && e.task === t ? e.bytes : 0), 0);
  const after = op === "relAllExec" ? null : poolsOf(step.after, m);
  const gone = after !== null && !after.tasks.some(({ id, isActive }) => id === t && isActive);
  const asked = step.operation.n ?? 0;
  const sentence = freed === 0 && asked === 0
    ? `Task ${t} releases nothing.`
    : op === "relExec" && asked > freed
    ? `Task ${t} releases ${amount(asked)} but held ${n(freed)}: Spark warns and takes back what was there.`
    : `Task ${t} gives back ${n(freed)}${op === "relAllExec" ? ", all that it held" : ""}.`;
  const rest = op === "relAllExec" || gone ? " It no longer counts as active." : "";
  const wakes = step.events.length === 0 && anyWaits(step)
    ? ["Every release wakes the waiting tasks; they look again."]
    : [];
  return {
    answer: `${n(freed)} released`,
    tone: "plain",
    sentences: [sentence + rest, ...wakes],
    numbers: [],
  };
}

function anyWaits(step: LabStep): boolean {
  return [step.before.on, step.before.off].some((pools) => pools.tasks.some(({ waitsFor }) => waitsFor !== null));
}

function tellStorage(step: LabStep): Told {
  const { op, b = "", m = "ON", n: numBytes = 0 } = step.operation;
  const pools = poolsOf(step.before, m);
  const plan = planStorage(pools, rddOf(b), numBytes);
  const what = op === "putBytes"
    ? `${b} needs ${n(numBytes)}`
    : `${op === "acqStorage" ? "A request" : "Unrolling"} for ${b} wants ${n(numBytes)}`;
  const sentences: string[] = [];
  if (plan.refusedAtOnce) {
    sentences.push(
      `${what}, more than the ${n(plan.limit)} that execution leaves (${n(pools.max)} − ${
        n(pools.executionMemoryUsed)
      } in use): refused at once, nothing moves.`,
    );
  } else if (plan.borrowed === 0 && plan.eviction === null) {
    sentences.push(`${what}; the storage pool has ${n(plan.free)} free.`);
  } else {
    const borrow = plan.borrowed > 0
      ? `, so it borrows ${n(plan.borrowed)} from execution's free memory: the boundary moves`
      : ", and execution has nothing free to lend";
    sentences.push(`${what}; the storage pool has ${n(plan.free)} free${borrow}.`);
    if (plan.eviction !== null) sentences.push(evictionSentence(plan.eviction));
    if (!plan.granted && plan.borrowed > 0) {
      sentences.push("It is refused all the same, and the borrowed memory stays with the storage pool.");
    }
  }
  const granted = step.outcome.answer === true;
  return {
    answer: granted ? (op === "putBytes" ? "stored" : "granted") : "refused",
    tone: granted ? "good" : "bad",
    sentences,
    numbers: [
      ["storage may have at most", n(plan.limit), `${n(pools.max)} − execution ${n(pools.executionMemoryUsed)}`],
      [
        "free in the storage pool",
        n(plan.free),
        `${n(pools.storagePoolSize)} − ${n(pools.storageMemoryUsed)}`,
      ],
      ["borrowed from execution", n(plan.borrowed)],
      ["to be evicted", n(plan.eviction?.space ?? 0)],
    ],
  };
}

function evictionSentence(plan: EvictionPlan): string {
  const skipped = [
    ...plan.pinned.length > 0 ? [`${names(plan.pinned)} ${plan.pinned.length > 1 ? "are" : "is"} being read`] : [],
    ...plan.sameRdd.length > 0
      ? [`${names(plan.sameRdd)} ${plan.sameRdd.length > 1 ? "belong" : "belongs"} to the same RDD`]
      : [],
  ];
  const passing = skipped.length > 0 ? ` (${skipped.join(", ")}: passed over)` : "";
  return plan.suffices
    ? `${n(plan.space)} are still missing: from the eldest on, ${names(plan.victims)} ${
      plan.victims.length > 1 ? "go" : "goes"
    }${passing}.`
    : `${n(plan.space)} are still missing, but the blocks that may go hold ${
      n(plan.available)
    }${passing}: nothing is evicted.`;
}

function tellUnroll(step: LabStep): Told {
  const { b = "", cnt = 0, el = 0, m = "ON" } = step.operation;
  const result = step.outcome.answer as { stored?: number; kept?: number; used: number };
  const evicted = step.events.filter((e) => e.kind === "evicted");
  const gone = evicted.length > 0
    ? [
      `On the way ${listed(evicted.map((e) => e.block))} ${evicted.length > 1 ? "were" : "was"} evicted` +
      `${result.stored === undefined ? ", in vain: what is evicted stays evicted" : ""}.`,
    ]
    : [];
  const held = poolsOf(step.after, m).unrollMemoryUsed;
  if (result.stored !== undefined) {
    return {
      answer: `stored, ${n(result.stored)}`,
      tone: "good",
      sentences: [
        `The ${
          n(cnt)
        } values of ${b} are put one by one; every 16th time their estimated size is looked at, and when ` +
        `it has reached the reservation, half as much again is reserved. All fit: the reservation becomes the ` +
        `block's ${n(result.stored)}.`,
        ...gone,
      ],
      numbers: [["values", n(cnt), `of ${n(el)} each`], ["stored", n(result.stored)]],
    };
  }
  return {
    answer: "not stored",
    tone: "bad",
    sentences: [
      result.used === 0
        ? `Not even the first reservation for ${b} could be had: no value is taken.`
        : `After ${n(result.used)} of ${n(cnt)} values the next reservation is refused: ${b} is not stored, and the ` +
          `task goes on holding the ${n(result.kept ?? 0)} that it has reserved.`,
      ...gone,
    ],
    numbers: [
      ["values taken", n(result.used), `of ${n(cnt)}, ${n(el)} each`],
      ["reservation kept", n(result.kept ?? 0)],
      ["unroll memory in all", n(held)],
    ],
  };
}

function tellOther(step: LabStep): Told {
  const { op, b = "", t = 0, m = "ON" } = step.operation;
  const { answer } = step.outcome;
  const plain = (text: string, sentence: string, tone: Tone = "plain"): Told => ({
    answer: text,
    tone,
    sentences: [sentence],
    numbers: [],
  });
  switch (op) {
    case "get":
    case "getBytes":
    case "getValues":
    case "getSize":
      return answer === null || answer === false ? plain("not there", `${b} is not in memory: a miss.`, "warn") : plain(
        "found",
        `${b} is read and thereby becomes the youngest: it moves to the end of the eviction order.`,
        "good",
      );
    case "contains":
      return plain(answer ? "yes" : "no", "Asking whether a block is there does not make it younger.");
    case "remove":
      return answer === "locked"
        ? plain("waits", `${b} is being read: Spark waits for the reader before it removes a block.`, "warn")
        : answer
        ? plain(
          "removed",
          `${b} leaves; its memory becomes free storage. Freed storage memory wakes nobody: tasks that wait go on waiting.`,
        )
        : plain("not there", `${b} is not in memory.`);
    case "lockRead":
      return answer
        ? plain("locked", `${b} is being read: until it is unlocked it cannot be evicted.`)
        : plain("not there", `${b} is not known.`, "warn");
    case "unlockRead":
      return plain("unlocked", `${b} may be evicted again.`);
    case "cancel":
      return plain(
        "interrupted",
        `The task stops waiting; it stays registered and goes on counting among the active ones.`,
      );
    case "releaseUnrollTask":
      return plain(
        "released",
        `Task ${t} lets go of its unroll memory: ${n(poolsOf(step.after, m).unrollMemoryUsed)} remain reserved in all.`,
      );
    case "relStorage":
    case "relUnroll":
      return plain("released", `${amount(step.operation.n ?? 0)} go back to the storage pool. This wakes nobody.`);
    case "relAllStorage":
    case "clear":
      return plain("emptied", "All storage memory is free again; the pools keep their sizes.");
    default:
      return plain("done", "");
  }
}

function wokenSentences(events: readonly LabEvent[]): string[] {
  const texts: string[] = [];
  for (const event of events) {
    if (event.kind === "granted") {
      texts.push(`Woken, task ${event.task} looks again and gets ${n(event.bytes)}.`);
    } else if (event.kind === "waitsOn") {
      texts.push(`Woken, task ${event.task} looks again and waits on.`);
    } else if (event.kind === "failed") {
      texts.push(`Woken, task ${event.task} finds itself no longer registered and dies with NoSuchElementException.`);
    }
  }
  return texts;
}

/** What Spark throws, class and message; the class without its package. */
function errorText(thrown: string): string {
  const [className, ...message] = thrown.split(": ");
  const name = className.slice(className.lastIndexOf(".") + 1);
  const text = message.join(": ");
  return `Spark throws ${name}${text === "" ? "" : `: “${text}”`}. What happened before the error stays as it is.`;
}

/** The RDD of a block name, or null. */
export function rddOf(block: string): number | null {
  const match = /^rdd_(\d+)_\d+$/.exec(block);
  return match === null ? null : Number(match[1]);
}

function names(blocks: readonly LabBlock[]): string {
  return listed(blocks.map(({ name }) => name));
}

function listed(items: readonly string[]): string {
  if (items.length > 5) return `${items.slice(0, 4).join(", ")} and ${items.length - 4} more`;
  return items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;
}

function count(value: number, noun: string): string {
  return `${n(value)} ${noun}${value === 1 ? "" : "s"}`;
}
