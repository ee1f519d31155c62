import { answersOf, streamOfLines } from "../support/log_answers.ts";
import { assertEquals } from "@std/assert";
import { fuzzEventLogs } from "./event_logs.ts";
import { fuzzHostileValues, type HostileChange, HostileValues } from "./hostile_values.ts";
import { fuzzStoredLogs } from "./stored_logs.ts";
import { UNTOUCHED_KINDS } from "./untouched.ts";
import { recordedLines } from "../support/recorded_logs.ts";

Deno.test("hundreds of damaged event logs give an answer or a clear error, and what was not touched stays right", async () => {
  const { answers, errors, untouched, interleaved } = await fuzzEventLogs(1, 70);
  // Most damage is of a line or two: the log is still usable.
  assertEquals(answers > 45, true, JSON.stringify({ answers, errors }));
  // Two applications in one, nothing left, or figures beyond a job's.
  const known = [
    "event_log.several_applications",
    "event_log.no_events",
    "event_log.several_attempts",
    "input.range",
    "limit.events",
  ];
  assertEquals(Object.keys(errors).filter((code) => !known.includes(code)), []);
  assertEquals(Object.keys(untouched).sort(), [...UNTOUCHED_KINDS].sort());
  assertEquals(interleaved > 3, true);
});

Deno.test("damaged files of every codec give an answer or a clear error, and what is before the damage", async () => {
  const { answers, errors } = await fuzzStoredLogs(1, 70);
  assertEquals(answers > 30, true, JSON.stringify(errors));
});

/** What failed once, with what it was; of each the value is hostile at one place or at all. */
const FAILED: readonly (readonly [path: string, value: string, everywhere: boolean, code: string | null])[] = [
  // Columns were made for as many partitions as the log told of.
  ["JobStart/Stage Infos/*/RDD Info/*/Number of Partitions", "1000000000", false, "limit.tasks"],
  ["JobStart/Stage Infos/*/RDD Info/*/Number of Partitions", "2147483647", true, "limit.tasks"],
  // Below 0 and beyond an Int it is no count: the line is damaged.
  ["JobStart/Stage Infos/*/RDD Info/*/Number of Partitions", "-1", false, null],
  ["JobStart/Stage Infos/*/RDD Info/*/Number of Partitions", "9007199254740992", false, null],
  // Partitions of a parent were counted up to infinity.
  ["JobStart/Stage Infos/*/RDD Info/*/Number of Partitions", "0", false, null],
  // The kernel was asked for an executor without memory.
  ["BlockManagerAdded/Maximum Onheap Memory", "-1", true, "executor.memory"],
  ["BlockManagerAdded/Maximum Onheap Memory", "0", true, "executor.memory"],
  // Half a byte was to be written as a size.
  ["StageExecutorMetrics/Executor Metrics/OnHeapExecutionMemory", "0.5", false, null],
  ["StageExecutorMetrics/Executor Metrics/OffHeapStorageMemory", "0.5", true, null],
  // A template was made of a line by recursion.
  [
    "BlockUpdated/Block Updated Info/Block Manager ID/Port",
    '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000),
    true,
    null,
  ],
  ["TaskStart/Task Info/Getting Result Time", '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000), false, null],
];

Deno.test("hostile values that failed once are an answer or a clear error", async () => {
  const values = await HostileValues.of(["runs/cache_evictions"]);
  for (const [path, value, everywhere, code] of FAILED) {
    const change: HostileChange = { log: "runs/cache_evictions", path, value, everywhere };
    assertEquals((await values.try(change, { answers: 0, errors: {} })).code, code, `${path} = ${value.slice(0, 20)}`);
  }
});

Deno.test("a log is summarized whatever its version is, and memory before 1.6 is refused by name", async () => {
  const versions = [
    "0.9.1",
    "1.0.0",
    "1.3.1",
    "1.5.2",
    "1.6.3",
    "2.0.0",
    "3.0.0",
    "4.2.0",
    "9.9.9",
    "3.5.1-amzn-1",
    "",
    "zzz",
  ];
  // With a collection of the driver, a shuffle, and jobs of Spark Streaming in local mode.
  for (const log of ["runs/cache_evictions", "event_logs/group_by_key.gz", "event_logs/streaming.gz"]) {
    const lines = (await recordedLines(log)).slice(0, 300);
    for (const version of versions) {
      const [first, ...others] = lines;
      const start = first.replace(/"Spark Version":"[^"]*"/, `"Spark Version":"${version}"`);
      const { code, summary } = await answersOf(streamOfLines([start, ...others]));
      const known = /^(0|1\.[0-5])/.test(version) ? "sizing.static" : null;
      assertEquals([log, version, code, summary?.app.sparkVersion], [log, version, known, version]);
    }
  }
});

Deno.test("numbers of event logs that are hostile values give an answer or a clear error, in bounded memory", async () => {
  const { answers } = await fuzzHostileValues(1, 30);
  assertEquals(answers > 15, true);
});
