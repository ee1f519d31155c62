import { assertAlmostEquals, assertEquals } from "@std/assert";
import fc from "fast-check";
import { Charts } from "../../src/report/charts.ts";
import type { TaskBar } from "../../src/report/charts_tasks.ts";
import { taskEnd } from "./chart_events.ts";

const tasks = fc.array(
  fc.record({ start: fc.nat(20_000), length: fc.nat(5_000) }),
  { minLength: 1, maxLength: 100 },
);

function timeline(
  list: readonly { start: number; length: number }[],
  taskBars: number,
) {
  const charts = new Charts({ timeBuckets: 16, taskBars });
  charts.event({
    kind: "applicationStart",
    appName: "a",
    appId: null,
    time: 1000,
    user: "",
    appAttemptId: null,
  });
  const ended = list
    .map(({ start, length }, taskId) =>
      taskEnd({
        taskId,
        launchTime: 1000 + start,
        finishTime: 1000 + start + length,
      })
    )
    .sort((a, b) => a.finishTime - b.finishTime);
  for (const event of ended) charts.event(event);
  return charts.finish().timelines[0];
}

Deno.test("the busy time over all buckets is the tasks' own time", () => {
  fc.assert(fc.property(tasks, (list) => {
    const { busy, tasks: count } = timeline(list, 4000);
    const area = busy.reduce((sum, b) => sum + b.running * b.widthMs, 0);
    const expected = list.reduce((sum, { length }) => sum + length, 0);
    assertAlmostEquals(area, expected, 1e-6 * Math.max(1, expected));
    assertEquals(count, list.length);
    assertEquals(busy.reduce((sum, b) => sum + b.ended, 0), list.length);
  }));
});

Deno.test("tasks in one lane do not overlap", () => {
  fc.assert(fc.property(tasks, (list) => {
    const { bars, lanes } = timeline(list, 4000);
    const lastEnd = new Map<number, TaskBar>();
    for (const bar of bars!) {
      const before = lastEnd.get(bar.lane);
      assertEquals(
        before === undefined || before.finishTime <= bar.launchTime,
        true,
      );
      assertEquals(bar.lane < lanes, true);
      lastEnd.set(bar.lane, bar);
    }
    assertEquals(bars!.length, list.length);
  }));
});

Deno.test("more tasks than the limit are shown by how busy the executors were only", () => {
  const list = [0, 1, 2].map((start) => ({ start, length: 10 }));
  assertEquals(timeline(list, 3).bars?.length, 3);
  assertEquals(timeline(list, 2).bars, null);
  assertEquals(timeline(list, 2).tasks, 3);
});

Deno.test("failed and killed tasks are counted, resubmitted ones are not tasks", () => {
  const charts = new Charts();
  charts.event(taskEnd());
  charts.event(taskEnd({ reason: { reason: "Resubmitted" } }));
  charts.event(taskEnd({ reason: { reason: "TaskResultLost" }, failed: true }));
  charts.event(
    taskEnd({
      reason: { reason: "TaskKilled", killReason: "another attempt succeeded" },
      killed: true,
    }),
  );
  const [{ tasks, failed, killed }] = charts.finish().timelines;
  assertEquals({ tasks, failed, killed }, { tasks: 3, failed: 1, killed: 1 });
});
