import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../../src/errors.ts";
import { MEMORY_LESSONS } from "../../../routes/page/lab/memory_lessons.ts";
import { LabMachine } from "../../../routes/page/lab/machine.ts";
import { callOf, narrate, rddOf } from "../../../routes/page/lab/narrate.ts";
import { planExecution, planStorage } from "../../../routes/page/lab/rules.ts";
import { LabSession } from "../../../routes/page/lab/session.ts";
import { type LabStep, poolsOf } from "../../../routes/page/lab/state.ts";
import { parseTrace, readTraceFile } from "../../../routes/page/lab/trace_file.ts";

// Traces recorded from the real Spark: see tests/testdata/memory/README.md.
const TRACES = new URL("../../testdata/memory/", import.meta.url);

/** The seeded random traces that the lab steps through here: one of each kind, the others run in tests/conformance. */
const RANDOM = ["multi_05_exec", "single_00_unroll", "single_13_contend", "single_36_storage", "single_50_pressure"];

async function traceText(path: string): Promise<string> {
  const file = await Deno.open(new URL(`${path}.jsonl.gz`, TRACES));
  return await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
}

function* handmade(): Generator<string> {
  for (const { name } of Deno.readDirSync(new URL("handmade/", TRACES))) {
    yield `handmade/${name.replace(".jsonl.gz", "")}`;
  }
}

// deno-lint-ignore no-explicit-any
function recordedLines(text: string): any[] {
  return text.trim().split("\n").map((line) => JSON.parse(line)).filter((line) => "op" in line);
}

/** What the explanation's arithmetic says of a step, and what the kernel did; null where it says nothing. */
function planned(step: LabStep): { plan: unknown; done: unknown } | null {
  const { op, m = "ON", t = -1, n = 0, b = "" } = step.operation;
  if (step.outcome.error !== null) return null;
  const pools = poolsOf(step.before, m);
  const { answer } = step.outcome;
  if (op === "acqExec") {
    const plan = planExecution(pools, t, n);
    return { plan: plan.waits ? "blocked" : plan.grant, done: answer };
  }
  if (!["putBytes", "acqStorage", "acqUnroll", "reserveUnroll"].includes(op)) return null;
  const { granted, eviction } = planStorage(pools, rddOf(b), n);
  const evicted = step.events.flatMap((event) => event.kind === "evicted" ? [event.block] : []);
  return {
    plan: { granted, evicted: eviction?.victims.map(({ name }) => name) ?? [] },
    done: { granted: answer, evicted },
  };
}

Deno.test("the lab steps through recorded traces as Spark did, and its arithmetic gives the same answers", async () => {
  let steps = 0;
  let plans = 0;
  for (const path of [...handmade(), ...RANDOM.map((name) => `random/${name}`)]) {
    const text = await traceText(path);
    const recorded = recordedLines(text);
    const script = parseTrace(text);
    const machine = new LabMachine(script.header);
    // Accounting that was corrupted on purpose: negative releases leave pools that no rule describes.
    const isCorrupted = /over_release|negative/.test(path);
    script.operations.forEach((operation, i) => {
      const step = machine.apply(operation);
      const where = `${path} ${i}`;
      assertEquals(step.outcome.error ?? step.outcome.answer, recorded[i].x ?? recorded[i].r, where);
      const { on, off } = step.after;
      const pools = [on, off].flatMap((p) => [
        ...[p.storagePoolSize, p.storageMemoryUsed, p.executionPoolSize, p.executionMemoryUsed],
      ]);
      assertEquals(pools, recorded[i].s.slice(0, 8), where);
      assertEquals(on.tasks.filter(({ isActive }) => isActive).length, recorded[i].s[9], where);
      assert(narrate(step).sentences.length > 0 || operation.op === "setDrop", where);
      steps++;
      const comparison = isCorrupted ? null : planned(step);
      if (comparison === null) return;
      assertEquals(comparison.plan, comparison.done, where);
      plans++;
    });
    machine.destroy();
  }
  assert(steps > 10_000 && plans > 3_000, `${steps} steps, ${plans} plans`);
});

Deno.test("each lesson's operations and outcomes are those of its recorded scenario", async () => {
  for (const lesson of MEMORY_LESSONS) {
    const text = await traceText(`handmade/${lesson.scenario}`);
    const recorded = parseTrace(text);
    const session = new LabSession(lesson);
    // With one task that waits there is only one order to wake in.
    assertEquals(lesson.operations, recorded.operations.map(({ wk: _, ...operation }) => operation), lesson.id);
    for (const [key, value] of Object.entries(lesson.header)) {
      assertEquals(value, (recorded.header as unknown as Record<string, unknown>)[key], `${lesson.id} ${key}`);
    }
    recordedLines(text).forEach((line, i) => {
      const { outcome } = session.step(i);
      assertEquals(outcome.error ?? outcome.answer, line.x ?? line.r, `${lesson.id} ${i}`);
    });
    const indexes = [...Object.keys(lesson.notes), ...Object.keys(lesson.questions)].map(Number);
    assert(indexes.every((i) => i < lesson.operations.length), lesson.id);
    for (const { choices, right } of Object.values(lesson.questions)) assert(right < choices.length, lesson.id);
  }
});

