import { assert, assertEquals, assertThrows } from "@std/assert";
import { DECODERS, eventName, isUnused } from "../../src/event_log/event_json.ts";
import { EventReader } from "../../src/event_log/event_reader.ts";
import { EventScanner } from "../../src/event_log/event_scanner.ts";
import { isObject, type JsonObject, MalformedEvent } from "../../src/event_log/json_fields.ts";
import { unknownFields } from "../../src/event_log/known_fields.ts";
import { Prng } from "../../src/prng.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { LINE_CHANGES } from "../support/log_mutations.ts";
import { RECORDED_LOGS, recordedLines } from "../support/recorded_logs.ts";

const encoder = new TextEncoder();
const CONTEXT = { tracksUpdatedBlocks: false };

/** What the reader makes of an event; null for a malformed one. */
function decoded(json: unknown): { name: string; event: SparkEvent | null; unknown: string[] } | null {
  try {
    if (!isObject(json)) return null;
    const name = eventName(json);
    if (!Object.hasOwn(DECODERS, name)) return { name, event: null, unknown: [] };
    const event = structuredClone(DECODERS[name](json, CONTEXT));
    return { name, event, unknown: unknownFields(name, json) };
  } catch (error) {
    if (error instanceof MalformedEvent) return null;
    throw error;
  }
}

function parsed(line: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(line));
  } catch {
    return undefined;
  }
}

/** Scans lines and compares with parsing; says how many were scanned. */
class Both {
  readonly scanner = new EventScanner();
  scanned = 0;

  check(line: string | Uint8Array): void {
    const bytes = typeof line === "string" ? encoder.encode(line) : line;
    const json: JsonObject | null = this.scanner.scan(bytes, 0, bytes.length);
    if (json === null) return;
    this.scanned++;
    const whole = parsed(bytes);
    assert(whole !== undefined, `taken, and not JSON: ${line}`);
    assertEquals(decoded(json), decoded(whole), `${line}`);
    this.scanner.expire();
  }
}

const LARGE =
  /^\{"Event":"[\w.]*SparkListener(JobStart|StageSubmitted|StageCompleted|SQL(Adaptive)?Execution(Start|Update))"/;

for (const log of RECORDED_LOGS) {
  Deno.test(`the scanner reads ${log} exactly as parsing does`, async () => {
    const lines = await recordedLines(log);
    const both = new Both();
    for (const line of lines) both.check(line);
    const large = lines.filter((line) => {
      const name = /"Event":"([^"]*)"/.exec(line)![1].split(".").at(-1)!;
      return LARGE.test(line) || isUnused(name);
    });
    assertEquals(both.scanned, large.length);
  });
}

const CHANGES = Object.values(LINE_CHANGES);

/** Changes that Spark's lines do not have, but JSON may: what comes between a text and its value. */
function otherJson(line: string, random: Prng): string {
  const at = random.integer(line.length);
  const piece = [
    "\\u00e9",
    "\\n",
    "\u00e9",
    "\ufeff",
    " ",
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "0",
    "-1",
    "1e3",
    "null",
    "\t",
  ];
  return line.slice(0, at) + piece[random.integer(piece.length)] + line.slice(at + random.integer(3));
}

Deno.test("whatever is done to a line, the scanner reads it as parsing does or not at all", async () => {
  const random = new Prng(11);
  for (const log of ["event_logs/sql_join.gz", "runs/spark_4_0_sort_spill", "runs/spark_2_4_max_result_size"]) {
    const lines = (await recordedLines(log)).filter((line) => LARGE.test(line));
    const both = new Both();
    for (let i = 0; i < 600; i++) {
      const line = lines[random.integer(lines.length)];
      both.check(line);
      both.check(CHANGES[random.integer(CHANGES.length)](line, random));
      both.check(otherJson(line, random));
      const bytes = encoder.encode(line);
      bytes[random.integer(bytes.length)] = random.integer(256);
      both.check(bytes);
    }
    assert(both.scanned > 600, `${both.scanned}`);
  }
});

const EVENT = "org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart";
const PLAN = '{"nodeName":"Sort","simpleString":"Sort [a#1 ASC]","children":[],"metadata":{},"metrics":[]}';

Deno.test("a line of another form is left to parsing: white space, fields twice, other plans", () => {
  const line = `{"Event":"${EVENT}","executionId":1,"sparkPlanInfo":${PLAN},"time":5}`;
  const scan = (text: string) => {
    const bytes = encoder.encode(text);
    return new EventScanner().scan(bytes, 0, bytes.length);
  };
  assertEquals(scan(line)?.executionId, 1);
  for (
    const [from, to] of [
      ['"time":', '"time": '],
      ['"time":5', '"time":5,"Event":"SparkListenerOther"'],
      ['"time":5', '"__proto__":5'],
      ['"metadata":{},', ""],
      ['"nodeName":"Sort"', '"nodeName":1'],
      ['"metrics":[]', '"metrics":[{"name":"a","accumulatorId":-1,"metricType":"sum"}]'],
      ['{"Event"', ' {"Event"'],
      ["[]},", "[],"],
    ]
  ) {
    assertEquals(line.includes(from), true, from);
    assertEquals(scan(line.replace(from, to)), null, to);
  }
});

Deno.test("a plan that was put off can be read during the call, and says so afterwards", () => {
  const kept: SparkEvent[] = [];
  const names: string[] = [];
  const reader = new EventReader({
    event(event) {
      kept.push(event);
      if (event.kind === "sqlExecutionStart" && event.executionId === 1) names.push(event.plan!.nodeName);
    },
  }, {});
  for (const id of [1, 2]) {
    const bytes = encoder.encode(`{"Event":"${EVENT}","executionId":${id},"sparkPlanInfo":${PLAN}}`);
    reader.line(bytes, 0, bytes.length);
  }
  assertEquals(names, ["Sort"]);
  const [first, second] = kept as Extract<SparkEvent, { kind: "sqlExecutionStart" }>[];
  // What was read stays.
  assertEquals(first.plan?.simpleString, "Sort [a#1 ASC]");
  assertThrows(() => second.plan, TypeError, "only valid during the call");
});
