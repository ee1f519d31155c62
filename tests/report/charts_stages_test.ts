import { assertEquals } from "@std/assert";
import { Charts } from "../../src/report/charts.ts";
import { METRICS, stageInfo, taskEnd } from "./chart_events.ts";

Deno.test("a resubmitted stage has its attempts, a skipped one has none", () => {
  const charts = new Charts();
  const map = stageInfo({ stageId: 1 });
  const reduce = stageInfo({ stageId: 2, parentIds: [0, 1] });
  charts.event({
    kind: "jobStart",
    jobId: 3,
    time: 1000,
    stageInfos: [stageInfo({ stageId: 0 }), map, reduce],
    stageIds: [0, 1, 2],
    properties: { "spark.job.description": "nightly" },
  });
  charts.event({ kind: "stageSubmitted", stageInfo: map, properties: {} });
  charts.event(
    taskEnd({
      stageId: 1,
      metrics: { ...METRICS, shuffleBytesWritten: 40, memoryBytesSpilled: 5 },
    }),
  );
  charts.event({
    kind: "stageCompleted",
    stageInfo: { ...map, completionTime: 2000 },
  });
  charts.event({ kind: "stageSubmitted", stageInfo: reduce, properties: {} });
  charts.event({
    kind: "stageCompleted",
    stageInfo: {
      ...reduce,
      completionTime: 3000,
      failureReason: "FetchFailed",
    },
  });
  charts.event({
    kind: "stageSubmitted",
    stageInfo: { ...reduce, attemptId: 1, numTasks: 1 },
    properties: {},
  });
  charts.event({ kind: "jobEnd", jobId: 3, time: 4000, failure: null });

  const { graph } = charts.finish();
  assertEquals(graph.jobs[0].status, "succeeded");
  assertEquals(graph.jobs[0].description, "nightly");
  assertEquals(
    graph.stages.map(({ stageId, parentIds, attempts }) => ({
      stageId,
      parentIds,
      attempts: attempts.map(({ attemptId, status, numTasks }) => [
        attemptId,
        status,
        numTasks,
      ]),
    })),
    [
      { stageId: 0, parentIds: [], attempts: [] },
      { stageId: 1, parentIds: [], attempts: [[0, "succeeded", 4]] },
      {
        stageId: 2,
        parentIds: [0, 1],
        attempts: [[0, "failed", 4], [1, "unfinished", 1]],
      },
    ],
  );
  const [attempt] = graph.stages[1].attempts;
  assertEquals(
    [attempt.succeeded, attempt.shuffleWriteBytes, attempt.memoryBytesSpilled],
    [1, 40, 5],
  );
});

Deno.test("stages beyond the limit are counted", () => {
  const charts = new Charts({ stages: 2 });
  for (let stageId = 0; stageId < 5; stageId++) {
    charts.event({
      kind: "stageSubmitted",
      stageInfo: stageInfo({ stageId }),
      properties: {},
    });
  }
  const { graph } = charts.finish();
  assertEquals([graph.stages.length, graph.leftOut], [2, 3]);
});

Deno.test("ends of jobs and stages that nobody saw begin are passed over", () => {
  const charts = new Charts({ stages: 1 });
  charts.event({ kind: "stageSubmitted", stageInfo: stageInfo({ stageId: 0 }), properties: {} });
  charts.event({ kind: "jobEnd", jobId: 3, time: 5, failure: null });
  charts.event({ kind: "stageCompleted", stageInfo: stageInfo({ stageId: 1, completionTime: 9 }) });
  const { graph } = charts.finish();
  assertEquals([graph.stages.map(({ stageId }) => stageId), graph.leftOut, graph.jobs], [[0], 1, []]);
});
