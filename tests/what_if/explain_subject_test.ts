import { assert, assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { applyChanges } from "../../src/what_if/apply_changes.ts";
import { parseSubject, SubjectLog } from "../../src/what_if/explain_subject.ts";
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
