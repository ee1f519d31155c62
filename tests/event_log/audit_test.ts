import { assertEquals } from "@std/assert";
import { LogAudit } from "../../src/event_log/audit.ts";
import type { SparkEvent, StageInfo } from "../../src/spark/events.ts";

const INFO = {
  index: 0,
  attempt: 0,
  partitionId: 0,
  launchTime: 1,
  executorId: "1",
  host: "h",
  locality: "ANY",
  speculative: false,
} as const;

function taskStart(taskId: number): SparkEvent {
  return { kind: "taskStart", stageId: 0, stageAttemptId: 0, taskId, ...INFO };
}

function taskEnd(
  taskId: number,
  reason: "Success" | "Resubmitted" = "Success",
): SparkEvent {
  return {
    kind: "taskEnd",
    stageId: 0,
    stageAttemptId: 0,
    taskId,
    ...INFO,
    taskType: "ResultTask",
    reason: { reason },
    gettingResultTime: 0,
    finishTime: 2,
    failed: false,
    killed: false,
    metrics: null,
    accumulables: [],
  };
}

function completed(
  numTasks: number,
  failureReason: string | null = null,
  attemptId = 0,
): SparkEvent {
  return {
    kind: "stageCompleted",
    stageInfo: {
      stageId: 0,
      attemptId,
      numTasks,
      failureReason,
    } as unknown as StageInfo,
  };
}

const WHOLE: SparkEvent[] = [
  { kind: "logStart", sparkVersion: "3.5.9" },
  {
    kind: "applicationStart",
    appName: "",
    appId: "a",
    time: 0,
    user: "",
    appAttemptId: null,
  },
];
const END: SparkEvent = { kind: "applicationEnd", time: 9, exitCode: null };

function codes(events: SparkEvent[]): [string, number][] {
  const audit = new LogAudit();
  for (const event of events) audit.event(event);
  return audit.warnings().map(({ code, count }) => [code, count]);
}

Deno.test("LogAudit has nothing to say about a whole log", () => {
  assertEquals(
    codes([...WHOLE, taskStart(1), taskEnd(1), completed(1), END]),
    [],
  );
});

Deno.test("LogAudit says what has no beginning and no end", () => {
  assertEquals(codes([]), [
    ["log.no_log_start", 1],
    ["log.no_application_start", 1],
    ["log.no_application_end", 1],
  ]);
});

Deno.test("LogAudit finds dropped starts, dropped ends and unfinished tasks", () => {
  assertEquals(
    codes([
      ...WHOLE,
      taskEnd(1),
      taskStart(2),
      taskEnd(2),
      taskStart(3),
      completed(4),
      END,
    ]),
    [
      ["log.events_dropped", 3], // the start of 1, and the ends of two of the stage's four tasks
      ["log.tasks_unfinished", 1],
    ],
  );
});

Deno.test("LogAudit does not take failed or retried stages for dropped events", () => {
  assertEquals(
    codes([...WHOLE, taskStart(1), taskEnd(1), completed(4, "aborted"), END]),
    [],
  );
  assertEquals(
    codes([
      ...WHOLE,
      taskStart(1),
      taskEnd(1),
      completed(4),
      completed(3, null, 1),
      END,
    ]),
    [],
  );
});

Deno.test("LogAudit does not take a resubmitted task's second end for one without a start", () => {
  assertEquals(
    codes([...WHOLE, taskStart(1), taskEnd(1), taskEnd(1, "Resubmitted"), END]),
    [],
  );
});

Deno.test("LogAudit finds jobs without an end", () => {
  const jobStart: SparkEvent = {
    kind: "jobStart",
    jobId: 0,
    time: 1,
    stageInfos: [],
    stageIds: [],
    properties: {},
  };
  assertEquals(codes([...WHOLE, jobStart, END]), [["log.jobs_unfinished", 1]]);
  assertEquals(
    codes([...WHOLE, jobStart, {
      kind: "jobEnd",
      jobId: 0,
      time: 2,
      failure: null,
    }, END]),
    [],
  );
});
