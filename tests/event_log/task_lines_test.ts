import { assertEquals } from "@std/assert";
import { DECODERS, eventName } from "../../src/event_log/event_json.ts";
import { MalformedEvent } from "../../src/event_log/json_fields.ts";
import { unknownFields } from "../../src/event_log/known_fields.ts";
import { TaskLines } from "../../src/event_log/task_lines.ts";
import { Prng } from "../../src/prng.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { LINE_CHANGES } from "../support/log_mutations.ts";
import { RUN_NAMES, runText } from "../support/runs.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** An event by parsing; null when the line is not one. */
function parsed(bytes: Uint8Array, tracksUpdatedBlocks = false): SparkEvent | null {
  try {
    const json = JSON.parse(decoder.decode(bytes));
    return DECODERS[eventName(json)](json, { tracksUpdatedBlocks });
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof MalformedEvent || error instanceof TypeError) return null;
    throw error;
  }
}

/** Reads lines as the reader does; says how many were read by a template. */
class Both {
  readonly lines = new TaskLines();
  quick = 0;

  check(bytes: Uint8Array): void {
    const quick = this.lines.read(bytes, 0, bytes.length);
    const slow = parsed(bytes);
    if (quick !== null) {
      this.quick++;
      assertEquals(quick, slow, decoder.decode(bytes));
    } else if (slow !== null) {
      const json = JSON.parse(decoder.decode(bytes));
      this.lines.learn(bytes, 0, bytes.length, slow, unknownFields(eventName(json), json));
    }
  }
}

const TASK_LINE = /^\{"Event":"SparkListener(TaskStart|TaskEnd|BlockUpdated)"/;

async function taskLines(run: string): Promise<string[]> {
  return (await runText(run)).split("\n").filter((line) => TASK_LINE.test(line));
}

for (const run of RUN_NAMES) {
  Deno.test(`templates read the task lines of ${run} exactly as parsing does`, async () => {
    const both = new Both();
    const lines = await taskLines(run);
    for (const line of lines) both.check(encoder.encode(line));
    // Most lines must be of a known shape, or the templates are of no use.
    if (lines.length > 1000) assertEquals(both.quick > lines.length * 0.95, true, `${both.quick} of ${lines.length}`);
  });
}

const CHANGES = Object.values(LINE_CHANGES);

Deno.test("whatever is done to a line, a template reads it as parsing does or not at all", async () => {
  const random = new Prng(5);
  for (const run of ["cache_evictions", "spark_2_4_max_result_size", "spark_4_0_sort_spill", "fetch_failure"]) {
    const both = new Both();
    const lines = await taskLines(run);
    for (let i = 0; i < 1500; i++) {
      const line = lines[random.integer(lines.length)];
      both.check(encoder.encode(line));
      both.check(encoder.encode(CHANGES[random.integer(CHANGES.length)](line, random)));
    }
    assertEquals(both.quick > 1000, true);
  }
});

const START =
  '{"Event":"SparkListenerTaskStart","Stage ID":0,"Stage Attempt ID":0,"Task Info":{"Task ID":7,"Index":1,"Attempt":0,' +
  '"Launch Time":100,"Executor ID":"1","Host":"h","Locality":"ANY","Speculative":false,"Getting Result Time":0,"Finish Time":0,' +
  '"Failed":false,"Accumulables":[]}}';

function learned(line: string): TaskLines {
  const lines = new TaskLines();
  const bytes = encoder.encode(line);
  lines.learn(bytes, 0, bytes.length, parsed(bytes)!, []);
  return lines;
}

function read(lines: TaskLines, line: string) {
  const bytes = encoder.encode(line);
  return lines.read(bytes, 0, bytes.length);
}

Deno.test("a line of another shape is left to parsing: other words, escapes, signs, white space", () => {
  const lines = learned(START);
  assertEquals(read(lines, START)?.kind, "taskStart");
  for (
    const [from, to] of [
      ['"ANY"', '"NODE_LOCAL"'],
      ["false", "true"],
      [":7", ":-7"],
      [":7", ":07"],
      [":7", ": 7"],
      [":7", ":7.0"],
      [":7", ":1234567890123456"],
      ['"h"', '"h\\u0041"'],
      ['"h"', '"h\u00e9"'],
      ['"Index"', '"index"'],
    ]
  ) assertEquals(read(lines, START.replace(from, to)), null, to);
});

Deno.test("readNext() takes a line only when its end is within the bytes", () => {
  const lines = learned(START);
  const bytes = encoder.encode(`x${START}\n${START}`);
  assertEquals(lines.readNext(bytes, 1)?.kind, "taskStart");
  assertEquals(bytes[lines.end], 10);
  // The second may go on in the next piece.
  assertEquals(lines.readNext(bytes, lines.end + 1), null);
  assertEquals(lines.readNext(encoder.encode(`${START}\r\n`), 0), null);
});

Deno.test("the peak of execution memory is found among the accumulators of a line as parsing finds it", () => {
  const end = (accumulables: string) =>
    '{"Event":"SparkListenerTaskEnd","Stage ID":0,"Stage Attempt ID":0,"Task Type":"ResultTask","Task End Reason":{"Reason":"Success"},' +
    '"Task Info":{"Task ID":7,"Index":1,"Attempt":0,"Launch Time":100,"Executor ID":"1","Host":"h","Locality":"ANY","Speculative":false,' +
    `"Getting Result Time":0,"Finish Time":200,"Failed":false,"Killed":false,"Accumulables":[${accumulables}]},` +
    '"Task Metrics":{"Executor Run Time":5,"Updated Blocks":[]}}';
  const size = '{"ID":1,"Name":"internal.metrics.resultSize","Update":5,"Value":5,"Internal":true}';
  const peak = '{"ID":2,"Name":"internal.metrics.peakExecutionMemory","Update":77,"Value":99,"Internal":true}';
  const old = '{"ID":3,"Name":"peakExecutionMemory","Update":"55","Value":"55","Internal":true}';
  const mine = '{"ID":4,"Name":"mine","Update":"6","Value":"7","Internal":false}';
  const none = '{"ID":4,"Name":"mine","Value":"7","Internal":false}';
  const both = new Both();
  const cases = [
    "",
    size,
    `${size},${peak}`,
    `${peak},${size}`,
    old,
    mine,
    `${mine},${size},${none}`,
    `${old},${peak}`,
    `${mine},${mine}`,
  ];
  for (const accumulables of [...cases, ...cases]) both.check(encoder.encode(end(accumulables)));
  assertEquals(both.quick >= cases.length, true);
});

Deno.test("lists of thousands of different accumulators are read, by parsing where they are too many", () => {
  const both = new Both();
  for (let i = 0; i < 700; i++) {
    both.check(encoder.encode(
      START.replace("[]", `[{"ID":${i},"Name":"accumulator ${i}","Update":"1","Value":"1","Internal":false}]`),
    ));
  }
});

Deno.test("learning stops for a log without a pattern, and reading goes on", () => {
  const lines = new TaskLines();
  let learned = 0;
  for (let i = 0; i < 3000; i++) {
    const line = encoder.encode(START.replace('"Index"', `"Other ${i}":1,"Index"`));
    const event = parsed(line)!;
    lines.learn(line, 0, line.length, event, []);
    if (lines.read(line, 0, line.length) !== null) learned++;
  }
  assertEquals(learned < 300, true, `${learned}`);
});

Deno.test("forget() forgets", () => {
  const lines = learned(START);
  lines.forget();
  assertEquals(read(lines, START), null);
});
