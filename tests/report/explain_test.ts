import { assertEquals, assertThrows } from "@std/assert";
import { LimitError } from "../../src/errors.ts";
import { exitCode, explain, EXPLAIN_LIMIT, MESSAGE_KINDS, type MessageValues } from "../../src/report/explain.ts";
import { CONF_ENTRIES } from "../../src/spark/conf_entries.ts";
import { SparkConf } from "../../src/spark/conf.ts";

/** A message as a Spark version prints it (its sources, public reports, recorded runs), and what it must be read as. */
interface Sample {
  readonly code: string;
  readonly version?: string;
  readonly text: string;
  readonly values?: MessageValues;
}

async function samples(): Promise<Sample[]> {
  const text = await Deno.readTextFile(new URL("../testdata/explain/messages.jsonl", import.meta.url));
  return text.trim().split("\n").map((line) => JSON.parse(line));
}

Deno.test("every message is read as what it is, with its numbers", async () => {
  for (const { code, text, values } of await samples()) {
    const found = explain(text).explanations.find((one) => one.code === code);
    assertEquals(found?.code, code, text);
    for (const [name, value] of Object.entries(values ?? {})) {
      assertEquals([text, name, found?.values[name]], [text, name, value]);
    }
  }
});

Deno.test("every kind that is known has a sample", async () => {
  const sampled = new Set((await samples()).map(({ code }) => code));
  assertEquals(MESSAGE_KINDS.map(({ code }) => code).filter((code) => !sampled.has(code)), []);
});

Deno.test("kinds are consistent: unique codes, known settings, anchors inside their patterns", () => {
  const codes = MESSAGE_KINDS.map(({ code }) => code);
  assertEquals(new Set(codes).size, codes.length);
  for (const { code, settings, meaning, title, read } of MESSAGE_KINDS) {
    assertEquals([code, settings.filter((key) => !CONF_ENTRIES.has(key))], [code, []]);
    assertEquals([code, meaning !== "" || read !== undefined, title.endsWith(".")], [code, true, false]);
  }
});

Deno.test("failures and slow-downs say what to try or which setting governs them", () => {
  for (const { code, severity, settings, remedies, read } of MESSAGE_KINDS) {
    if (severity !== "failure") continue;
    assertEquals([code, settings.length + remedies.length > 0 || read !== undefined], [code, true]);
  }
});

Deno.test("a stack trace is explained cause by cause, failures first, repeats counted", () => {
  const { explanations } = explain(
    [
      "24/01/01 10:00:00 INFO MemoryStore: MemoryStore started with capacity 366.3 MB",
      "24/01/01 10:00:09 WARN TaskSetManager: Lost task 3.0 in stage 5.0 (TID 90, 10.0.0.5, executor 2): x",
      "24/01/01 10:00:10 WARN TaskSetManager: Lost task 3.1 in stage 5.0 (TID 91, 10.0.0.5, executor 2): x",
      "org.apache.spark.SparkException: Job aborted due to stage failure: Task 3 in stage 5.0 failed 4 times, " +
      "most recent failure: Lost task 3.3 in stage 5.0 (TID 97, 10.0.0.5, executor 2): x",
      "\tat org.apache.spark.scheduler.DAGScheduler.org$apache$spark$scheduler$DAGScheduler$$failJobAndIndependentStages",
      "Caused by: java.lang.OutOfMemoryError: GC overhead limit exceeded",
    ].join("\n"),
  );
  assertEquals(explanations.map(({ code, line, count }) => [code, line, count]), [
    ["scheduler.taskFailedTimes", 4, 1],
    ["scheduler.jobAborted", 4, 1],
    ["jvm.gcOverhead", 6, 1],
    ["scheduler.lostTask", 2, 3],
    ["startup.capacity", 1, 1],
  ]);
});

Deno.test("the lines of one refused block are read together", () => {
  // A public report: 1 GB executor, serial collector, one task (kubeflow).
  const { explanations } = explain(
    "WARN MemoryStore: Not enough space to cache rdd_2_3 in memory! (computed 34.5 MB so far)\n" +
      "INFO MemoryStore: Memory use = 378.8 MB (blocks) + 34.4 MB (scratch space shared across 1 tasks(s)) = 413.2 MB. " +
      "Storage limit = 413.9 MB.",
  );
  const use = explanations.find(({ code }) => code === "storage.memoryUse")!;
  assertEquals(use.arithmetic, [
    "378.8 MB of blocks + 34.4 MB held for unrolling by 1 task(s) = 413.2 MB",
    "413.9 MB - 413.2 MB = 0.70 MB free",
    "the next request was 34.50 MB x 1.5 - 34.4 MB held = 17.35 MB, more than what was free",
  ]);
});

