import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { SPILLING_TRACE } from "../../src/replay/spilling.ts";
import type { ReplayOptions, ReplayRecord } from "../../src/replay/trace.ts";
import { replayed, traceFiles, traceLines } from "../support/traces.ts";

const HEADER = { heap: 100, off: 0, frac: 0, cores: 1, tungsten: "ON", page: 10, physical: 0 };
const TASK = { i: 0, op: "newTask", t: 0 };
const consumer = (i: number, c: number, rule: string) => ({ i, op: "newConsumer", t: 0, c, rule, m: "ON", page: 0 });

function run(header: object, lines: object[], options: ReplayOptions = {}): ReplayRecord[] {
  return [...SPILLING_TRACE.replay(header, lines, options)];
}

// Recorded from the real TaskMemoryManager of Spark 2.4.0: one rule a scenario, and random operations.
Deno.test("the traces of Spark 2.4.0 replay without a difference", async () => {
  const files = [...traceFiles("spilling/handmade"), ...traceFiles("spilling/random")];
  const { status, last, differences } = await replayed(files);
  assertEquals(differences, []);
  assertEquals([status, last], [0, "20531 operations compared in 89 traces, 0 differ"]);
});

// The same scenarios and other random ones on Spark 3.5.9; the headers do not say so.
Deno.test("the traces of Spark 3.5.9 replay without a difference", async () => {
  const files = [...traceFiles("spilling/v35/handmade"), ...traceFiles("spilling/v35/random")];
  const { status, last, differences } = await replayed(["--spark-version", "3.5.9", ...files]);
  assertEquals(differences, []);
  assertEquals([status, last], [0, "10501 operations compared in 69 traces, 0 differ"]);
});

Deno.test("the traces of Spark 3.5.9 do not hold for 2.4.0", async () => {
  const { status } = await replayed(traceFiles("spilling/v35/random"));
  assertEquals(status, 1);
});

Deno.test("a trace without its outcomes gives the recorded ones", async () => {
  const OUTCOMES = ["r", "x", "e", "mu", "w", "wk", "wait", "done", "u", "tu", "s"];
  const DERIVED = ["pageSizeBytes", "regionOn", "regionOff", "init"];
  const lines = await traceLines(traceFiles("spilling/random")[5]);
  const operations = lines.filter((line) => "op" in line);
  const without = (line: object, fields: string[]) =>
    Object.fromEntries(Object.entries(line).filter(([field]) => !fields.includes(field)));
  const records = run(without(lines[0], DERIVED), operations.map((line) => without(line, OUTCOMES)));
  assertEquals(records.some(({ compared }) => compared), false);
  // The lines were read with JSON.parse, which rounds what is beyond 2^53.
  const rounded = records.map(({ output }) =>
    JSON.parse(JSON.stringify(output, (_, value) => typeof value === "bigint" ? Number(value) : value))
  );
  assertEquals(rounded, [lines[0], ...operations]);
});

Deno.test("a request for Long.MAX is printed to the byte", () => {
  const acquire = { i: 2, op: "acquire", t: 0, c: 1, n: 2n ** 63n - 1n };
  const record = run(HEADER, [TASK, consumer(1, 1, "all"), { ...acquire, n: 60 }, { ...acquire, i: 3 }]).at(-1)!;
  // 40 are free, so 2^63 - 1 - 40 are missing; recorded traces have such lines.
  assertEquals((record.output as { e: unknown }).e, [["S", 1, 9223372036854775767n, 60]]);
});

Deno.test("a wrong outcome is a difference", () => {
  const acquire = { i: 2, op: "acquire", t: 0, c: 1, n: 70, r: 71, u: [70], tu: 70 };
  const s = [0, 0, 100, 70, 0, 0, 0, 0, 0, 1, 0, 0, 0];
  const record = run(HEADER, [TASK, consumer(1, 1, "all"), { ...acquire, s }]).at(-1)!;
  assertEquals(record.differences, [{ what: "r", recorded: 71, computed: 70 }]);
  const dump = { dump: 2, lru: [], execOn: {}, execOff: {}, cons: { "T0.c1": [1, 0, [], [], []] }, waiting: 4 };
  const differences = run(HEADER, [TASK, consumer(1, 1, "all"), dump]).at(-1)!.differences;
  assertEquals(differences.map(({ what }) => what), ["cons", "waiting"]);
  const [header] = run({ ...HEADER, pageSizeBytes: 11 }, []);
  assertEquals(header.differences, [{ what: "pageSizeBytes", recorded: 11, computed: 10 }]);
});

// Since 3.0: storageFraction 1 leaves execution without a pool.
Deno.test("a layout that the version refuses is refused in its words", () => {
  const records = run({ ...HEADER, frac: 1 }, [TASK], { sparkVersion: "3.5.9" });
  assertEquals(records.map(({ output }) => output), [{
    refused: "java.lang.IllegalArgumentException: requirement failed: onHeapExecutionMemory must be > 0",
  }]);
});

Deno.test("lines that are no operation are bad input", () => {
  const bad: [object[], string][] = [
    [[{ i: 0, op: "sing", t: 0 }], "Cannot replay operation 0: there is no task 0"],
    [[TASK, { i: 1, op: "acquire", t: 0, c: 3, n: 1 }], "Cannot replay operation 1: task 0 has no consumer 3"],
    [[TASK, consumer(1, 1, "some")], "Cannot replay operation 1: there is no rule some"],
    [[TASK, consumer(1, 1, "all"), { i: 2, op: "sing", t: 0, c: 1 }], "Cannot replay operation 2: sing is not known"],
  ];
  for (const [lines, message] of bad) assertThrows(() => run(HEADER, lines), InputError, message);
});
