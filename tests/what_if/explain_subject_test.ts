import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { parseSubject, SubjectLog } from "../../src/what_if/explain_subject.ts";
import type { SparkEvent } from "../../src/spark/events.ts";
import { taskEnd } from "../report/chart_events.ts";
import { runWorkload } from "../../src/what_if/run_workload.ts";
import { workloadOfLog } from "../support/event_logs.ts";

async function explained(log: string, subject: string, conf: Record<string, string> = {}): Promise<string[]> {
  const sink = new SubjectLog(parseSubject(subject));
  runWorkload(applyChanges(await workloadOfLog(log), { conf }), { sink });
  return sink.lines;
}

Deno.test("a block's story: computed, stored, evicted for whom", async () => {
  const lines = await explained("unpersist", "rdd_3_0", { "spark.memory.fraction": "0.3" });
  assert(lines[0].includes("does not find and computes rdd_3_0"), lines[0]);
  assert(lines.some((line) => /rdd_3_0 .* is evicted to make room for rdd_5_/.test(line)), lines.join("\n"));
  assert(lines.some((line) => /rdd_3_0 is gone from this executor$/.test(line)), lines.join("\n"));
});

Deno.test("a stage's story has its tasks and their spills", async () => {
  const lines = await explained("sql_join", "stage 4");
  assert(lines[0].includes("stage 4.0"), lines[0]);
  assertEquals(lines.filter((line) => / starts, /.test(line)).length, 7);
  assert(lines.some((line) => /: Sort .* spills /.test(line)), lines.join("\n"));
  assert(lines.at(-1)!.includes("is finished"));
});

Deno.test("a task's story ends with how it ended", async () => {
  const lines = await explained("task_failures", "task 1");
  assert(lines.at(-1)!.includes("fails: java.lang.RuntimeException: planned failure"), lines.at(-1));
});

Deno.test("what cannot be explained is refused", () => {
  for (const subject of ["", "rdd_1", "stage", "job 3", "task -1"]) {
    assertThrows(() => parseSubject(subject), InputError, "must be a block");
  }
});

Deno.test("a task's story has its reads, refusals, waits and its end out of memory, and says how it ended", () => {
  const at = { time: 1500, executorId: "1", taskId: 0 };
  const story = (...events: SparkEvent[]) => {
    const log = new SubjectLog({ kind: "task", taskId: 0 });
    log.event({ kind: "applicationStart", appName: "", appId: null, time: 1000, user: "", appAttemptId: null });
    for (const event of events) log.event(event);
    return log.lines.map((line) => line.trim());
  };
  const consumer = "UnsafeExternalSorter";
  assertEquals(
    story(
      { kind: "cacheRead", ...at, blockId: "rdd_1_0", from: "disk", numBytes: 5 } as SparkEvent,
      { kind: "putRefused", ...at, blockId: "rdd_1_0", numBytes: 5, toDisk: false },
      { kind: "memoryWait", ...at, numBytes: 2048, waitMs: 1500 },
      { kind: "outOfMemory", ...at, consumer, requested: 4096, granted: 1024 },
      { kind: "outOfMemory", ...at, taskId: 1, consumer, requested: 4096, granted: 1024 },
    ),
    [
      "0.500 s  executor 1  task 0 reads from disk rdd_1_0",
      "0.500 s  executor 1  task 0: rdd_1_0 finds no room",
      "0.500 s  executor 1  task 0 has waited 1.5 s for 2.0 KiB",
      "0.500 s  executor 1  task 0: UnsafeExternalSorter must have 4.0 KiB and gets 1.0 KiB",
    ],
  );
  const ends = (reason: unknown) => story(taskEnd({ reason: reason as never, failed: true }))[0].split("task 0 ")[1];
  assertEquals(
    ends({ reason: "TaskKilled", killReason: "another attempt succeeded" }),
    "is killed: another attempt succeeded",
  );
  assertEquals(ends({ reason: "ExecutorLostFailure", lossReason: null }), "fails with its executor: lost");
  assertEquals(ends({ reason: "TaskResultLost" }), "ends: TaskResultLost");
});

Deno.test("a story has an end: lines beyond it are counted", () => {
  const log = new SubjectLog({ kind: "block", blockId: "rdd_1_0" });
  for (let time = 0; time < 100_000; time++) {
    log.event({ kind: "putRefused", time, executorId: "1", blockId: "rdd_1_0", numBytes: 1, taskId: 7, toDisk: true });
  }
  assertEquals(log.lines.length + log.dropped, 100_000);
  assert(log.dropped > 0 && log.lines.length > 100, `${log.lines.length} lines`);
});
