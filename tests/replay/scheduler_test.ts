import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { traceFormat } from "../../src/replay/mod.ts";
import { SCHEDULER_TRACES } from "../../src/replay/scheduler/mod.ts";
import type { TraceLine } from "../../src/replay/trace.ts";

const TASKS: TraceLine = { format: "spark-tsm-trace/1", conf: { maxFailures: 1 } };
const DAG: TraceLine = {
  format: "spark-dag-trace/1",
  conf: {},
  executors: [{ id: "e1", host: "h1" }],
  rdds: [{ id: 0, partitions: 1, deps: [] }],
  shuffles: [],
};

function run(header: TraceLine, lines: TraceLine[]) {
  return [...SCHEDULER_TRACES.replay(header, lines, {})];
}

Deno.test("the scheduler's formats are found by their header", () => {
  for (const format of ["spark-dag-trace/1", "spark-tsm-trace/1", "spark-driver-trace/1"]) {
    assertEquals(traceFormat({ format }), SCHEDULER_TRACES);
  }
  assertEquals(SCHEDULER_TRACES.detects({ format: "toString" }), false);
});

Deno.test("a line without recorded outcomes is replayed, not compared", () => {
  const [record] = run(DAG, [{ event: { type: "submitJob", rdd: 0 } }]);
  assertEquals([record.line, record.compared, record.differences], [2, false, []]);
  const { observed } = record.output as { observed: { actions: { a: string }[] } };
  assertEquals(observed.actions.map(({ a }) => a), ["jobStart", "stageSubmitted", "submitTasks"]);
});

Deno.test("a difference names what of the outcome differs", () => {
  const event = { type: "submitJob", rdd: 0 };
  const [{ output }] = run(DAG, [{ event }]);
  const { observed } = output as { observed: Record<string, unknown> };
  const wrong = { ...observed, actions: [] };
  const [{ compared, differences }] = run(DAG, [{ event, observed: wrong }]);
  assertEquals(compared, true);
  assertEquals(differences.map(({ what }) => what), ["observed.actions"]);
});

Deno.test("after an exception in the driver nothing more happens", () => {
  const submit = (attempt: number) => ({
    event: { type: "submitTaskSet", stage: 0, attempt, kind: "result", tasks: [{ partition: 0, prefs: [] }] },
  });
  const records = run(TASKS, [submit(0), submit(1), submit(2)]);
  const actions = records.map(({ output }) => (output as { observed: { actions: unknown[] } }).observed.actions);
  // Trace b13 of Spark 2.4.0.
  assertEquals(actions, [[{ a: "reviveOffers" }], [{
    a: "error",
    class: "java.lang.IllegalStateException",
    message: "more than one active taskSet for stage 0: 0.1,0.0",
  }], []]);
});

Deno.test("an event of an unknown type, kind or reason is refused", () => {
  const cases: [TraceLine, TraceLine][] = [
    [DAG, { type: "launchRocket" }],
    [DAG, { type: "submitJob", rdd: 7 }],
    [DAG, { type: "taskSucceeded", stage: 3, attempt: 0, partition: 0, exec: "e1" }],
    [TASKS, { type: "launchRocket" }],
    [TASKS, { type: "failed", tid: 0, kind: "bored" }],
    [TASKS, { type: "executorLost", exec: "e1", reason: "bored" }],
    [{ ...DAG, format: "spark-driver-trace/1" }, { type: "launchRocket" }],
  ];
  for (const [header, event] of cases) {
    const error = assertThrows(() => run(header, [{ event }]), InputError, "Cannot replay the trace");
    assertEquals(error.code, "replay.line");
  }
});

Deno.test("a shuffle without an RDD is refused", () => {
  const header = { ...DAG, shuffles: [{ id: 0, rdd: 9, reducers: 1 }] };
  assertThrows(() => run(header, [{ event: { type: "cancelAllJobs" } }]), InputError, "a shuffle must have an RDD");
});

Deno.test("an exception in the whole driver side is recorded as its error, and nothing more happens", () => {
  const header: TraceLine = {
    ...DAG,
    format: "spark-driver-trace/1",
    executors: [],
    rdds: [{ id: 0, partitions: 1, deps: [] }],
  };
  const rdds = [...header.rdds, { id: 1, partitions: 1, deps: [{ shuffle: 0 }] }];
  const shuffles = [{ id: 0, rdd: 0, reducers: 1 }];
  // A map-stage job for the map stage of a running job (trace a56): its second submission finds the stage's tasks active.
  const events = [
    { type: "submitJob", rdd: 1, partitions: [0] },
    { type: "submitMapStage", shuffle: 0 },
    { type: "submitJob", rdd: 1, partitions: [0] },
  ].map((event) => ({ event }));
  const records = run({ ...header, rdds, shuffles }, events);
  const actions = records.map(({ output }) =>
    (output as { observed: { actions: { a: string; class?: string }[] } }).observed.actions
  );
  assertEquals(actions[1].at(-1)?.a, "error", JSON.stringify(actions[1]));
  assertEquals(actions[2], []);
  assertThrows(
    () => run({ ...header, rdds, shuffles }, [{ event: { type: "submitMapStage", shuffle: 9 } }]),
    InputError,
  );
});