Deno.test("settings that were given go into the arithmetic and are shown", () => {
  const conf = SparkConf.from({ "spark.executor.memory": "4g", "spark.executor.cores": "4" }, "3.5.1");
  const [one] = explain("Unable to acquire 2097152 bytes of memory, got 524288", { conf }).explanations;
  // (4 GiB - 300 MiB) x 0.6 = 2388236697 bytes for 4 tasks.
  assertEquals(
    one.arithmetic.at(-1),
    "under the settings that are given (others: defaults) 4 task(s) share 2388236697 bytes: each from 298529587 (1/8) " +
      "to 597059174 (1/4)",
  );
  const memory = one.settings.find(({ key }) => key === "spark.executor.memory");
  assertEquals([memory?.value, memory?.source], ["4g", "set"]);
});

Deno.test("the version is guessed from the units, and settings it does not read are left out", () => {
  const settings = (text: string) => explain(text).explanations[0].settings.map(({ key }) => key);
  const later = "spark.shuffle.spill.maxSizeInBytesForSpillThreshold";
  assertEquals(
    settings("Spilling data because number of spilledRecords crossed the threshold 10").includes(later),
    false,
  );
  const fraction = (text: string) =>
    explain(text).explanations[0].settings.find(({ key }) => key === "spark.memory.offHeap.size")?.value;
  assertEquals(fraction("MemoryStore started with capacity 366.3 MB"), "0");
});

Deno.test("an unknown text is said to be unknown, with the nearest message that is known", () => {
  const unknown = explain("what is the size of serialized results?");
  assertEquals([unknown.unknown, unknown.explanations, unknown.nearest?.code], [true, [], "result.maxResultSize"]);
  assertEquals(explain("hello world").nearest, null);
  assertEquals(explain("").unknown, true);
});

Deno.test("a text above the limit is refused, and long lines take no longer than short ones", () => {
  assertThrows(() => explain("x".repeat(EXPLAIN_LIMIT + 1)), LimitError);
  const start = performance.now();
  // Text that gives every pattern's start again and again.
  explain(
    ("Lost task 1.0 in stage exit code Task 1 Block rdd_1 Job 1 cancelled " + "a".repeat(3000) + "\n").repeat(500),
  );
  assertEquals(performance.now() - start < 5000, true);
});

Deno.test("exitCode() knows Spark's own codes and those of signals", () => {
  assertEquals([52, 137, 143, 56].map((code) => exitCode(code)?.signal ?? null), [null, "SIGKILL", "SIGTERM", null]);
  assertEquals(exitCode(99), null);
});

Deno.test("a task's end by memory is read with what the lines before it say is in use", () => {
  const lines = [
    "INFO TaskMemoryManager: 1000 bytes of memory are used for execution and 500 bytes of memory are used for storage",
    "org.apache.spark.memory.SparkOutOfMemoryError: Unable to acquire 65536 bytes of memory, got 0",
  ].join("\n");
  const arithmetic = explain(lines).explanations.find(({ code }) => code === "execution.unableToAcquire")!.arithmetic;
  assertEquals(arithmetic.slice(0, 2), [
    "65536 bytes (0.06 MiB) asked, 0 bytes (0.00 MiB) got: 65536 bytes missing",
    "at that moment 1000 bytes were used for execution and 500 for storage",
  ]);
  // settings that cannot be sized leave out the shares, not the answer
  const broken = explain(lines, { conf: SparkConf.from({ "spark.executor.memory": "100m" }) });
  const shares = broken.explanations.flatMap(({ arithmetic }) => arithmetic).filter((line) => /share/.test(line));
  assertEquals(shares, []);
});

Deno.test("no task that unrolls and no block that was freed divide nothing", () => {
  const values = (text: string) => explain(text).explanations[0];
  // MemoryStore.logMemoryUsage, MemoryStore.evictBlocksToFreeSpace
  const usage = values(
    "Memory use = 1.0 KB (blocks) + 0.0 B (scratch space shared across 0 tasks(s)) = 1.0 KB. " +
      "Storage limit = 2.0 KB.",
  );
  assertEquals(usage.values.perTaskUnrollBytes, null);
  assertEquals(values("After dropping 0 blocks, free memory is 10.0 KB").code.startsWith("storage."), true);
});

Deno.test("no block that was selected divides nothing", () => {
  const [one] = explain("0 blocks selected for dropping (0.0 B bytes)").explanations;
  assertEquals([one.code.startsWith("storage."), one.values.blocks, one.arithmetic], [true, 0, []]);
});
