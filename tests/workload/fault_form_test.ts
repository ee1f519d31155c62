import { assertEquals, assertThrows } from "@std/assert";
import { InputError } from "../../src/errors.ts";
import { workloadFromJobSpec } from "../../src/workload/job_spec.ts";

Deno.test("faults get the simulator's fields and Spark's defaults", () => {
  const { faults } = workloadFromJobSpec({
    cluster: { executors: 2 },
    stages: [{ id: "s", tasks: 2 }],
    faults: [
      { kind: "taskException", stage: "s", partition: 1 },
      { kind: "executorLost", executor: "1", afterTasks: 3 },
      { kind: "fetchFailure", stage: "s", partition: 0, attempts: 2 },
      { kind: "slowHost", host: "host-1", factor: 4 },
    ],
  });
  assertEquals(faults, [
    {
      kind: "taskException",
      demand: 0,
      partition: 1,
      attempts: 1,
      className: "java.lang.RuntimeException",
      description: "injected fault",
      atFraction: 0.5,
    },
    {
      kind: "executorLost",
      executorId: "1",
      atMs: null,
      afterTasks: 3,
      reason: "Command exited with code 137",
      workerLost: false,
      exitCausedByApp: true,
      replacedAfterMs: null,
    },
    { kind: "fetchFailure", demand: 0, partition: 0, attempts: 2 },
    { kind: "slowHost", host: "host-1", factor: 4 },
  ]);
});

Deno.test("a fault of a stage that there is not is refused at its place", () => {
  const spec = {
    stages: [{ id: "s", tasks: 2 }],
    faults: [{ kind: "fetchFailure" as const, stage: "t", partition: 0 }],
  };
  const { code, pointer } = assertThrows(() => workloadFromJobSpec(spec), InputError);
  assertEquals([code, pointer], ["job_spec.unknown_reference", "/faults/0/stage"]);
});
