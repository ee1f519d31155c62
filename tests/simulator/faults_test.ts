// Every fault that a job spec may ask for, run to its end. The expected values follow from the rules of Spark's scheduler that
// the recorded traces prove (tests/conformance/scheduler_test.ts).
import { assert, assertEquals } from "@std/assert";
import { Summarizer } from "../../src/report/summarize.ts";
import { simulate } from "../../src/simulator/simulate.ts";
import { SparkConf } from "../../src/spark/conf.ts";
import type { SparkEvent, TaskEnd } from "../../src/spark/events.ts";
import { jobSpecFromWorkload, parseJobSpec, workloadFromJobSpec } from "../../src/workload/job_spec.ts";
import type { FaultSpec, JobSpec } from "../../src/workload/job_spec_types.ts";

function run(document: JobSpec) {
  const workload = workloadFromJobSpec(parseJobSpec(document).spec);
  const json = JSON.stringify(jobSpecFromWorkload(workload));
  assertEquals(workloadFromJobSpec(parseJobSpec(JSON.parse(json)).spec), workload, "the exact form loses something");
  const events: SparkEvent[] = [];
  const summarizer = new Summarizer({ source: "simulated" });
  simulate(workload, {
    conf: SparkConf.from(workload.conf, workload.sparkVersion),
    sink: {
      event(event) {
        summarizer.event(event);
        events.push(structuredClone(event));
      },
    },
  });
  assertEquals(events.at(-1)!.kind, "applicationEnd");
  const ends = events.filter((event): event is TaskEnd => event.kind === "taskEnd");
  return {
    events,
    ends,
    summary: summarizer.summary(),
    reasons: ends.map(({ reason }) => reason.reason).filter((reason) => reason !== "Success"),
    failures: events.flatMap((event) => event.kind === "jobEnd" ? [event.failure] : []),
  };
}

/** Four tasks that write a shuffle, two that read it; two executors of two cores. */
function shuffled(faults: readonly FaultSpec[], more: Partial<JobSpec> = {}): JobSpec {
  return {
    sparkVersion: "3.5.9",
    cluster: { executors: 2, cores: 2 },
    stages: [
      { id: "map", tasks: 4, computeMs: 1000, shuffleWriteBytes: "1m" },
      { id: "reduce", parents: ["map"], tasks: 2, computeMs: 1000 },
    ],
    faults,
    ...more,
  };
}

Deno.test("taskException: the attempt fails, the next one succeeds", () => {
  const { reasons, failures } = run(shuffled([{ kind: "taskException", stage: "map", partition: 1 }]));
  assertEquals([reasons, failures], [["ExceptionFailure"], [null]]);
});

Deno.test("executorLost: its tasks run again elsewhere", () => {
  const { reasons, failures, ends } = run(
    shuffled([{ kind: "executorLost", executor: "1", atMs: 500, replacedAfterMs: 1000 }]),
  );
  assertEquals([reasons, failures], [["ExecutorLostFailure", "ExecutorLostFailure"], [null]]);
  assertEquals(ends.length, 8);
});

Deno.test("fetchFailure: both stages run again", () => {
  const { reasons, failures, summary } = run(shuffled([{ kind: "fetchFailure", stage: "reduce", partition: 0 }]));
  assertEquals([reasons, failures], [["FetchFailed"], [null]]);
  assertEquals(summary.stages.map(({ stageId, attempt }) => `${stageId}.${attempt}`), ["0.0", "1.0", "0.1", "1.1"]);
});

Deno.test("slowHost: its tasks take longer", () => {
  const { summary } = run(shuffled([{ kind: "slowHost", host: "host-1", factor: 5 }]));
  assert(summary.durationMs! > 6000);
});

Deno.test("resultLost: the task runs again", () => {
  const { reasons, failures } = run(shuffled([{ kind: "resultLost", stage: "reduce", partition: 0 }], {
    conf: { "spark.task.maxDirectResultSize": "1k" },
  }));
  assertEquals([reasons, failures], [["TaskResultLost"], [null]]);
});

Deno.test("resultUnreadable: a class that is not found aborts the stage at once, with its message", () => {
  const { failures } = run(shuffled([
    { kind: "resultUnreadable", stage: "reduce", partition: 1, classNotFound: true, description: "loader@1b2c3d" },
  ]));
  assertEquals(failures, ["Job aborted due to stage failure: ClassNotFound with classloader: loader@1b2c3d"]);
});

