import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { MEMORY_TRACE } from "../../src/replay/memory.ts";
import type { ReplayOptions, ReplayRecord } from "../../src/replay/trace.ts";
import { traceFiles, traceLines } from "../support/traces.ts";

const HEADER = { heap: 1000, off: 0, frac: 0.5, unrollThreshold: 100, checkPeriod: 16, growth: 1.5 };

function run(header: object, lines: object[], options: ReplayOptions = {}): ReplayRecord[] {
  return [...MEMORY_TRACE.replay(header, lines, options)];
}

Deno.test("a trace without its outcomes gives the recorded ones", async () => {
  const OUTCOMES = ["r", "x", "ev", "done", "wk", "wev", "w", "s", "regionOn", "regionOff", "pageSizeBytes", "init"];
  for (const name of ["single_54_mixed_chaos", "single_13_contend"]) {
    const path = traceFiles("memory/random").find((file) => file.includes(name))!;
    const lines = await traceLines(path);
    const [header, ...stripped] = lines.map((line) =>
      Object.fromEntries(Object.entries(line).filter(([field]) => !OUTCOMES.includes(field)))
    );
    const records = run(header, stripped.filter((line) => "op" in line));
    assertEquals(records.some(({ compared }) => compared), false);
    const outputs = records.map(({ output }) => output as Record<string, unknown>);
    assertEquals(outputs[0], lines[0]);
    // warnings name Long.MaxValue / 4 exactly, which JSON.parse alone does not keep
    const withoutWarnings = ({ w: _, ...line }: Record<string, unknown>) => line;
    assertEquals(
      outputs.slice(1).map(withoutWarnings),
      lines.filter((line) => "op" in line).map(withoutWarnings),
    );
  }
});

Deno.test("a wrong outcome is a difference", () => {
  const line = { i: 0, op: "acqExec", t: 0, n: 10, m: "ON", r: 11, s: [500, 0, 500, 10, 0, 0, 0, 0, 0, 1, 0, 0, 0] };
  const [, record] = run(HEADER, [line]);
  assertEquals(record.differences, [{ what: "r", recorded: 11, computed: 10 }]);
  const [header] = run({ ...HEADER, regionOn: 501 }, []);
  assertEquals(header.differences, [{ what: "regionOn", recorded: 501, computed: 500 }]);
  // (2^33 / 2) / 16 cores / 16, a power of two
  const [paged] = run({ ...HEADER, heap: 2 ** 33, cores: 16, pageSizeBytes: 8388608 }, []);
  assertEquals(paged.differences, [{ what: "pageSizeBytes", recorded: 8388608, computed: 16777216 }]);
  const [, dump] = run(HEADER, [
    { dump: 0, lru: [["a", 1, "ON"]], execOn: {}, execOff: {}, unrollOn: {}, unrollOff: {}, waiting: [3] },
  ]);
  assertEquals(dump.differences.map(({ what }) => what), ["waiting", "lru ON"]);
});

Deno.test("several waiting tasks wake in the recorded order", () => {
  const acquire = (i: number, t: number) => ({ i, op: "acqExec", t, n: 400, m: "ON" });
  const start = [{ ...acquire(0, 1), n: 1000 }, acquire(1, 2), acquire(2, 3)];
  const release = { i: 3, op: "relExec", t: 1, n: 300, m: "ON" };
  const done = (wk?: [number, number][]) => {
    const record = run(HEADER, [...start, wk === undefined ? release : { ...release, wk }]).at(-1)!;
    return (record.output as { wk: unknown }).wk;
  };
  assertEquals(done([[1, 0], [2, 0]]), [[1, 300], [2, -1]]);
  assertEquals(done([[2, 0], [1, 0]]), [[2, 300], [1, -1]]);
  // without a recorded order, the JVM's: acquire 1 waited again when task 3 came, behind acquire 2
  assertEquals(done(), [[2, 300], [1, -1]]);
});

Deno.test("a layout that the version refuses is said, and nothing runs", () => {
  const refused = (header: object, sparkVersion: string) => {
    const records = run({ ...HEADER, ...header }, [{ i: 0, op: "clear" }], { sparkVersion });
    assertEquals(records.length, 1);
    return (records[0].output as { refused?: string }).refused;
  };
  // the words of Spark 3.0.3, 3.5.9 and 4.1.3 (tests/spark/conf_entries_test.ts has where they come from)
  const check = "Storage fraction must be in [0,1)";
  const named = `'1.0' in spark.memory.storageFraction is invalid. ${check}`;
  const classed = `[INVALID_CONF_VALUE.REQUIREMENT] The value '1.0' in the config "spark.memory.storageFraction" is ` +
    `invalid. ${check} SQLSTATE: 22022`;
  const illegal = "java.lang.IllegalArgumentException";
  assertEquals(refused({ frac: 1 }, "3.0.3"), `${illegal}: ${check}`);
  assertEquals(refused({ frac: 1 }, "3.5.9"), `${illegal}: ${named}`);
  assertEquals(refused({ frac: 1 }, "4.1.3"), `org.apache.spark.SparkIllegalArgumentException: ${classed}`);
  const required = "requirement failed: onHeapExecutionMemory must be > 0";
  assertEquals(refused({ heap: 0 }, "3.5.9"), `${illegal}: ${required}`);
  assertEquals(run({ ...HEADER, frac: 1 }, [{ i: 0, op: "clear" }], { sparkVersion: "2.4.0" }).length, 2);
});

Deno.test("bad headers, operations and versions are bad input", () => {
  const code = (run: () => unknown) => (assertThrows(run, InputError) as InputError).code;
  assertEquals(code(() => run({ ...HEADER, heap: 0.5 }, [])), "replay.header");
  assertEquals(code(() => run({ ...HEADER, frac: 2 }, [])), "replay.header");
  assertEquals(code(() => run({ ...HEADER, checkPeriod: 0 }, [])), "replay.header");
  assertEquals(code(() => run(HEADER, [{ i: 0, op: "constructor" }])), "replay.line");
  for (const n of [0.5, "many", undefined]) {
    const bad = { i: 0, op: "acqExec", t: 0, n, m: "ON" };
    const error = assertThrows(() => run(HEADER, [{ i: 1, op: "clear" }, bad]), InputError) as InputError;
    assertEquals([error.code, error.line], ["replay.line", 3]);
  }
  assertEquals(code(() => run(HEADER, [], { sparkVersion: "1.5.2" })), "replay.version");
});