/** The right answers, checked against the recorded states: they are no opinion. */
Deno.test("the lessons' right answers are what the kernel does", () => {
  const stepOf = (id: string, index: number) =>
    new LabSession(MEMORY_LESSONS.find((lesson) => lesson.id === id)!).step(index);
  const evicted = (step: LabStep) => step.events.flatMap((event) => event.kind === "evicted" ? [event.block] : []);

  assertEquals(evicted(stepOf("region", 1)), ["rdd_0_0"]);
  assertEquals(stepOf("region", 1).after.on.storagePoolSize, 0);
  assertEquals(stepOf("failed-put", 1).outcome.answer, false);
  assertEquals(stepOf("failed-put", 1).after.on.storagePoolSize, 1000);
  assertEquals(evicted(stepOf("who-goes", 6)), ["rdd_2_0", "broadcast_0"]);
  assertEquals(stepOf("shares", 1).outcome.answer, "blocked");
  assertEquals(stepOf("shares", 3).outcome.answer, 0);
  assertEquals(stepOf("no-wake", 3).events, []);
  assertEquals(stepOf("no-wake", 6).events, [{ kind: "granted", task: 2, bytes: 100 }]);
  assertEquals(evicted(stepOf("unroll", 3)), ["broadcast_0", "broadcast_1"]);
  assertEquals(stepOf("unroll", 3).after.on.unrollMemoryUsed, 510);
});

Deno.test("a session can be left at any step, backwards too, and continued from there", () => {
  const lesson = MEMORY_LESSONS[0];
  const session = new LabSession(lesson);
  const last = session.step(4);
  assertEquals(session.step(1).after.on.storagePoolSize, 0);
  assertEquals(session.step(4), last);
  session.continueWith({ op: "acqExec", t: 7, n: 10, m: "ON" }, 1);
  assertEquals(session.operations.length, 2);
  assertEquals(session.step(1).outcome.answer, 10);
  assertEquals(session.step(1).before.on.storagePoolSize, 900);
});

Deno.test("an explanation gives the step's own numbers", () => {
  const told = narrate(new LabSession(MEMORY_LESSONS[0]).step(1));
  assertEquals(told.call, "acquireExecutionMemory(150, task 0, ON_HEAP)");
  assertEquals(told.answer, "granted 150");
  assertEquals(told.sentences, [
    "Task 0 asks for 150; the execution pool has 100 free, so it evicts rdd_0_0 (900, whole blocks, though 50 were " +
    "wanted).",
    "With 1 active task, a task may hold at most 1,000 and is due at least 500: it gets all of it.",
  ]);
  assertEquals(
    callOf({ op: "releaseUnrollTask", t: 2, n: 2 ** 63, m: "ON" }),
    "releaseUnrollMemoryForThisTask(ON_HEAP, all)",
  );
});

Deno.test("a trace that is none, is damaged or names an unknown operation is bad input with its line", async () => {
  const header = '{"heap":1000,"off":0,"frac":0.5}';
  const codeOf = (text: string) => {
    const { code, line } = assertThrows(() => parseTrace(text), InputError);
    return [code, line];
  };
  assertEquals(codeOf(""), ["lab.trace", 1]);
  assertEquals(codeOf("{"), ["lab.trace", 1]);
  assertEquals(codeOf('{"name":"x"}')[0], "replay.header");
  assertEquals(codeOf(`${header}\n{"op":"explode"}`), ["lab.operation", 2]);
  assertEquals(codeOf(`${header}\n{"op":"putBytes","n":1}`), ["lab.operation", 2]);
  const damaged = new Blob([new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2, 3])]);
  const error = await readTraceFile(damaged).then(() => null, (error) => error);
  assert(error instanceof InputError);
});

Deno.test("the compact form of large traces is understood", () => {
  const { operations } = parseTrace(
    '{"name":"big","heap":1000,"off":500,"frac":0.5,"codes":["putBytes","acqExec","reserveUnroll"],"blocks":["rdd_4_0"]}\n' +
      "[0,0,200,1,1]\n[1,22,100,0,100]\n[2,0,10,0,1]",
  );
  assertEquals(operations, [
    { op: "putBytes", m: "OFF", b: "rdd_4_0", n: 200 },
    { op: "acqExec", m: "ON", t: 22, n: 100 },
    { op: "reserveUnroll", m: "ON", t: -1, b: "rdd_4_0", n: 10 },
  ]);
});

Deno.test("a session without operations shows the empty pools, and one of many keeps the last steps", () => {
  const header = parseTrace(
    '{"v":1,"name":"t","kind":"handmade","heap":1000,"off":0,"frac":0.5,"cores":1,"regionOn":500,"regionOff":0}\n',
  ).header;
  assertEquals(poolsOf(new LabSession({ title: "t", header, operations: [] }).initial, "ON").storagePoolSize, 500);
  const operations = Array.from({ length: 1000 }, () => ({ op: "acqExec", t: 0, n: 1, m: "ON" }));
  const session = new LabSession({ title: "t", header, operations: operations as never });
  const first = session.step(0);
  session.step(999);
  for (let i = 0; i < 1000; i++) session.step(i);
  assertEquals(session.step(0), first, "made anew");
});
