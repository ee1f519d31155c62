import { assertEquals } from "@std/assert";
import { Charts } from "../../src/report/charts.ts";
import { METRICS, taskEnd } from "./chart_events.ts";

Deno.test("results of an observed run: fetched ones are indirect", () => {
  const charts = new Charts();
  charts.event(taskEnd({ metrics: { ...METRICS, resultSize: 1000 } }));
  charts.event(
    taskEnd({
      gettingResultTime: 1900,
      metrics: { ...METRICS, resultSize: 2_000_000 },
    }),
  );
  charts.event(taskEnd({ metrics: null, failed: true }));
  const { buckets, stages } = charts.finish().results;
  assertEquals(buckets[0].fromBytes, 768);
  assertEquals(buckets[0].direct, 1);
  assertEquals(buckets.at(-1)!.indirect, 1);
  assertEquals(
    buckets.every((b, i) => i === 0 || b.fromBytes === buckets[i - 1].toBytes),
    true,
  );
  assertEquals(stages, [{
    stageId: 0,
    attemptId: 0,
    count: 2,
    totalBytes: 2_001_000,
    maxBytes: 2_000_000,
  }]);
});

Deno.test("a simulated run's own word is used, not its tasks' metrics", () => {
  const charts = new Charts();
  charts.event({
    kind: "taskResult",
    time: 1500,
    executorId: "1",
    taskId: 0,
    stageId: 0,
    stageAttemptId: 0,
    path: "dropped",
    numBytes: 5000,
  });
  charts.event(taskEnd({ metrics: { ...METRICS, resultSize: 5000 } }));
  const { buckets } = charts.finish().results;
  assertEquals(buckets.length, 1);
  assertEquals([buckets[0].dropped, buckets[0].direct], [1, 0]);
});

Deno.test("a run without results has an empty chart", () => {
  assertEquals(new Charts().finish().results, { buckets: [], stages: [] });
});
