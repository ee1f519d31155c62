import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { InputError } from "../../../src/errors.ts";
import { traceFormat } from "../../../src/replay/mod.ts";
import { traceStory } from "../../../routes/page/lab/trace_story.ts";
import { actionTold, eventTold } from "../../../routes/page/lab/scheduler_told.ts";
import { sentencesTold } from "../../../routes/page/lab/spilling_told.ts";
import { type OpenedTrace, readTraceFile } from "../../../routes/page/lab/trace_file.ts";
import { traceLines } from "../../support/traces.ts";

// Traces recorded from the real Spark: see the READMEs of their folders.
const TESTDATA = new URL("../../testdata/", import.meta.url);

const pathOf = (path: string) => new URL(path, TESTDATA).pathname;

/** The traces of a file that holds many: each a header and its lines. */
async function traces(path: string): Promise<string[][]> {
  const found: string[][] = [];
  for (const line of await traceLines(pathOf(path))) {
    if ("format" in line || "rdds" in line && !("event" in line)) found.push([]);
    found.at(-1)!.push(JSON.stringify(line));
  }
  return found;
}

async function opened(lines: readonly string[]): Promise<Extract<OpenedTrace, { kind: "story" }>["story"]> {
  const trace = await readTraceFile(new Blob([lines.join("\n")]));
  assert(trace.kind === "story");
  return trace.story;
}

Deno.test("every recorded trace of the scheduler is a story: a step for each event, told in whole sentences", async () => {
  for (const file of ["handmade-a", "handmade-b"]) {
    for (const lines of await traces(`scheduler/2.4.0/${file}.jsonl.gz`)) {
      const steps = (await opened(lines)).steps();
      assertEquals(steps.length, lines.length - 1);
      for (const { sentences } of steps) {
        for (const told of sentences) {
          assert(/^[A-Z0-9].*[.!]$/s.test(told) || /^java|^org/.test(told), told);
          assertEquals(/undefined|NaN|\[object/.test(told), false, told);
        }
      }
    }
  }
});

Deno.test("every recorded trace of task memory is a story", async () => {
  for (const { name } of Deno.readDirSync(pathOf("spilling/handmade"))) {
    const lines = await traceLines(pathOf(`spilling/handmade/${name}`));
    const steps = (await opened(lines.map((line) => JSON.stringify(line)))).steps();
    assertEquals(steps.length, lines.filter((line) => "op" in line).length, name);
    for (const { call, answer, sentences } of steps) {
      assertEquals(/undefined|NaN|\[object/.test([call, answer, ...sentences].join(" ")), false, name);
    }
  }
});

Deno.test("what no words are known for is shown as it is written", () => {
  assertEquals(eventTold({ type: "new", n: 1 }), 'new {"n":1}');
  assertEquals(actionTold({ a: "new", n: 1 }), 'new {"n":1}');
});

Deno.test("a consumer that waited is told when it goes on", () => {
  assertEquals(sentencesTold({ op: "release", done: { at: 12, t: 1, c: 1, r: 1 } }), [
    "Consumer 1 of task 1, which waited since operation 12, goes on: 1 byte granted.",
  ]);
});

Deno.test("a file without a header, a trace without steps and one of too many are refused", async () => {
  const refusal = async (text: string) => {
    const { code, message } = await assertRejects(() => readTraceFile(new Blob([text])), InputError);
    return [code, message];
  };
  const header = "Cannot open the trace: its first line must be a header";
  assertEquals(await refusal(""), ["lab.trace", header]);
  assertEquals(await refusal("5\n"), ["lab.trace", header]);
  const [first] = (await traces("scheduler/2.4.0/handmade-a.jsonl.gz"))[0];
  assertEquals(await refusal(first), ["lab.trace", "Cannot open the trace: it has no steps"]);
  const trace = JSON.parse(first);
  const many = new Array(1_000_000);
  assertThrows(() => traceStory(traceFormat(trace), trace, many), InputError, "received 1000000");
});

Deno.test("a block that a task's memory drives out is told", () => {
  assertEquals(sentencesTold({ ev: [["rdd_0_1", 5], "rdd_0_2"] } as never), [
    "rdd_0_1 was evicted from storage.",
    "rdd_0_2 was evicted from storage.",
  ]);
});
