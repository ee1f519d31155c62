import { assertEquals } from "@std/assert";
import { count, FailureFold, MAX_GROUPS } from "../../src/report/failure_fold.ts";
import type { TaskEnd } from "../../src/spark/events.ts";

function failed(reason: TaskEnd["reason"], stageId = 0): TaskEnd {
  return { kind: "taskEnd", stageId, executorId: "1", reason } as TaskEnd;
}

const fetchFailed = (mapId: number): TaskEnd["reason"] => ({
  reason: "FetchFailed",
  executorId: null,
  host: null,
  shuffleId: 0,
  mapId,
  mapIndex: mapId,
  reduceId: 0,
  message: `Missing an output location for shuffle 0 partition ${mapId}`,
});

Deno.test("FailureFold groups failures that differ in numbers only, and keeps the stages that they were in", () => {
  const failures = new FailureFold();
  failures.taskEnd(failed(fetchFailed(1), 3));
  failures.taskEnd(failed(fetchFailed(22), 4));
  failures.taskEnd(failed({ reason: "TaskResultLost" }));
  assertEquals(failures.groups.map(({ reason, count, stageIds }) => [reason, count, [...stageIds]]), [
    ["FetchFailed", 2, [3, 4]],
    ["TaskResultLost", 1, [0]],
  ]);
});

Deno.test("count() keeps apart at most so many keys, and goes on counting those", () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 1000; i++) count(counts, `key ${i}`);
  count(counts, "key 0");
  assertEquals([counts.size, counts.get("key 0")], [MAX_GROUPS, 2]);
});