Deno.test("resultUnreadable: any other exception aborts the stage, too, of direct and indirect results and of map tasks", () => {
  const message =
    "Job aborted due to stage failure: Exception while getting task result: java.io.EOFException: no more bytes";
  const fault = { kind: "resultUnreadable", partition: 1, description: "java.io.EOFException: no more bytes" } as const;
  for (const stage of ["map", "reduce"]) {
    for (const maxDirectResultSize of ["1m", "1k"]) {
      const conf = { "spark.task.maxDirectResultSize": maxDirectResultSize };
      assertEquals(run(shuffled([{ ...fault, stage }], { conf })).failures, [message]);
    }
  }
});

Deno.test("resultHandlerException: the job fails for the program, and no other follows", () => {
  const spec: JobSpec = {
    stages: [{ id: "a", tasks: 3, computeMs: 100 }, { id: "b", tasks: 1, computeMs: 100 }],
    faults: [{ kind: "resultHandlerException", stage: "a", partition: 1, className: "Oops", description: "no" }],
  };
  // DAGScheduler reports the job's own end as before (trace of a handler that throws): what fails is runJob.
  const { failures, ends, summary } = run(spec);
  assertEquals([failures, ends.length], [[null], 3]);
  const [warning] = summary.warnings;
  assertEquals(warning.code, "simulation.resultHandler");
  assert(warning.message.includes("SparkDriverExecutionException: Execution error, caused by Oops: no"));
  // A program that handles the failure goes on.
  const jobs = [{ stage: "a", failureHandled: true }, { stage: "b" }];
  assertEquals(run({ ...spec, jobs }).failures, [null, null]);
});

/** A slow original commits for 3 s; its copy on the other host is done meanwhile and may not. */
function speculated(sparkVersion: string, faults: readonly FaultSpec[] = []): JobSpec {
  return {
    sparkVersion,
    conf: {
      "spark.speculation": "true",
      "spark.speculation.multiplier": "1.5",
      "spark.speculation.quantile": "0.75",
      "spark.speculation.efficiency.enabled": "false",
    },
    cluster: { executors: 2, cores: 4, hosts: 2 },
    stages: [{ id: "write", tasks: 4, computeMs: [500, 500, 500, 2500], commitMs: [0, 0, 0, 3000] }],
    faults,
  };
}

Deno.test("commitMs: a second attempt may not commit, which does not count as a failure", () => {
  for (const [sparkVersion, killed] of [["2.2.3", false], ["2.4.0", true], ["3.5.9", true]] as const) {
    const { ends, failures, reasons } = run(speculated(sparkVersion));
    assertEquals(failures, [null]);
    const denied = ends.filter(({ reason }) => reason.reason === "TaskCommitDenied");
    assert(denied.length > 0 && denied.every(({ speculative }) => speculative), `${sparkVersion}: ${reasons}`);
    assertEquals(denied[0].reason, {
      reason: "TaskCommitDenied",
      jobId: 0,
      partitionId: 3,
      attemptNumber: denied[0].attempt,
    });
    // Executor reports it as FAILED up to 2.2, as KILLED since 2.3 (sources of spark-core 1.5.2 to 4.2.0).
    assertEquals([denied[0].failed, denied[0].killed], [!killed, killed]);
    const winner = ends.find(({ partitionId, reason }) => partitionId === 3 && reason.reason === "Success")!;
    assertEquals([winner.attempt, winner.speculative], [0, false]);
    assert(winner.metrics!.executorRunTime >= 5500);
  }
});

Deno.test("commitMs: when the attempt that may commit is lost, another one may", () => {
  const { ends, failures } = run({
    ...speculated("3.5.9", [{ kind: "executorLost", executor: "0", atMs: 4000, replacedAfterMs: 200 }]),
    conf: {},
    cluster: { executors: 1, cores: 4 },
  });
  assertEquals(failures, [null]);
  const attempts = ends.filter(({ partitionId }) => partitionId === 3).map(({ reason }) => reason.reason);
  assertEquals(attempts, ["ExecutorLostFailure", "Success"]);
});
